# The web shop: an API and its workers in one image.
FROM node:latest AS Build
LABEL org.opencontainers.image.title=shop

ENV APP_ENV=production
ENV PORT 8080

# Build tools for native modules
RUN apt-get update && apt-get install -y \
    build-essential \
    libvips-dev \
    python3

WORKDIR /srv/shop
COPY package.json package-lock.json ./
RUN npm ci

COPY tsconfig.json ./
COPY src src
COPY public public

RUN npm run build && npm prune --omit=dev

# Images are made smaller by a tool of our own.
RUN curl -fsSL https://example.com/shrink.tgz | tar xz -C /usr/local/bin
RUN cat assets.txt | sort | uniq > assets.sorted
RUN cat vendors.txt | sort | uniq > vendors.sorted
RUN cat routes.txt | sort | uniq > routes.sorted

FROM debian:12-slim
LABEL org.opencontainers.image.title=shop

# What the API needs at run time
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates \
        libvips42 \
        nodejs \
        tini

RUN useradd --create-home shop
WORKDIR /srv/shop

COPY --from=build /srv/shop/node_modules node_modules
COPY --from=build /srv/shop/dist dist
COPY --from=biuld /srv/shop/public public

# Where uploads go until they are checked
RUN mkdir -p /srv/uploads \
    && sudo chown shop /srv/uploads

ENV SESSION_SECRET=change-me
ENV NODE_OPTIONS=--enable-source-maps
EXPOSE 8080

USER shop
VOLUME /srv/uploads

HEALTHCHECK --interval=30s CMD node dist/health.js
ENTRYPOINT ["tini", "--"]
CMD node dist/server.js
