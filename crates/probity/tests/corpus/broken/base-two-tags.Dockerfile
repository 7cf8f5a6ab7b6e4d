FROM alpine:3.20:latest as base
ENV A b
