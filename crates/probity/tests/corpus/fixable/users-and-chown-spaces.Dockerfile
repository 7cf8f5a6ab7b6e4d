FROM debian:12
RUN groupadd -g 1000 app && useradd -u 1000 -g app -m app && mkdir -p /srv/app && chown -R app:app /srv/app
USER app
COPY app /srv/app
RUN chmod +x /srv/app/run
CMD ["/srv/app/run"]
