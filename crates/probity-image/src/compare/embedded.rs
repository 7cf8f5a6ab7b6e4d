//! Whether a file that was made by building has the contents of one that it was made of.
//!
//! A bundle keeps the lines of its sources, a sprite or an archive of texts their bytes in base64.
//! Whoever opens the bundle does not open its sources.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Lines shorter than this are in any program.
const SHORTEST_LINE: usize = 8;

/// Empty files are in nothing.
pub(super) fn is_in(source: &str, bundle: &[u8]) -> bool {
    let bundle = String::from_utf8_lossy(bundle);
    let whole = source.trim();
    if whole.is_empty() {
        return false;
    }
    // The last characters of base64 depend on what follows.
    let encoded = STANDARD.encode(source);
    let encoded = encoded.trim_end_matches('=');
    if bundle.contains(whole) || bundle.contains(encoded) {
        return true;
    }
    let lines: Vec<&str> =
        source.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE).collect();
    let kept = lines.iter().filter(|line| bundle.contains(**line)).count();
    // A bundler rewrites the lines that name other sources.
    kept > 0 && kept * 2 >= lines.len()
}

#[cfg(test)]
mod tests {
    use super::is_in;

    #[test]
    fn contents_are_kept_as_lines_or_in_base64() {
        let source = "const a = require('./a');\nexports.total = (n) => a(n) * 12;\n";
        for (bundle, expected) in [
            ("m['a.js'] = {\nconst a = load('a.js');\nexports.total = (n) => a(n) * 12;\n}", true),
            ("require('./total.js').total(3)", false),
            (
                "{\"a.js\":\"Y29uc3QgYSA9IHJlcXVpcmUoJy4vYScpOwpleHBvcnRzLnRvdGFsID0gKG4pID0+IGEobikgKiAxMjsK\"}",
                true,
            ),
        ] {
            assert_eq!(is_in(source, bundle.as_bytes()), expected, "{bundle}");
        }
        assert!(!is_in("", b"anything"));
    }
}
