//! ENV and LABEL with an equals sign.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::Finding;

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `ENV` or a `LABEL` that separates name and value by a blank.
    ///
    /// What stands behind `ONBUILD` is not looked at.
    ///
    /// # Why it is bad
    ///
    /// In this form all that follows the name is the value, further names included: `ENV A 1 B=2`
    /// sets one variable. It exists only for old files.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// ENV LANG C.UTF-8
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// ENV LANG=C.UTF-8
    /// ```
    LegacyKeyValueFormat {
        name: "buildkit/LegacyKeyValueFormat",
        severity: Warning,
        category: Style,
        url: "https://docs.docker.com/go/dockerfile/rule/legacy-key-value-format/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for instruction in &context.file.instructions {
        let (Keyword::Env | Keyword::Label, Arguments::Pairs { legacy: true, pairs }) =
            (instruction.keyword, &instruction.arguments)
        else {
            continue;
        };
        // A name without a value is a syntax error, not an old form.
        for pair in pairs.iter().filter(|pair| pair.value.is_some()) {
            let keyword = instruction.keyword_text();
            let message = format!(
                "\"{keyword} key=value\" should be used instead of legacy \"{keyword} key value\" \
                 format"
            );
            findings.push(context.finding(pair.key.span, message).with_detail(
                "Everything behind the name belongs to the value, even what looks like another name.",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::check;

    const RULE: &str = "buildkit/LegacyKeyValueFormat";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            r#"
FROM a
ENV NAME some value B=2
    ^^^^ "ENV key=value" should be used instead of legacy "ENV key value" format
label \
  version 1
  ^^^^^^^ "label key=value" should be used instead of legacy "label key value" format
"#,
        );
    }

    #[test]
    fn pairs_triggers_and_other_instructions_are_silent() {
        check(
            RULE,
            "FROM a\nENV A=1 B=2\nENV C=\"d e\" \\\n  F=g\nLABEL \"h i\"=j\nARG k\nENV L= M=1\n",
        );
        check(RULE, "FROM a\nONBUILD ENV A b\nENV A\nRUN ENV A b\n");
    }
}
