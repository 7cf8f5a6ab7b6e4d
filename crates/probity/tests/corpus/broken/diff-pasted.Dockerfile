--- a/Dockerfile
+++ b/Dockerfile
@@ -1,2 +1,2 @@
-FROM alpine:3.19 as base
+FROM alpine:3.20 as base
 ENV A b
