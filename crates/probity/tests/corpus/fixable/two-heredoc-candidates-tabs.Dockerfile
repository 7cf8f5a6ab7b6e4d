FROM alpine:3.20
RUN mkdir -p /srv/a && chown nobody /srv/a && chmod 700 /srv/a
RUN mkdir -p /srv/b && chown nobody /srv/b && chmod 700 /srv/b
# the volume comes last
VOLUME /srv/a /srv/b
