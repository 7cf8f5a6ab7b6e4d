{# generated: do not edit #}
FROM python:3.12-slim as app
ENV PYTHONUNBUFFERED 1
RUN pip install -r requirements.txt
