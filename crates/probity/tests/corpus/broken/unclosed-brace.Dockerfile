FROM alpine:3.20 as base
WORKDIR ${HOME
ENV B c
