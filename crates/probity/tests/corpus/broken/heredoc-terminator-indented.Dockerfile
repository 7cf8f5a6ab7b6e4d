FROM alpine:3.20 as base
ENV A b
RUN <<EOF
apk add curl
  EOF
USER app
