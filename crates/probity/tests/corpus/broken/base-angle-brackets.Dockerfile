FROM <your-image> as base
ENV A b
