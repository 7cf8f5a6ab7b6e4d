//! Statements about vulnerabilities inside the image.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY` of `*.vex.json` files.
    ///
    /// # Why it is bad
    ///
    /// If the VEX document is in the image, every new statement requires a new image. Docker Scout
    /// also ignores the document if the image has an attestation. Attach the document to the image
    /// as an attestation instead.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// COPY app.vex.json /usr/share/vex/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// COPY app /usr/bin/
    /// ```
    PreferVexAttestation {
        name: "tally/prefer-vex-attestation",
        severity: Info,
        category: Security,
        url: "https://tally.wharflab.com/rules/tally/prefer-vex-attestation/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, copy) in context.each(Keyword::Copy) {
        let Arguments::Transfer { sources, .. } = &copy.arguments else { continue };
        let is_vex = |text: &str| {
            let text = text.trim_matches(['"', '\'']).to_ascii_lowercase();
            text.ends_with(".vex.json") && !text.starts_with("<<")
        };
        let mut found = sources.iter().filter(|word| is_vex(&word.text)).map(|word| word.span);
        let Some(first) = found.next() else { continue };
        let message = "attach VEX documents as an attestation instead of copying them";
        findings.push(context.finding(first, message).with_more_places(found));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/prefer-vex-attestation";

    #[test]
    fn every_document_is_underlined() {
        check(
            RULE,
            "\
FROM a
COPY b *.vex.json \"c.VEX.json\" /d/
       ^^^^^^^^^^ attach VEX documents as an attestation instead of copying them
                  ^^^^^^^^^^^^ likewise
COPY b /c.vex.json
COPY vex.json /
RUN cp a.vex.json /
",
        );
    }
}
