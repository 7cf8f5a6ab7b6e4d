#!/bin/sh
set -e

# only flags or a config file: run the server with them
if [ "${1#-}" != "$1" ] || [ "${1%.conf}" != "$1" ]; then
	set -- kvd-server "$@"
fi

if [ "$1" = 'kvd-server' ] && [ "$(id -u)" = '0' ]; then
	find . \! -user kvd -exec chown kvd '{}' +
	exec su-exec kvd "$0" "$@"
fi

exec "$@"
