FROM alpine:3.20
USER nobody
# nothing follows
# but these
