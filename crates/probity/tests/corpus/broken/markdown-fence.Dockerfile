# Image

```Dockerfile
FROM alpine:3.20 as base
ENV A b
```
