//! What the parser makes of Dockerfiles, seen from outside.

mod buildkit;
mod errors;
mod facts;
mod limits;
mod lossless;
mod spans;
