FROM alpine:3.20 as one
COPY --from=two /a /a
ENV A b

FROM alpine:3.20 as two
COPY --from=one /b /b
