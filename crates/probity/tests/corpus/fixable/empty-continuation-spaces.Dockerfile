FROM alpine:3.20
RUN apk add --no-cache \

    curl \

    # why git
    git
ENV A b
