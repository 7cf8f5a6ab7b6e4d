FRM alpine:3.20 as base
RUN apk add curl
ENV A b
