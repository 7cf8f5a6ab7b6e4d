FROM alpine:3.20 as base
WORKDIR {{ .Values.dir }}
ENV A b
