FROM alpine:3.20 as base
ONBUILD FROM debian:12
ENV A b
