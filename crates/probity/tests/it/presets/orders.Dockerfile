# syntax=docker/dockerfile:1
ARG GO_VERSION=1.22

FROM --platform=$BUILDPLATFORM golang:${GO_VERSION}-alpine AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH CGO_ENABLED=0 go build -trimpath -o /out/orders ./cmd/orders

FROM build AS test
RUN go vet ./... && go test ./...

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/orders /usr/local/bin/orders
USER nonroot
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/orders"]
