FROM python:{{ python_version }}-slim
{% for package in packages %}
RUN pip install {{ package }}
{% endfor %}
ENV A 1
