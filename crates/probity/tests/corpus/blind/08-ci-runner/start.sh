#!/bin/bash
set -euo pipefail
: "${RUNNER_URL:?RUNNER_URL is required}"
exec make -C /home/runner/_work RUNNER_URL="$RUNNER_URL" "$@"
