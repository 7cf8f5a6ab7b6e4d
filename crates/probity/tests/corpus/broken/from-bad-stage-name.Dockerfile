FROM alpine:3.20 as 1base
ENV A b
