FROM debian:12 as base
RUN apt-get update && apt-get install -y \
    curl
    git
ENV A b
