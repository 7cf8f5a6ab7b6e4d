FROM alpine:3.20 as base
SHELL ['/bin/bash', '-c']
ENV A b
