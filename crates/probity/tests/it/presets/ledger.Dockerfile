FROM debian:bookworm-slim

# The same numbers on every host, so that volumes stay readable.
RUN set -eux; \
	groupadd --system --gid 942 ledger; \
	useradd --system --gid ledger --uid 942 --home-dir /var/lib/ledger ledger; \
	install --directory --owner ledger --group ledger --mode 3777 /run/ledger

ENV GOSU_VERSION=1.17
RUN set -eux; \
	saved="$(apt-mark showmanual)"; \
	apt-get update; \
	apt-get install -y --no-install-recommends ca-certificates gnupg wget; \
	rm -rf /var/lib/apt/lists/*; \
	arch="$(dpkg --print-architecture | awk -F- '{ print $NF }')"; \
	wget -O /usr/local/bin/gosu "https://downloads.example.org/gosu/$GOSU_VERSION/gosu-$arch"; \
	wget -O gosu.sums "https://downloads.example.org/gosu/$GOSU_VERSION/sums"; \
	grep "gosu-$arch\$" gosu.sums | sha256sum -c -; \
	rm gosu.sums; \
	apt-mark auto '.*' > /dev/null; \
	[ -z "$saved" ] || apt-mark manual $saved > /dev/null; \
	apt-get purge -y --auto-remove; \
	chmod +x /usr/local/bin/gosu; \
	gosu nobody true

RUN mkdir /docker-entrypoint.d
RUN install --directory --owner ledger --group ledger --mode 1777 /var/lib/ledger
VOLUME /var/lib/ledger

COPY docker-entrypoint.sh /usr/local/bin/
ENTRYPOINT ["docker-entrypoint.sh"]

STOPSIGNAL SIGINT
EXPOSE 7420
CMD ["ledger"]
