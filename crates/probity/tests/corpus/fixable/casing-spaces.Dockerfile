from alpine:3.20 As Build
run apk add --no-cache git && git --version
Copy . /src

FROM alpine:3.20
COPY --from=Build /src /src
