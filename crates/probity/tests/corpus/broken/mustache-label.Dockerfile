FROM alpine:3.20 as Base
LABEL version="{{version}}"
ENV A b
RUN apk add curl
