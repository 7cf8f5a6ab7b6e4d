#!/bin/bash
set -eo pipefail
if [ "$1" = 'marisqld' ] && [ "$(id -u)" = '0' ]; then
	find /var/lib/marisql \! -user marisql -exec chown marisql '{}' +
	exec gosu marisql "$BASH_SOURCE" "$@"
fi
exec "$@"
