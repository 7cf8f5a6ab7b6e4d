FROM alpine:3.20 as base
LABEL revision=${{ github.sha }}
ENV A b
