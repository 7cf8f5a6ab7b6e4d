#!/bin/sh
set -e

if [ "${1#-}" != "$1" ] || [ "${1%.conf}" != "$1" ]; then
	set -- kvd-server "$@"
fi

if [ "$1" = 'kvd-server' ] && [ "$(id -u)" = '0' ]; then
	find . \! -user kvd -exec chown kvd '{}' +
	exec su-exec kvd "$0" "$@"
fi

umask 0077
exec "$@"
