FROM --arch=arm64 alpine:3.20 as base
ENV A b
