#!/bin/sh
set -eu
exec java -jar "$APP_JAR" "$@"
