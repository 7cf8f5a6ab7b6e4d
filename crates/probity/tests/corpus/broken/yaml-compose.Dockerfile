services:
  web:
    image: nginx
    ports:
      - "80:80"
