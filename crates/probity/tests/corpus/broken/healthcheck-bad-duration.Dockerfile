FROM alpine:3.20 as base
HEALTHCHECK --interval=soon CMD wget -q localhost
ENV A b
