//! The one binary, under whichever name it is called.

mod report;

fn main() {}
