#!/bin/sh
set -e
if [ "$1" = 'queued' ] && [ "$(id -u)" = '0' ]; then
	chown -R queue /data
	if command -v su-exec > /dev/null; then
		exec su-exec queue "$@"
	fi
	exec gosu queue "$@"
fi
exec "$@"
