FROM alpine:3.20 as base
EXPOSE 99999
ENV A b
