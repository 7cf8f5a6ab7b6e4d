FROM alpine:3.20 as base
ENV A b
“RUN apk add curl”
