RUN apt-get update && apt-get install -y curl
ENV A b
