FROM alpine:3.20 as base
SHELL ["/bin/bash", "-o", "pipefail", "-c"
ENV A b
RUN a | b
