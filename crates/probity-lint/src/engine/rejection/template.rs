//! Placeholders of template languages in what would otherwise be a Dockerfile.

use probity_dockerfile::{Dockerfile, Instruction, Keyword};

use super::Cause;

/// How placeholders of Go templates, jinja, mustache, ERB and the like begin and end.
const MARKS: &[(&str, &str)] = &[("{{", "}}"), ("{%", "%}"), ("<%", "%>"), ("%%", "%%")];

/// The longest placeholder, in bytes. Without a bound a line of opening marks costs its square.
const LONGEST: usize = 512;

/// The first placeholder outside of comments and heredocs.
pub(super) fn placeholder(file: &Dockerfile<'_>) -> Option<Cause> {
    if !MARKS.iter().any(|(begin, _)| file.text.contains(begin)) {
        return None;
    }
    file.instructions.iter().find_map(|instruction| {
        let text = &instruction.line.text;
        let (start, shown) = first(text, runs_commands(instruction))?;
        let span = instruction.line.span(start..start + shown.len());
        Some((Some(span), format!("the template placeholder {shown} is not filled in")))
    })
}

/// Whether quoted text belongs to a command, such as `docker inspect --format '{{.Id}}'`.
fn runs_commands(instruction: &Instruction) -> bool {
    use Keyword::{Cmd, Entrypoint, Healthcheck, Onbuild, Run, Shell};
    matches!(instruction.keyword, Cmd | Entrypoint | Healthcheck | Onbuild | Run | Shell)
}

fn first(text: &str, only_unquoted: bool) -> Option<(usize, &str)> {
    let mut quote = None;
    let mut is_escaped = false;
    for (at, char) in text.char_indices() {
        let is_plain = quote.is_none() || !only_unquoted;
        if is_plain
            && !is_escaped
            && let Some(shown) = placeholder_at(text, at)
        {
            return Some((at, shown));
        }
        match (char, quote) {
            _ if is_escaped => {}
            ('"' | '\'', None) => quote = Some(char),
            (_, Some(open)) if open == char => quote = None,
            _ => {}
        }
        is_escaped = char == '\\' && !is_escaped && quote != Some('\'');
    }
    None
}

/// The placeholder that begins at a place.
fn placeholder_at(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..)?;
    MARKS.iter().find_map(|&(begin, end)| {
        let behind = rest.strip_prefix(begin)?;
        let inner = behind.get(..behind.floor_char_boundary(LONGEST))?.split_once(end)?.0;
        let is_placeholder = match begin {
            // `{{a,b},c}` is a brace expansion of the shell.
            "{{" => !inner.is_empty() && (inner.contains([' ', '\t']) || !inner.contains(',')),
            "%%" => !inner.is_empty() && inner.bytes().all(is_of_name),
            _ => true,
        };
        let whole = begin.len() + inner.len() + end.len();
        if is_placeholder { rest.get(..whole) } else { None }
    })
}

fn is_of_name(byte: u8) -> bool {
    matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_')
}

#[cfg(test)]
mod tests {
    use probity_dockerfile::parse;

    use super::placeholder;

    #[test]
    fn placeholders_are_told_from_shell_text() {
        let rows = [
            ("FROM a:{{ .version }}", "{{ .version }}"),
            ("ENV A {{ .[\"x\"].version }}", "{{ .[\"x\"].version }}"),
            ("LABEL a=\"{{a}}\"", "{{a}}"),
            ("RUN b {{ c }} d", "{{ c }}"),
            ("RUN a && \\\n{% if b %} \\\nc", "{% if b %}"),
            ("RUN a %%B_1%%", "%%B_1%%"),
            ("RUN echo \"%%NAME%%\" '{{ a }}'", ""),
            ("ENV A=<%= b %>", "<%= b %>"),
            ("RUN docker inspect --format '{{ .Id }}' a", ""),
            ("HEALTHCHECK CMD a --format \"{{.Id}}\"", ""),
            ("CMD [\"a\", \"{{.Id}}\"]", ""),
            ("RUN mkdir -p {{a,b},c}/d", ""),
            ("RUN date +%%s%%d && echo ${A%%b} ${A%%.*} 100%%", ""),
            ("# {{ a }}\nRUN b", ""),
            ("COPY <<EOF /a\n{{ b }}\nEOF", ""),
        ];
        for (text, expected) in rows {
            let text = format!("FROM a\n{text}\n");
            let found = placeholder(&parse(&text)).map(|(_, reason)| reason).unwrap_or_default();
            let expected = match expected {
                "" => String::new(),
                _ => format!("the template placeholder {expected} is not filled in"),
            };
            assert_eq!(found, expected, "{text}");
        }
    }
}
