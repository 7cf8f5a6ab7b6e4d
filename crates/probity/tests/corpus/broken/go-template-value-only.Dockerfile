FROM debian:bookworm-slim as base
ENV DB_VERSION {{ .["8.4"].version }}
ENV DB_MAJOR   {{ env.version }}
EXPOSE 3306 33060
CMD ["db"]
