FROM alpine:3.20
# paths
ENV APP_HOME /srv/app
ENV PATH $APP_HOME/bin:$PATH
# tuning
ENV JAVA_OPTS "-Xmx1g -Xms1g"
MAINTAINER team@example.com
