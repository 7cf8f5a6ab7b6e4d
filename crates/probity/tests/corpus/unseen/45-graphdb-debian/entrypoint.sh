#!/bin/bash
set -e

if [ "$1" = 'graphdb' ] && [ "$(id -u)" = '0' ]; then
	chown -R graphdb /var/lib/graphdb
	gosu graphdb graphdb check-config
	echo "starting $*"
	gosu graphdb "$@"
	exit $?
fi

exec "$@"
