FROM alpine:3.20 as base
ENV A b
COPY <<EOF /etc/app.conf
listen 80
EOF 
USER app
