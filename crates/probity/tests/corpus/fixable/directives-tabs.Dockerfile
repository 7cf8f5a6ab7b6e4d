# syntax=docker/dockerfile:1
# check=skip=JSONArgsRecommended

FROM alpine:3.20
# hadolint ignore=DL3018
RUN apk add --no-cache curl && curl -V && true
CMD start
