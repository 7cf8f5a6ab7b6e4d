FROM
ENV A b
RUN apk add curl
