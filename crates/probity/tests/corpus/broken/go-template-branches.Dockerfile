FROM alpine:{{ env.alpineVersion }}
{{ if is_alpine then ( -}}
RUN apk add --no-cache   bash
{{ ) else ( -}}
RUN apt-get update && apt-get install -y bash
{{ ) end -}}
ENV LANG C.UTF-8
