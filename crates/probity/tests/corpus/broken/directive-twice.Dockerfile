# syntax=docker/dockerfile:1
# syntax=docker/dockerfile:1.7
FROM alpine:3.20 as base
ENV A b
