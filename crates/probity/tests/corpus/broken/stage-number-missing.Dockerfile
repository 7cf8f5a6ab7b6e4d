FROM alpine:3.20 as base
ENV A b
COPY --from=7 /a /b
