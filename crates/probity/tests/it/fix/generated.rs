//! Dockerfiles by the hundred, made by rule and not by chance, and everything that a fix promises.
