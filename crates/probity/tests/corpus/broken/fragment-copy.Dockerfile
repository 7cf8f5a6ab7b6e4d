COPY . /app
WORKDIR app
CMD npm start
