FROM alpine:3.20 as base
COPY --owner=app . /app
ENV A b
