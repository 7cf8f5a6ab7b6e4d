//! The report as a page, in a real browser: hostile text stays text, nothing runs, and both color
//! schemes have their colors.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use probity_audit::Report;
use serde_json::json;

use crate::binary::tools;

/// What would be seen at once if any of it were more than text.
const HOSTILE: &str = "</code></pre></article></main></style><script>document.title='owned'</script>\
    <img src=x onerror=\"document.title='owned'\"><iframe src=\"//127.0.0.1\"></iframe>'\"&lt;";

fn page() -> String {
    let finding = |level: &str, print: &str| {
        json!({
            "skill_id": HOSTILE, "also_found_by": [HOSTILE], "title": HOSTILE,
            "severity": "critical", "summary": HOSTILE, "evidence": [HOSTILE],
            "recommendation": HOSTILE, "file": HOSTILE, "line": 3, "verified": true,
            "fingerprint": print, "impact": HOSTILE, "likelihood": "high",
            "status": "fixed", "status_reason": HOSTILE,
            "exploit": {
                "level": level, "reason": HOSTILE, "tried": [HOSTILE], "test_file": HOSTILE,
                "test_name": HOSTILE, "control_name": HOSTILE, "test_code": HOSTILE,
                "fix_patch": format!("-{HOSTILE}\n+{HOSTILE}\n"), "output": HOSTILE,
            },
        })
    };
    let report = json!({
        "title": HOSTILE, "generated_at": HOSTILE,
        "findings": [finding("exploited-and-fixed", "\"><b>"), finding("quoted", "2")],
        "unverified": [finding("quoted", "3")],
        "scope": {
            "tool": HOSTILE, "commit": HOSTILE, "provider": HOSTILE, "model": HOSTILE,
            "files": [{"name": HOSTILE, "digest": HOSTILE}],
            "skills": [{"name": HOSTILE, "digest": HOSTILE}],
        },
    });
    Report::parse(&report.to_string()).unwrap().html()
}

/// What the browser writes for a page, given these flags.
fn browse(page: &Path, profile: &Path, flags: &[&str]) -> String {
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=400,300"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(flags)
        .arg(format!("file://{}", page.display()))
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Prints the first pixel of a picture.
const FIRST_PIXEL: &str = "import struct, sys, zlib\n\
    data, at, packed = open(sys.argv[1], 'rb').read(), 8, b''\n\
    while at < len(data):\n    \
        size, kind = struct.unpack('>I4s', data[at:at + 8])\n    \
        packed += data[at + 8:at + 8 + size] if kind == b'IDAT' else b''\n    \
        at += 12 + size\n\
    print(zlib.decompress(packed)[1:4].hex())\n";

#[test]
fn a_browser_shows_hostile_text_as_text_on_light_and_dark_screens() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.html");
    fs::write(&path, page()).unwrap();
    let profile = dir.path().join("profile");
    let dom = browse(&path, &profile, &["--dump-dom"]);
    assert_eq!(dom.matches("<article ").count(), 3, "{dom}");
    assert_eq!(dom.matches("<details>").count(), 3 * 3 + 1, "{dom}");
    for element in ["<script", "<img", "<iframe", "<b>"] {
        assert!(!dom.contains(element), "{element} is an element of the page:\n{dom}");
    }
    // A page whose script had run would have another title.
    let title = dom.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0;
    insta::assert_snapshot!(title, @r#"&lt;/code&gt;&lt;/pre&gt;&lt;/article&gt;&lt;/main&gt;&lt;/style&gt;&lt;script&gt;document.title='owned'&lt;/script&gt;&lt;img src=x onerror="document.title='owned'"&gt;&lt;iframe src="//127.0.0.1"&gt;&lt;/iframe&gt;'"&amp;lt;"#);
    for (scheme, color) in [("0", "0d1117"), ("1", "ffffff")] {
        let picture = dir.path().join(format!("{scheme}.png"));
        let flags = [
            format!("--blink-settings=preferredColorScheme={scheme}"),
            format!("--screenshot={}", picture.display()),
        ];
        browse(&path, &profile, &flags.each_ref().map(String::as_str));
        let mut python = Command::new(tools().join("python/bin/python"));
        let output = python.args(["-c", FIRST_PIXEL]).arg(&picture).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), color, "scheme {scheme}");
    }
}
