FROM node:20
WORKDIR app
{{- /* only in the full image */ -}}
RUN npm install
