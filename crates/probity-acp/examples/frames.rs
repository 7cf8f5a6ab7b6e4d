//! How fast frames are read and rewritten: `cargo run --release -p probity-acp --example frames`.
//!
//! Run by hand; the figures depend on the machine and on what else it does, so nothing asserts them.
#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::io::{self, Read, Write};
use std::time::Instant;

use probity_acp::{FrameReader, FrameWriter, Splice};

fn main() -> io::Result<()> {
    for size in [20, 200, 4096, 1 << 20] {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"0123456789abcdef\",\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{}\"}}}}}}}}\n",
            "some text\\n".repeat(size / 10)
        );
        let count = (400_000_000 / line.len()).min(1_000_000);
        let (source, mut sink) = io::pipe()?;
        let writer = std::thread::spawn(move || -> io::Result<()> {
            let block = line.repeat((65_536 / line.len()).max(1));
            let blocks = count.div_ceil(block.len() / line.len());
            (0..blocks).try_for_each(|_| sink.write_all(block.as_bytes()))
        });
        measure(size, source)?;
        writer.join().map_err(|_| io::Error::other("the writing thread failed"))??;
    }
    Ok(())
}

/// Reads from a pipe, rewrites the session id, writes to nowhere: the data path of a proxy.
fn measure(size: usize, source: impl Read) -> io::Result<()> {
    let mut reader = FrameReader::new(source);
    let mut writer = FrameWriter::new(io::sink());
    let (mut messages, mut bytes) = (0_u64, 0_u64);
    let began = Instant::now();
    while let Some(message) = reader.read()? {
        messages += 1;
        bytes += message.text().len() as u64;
        let mut splice = Splice::new(&message);
        splice.replace("params.sessionId", |_| Some("\"fedcba9876543210\"".to_owned()));
        writer.write(&splice.finish())?;
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{size:>8} B of text: {:>9.0} messages/s, {:>6.0} MB/s",
        messages as f64 / seconds,
        bytes as f64 / seconds / 1e6
    );
    Ok(())
}
