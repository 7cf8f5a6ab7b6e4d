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
