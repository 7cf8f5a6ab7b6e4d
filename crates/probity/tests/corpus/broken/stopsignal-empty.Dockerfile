FROM alpine:3.20 as base
STOPSIGNAL
ENV A b
