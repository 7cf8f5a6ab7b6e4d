FROM python:{{cookiecutter.python_version}}
ENV PYTHONUNBUFFERED 1
ENTRYPOINT python -m {{cookiecutter.slug}}
