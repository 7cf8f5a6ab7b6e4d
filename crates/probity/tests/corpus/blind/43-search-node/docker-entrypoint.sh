#!/bin/bash
set -e

if [ "$1" = 'search-foreground' ] && [ "$(id -u)" = '0' ]; then
	chown -R search:search /var/search
	gosu search "$@"
	exit $?
fi

exec "$@"
