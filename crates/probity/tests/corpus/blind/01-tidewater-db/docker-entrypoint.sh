#!/bin/sh
set -eu

# allow the container to be started with flags only
if [ "${1#-}" != "$1" ]; then
	set -- tidewaterd "$@"
fi

if [ "$1" = 'tidewaterd' ] && [ "$(id -u)" = '0' ]; then
	find "$TWDATA" \! -user tidewater -exec chown tidewater '{}' +
	exec gosu tidewater "$0" "$@"
fi

exec "$@"
