FROM debian:12 as base
INCLUDE common.Dockerfile
ENV A b
