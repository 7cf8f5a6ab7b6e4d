FROM alpine:3.20 as base
$$EXTRA$$
ENV A b
