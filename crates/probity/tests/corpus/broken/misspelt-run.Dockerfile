FROM alpine:3.20 as base
RUNN apk add curl
ENV A b
