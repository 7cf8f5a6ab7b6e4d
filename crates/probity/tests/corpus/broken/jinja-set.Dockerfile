{% set version = "1.2" %}
FROM nginx:{{ version }}
MAINTAINER web@example.com
COPY site /usr/share/nginx/html
