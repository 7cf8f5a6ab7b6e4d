FROM alpine:3.20 as base
Here we install the tools:
RUN apk add curl
ENV A b
