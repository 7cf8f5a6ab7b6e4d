FROM nginx:1.27
LABEL a=1 b=2 \
    c=3
HEALTHCHECK --interval=5s --timeout=2s CMD curl -f http://localhost/ || exit 1
EXPOSE 80/TCP
STOPSIGNAL 15
