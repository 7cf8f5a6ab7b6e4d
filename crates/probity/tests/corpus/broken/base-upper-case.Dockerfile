FROM Alpine:3.20 as base
ENV A b
