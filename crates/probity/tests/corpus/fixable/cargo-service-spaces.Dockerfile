FROM rust:1.80 AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    cargo build --release && \
    cp target/release/app /app

FROM debian:12-slim
COPY --from=build /app /usr/bin/app
CMD app
