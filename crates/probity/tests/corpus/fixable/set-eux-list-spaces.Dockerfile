FROM debian:bookworm-slim

RUN set -eux; \
  apt-get update; \
  apt-get install -y --no-install-recommends gosu; \
  rm -rf /var/lib/apt/lists/*; \
  # verify that the binary works
  gosu nobody true

RUN set -eux; \
  mkdir -p /data; \
  [ -d /data ] || exit 1; \
  chown nobody /data
