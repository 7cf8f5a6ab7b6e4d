//! Parser directives that come too late.

use probity_dockerfile::Comment;
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `# syntax=…` or `# escape=…` line that comes after another comment or an
    /// instruction.
    ///
    /// # Why it is bad
    ///
    /// The builder reads parser directives only at the top of the file. In any other place, the
    /// line is an ordinary comment. The build then uses a different syntax version or escape
    /// character from the one in the line.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// # Our service
    /// # syntax=docker/dockerfile:1.7
    /// FROM debian:12
    /// ```
    ///
    /// ```dockerfile,good
    /// # syntax=docker/dockerfile:1.7
    /// # Our service
    /// FROM debian:12
    /// ```
    IgnoredParserDirective {
        name: "probity/ignored-parser-directive",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let directives = &context.file.directives;
    let comments = context.file.instructions.iter().flat_map(|instruction| instruction.comments());
    for comment in comments {
        let is_read = directives.iter().any(|directive| directive.line == comment.line);
        if let Some(name) = directive_name(context, comment)
            && !is_read
        {
            let message = format!(
                "this is an ordinary comment, so `{name}` has no effect; move it to the first line"
            );
            findings.push(context.finding(comment.span, message));
        }
    }
}

fn directive_name<'a>(context: &Context<'a>, comment: &Comment) -> Option<&'a str> {
    let text = comment.span.slice(context.file.text)?.strip_prefix('#')?;
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let is_directive = match name {
        "syntax" => value.contains("dockerfile"),
        "escape" => matches!(value, "\\" | "`"),
        _ => false,
    };
    is_directive.then_some(name)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/ignored-parser-directive";

    #[test]
    fn the_comment_is_underlined() {
        check(
            RULE,
            "\
# why
# syntax=docker/dockerfile:1
^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this is an ordinary comment, so `syntax` has no effect; move it to the first line
FROM a
# escape=`
^^^^^^^^^^ this is an ordinary comment, so `escape` has no effect; move it to the first line
RUN b
",
        );
    }

    #[test]
    fn directives_at_the_top_and_other_comments_are_silent() {
        check(RULE, "# syntax=docker/dockerfile:1\n# escape=`\n# why\nFROM a\n");
        check(RULE, "# why\n# x=y\n# syntax = the words of a language\nFROM a\n");
    }
}
