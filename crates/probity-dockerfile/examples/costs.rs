//! What reading Dockerfiles costs, layer by layer, for the files that are named:
//! `cargo run --release -p probity-dockerfile --example costs -- FILE…`.
#![expect(clippy::print_stdout, reason = "it prints a table")]

use std::{fs, hint::black_box, time::Instant};

use probity_dockerfile::{Facts, parse};

/// Often enough for a figure that does not jump.
const ROUNDS: u32 = 20;

fn main() -> std::io::Result<()> {
    let texts: Vec<String> =
        std::env::args().skip(1).map(fs::read_to_string).collect::<Result<_, _>>()?;
    let files: Vec<_> = texts.iter().map(|text| parse(text)).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} files, {bytes} bytes, mean of {ROUNDS} rounds", texts.len());
    time("parse", || {
        for text in &texts {
            black_box(parse(text));
        }
    });
    time("facts", || {
        for file in &files {
            black_box(Facts::of(file));
        }
    });
    // Facts are made anew, since a shell text is parsed once and kept.
    time("facts and shell texts", || {
        for file in &files {
            let facts = Facts::of(file);
            for index in 0..file.instructions.len() {
                black_box(facts.scripts(file, index));
            }
        }
    });
    Ok(())
}

fn time(what: &str, work: impl Fn()) {
    work();
    let started = Instant::now();
    for _ in 0..ROUNDS {
        work();
    }
    println!("{what:<22} {:.3?}", started.elapsed() / ROUNDS);
}
