//! Lists that are none.

use probity_dockerfile::{Arguments, Command, Instruction, Keyword};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{engine::context::Context, text::shell_edits::has_comment};

rule! {
    /// # What it does
    ///
    /// Flags arguments that begin like a JSON array but are not valid JSON.
    ///
    /// Typical mistakes are single quotes, missing quotes, and missing or extra commas.
    ///
    /// # Why it is bad
    ///
    /// BuildKit does not read the text as an array. It treats the text, including the brackets, as
    /// a shell command or as file names.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// CMD ['app', '--serve']
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// CMD ["app", "--serve"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN [ -f /etc/app ] || touch /etc/app
    /// CMD ["app", "--serve"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix writes a valid JSON array, which runs without a shell.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - It cannot tell where one element ends and the next begins.
    /// - The text contains a comment.
    InvalidJsonForm {
        name: "tally/invalid-json-form",
        severity: Error,
        category: Correctness,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/invalid-json-form/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, instruction) in context.each_nested() {
        let Some((span, text)) = written(instruction) else { continue };
        if !is_like_an_array(text) {
            continue;
        }
        let message = "this is not valid JSON, so BuildKit does not read it as a list";
        let finding = context.finding(span, message);
        let list = array(text).filter(|_| !has_comment(context, span));
        let fix =
            list.map(|list| Fix::suggestion("write it as JSON", vec![Edit::replace(span, list)]));
        findings.push(fix.into_iter().fold(finding, Finding::with_fix));
    }
}

/// The arguments of an instruction that takes a list and was given something else.
fn written(instruction: &Instruction) -> Option<(Span, &str)> {
    let is_read = match (&instruction.arguments, instruction.keyword) {
        (
            Arguments::Command(Command::Shell(word)),
            Keyword::Run | Keyword::Cmd | Keyword::Entrypoint,
        )
        | (Arguments::Healthcheck { command: Command::Shell(word), .. }, _) => {
            return Some((word.span, word.text.as_str()));
        }
        (Arguments::Transfer { json, .. }, _) => !json,
        (Arguments::Words { json, .. }, Keyword::Volume) => !json,
        _ => false,
    };
    if !is_read {
        return None;
    }
    Some((instruction.line.span(instruction.rest()), instruction.rest_text()))
}

/// `[a`, but neither `[[` nor `[ -f a ]`, which are tests.
fn is_like_an_array(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('[') else { return false };
    // PowerShell writes types in brackets.
    if rest.starts_with('[') || text.contains("]::") {
        return false;
    }
    if !rest.starts_with([' ', '\t']) {
        return !rest.is_empty();
    }
    // A test has blanks and never a comma behind its first word.
    let first = rest.trim_start().split([' ', '\t']).next().unwrap_or_default();
    first.len() > 1 && first.ends_with(',')
}

/// The list that was meant, where every element is quoted or one word.
fn array(text: &str) -> Option<String> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?.trim().trim_end_matches(',');
    let mut strings = Vec::new();
    for element in inner.split(',') {
        let element = element.trim();
        let quoted = ["\"", "'"].iter().find_map(|quote| {
            element.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote))
        });
        let value = quoted.unwrap_or(element);
        let is_one = quoted.is_some() || !value.contains([' ', '\t']);
        if value.is_empty() || !is_one || value.contains(['"', '\'', '\\', '[', ']', '“', '”'])
        {
            return None;
        }
        strings.push(format!("\"{value}\""));
    }
    Some(format!("[{}]", strings.join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/invalid-json-form";
    const SAYS: &str = "this is not valid JSON, so BuildKit does not read it as a list";

    #[test]
    fn the_arguments_are_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
RUN --network=none [b, c]
                   ^^^^^^ {SAYS}
VOLUME ['/d']
       ^^^^^^ {SAYS}
ONBUILD CMD [ 'e', 'f' ]
            ^^^^^^^^^^^^ {SAYS}
HEALTHCHECK CMD [\"g\"] h
                ^^^^^^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn lists_and_tests_are_silent() {
        for text in [
            "RUN [\"b\", \"c\"]",
            "CMD []",
            "RUN [ -f b ] && c",
            "RUN [ \"$b\" = \"c, d\" ]",
            "RUN [[ -f b ]]",
            "RUN echo [b, c]",
            "COPY [\"b\", \"c\"]",
            "COPY b [c]",
            "ENV a=[b]",
            "EXPOSE [80]",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }

    #[test]
    fn elements_become_strings() {
        fixes(
            RULE,
            &[
                ("CMD [bash, -c, \"a b\"]", "CMD [\"bash\", \"-c\", \"a b\"]"),
                ("CMD [\"a\",]", "CMD [\"a\"]"),
                ("COPY ['a', 'b']", "COPY [\"a\", \"b\"]"),
                ("CMD [\"a\" \"b\"]", "CMD [\"a\" \"b\"]"),
                ("CMD [\"a\"] # b", "CMD [\"a\"] # b"),
            ],
        );
    }
}
