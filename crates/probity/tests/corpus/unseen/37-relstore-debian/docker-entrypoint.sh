#!/usr/bin/env bash
set -Eeo pipefail

if [ "${1:0:1}" = '-' ]; then
	set -- relstore "$@"
fi

if [ "$1" = 'relstore' ] && [ "$(id -u)" = '0' ]; then
	mkdir -p "$RSDATA"
	chown -R relstore "$RSDATA"
	exec gosu relstore "$BASH_SOURCE" "$@"
fi

if [ "$1" = 'relstore' ] && [ ! -s "$RSDATA/VERSION" ]; then
	rs-init --data "$RSDATA" --password-file <(printf '%s\n' "$RELSTORE_PASSWORD")
	for f in /docker-entrypoint-initdb.d/*.sql; do
		[ -e "$f" ] && rs-single --data "$RSDATA" < "$f"
	done
fi

exec "$@"
