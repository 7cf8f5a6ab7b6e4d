FROM debian:12
# the tools that the entry point needs
RUN apt-get update && \
  # TLS roots
  apt-get install -y ca-certificates curl && \
  # keep the layer small
  rm -rf /var/lib/apt/lists/*
ENV LANG C.UTF-8
CMD run
