FROM {{ .Base }}
MAINTAINER team@example.com
ENV MODE production
