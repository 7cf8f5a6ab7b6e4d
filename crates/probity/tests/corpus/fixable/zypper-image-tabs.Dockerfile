FROM opensuse/leap:15.6
RUN zypper install -y curl && zypper clean
USER root
