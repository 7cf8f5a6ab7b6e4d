FROM alpine:3.20 as base
ENV A
ENV B c
