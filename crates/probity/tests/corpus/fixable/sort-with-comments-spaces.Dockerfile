FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends \
    zlib1g \
    # compilers
    gcc \
    g++ \
    autoconf \
  && rm -rf /var/lib/apt/lists/*
