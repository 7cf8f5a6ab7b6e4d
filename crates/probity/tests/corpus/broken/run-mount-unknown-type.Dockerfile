FROM alpine:3.20 as base
RUN --mount=type=cach,target=/x apk add curl
ENV A b
