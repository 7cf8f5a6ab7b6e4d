FROM alpine:3.20
RUN set -ex && apk add --no-cache curl && curl -fsSL -o /tmp/a https://example.com/a && install /tmp/a /usr/bin/a && rm /tmp/a
WORKDIR app
