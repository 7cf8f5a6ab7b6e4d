//! The tests of probity-image: pure comparisons of written roots, and experiments on real engines.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say where")]

mod bases;
mod bounded;
mod buildah;
mod corpus;
mod host_side;
mod interrupted;
mod lost_layers;
mod roots;
#[path = "../../../probity-sandbox/tests/it/engines/server.rs"]
mod server;
mod trial;
#[path = "../../../probity/tests/it/whole_corpus.rs"]
mod whole_corpus;
