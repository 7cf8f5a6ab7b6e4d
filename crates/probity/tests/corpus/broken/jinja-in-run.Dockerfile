FROM debian:12
RUN apt-get update && apt-get install -y \
{% for p in packages %}
    {{ p }} \
{% endfor %}
    curl
ENV A b
