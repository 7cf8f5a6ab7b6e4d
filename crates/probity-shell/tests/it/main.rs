//! What the shell parser makes of texts, by the text under each span.

mod calls;
mod errors;
mod failure;
mod inner;
mod lexed;
mod limits;
mod mutations;
mod outline;
mod structure;
mod words;
