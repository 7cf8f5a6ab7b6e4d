FROM ubuntu:24.04
# the vendor's script
RUN curl -sL https://example.com/install.sh | bash
RUN wget -O /tmp/x.tgz https://example.com/x.tgz && tar xf /tmp/x.tgz -C /opt && rm /tmp/x.tgz
