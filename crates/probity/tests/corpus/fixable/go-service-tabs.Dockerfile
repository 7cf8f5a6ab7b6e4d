FROM golang:1.22 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# static, so that scratch will do
RUN CGO_ENABLED=0 go build -o /out/app ./cmd/app && \
	strip /out/app

FROM scratch
COPY --from=build /out/app /app
ENTRYPOINT ["/app"]
