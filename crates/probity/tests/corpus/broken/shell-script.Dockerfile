#!/bin/sh
set -e
docker build -t app .
docker push app
