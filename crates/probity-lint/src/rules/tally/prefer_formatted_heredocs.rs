//! Heredocs whose layout hides their structure.

mod json;
mod shell;

use probity_dockerfile::{Arguments, Heredoc, Instruction, Keyword};
use probity_finding::{Edit, Finding, Fix};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a heredoc with JSON that is not pretty-printed, or with a shell script whose lines are
    /// not indented by their structure.
    ///
    /// - **JSON:** a `COPY` or `ADD` heredoc whose file name ends with `.json`. Members and elements
    ///   have lines of their own, indented by two spaces for each level.
    /// - **Shell:** a `RUN` heredoc, or a `COPY` or `ADD` heredoc whose file name ends with `.sh` or
    ///   `.bash`. Each level is one tab, or the spaces of the first indented line.
    ///
    /// The rule ignores continued lines, strings of several lines, scripts with `case`, and shell
    /// heredocs with `<<-`. It ignores text that is not valid JSON or shell.
    ///
    /// Unlike tally, probity accepts spaces as well as tabs in shell scripts, and changes nothing
    /// within a line. probity does not format YAML, TOML, XML, INI and PowerShell.
    ///
    /// # Why it is bad
    ///
    /// Readers see the structure of a text by its indentation. A diff is easier to read if each
    /// member has its own line.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// COPY <<EOF /etc/app.json
    /// {"port": 80, "hosts": []}
    /// EOF
    /// RUN <<EOF
    /// if test -d /srv; then
    ///   ls /srv
    /// df /srv
    /// fi
    /// EOF
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// COPY <<EOF /etc/app.json
    /// {
    ///   "port": 80,
    ///   "hosts": []
    /// }
    /// EOF
    /// RUN <<EOF
    /// if test -d /srv; then
    ///   ls /srv
    ///   df /srv
    /// fi
    /// EOF
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN <<EOF
    /// if test -d /srv; then
    ///   ls /srv
    /// fi
    /// EOF
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix changes only spaces and newlines. The JSON value and the shell commands
    /// stay the same, but the bytes of the file change.
    PreferFormattedHeredocs {
        name: "tally/prefer-formatted-heredocs",
        severity: Style,
        category: Style,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/prefer-formatted-heredocs/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.file.instructions.iter().enumerate() {
        for heredoc in instruction.heredocs() {
            let Some(body) = heredoc.body.slice(context.file.text) else { continue };
            let written = match language(instruction, heredoc) {
                Some(Language::Json) => json_of(heredoc, body).map(|text| (text, "JSON")),
                Some(Language::Shell) if !heredoc.strip_tabs => {
                    shell::indented(context, index, heredoc).map(|text| (text, "shell script"))
                }
                _ => None,
            };
            let Some((text, kind)) = written.filter(|(text, _)| text != body) else { continue };
            let message = format!("the layout of this {kind} does not show its structure");
            let finding = context.finding(heredoc.marker, message);
            let edit = Edit::replace(heredoc.body, text);
            findings.push(finding.with_fix(Fix::suggestion("format the heredoc", vec![edit])));
        }
    }
}

#[derive(Clone, Copy)]
enum Language {
    Json,
    Shell,
}

fn language(instruction: &Instruction, heredoc: &Heredoc) -> Option<Language> {
    if instruction.keyword == Keyword::Run {
        return Some(Language::Shell);
    }
    let Arguments::Transfer { destination: Some(destination), .. } = &instruction.arguments else {
        return None;
    };
    let is_directory = destination.text.ends_with('/');
    let name = if is_directory { heredoc.name.as_str() } else { destination.text.as_str() };
    match name.trim_end_matches('"').rsplit_once('.')?.1 {
        "json" => Some(Language::Json),
        "sh" | "bash" => Some(Language::Shell),
        _ => None,
    }
}

fn json_of(heredoc: &Heredoc, body: &str) -> Option<String> {
    let tabs =
        if heredoc.strip_tabs { body.bytes().take_while(|byte| *byte == b'\t').count() } else { 0 };
    let newline = if body.contains("\r\n") { "\r\n" } else { "\n" };
    let prefix = body.get(..tabs)?;
    let lines = json::pretty(body)?;
    Some(lines.lines().map(|line| format!("{prefix}{line}{newline}")).collect())
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, run};

    const RULE: &str = "tally/prefer-formatted-heredocs";

    #[test]
    fn the_marker_is_underlined() {
        check(
            RULE,
            "\
FROM a
COPY <<a.json <<b.json <<c.txt /d/
     ^^^^^^^^ the layout of this JSON does not show its structure
{\"a\":1}
a.json
{}
b.json
{\"a\":1}
c.txt
RUN <<EOF
    ^^^^^ the layout of this shell script does not show its structure
a
  b
EOF
",
        );
    }

    #[test]
    fn formatted_and_other_texts_are_silent() {
        for text in [
            "COPY <<EOF /a.json\n{\n  \"a\": [\n    1,\n    {}\n  ]\n}\nEOF",
            "COPY <<EOF /a.json\n{\"a\": $X}\nEOF",
            "COPY <<EOF /a.json\n{broken\nEOF",
            "COPY <<EOF /a.txt\n{\"a\":1}\nEOF",
            "RUN cat <<EOF > /a.json\n{\"a\":1}\nEOF",
            "RUN <<EOF\na\nb && c\nEOF",
            "RUN <<EOF\nif a; then\n    b\n    if c; then\n        d\n    fi\nfi\nEOF",
            "RUN <<EOF\nif a; then\n\tb\nelse\n\tc\nfi\nEOF",
            "RUN <<EOF\na \\\n      b &&\n   c\nEOF",
            "RUN <<EOF\nx='a\n  b'\ncat <<X\n  d\nX\nEOF",
            "RUN <<EOF\nif a; then\n\tcat <<X\n  d\nX\nfi\nEOF",
            "RUN <<EOF\ncase a in\n  b) c;;\nesac\nEOF",
            "RUN <<EOF\nif a\nEOF",
            "RUN <<EOF python3\nif a:\n  b\nEOF",
            "RUN <<EOF\n#!/usr/bin/env python3\n  a\nEOF",
            "RUN <<-EOF\n\ta\n\t\tb\n\tEOF",
        ] {
            assert_eq!(run(RULE, &format!("FROM a\n{text}\n")), [], "{text}");
        }
    }

    #[test]
    fn layouts_follow_the_structure() {
        for (before, after) in [
            (
                "COPY <<-EOF /a.json\n\t{\"a\":1.50,\n \"b\":\"\\u00e9\",\"c\":[ ]}\n\tEOF",
                "COPY <<-EOF /a.json\n\t{\n\t  \"a\": 1.50,\n\t  \"b\": \"\\u00e9\",\n\t  \"c\": []\n\t}\n\tEOF",
            ),
            (
                "RUN <<EOF\nx() {\n# why\nfor i in 1 2\ndo\necho \"$i\" then fi\ndone\n}\n(\na\n)\nEOF",
                "RUN <<EOF\nx() {\n\t# why\n\tfor i in 1 2\n\tdo\n\t\techo \"$i\" then fi\n\tdone\n}\n(\n\ta\n)\nEOF",
            ),
            (
                "COPY <<EOF /a.sh\nif a; then\n  b\n      while c; do\n  d\n  done\nelif e; then f\nfi\nEOF",
                "COPY <<EOF /a.sh\nif a; then\n  b\n  while c; do\n    d\n  done\nelif e; then f\nfi\nEOF",
            ),
        ] {
            fixed(RULE, &format!("FROM a\n{before}\n"), &format!("FROM a\n{after}\n"));
        }
    }
}
