FROM alpine:3.20 as base extra
ENV A b
