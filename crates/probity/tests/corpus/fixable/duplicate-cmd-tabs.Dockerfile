FROM alpine:3.20
# the old way
CMD ["a"]
# the new way
CMD ["b"]
ENTRYPOINT ["c"]
# kept for the tests
ENTRYPOINT ["d"]
