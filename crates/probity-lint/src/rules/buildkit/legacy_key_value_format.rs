//! ENV and LABEL with an equals sign.

use probity_dockerfile::{Arguments, Dockerfile, Expander, Instruction, Keyword, Pair};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{
    engine::context::Context,
    text::quoting::{mean_the_same, quoted},
};

rule! {
    /// # What it does
    ///
    /// Flags an `ENV` or `LABEL` with a space between name and value.
    ///
    /// The rule ignores instructions after `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// In this form everything after the name is the value, including further names. For example,
    /// `ENV A 1 B=2` sets one variable. The form exists only for old files.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// ENV LANG C.UTF-8
    /// ENV GREETING hello  $NAME
    /// LABEL maintainer "A Team"
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// ENV LANG=C.UTF-8
    /// ENV GREETING="hello  $NAME"
    /// LABEL maintainer="A Team"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// ENV LANG=C.UTF-8
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe: the fix writes an equals sign, and adds quotes only if the value needs them. probity
    /// offers a fix only if the new form has exactly the same value, with the same variables. It
    /// offers no fix if a comment is between name and value.
    LegacyKeyValueFormat {
        name: "buildkit/LegacyKeyValueFormat",
        severity: Warning,
        category: Style,
        fixes: Safe,
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
            let finding = context.finding(pair.key.span, message).with_detail(
                "Everything after the name belongs to the value, even if it looks like another name.",
            );
            let fix = fix(context.file, instruction, pair);
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

/// Writes the pair with an equals sign, in the shortest of the ways that mean the same.
fn fix(file: &Dockerfile<'_>, instruction: &Instruction, pair: &Pair) -> Option<Fix> {
    let value = pair.value.as_ref()?;
    let gap = Span::new(pair.key.span.end, value.span.start);
    if gap.slice(file.text)?.contains('#') {
        return None;
    }
    // A value that no build can read has no other way to be written.
    let constant = Expander::new(file.escape, &|_| None).expand(&value.text).ok()?;
    let means = |written: &str| {
        let legacy = format!("{} {} {}", instruction.keyword, pair.key.text, value.text);
        let modern = format!("{} {}={written}", instruction.keyword, pair.key.text);
        mean_the_same(&legacy, &modern, file.escape)
    };
    let title = "Write it with an equals sign";
    // The value stays where it is, with its line ends and the comments between its lines.
    for (before, behind) in [("=", ""), ("=\"", "\"")] {
        // Quotes within quotes may happen to work out, and nobody could read them.
        let is_readable = behind.is_empty() || !value.text.contains('"');
        let written = format!("{behind}{}{behind}", value.text);
        if is_readable && means(&written) {
            let mut edits = vec![Edit::replace(gap, before)];
            if !behind.is_empty() {
                edits.push(Edit::insert(value.span.end, behind));
            }
            return Some(Fix::safe(title, edits));
        }
    }
    // With quotes and blanks mixed it is written anew, as the text that it comes to.
    let is_constant = constant.used.is_empty() && constant.unmatched.is_empty();
    if !is_constant {
        return None;
    }
    let written = quoted(&constant.text, file.escape)?;
    let in_one_line = !value.span.slice(file.text)?.contains('\n');
    let edit = Edit::replace(gap.to(value.span), format!("={written}"));
    (in_one_line && means(&written)).then(|| Fix::safe(title, vec![edit]))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

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

    #[test]
    fn the_value_is_the_same_to_the_last_quote() {
        let cases = [
            ("ENV A b", "ENV A=b"),
            ("ENV A   b", "ENV A=b"),
            ("ENV A \"b\"", "ENV A=\"b\""),
            ("LABEL maintainer \"A <a@b.c>\"", "LABEL maintainer=\"A <a@b.c>\""),
            ("ENV A 'b  c'", "ENV A='b  c'"),
            ("ENV A b c=d", "ENV A=\"b c=d\""),
            ("ENV A b=c", "ENV A=b=c"),
            ("ENV PATH $PATH:/x", "ENV PATH=$PATH:/x"),
            ("ENV A $B  $C", "ENV A=\"$B  $C\""),
            ("ENV A ${B:-c}", "ENV A=${B:-c}"),
            // What quotes mean inside the braces is not worth the risk.
            ("ENV A $B  ${C:-d}", "ENV A $B  ${C:-d}"),
            ("ENV A '$B' c", "ENV A=\"\\$B c\""),
            ("ENV A b \"c d\" e", "ENV A=\"b c d e\""),
            ("ENV A it's", "ENV A it's"),
            ("ENV A b\\ c", "ENV A=b\\ c"),
            ("ENV A b\\\\c d", "ENV A=\"b\\\\c d\""),
            ("ENV A \\$B c", "ENV A=\"\\$B c\""),
            ("ENV A \"$B\" c", "ENV A \"$B\" c"),
            ("ENV A b \\\n  c", "ENV A=\"b \\\n  c\""),
            ("ENV A b \\\n  # why\n  c", "ENV A=\"b \\\n  # why\n  c\""),
            ("ENV A \\\n  # why\n  c", "ENV A \\\n  # why\n  c"),
            ("ENV A \\\n  c", "ENV A=c"),
            ("ENV A b # c", "ENV A=\"b # c\""),
        ];
        for (before, after) in cases {
            let file = |line: &str| format!("FROM a\n{line}\nUSER x\n");
            fixed(RULE, &file(before), &file(after));
        }
        fixed(
            RULE,
            "# escape=`\nFROM a\nENV A C:\\b c\nENV D C:\\\n",
            "# escape=`\nFROM a\nENV A=\"C:\\b c\"\nENV D=C:\\\n",
        );
    }
}
