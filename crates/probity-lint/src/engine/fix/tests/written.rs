//! Ten files as a person would have fixed them: everything that every preset offers, unsafe fixes
//! included.

use crate::{Preset, RuleSet};

use super::reading::{corpus_file, fixed};

#[test]
fn files_read_as_a_person_would_have_written_them() {
    for (name, before, after) in FILES {
        let text = corpus_file(name);
        assert_eq!(text, before.trim_start_matches('\n'), "{name} before");
        let fixed = fixed(&text, &RuleSet::of(Preset::All)).text;
        assert_eq!(fixed, after.trim_start_matches('\n'), "{name} after");
    }
}

const FILES: [(&str, &str, &str); 10] = [
    (
        "apt-comments-between-spaces",
        r#"
FROM debian:12
# the tools that the entry point needs
RUN apt-get update && \
  # TLS roots
  apt-get install -y ca-certificates curl && \
  # keep the layer small
  rm -rf /var/lib/apt/lists/*
ENV LANG C.UTF-8
CMD run
"#,
        r#"
FROM debian:12

# the tools that the entry point needs
RUN <<EOF
set -e
apt-get update
# TLS roots
apt-get install --no-install-recommends -y ca-certificates curl
# keep the layer small
rm -rf /var/lib/apt/lists/*
EOF

ENV LANG=C.UTF-8

CMD ["run"]
"#,
    ),
    (
        "apt-leading-and-tabs",
        r#"
FROM debian:12 as Base
RUN apt-get update \
	&& apt-get install -y --no-install-recommends \
		git \
		# needed by git
		openssh-client \
		curl \
	&& rm -rf /var/lib/apt/lists/* /tmp/*

RUN groupadd app \
	&& useradd -g app app
USER app
"#,
        r#"
FROM debian:12 AS base

RUN --mount=type=cache,target=/var/cache/apt,id=apt,sharing=locked \
	--mount=type=cache,target=/var/lib/apt,id=aptlib,sharing=locked \
	rm -f /etc/apt/apt.conf.d/docker-clean \
	&& apt-get update \
	&& apt-get install -y --no-install-recommends \
		git \
		# needed by git
		openssh-client \
		curl \
	&& rm -rf /tmp/*

RUN groupadd app \
	&& useradd -g app app

USER app
"#,
    ),
    (
        "comment-inside-env-spaces",
        r#"
FROM alpine:3.20
ENV A=1 \
    # the second one
    B=2 \
    C=3
ARG X
    
RUN echo "$A" \
    # said once
    && echo "$B" && echo "$C"
"#,
        r#"
FROM alpine:3.20

ENV A=1 \
    # the second one
    B=2 \
    C=3

ARG X

RUN <<EOF
set -e
echo "$A"
# said once
echo "$B"
echo "$C"
EOF
"#,
    ),
    (
        "config-by-echo-spaces",
        r#"
FROM debian:12
# defaults, see the manual
RUN echo "listen 80" > /etc/app.conf
RUN printf 'a\\nb\\n' > /etc/app.list
COPY \
  # the binary
  app \
  /usr/local/bin/app
"#,
        r#"
FROM debian:12

# defaults, see the manual
COPY <<EOF /etc/app.conf
listen 80
EOF

RUN printf 'a\\nb\\n' > /etc/app.list

COPY \
  # the binary
  app \
  /usr/local/bin/app
"#,
    ),
    (
        "labels-and-health-spaces",
        r#"
FROM nginx:1.27
LABEL a=1 b=2 \
    c=3
HEALTHCHECK --interval=5s --timeout=2s CMD curl -f http://localhost/ || exit 1
EXPOSE 80/TCP
STOPSIGNAL 15
"#,
        r#"
FROM nginx:1.27

LABEL a=1 \
    b=2 \
    c=3

HEALTHCHECK --interval=5s \
    --timeout=2s \
    CMD curl -f http://localhost/ || exit 1

EXPOSE 80/tcp

STOPSIGNAL SIGTERM
"#,
    ),
    (
        "pip-service-tabs",
        r#"
FROM python:3.12-slim as build
# wheels are built once
COPY requirements.txt .
RUN pip install --no-cache-dir \
	# pinned in the file
	-r requirements.txt

FROM python:3.12-slim
COPY --from=build /usr/local /usr/local
ENV PYTHONUNBUFFERED 1
CMD python -m app
"#,
        r#"
FROM python:3.12-slim AS build

# wheels are built once
COPY requirements.txt .

RUN --mount=type=cache,target=/root/.cache/pip,id=pip \
	pip install \
	# pinned in the file
	-r requirements.txt

FROM python:3.12-slim

COPY --from=build /usr/local /usr/local

ENV PYTHONUNBUFFERED=1

CMD ["python", "-m", "app"]
"#,
    ),
    (
        "set-chain-spaces",
        r#"
FROM alpine:3.20
RUN set -ex && apk add --no-cache curl && curl -fsSL -o /tmp/a https://example.com/a && install /tmp/a /usr/bin/a && rm /tmp/a
WORKDIR app
"#,
        r#"
FROM alpine:3.20

RUN --mount=type=cache,target=/var/cache/apk,id=apk,sharing=locked <<EOF
set -ex
apk add curl
curl -fsSL -o /tmp/a https://example.com/a
install /tmp/a /usr/bin/a
rm /tmp/a
EOF

WORKDIR /app
"#,
    ),
    (
        "set-eux-list-tabs",
        r#"
FROM debian:bookworm-slim

RUN set -eux; \
	apt-get update; \
	apt-get install -y --no-install-recommends gosu; \
	rm -rf /var/lib/apt/lists/*; \
	# verify that the binary works
	gosu nobody true

RUN set -eux; \
	mkdir -p /data; \
	[ -d /data ] || exit 1; \
	chown nobody /data
"#,
        r#"
FROM debian:bookworm-slim

RUN --mount=type=cache,target=/var/cache/apt,id=apt,sharing=locked \
	--mount=type=cache,target=/var/lib/apt,id=aptlib,sharing=locked \
	set -eux; \
	rm -f /etc/apt/apt.conf.d/docker-clean; \
	apt-get update; \
	apt-get install -y --no-install-recommends gosu; \
	# verify that the binary works
	gosu nobody true

RUN set -eux; \
	mkdir -p /data; \
	[ -d /data ] || exit 1; \
	chown nobody /data
"#,
    ),
    (
        "two-heredoc-candidates-spaces",
        r#"
FROM alpine:3.20
RUN mkdir -p /srv/a && chown nobody /srv/a && chmod 700 /srv/a
RUN mkdir -p /srv/b && chown nobody /srv/b && chmod 700 /srv/b
# the volume comes last
VOLUME /srv/a /srv/b
"#,
        r#"
FROM alpine:3.20

RUN <<EOF
set -e
mkdir -p /srv/a
chown nobody /srv/a
chmod 700 /srv/a
EOF

RUN <<EOF
set -e
mkdir -p /srv/b
chown nobody /srv/b
chmod 700 /srv/b
EOF

# the volume comes last
VOLUME /srv/a /srv/b
"#,
    ),
    (
        "yum-image-spaces",
        r#"
FROM rockylinux:9
RUN yum install -y gcc make && \
  yum clean all
RUN dnf install -y \
    tar \
    # for the archives
    bzip2 && dnf clean all
"#,
        r#"
FROM rockylinux:9

RUN --mount=type=cache,target=/var/cache/yum,id=yum,sharing=locked \
  yum install -y gcc make

RUN --mount=type=cache,target=/var/cache/dnf,id=dnf,sharing=locked \
  dnf install -y \
    tar \
    # for the archives
    bzip2
"#,
    ),
];
