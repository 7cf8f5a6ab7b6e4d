//! Any bytes as a stream of ACP frames: read in pieces, taken apart, and rewritten.
#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_acp::{Envelope, Frame, FrameReader, Splice, find};

/// Paths that the proxy rewrites, and one that every message has a part of.
const PATHS: [&str; 4] = ["params.cwd", "params.sessionId", "params.*.path", "id"];

fuzz_target!(|bytes: &[u8]| {
    let mut reader = FrameReader::with_line_limit(bytes, 4096);
    while let Ok(Some(frame)) = reader.read_frame() {
        if let Frame::Message(message) = frame {
            rewrite(&message);
        }
    }
});

/// A splice that puts every value back must not change the text, and one that replaces values must
/// leave a message that can be read.
fn rewrite(message: &Envelope<'_>) {
    let mut same = Splice::new(message);
    let mut other = Splice::new(message);
    for path in PATHS {
        let values = find(message, path).len();
        assert_eq!(same.replace(path, |value| Some(value.to_owned())), values, "{path}");
        other.replace(path, |_| Some("\"/workspace\"".to_owned()));
    }
    assert_eq!(same.finish(), message.text());
    let changed = other.finish();
    assert!(Envelope::parse(&changed).is_some(), "{changed}");
}
