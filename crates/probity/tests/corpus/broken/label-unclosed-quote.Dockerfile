FROM alpine:3.20 as base
LABEL description="a tool
ENV A b
