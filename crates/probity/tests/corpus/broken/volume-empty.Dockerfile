FROM alpine:3.20 as base
VOLUME [""]
ENV A b
