FROM --platform=linux/amd64/v1/x alpine:3.20 as base
ENV A b
