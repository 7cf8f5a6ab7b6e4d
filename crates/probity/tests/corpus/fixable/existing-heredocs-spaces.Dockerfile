# syntax=docker/dockerfile:1
FROM debian:12

RUN <<EOF
set -e
apt-get update
    # a comment of the script
apt-get install -y curl
rm -rf /var/lib/apt/lists/*
EOF

RUN <<'SCRIPT'
set -eu
for d in a b; do
    mkdir -p "/srv/$d"
done
SCRIPT
CMD ["run"]
