FROM rockylinux:9
RUN yum install -y gcc make && \
	yum clean all
RUN dnf install -y \
		tar \
		# for the archives
		bzip2 && dnf clean all
