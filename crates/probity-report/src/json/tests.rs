//! The JSON report, key by key.

use probity_finding::{LineIndex, Span};

use super::{MOST_SOURCE, source_lines};
use crate::{Format, samples};

#[test]
fn the_source_of_a_finding_is_its_lines_while_they_are_few() {
    let long = format!("RUN a\\\r\n{}\r\nz\n", "b".repeat(MOST_SOURCE));
    for (text, span, expected) in [
        ("a\r\nbc\r\nd", Span::new(4, 5), Some("bc")),
        ("a\r\nbc\r\nd", Span::new(0, 7), Some("a\r\nbc")),
        ("", Span::new(0, 7), Some("")),
        (&long, Span::new(0, long.len()), Some("RUN a\\")),
        (&long, Span::new(0, 3), Some("RUN a\\")),
        (&long[3..], Span::new(9, 12), Some(&long[8..8 + MOST_SOURCE])),
        (&long.replace("\r\n", ""), Span::at(5), None),
    ] {
        assert_eq!(source_lines(&LineIndex::new(text), span), expected, "{span:?}");
    }
}

#[test]
fn the_shape_is_the_one_that_scripts_parse() {
    insta::assert_snapshot!(samples::report(Format::Json), @r##"
{"files":[
{"file":"app/Dockerfile","violations":[{"location":{"file":"app/Dockerfile","start":{"line":-1,"column":-1},"end":{"line":-1,"column":-1}},"rule":"tally/no-user","message":"no stage sets a user","severity":"info","suggestedFix":{"description":"Rework the file","safety":2,"isPreferred":true,"needsResolve":true,"resolverId":"ai-autofix","priority":5},"fingerprint":"487a867cf0d4e8a2c4a07463cdcfc2ce"},{"location":{"file":"app/Dockerfile","start":{"line":1,"column":5},"end":{"line":1,"column":11}},"rule":"hadolint/DL3006","message":"the image is not tagged; pin a version","detail":"An untagged image is `latest`,\nwhich changes without notice.","severity":"warning","docUrl":"https://example.org/rules/DL3006","sourceCode":"FROM debian as build","suggestedFix":{"description":"Pin the version","edits":[{"location":{"file":"app/Dockerfile","start":{"line":1,"column":5},"end":{"line":1,"column":11}},"newText":"debian:12"}],"safety":1,"isPreferred":true},"fingerprint":"82b968d498610fd9d57c3b39779e5591"},{"location":{"file":"app/Dockerfile","start":{"line":1,"column":12},"end":{"line":1,"column":14}},"rule":"buildkit/FromAsCasing","message":"`as` and `FROM` differ in case","severity":"style","sourceCode":"FROM debian as build","suggestedFix":{"description":"Write `AS`","edits":[{"location":{"file":"app/Dockerfile","start":{"line":1,"column":12},"end":{"line":1,"column":14}},"newText":"AS"}],"isPreferred":true},"suggestedFixes":[{"description":"Write `AS`","edits":[{"location":{"file":"app/Dockerfile","start":{"line":1,"column":12},"end":{"line":1,"column":14}},"newText":"AS"}],"isPreferred":true},{"description":"Drop the name","edits":[{"location":{"file":"app/Dockerfile","start":{"line":1,"column":11},"end":{"line":1,"column":20}},"newText":""}],"safety":2}],"fingerprint":"abd1385446f8366751803e695e6f9187","related":[{"location":{"file":"app/Dockerfile","start":{"line":4,"column":0},"end":{"line":4,"column":17}},"message":"the stage is used here"}]},{"location":{"file":"app/Dockerfile","start":{"line":2,"column":17},"end":{"line":2,"column":21}},"rule":"hadolint/DL3004","message":"sudo does not work as it seems to","severity":"error","sourceCode":"RUN echo 😀 && sudo make","fingerprint":"2e760918118903bacd76f4e63b969ae5"}]},
{"file":"a b/ü%20&,:.Dockerfile","violations":[{"location":{"file":"a b/ü%20&,:.Dockerfile","start":{"line":1,"column":3},"end":{"line":1,"column":7}},"rule":"x/from","message":"a | b ` * _x_ <b>&amp; [l](u)\\","severity":"warning","sourceCode":"\ufeffFROM a:1","fingerprint":"80b74f28b47dc79efb22d0f846fa9acc"},{"location":{"file":"a b/ü%20&,:.Dockerfile","start":{"line":2,"column":0},"end":{"line":3,"column":0}},"rule":"x/run","message":"<>&\"' 100% \u001b[31mred\u0000\nsecond, line: \u009b\u202e","severity":"warning","sourceCode":"RUN echo '\u001b[31m<&>\"%\u0000' \u202e","suggestedFix":{"description":"Add a line\u0007","edits":[{"location":{"file":"a b/ü%20&,:.Dockerfile","start":{"line":2,"column":0},"end":{"line":2,"column":0}},"newText":"# \"quoted\"\n"}],"isPreferred":true},"fingerprint":"331594bfa163e99ebeb845881f14cf55"}]},
{"file":"empty.Dockerfile","violations":[{"location":{"file":"empty.Dockerfile","start":{"line":-1,"column":-1},"end":{"line":-1,"column":-1}},"rule":"buildkit/empty","message":"the file is empty","severity":"error","fingerprint":"a09ac550925198d2cf87482149431eec"}]}
],
"summary":{"total":7,"errors":2,"warnings":3,"info":1,"style":1,"files":3},
"files_scanned":4,"rules_enabled":7}
"##);
}
