FROM debian:12
# defaults, see the manual
RUN echo "listen 80" > /etc/app.conf
RUN printf 'a\\nb\\n' > /etc/app.list
COPY \
	# the binary
	app \
	/usr/local/bin/app
