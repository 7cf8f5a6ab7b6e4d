FROM alpine:3.20
ENV A=1 \
    # the second one
    B=2 \
    C=3
ARG X
    
RUN echo "$A" \
    # said once
    && echo "$B" && echo "$C"
