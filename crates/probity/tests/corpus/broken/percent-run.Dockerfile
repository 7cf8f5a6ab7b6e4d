FROM debian:12 as base
RUN wget https://example.com/%%FILE%% && tar xf %%FILE%% && rm %%FILE%%
ENV A b
