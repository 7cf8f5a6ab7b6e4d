RUN apk add   curl
FROM alpine:3.20 as base
ENV A b
