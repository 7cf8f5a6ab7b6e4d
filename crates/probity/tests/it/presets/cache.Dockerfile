FROM alpine:3.20

RUN set -eux; \
	addgroup -S -g 1000 cache; \
	adduser -S -G cache -u 999 cache; \
	apk add --no-cache su-exec tzdata

ENV CACHE_VERSION=4.2.1 \
    CACHE_SHA256=7f1c2f6d0c6a2b3e9d7a4d5c8b1e0f3a6c9d2e5b8a1f4c7d0e3b6a9c2d5f8e1b

RUN set -eux; \
	apk add --no-cache --virtual .build-deps gcc linux-headers make musl-dev; \
	wget -O cache.tar.gz "https://downloads.example.org/cache-$CACHE_VERSION.tar.gz"; \
	echo "$CACHE_SHA256 *cache.tar.gz" | sha256sum -c -; \
	mkdir -p /usr/src/cache; \
	tar -xzf cache.tar.gz -C /usr/src/cache --strip-components=1; \
	rm cache.tar.gz; \
	cd /usr/src/cache; \
	make -j "$(nproc)"; \
	make install; \
	cd /; \
	rm -r /usr/src/cache; \
	apk del --no-network .build-deps; \
	cache-server --version

RUN mkdir /data && chown cache:cache /data
VOLUME /data
WORKDIR /data

COPY docker-entrypoint.sh /usr/local/bin/
ENTRYPOINT ["docker-entrypoint.sh"]

EXPOSE 6380
CMD ["cache-server"]
