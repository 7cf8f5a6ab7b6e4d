FROM alpine:3.20 as base
COPY app
ENV A b
