FROM debian:12
%%APT_BLOCK%%
ENV A b
CMD run
