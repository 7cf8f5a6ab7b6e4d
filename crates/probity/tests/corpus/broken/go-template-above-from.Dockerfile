{{ include "preamble" }}
FROM debian:bookworm-slim as Base

ENV DB_VERSION {{ .["8.4"].version }}
ENV DB_MAJOR 8.4

RUN set -eux; \
	apt-get update; \
	apt-get install -y db="${DB_VERSION}"; \
	rm -rf /var/lib/apt/lists/*
