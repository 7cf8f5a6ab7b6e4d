FROM alpine:3.20 as base
COPY --from=base /a /b
ENV A b
