FROM alpine:3.20 as base
copyy a b
ENV A b
