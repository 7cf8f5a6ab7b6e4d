FROM debian:12
RUN cd /opt && make && make install
RUN sudo chown nobody /opt
ADD app.conf /etc/app.conf
