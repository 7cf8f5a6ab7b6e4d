FROM alpine:3.20 as base
ENV A=1 B C=3
ENV D e
