#!/bin/bash
set -euo pipefail

if [[ "$1" == connect-* && "$(id -u)" == 0 ]]; then
  chown -R connect /opt/connect/plugins
  exec su-exec connect "$@"
fi
exec "$@"
