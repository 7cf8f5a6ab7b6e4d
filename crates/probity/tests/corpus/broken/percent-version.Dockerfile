FROM ruby:3.3
ENV APP_VERSION %%VERSION%%
ENV APP_SHA256 %%SHA%%
RUN curl -O https://example.com/app-%%VERSION%%.tgz
