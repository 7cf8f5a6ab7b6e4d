FROM node:20
ONBUILD COPY package.json .
ONBUILD RUN npm install && npm cache clean --force
# the rest of the sources
ONBUILD COPY . .
CMD npm start
