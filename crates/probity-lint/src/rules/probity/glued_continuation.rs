//! Words that a backslash at the end of a line joins.

use probity_dockerfile::{Arguments, Word as Argument};
use probity_finding::{Edit, Finding, Fix, Span};
use probity_shell::{Part, PartKind, Quote};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a word in `RUN`, `COPY` or `ADD` that a backslash joins with the next line.
    ///
    /// This happens if there is no space before the backslash and none at the start of the next
    /// line.
    ///
    /// The rule ignores quoted text. It also ignores words split at `/`, `=`, `,`, `:` or `@`,
    /// because authors split long URLs there on purpose.
    ///
    /// # Why it is bad
    ///
    /// The builder removes a continuation and puts nothing in its place, not even a space.
    /// `COPY a.json\` followed by `b.json /app/` copies a file called `a.jsonb.json`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// COPY package.json\
    /// package-lock.json /app/
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// COPY package.json \
    /// package-lock.json /app/
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// COPY package.json \
    /// package-lock.json /app/
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix inserts a space before the backslash, so one word becomes two. The
    /// author may have split one word on purpose.
    GluedContinuation {
        name: "probity/glued-continuation",
        severity: Warning,
        category: Correctness,
        fixes: Suggestion,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.each_nested() {
        if let Arguments::Transfer { json: false, sources, destination } = &instruction.arguments {
            let words = sources.iter().chain(destination.as_deref());
            findings.extend(words.filter_map(|word| argument(context, word)));
        }
        // What stands behind ONBUILD has the scripts of its ONBUILD.
        if matches!(&instruction.arguments, Arguments::Onbuild(_)) {
            continue;
        }
        for script in context.scripts(index) {
            for word in script.commands.iter().flat_map(|command| &command.words) {
                let is_plain = |part: &&Part| {
                    part.quote == Quote::None && matches!(part.kind, PartKind::Text(_))
                };
                // The shell's own continuation stands between two parts.
                if word.parts().iter().all(|part| is_plain(&part)) {
                    findings.extend(glued(context, word.span()))
                } else {
                    let parts = word.parts().iter().filter(is_plain);
                    findings.extend(parts.filter_map(|part| glued(context, part.span)));
                }
            }
        }
    }
}

fn argument(context: &Context<'_>, word: &Argument) -> Option<Finding> {
    let is_quoted = matches!(word.text.bytes().next(), Some(b'"' | b'\''));
    (!is_quoted).then(|| glued(context, word.span)).flatten()
}

/// A finding where what is written at a span is divided by a line end.
fn glued(context: &Context<'_>, span: Span) -> Option<Finding> {
    let written = span.slice(context.file.text)?;
    let (line, rest) = written.split_once('\n')?;
    let line = line.trim_end();
    let first = line.get(..line.len().checked_sub(1)?)?;
    // Comments between them are gone in the end.
    let second = rest.lines().find(|line| !line.trim_start().starts_with('#'))?;
    let is_divider = |it: char| matches!(it, '/' | '=' | ',' | ':' | '@');
    if first.is_empty()
        || first.ends_with(is_divider)
        || second.starts_with(is_divider)
        || second.starts_with([' ', '\t'])
    {
        return None;
    }
    let end = span.start + first.len();
    let message = "the backslash joins this word with the next line; put a space before it";
    let finding = context.finding(Span::new(span.start, end), message);
    Some(finding.with_fix(Fix::suggestion(
        "put a space before the backslash",
        vec![Edit::insert(end, " ")],
    )))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "probity/glued-continuation";
    const SAYS: &str = "the backslash joins this word with the next line; put a space before it";

    #[test]
    fn the_first_half_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
COPY a.json\
     ^^^^^^ {SAYS}
b.json /app/
RUN (apt-get install curl\
                     ^^^^ {SAYS}
# why
git)
RUN x=$(a b\
          ^ {SAYS}
--c) && echo "$x"
RUN <<EOF
set -e
rm one\
   ^^^ {SAYS}
two
EOF
"#
            ),
        );
    }

    #[test]
    fn what_is_divided_on_purpose_is_fine() {
        check(RULE, "FROM a\nRUN a &&\\\nb \\\nc\\\n  d; echo \"e\\\nf\" 'g\\\nh'\n");
        check(RULE, "FROM a\nRUN curl https://example.com/\\\nfile --x=\\\ny $z\\\n\n");
        check(RULE, "FROM a\nCOPY a \\\nb c/\nCOPY \"a\\\nb\" c/\n");
    }

    #[test]
    fn a_blank_comes_between() {
        fixed(
            RULE,
            "FROM a\nCOPY a.json\\\nb.json /app/\n",
            "FROM a\nCOPY a.json \\\nb.json /app/\n",
        );
        fixed(
            RULE,
            "# escape=`\nFROM a\nRUN a b`\n  c d`\ne\n",
            "# escape=`\nFROM a\nRUN a b`\n  c d `\ne\n",
        );
    }
}
