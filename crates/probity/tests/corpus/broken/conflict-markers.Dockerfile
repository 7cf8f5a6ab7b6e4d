FROM debian:12 as base
<<<<<<< HEAD
RUN apt-get update && apt-get install -y curl
=======
RUN apt-get update && apt-get install -y wget
>>>>>>> feature
ENV A b
