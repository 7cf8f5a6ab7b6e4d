FROM alpine:3.20 as base
RUN --mount=type=cache,path=/x apk add curl
ENV A b
