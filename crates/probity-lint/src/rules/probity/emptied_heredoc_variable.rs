//! Variables that a heredoc loses because the builder expands them.

use probity_dockerfile::{Instruction, Keyword};
use probity_finding::{Finding, Span};

use crate::{engine::context::Context, facts::base_image};

rule! {
    /// # What it does
    ///
    /// Flags an undefined variable in a `COPY` or `ADD` heredoc with an unquoted delimiter
    /// (`<<EOF`).
    ///
    /// A variable is undefined if no `ARG` or `ENV` defines it. Examples are `$host` in an nginx
    /// configuration and `$1` in a script. The rule ignores a name with capital letters if the base
    /// image may define it.
    ///
    /// # Why it is bad
    ///
    /// The builder replaces the variable with an empty string before it writes the file. To keep
    /// the text as it is, quote the delimiter (`<<'EOF'`) or write `\$host`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM nginx:1.27
    /// COPY <<EOF /etc/nginx/conf.d/app.conf
    /// proxy_set_header Host $host;
    /// EOF
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM nginx:1.27
    /// COPY <<'EOF' /etc/nginx/conf.d/app.conf
    /// proxy_set_header Host $host;
    /// EOF
    /// ```
    EmptiedHeredocVariable {
        name: "probity/emptied-heredoc-variable",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.file.instructions.iter().enumerate() {
        let Some((name, span)) = first_lost(context, index, instruction) else { continue };
        let message = format!(
            "the builder replaces `${name}` with nothing; quote the delimiter to keep the text as it is"
        );
        findings.push(context.finding(span, message));
    }
}

/// The first variable that becomes nothing, and the marker of its heredoc.
fn first_lost<'a>(
    context: &Context<'a>,
    index: usize,
    instruction: &'a Instruction,
) -> Option<(&'a str, Span)> {
    if !matches!(instruction.keyword, Keyword::Copy | Keyword::Add) {
        return None;
    }
    let scope = context.facts.scope(index);
    instruction.heredocs().iter().filter(|heredoc| heredoc.expand).find_map(|heredoc| {
        let body = heredoc.body.slice(context.file.text)?;
        let is_lost = |name: &&str| {
            // About a name in capitals the image below may know something.
            let may_be_set = name.chars().any(|letter| letter.is_ascii_uppercase())
                && (base_image::root_image_by_default(context, index).is_none()
                    || base_image::may_define(context, index, name));
            scope.get(name).is_none() && !may_be_set
        };
        Some((plain_variables(body).find(is_lost)?, heredoc.marker))
    })
}

/// The names in `$NAME` and `${NAME}`; a default or an escape says that the author thought of it.
fn plain_variables(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('$').filter_map(|(at, _)| {
        let (before, rest) = (text.get(..at)?, text.get(at + 1..)?);
        let (rest, is_braced) = rest.strip_prefix('{').map_or((rest, false), |rest| (rest, true));
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let name = rest.get(..end.unwrap_or(rest.len()))?;
        let is_whole = !is_braced || rest.get(name.len()..)?.starts_with('}');
        (!before.ends_with('\\') && is_whole && !name.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/emptied-heredoc-variable";

    #[test]
    fn the_marker_is_underlined() {
        check(
            RULE,
            "\
FROM debian:12
ARG SET=1
COPY <<EOF /a
     ^^^^^ the builder replaces `$host` with nothing; quote the delimiter to keep the text as it is
b $SET ${host} \\$c
EOF
",
        );
    }

    #[test]
    fn kept_known_and_defaulted_variables_are_silent() {
        for (marker, body) in [
            ("<<'EOF'", "$host"),
            ("<<EOF", "$SET ${SET} \\$host ${host:-b} cost: 5$"),
            ("<<EOF", "$PATH"),
        ] {
            check(RULE, &format!("FROM debian:12\nARG SET=1\nCOPY {marker} /a\n{body}\nEOF\n"));
        }
        check(RULE, "FROM corp/base:1\nCOPY <<EOF /a\n$BASE_HOME\nEOF\n");
        check(RULE, "FROM debian:12\nRUN <<EOF\necho $host\nEOF\n");
    }
}
