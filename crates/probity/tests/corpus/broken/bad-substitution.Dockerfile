FROM alpine:3.20 as base
ENV A=${X!y}
ENV B c
