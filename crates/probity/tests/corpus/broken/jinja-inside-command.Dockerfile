FROM debian:12 as Base
RUN apt-get update && apt-get install -y {{ packages | join(" ") }}
ENV A b
