FROM alpine:3.20 as base
RUN --cache=/root pip install x
ENV A b
