FROM alpine:3.20 as base
WORKDIR
ENV A b
