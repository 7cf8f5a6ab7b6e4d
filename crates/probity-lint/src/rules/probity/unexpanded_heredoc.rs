//! Build arguments that a quoted heredoc keeps as they are written.

use probity_dockerfile::{Arguments, Instruction, Keyword, VariableKind};
use probity_finding::{Finding, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a build argument in a `COPY` or `ADD` heredoc whose delimiter is quoted (`<<'EOF'`).
    ///
    /// The rule checks only names that an `ARG` in the stage declares, because no program can
    /// expand those later. It ignores files that begin with `#!`.
    ///
    /// # Why it is bad
    ///
    /// If the delimiter is quoted, the builder expands nothing. The file contains `${NAME}` instead
    /// of the value.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// ARG DB_HOST=db.internal
    /// COPY <<'EOF' /etc/app.ini
    /// host = ${DB_HOST}
    /// EOF
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// ARG DB_HOST=db.internal
    /// COPY <<EOF /etc/app.ini
    /// host = ${DB_HOST}
    /// EOF
    /// ```
    UnexpandedHeredoc {
        name: "probity/unexpanded-heredoc",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.file.instructions.iter().enumerate() {
        let Some((name, span)) = first_argument(context, index, instruction) else { continue };
        let message = format!(
            "the quoted delimiter keeps `${{{name}}}` as it is; remove the quotes to insert the value"
        );
        findings.push(context.finding(span, message));
    }
}

/// The first build argument in a heredoc that is not expanded, and the marker of the heredoc.
fn first_argument<'a>(
    context: &Context<'a>,
    index: usize,
    instruction: &'a Instruction,
) -> Option<(&'a str, Span)> {
    let is_file = matches!(instruction.keyword, Keyword::Copy | Keyword::Add)
        && matches!(instruction.arguments, Arguments::Transfer { .. });
    let quoted = instruction.heredocs().iter().filter(|heredoc| is_file && !heredoc.expand);
    quoted.into_iter().find_map(|heredoc| {
        let body = heredoc.body.slice(context.file.text)?;
        let is_script = body.trim_start().starts_with("#!");
        let scope = context.facts.scope(index);
        let is_argument = |name: &&str| {
            scope.get(name).is_some_and(|variable| variable.kind == VariableKind::Arg)
        };
        let name = mentioned(body).find(is_argument)?;
        (!is_script).then_some((name, heredoc.marker))
    })
}

/// The names in `$NAME` and `${NAME}`.
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        rest.get(..end.unwrap_or(rest.len()))
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/unexpanded-heredoc";

    #[test]
    fn the_marker_is_underlined() {
        for (marker, marks) in [("<<'EOF'", "^^^^^^^"), ("<<-\"EOF\"", "^^^^^^^^")] {
            check(
                RULE,
                &format!(
                    "FROM a\nARG HOST=b\nCOPY {marker} /c\n     {marks} the quoted delimiter keeps \
                     `${{HOST}}` as it is; remove the quotes to insert the value\nd = $HOST:1\nEOF\n"
                ),
            );
        }
    }

    #[test]
    fn other_files_and_other_variables_are_silent() {
        for (marker, body) in [
            ("<<EOF", "d = $HOST"),
            ("<<'EOF'", "d = $PORT ${HOME} $1 $$"),
            ("<<'EOF'", "#!/bin/sh\nexec d $HOST"),
            ("<<'EOF'", "d = HOST"),
            ("<<'EOF'", "d = $HOSTS"),
        ] {
            let text = format!("FROM a\nARG HOST=b\nENV PORT=1\nCOPY {marker} /c\n{body}\nEOF\n");
            check(RULE, &text);
        }
        check(RULE, "ARG HOST=b\nFROM a\nCOPY <<'EOF' /c\n$HOST\nEOF\n");
        check(RULE, "FROM a\nARG HOST=b\nENV HOST=$HOST\nCOPY <<'EOF' /c\n$HOST\nEOF\n");
        check(RULE, "FROM a\nARG HOST=b\nRUN <<'EOF'\necho $HOST\nEOF\n");
    }
}
