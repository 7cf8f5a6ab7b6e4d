FROM alpine:3.20 as base
HEALTHCHECK --interval=5s curl localhost
ENV A b
