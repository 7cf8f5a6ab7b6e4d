FROM alpine:3.20 as base
ENV A b
RUN <<'SCRIPT'
apk add curl
EOF
CMD run
