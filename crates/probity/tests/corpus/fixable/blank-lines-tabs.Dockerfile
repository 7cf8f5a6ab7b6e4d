FROM alpine:3.20



RUN apk add --no-cache \
	curl


# two in a row


RUN echo a \
	&& echo b

COPY a b
COPY c d
