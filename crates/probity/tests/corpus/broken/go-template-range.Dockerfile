FROM golang:1.22 as build
{{- range .Binaries }}
RUN go build -o /out/{{ . }} ./cmd/{{ . }}
{{- end }}
ENV A b
