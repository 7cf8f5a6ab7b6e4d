FROM alpine:3.20 as base
COPY --chown=a --chown=b . /app
ENV A b
