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
