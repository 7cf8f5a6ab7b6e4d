//! The one binary, under whichever name it is called.

mod discover;
mod report;
mod source;

fn main() {}
