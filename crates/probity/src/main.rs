//! The one binary, under whichever name it is called.

mod config;
mod report;

fn main() {}
