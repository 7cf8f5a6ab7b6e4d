//! Sources that never reach the builder.

use probity_dockerfile::{Arguments, Expander, Instruction, Keyword, Word, clean_path};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `COPY` or `ADD` source that the build context's ignore file excludes.
    ///
    /// The rule needs the build context. It reports nothing if the ignore file includes paths again
    /// with `!`. Such a file may exclude a directory but include a file in it.
    ///
    /// The rule ignores:
    ///
    /// - sources that contain a variable;
    /// - sources from other stages and images;
    /// - remote sources and heredocs;
    /// - sources of instructions after `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// The builder does not receive excluded files, so the build fails although the file exists. If
    /// the source is a wildcard pattern, the build succeeds without the file.
    ///
    /// # Examples
    ///
    /// With `*.log` in `.dockerignore`:
    ///
    /// ```dockerfile,needs-context
    /// FROM alpine:3.20
    /// COPY build.log /var/log/
    /// ```
    CopyIgnoredFile {
        name: "buildkit/CopyIgnoredFile",
        severity: Warning,
        category: Correctness,
        url: "https://docs.docker.com/go/dockerfile/rule/copy-ignored-file/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(dockerignore) = context.dockerignore else { return };
    for instruction in &context.file.instructions {
        let command = match instruction.keyword {
            Keyword::Copy => "Copy",
            Keyword::Add => "Add",
            _ => continue,
        };
        for source in sources(instruction) {
            let Some(path) = local_path(source, context.file.escape) else { continue };
            if dockerignore.ignores_copy_source(&path) {
                let message = format!(
                    "Attempting to {command} file {:?} that is excluded by .dockerignore",
                    clean_path(&path)
                );
                findings.push(context.finding(source.span, message));
            }
        }
    }
}

/// The sources that may be paths of the build context.
fn sources(instruction: &Instruction) -> impl Iterator<Item = &Word> {
    let sources = match &instruction.arguments {
        Arguments::Transfer { sources, .. } => &**sources,
        _ => &[],
    };
    let is_from_elsewhere =
        instruction.flag_value("from").is_some_and(|from| !from.text.is_empty());
    let is_heredoc =
        |word: &Word| instruction.heredocs().iter().any(|heredoc| heredoc.marker == word.span);
    sources.iter().filter(move |word| !is_from_elsewhere && !is_heredoc(word))
}

/// The path that a source stands for, unless variables are needed to know it or it is remote.
fn local_path(source: &Word, escape: char) -> Option<String> {
    let expansion = Expander::new(escape, &|_| None).expand(&source.text).ok()?;
    let is_known = expansion.unmatched.is_empty() && !is_remote(&expansion.text);
    is_known.then_some(expansion.text)
}

/// `github.com/user/project` is a path, as nothing tells it from one.
fn is_remote(source: &str) -> bool {
    let schemes = ["http://", "https://", "git://", "ssh://"];
    let is_login = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let is_over_ssh = source
        .split_once('@')
        .is_some_and(|(user, rest)| !user.is_empty() && is_login(user) && rest.contains(':'));
    is_over_ssh || schemes.iter().any(|scheme| source.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use probity_dockerfile::Dockerignore;

    use crate::{DirectiveOptions, LintOptions, Pattern, RuleSet, engine::harness, lint};

    const RULE: &str = "buildkit/CopyIgnoredFile";

    /// The text under each finding, and its message.
    fn found(ignore: &str, text: &str) -> Vec<(String, String)> {
        let (dockerignore, errors) = Dockerignore::parse(ignore);
        assert_eq!(errors, []);
        let mut rules = RuleSet::default();
        rules.select(&[Pattern::new(RULE)]);
        let options = LintOptions {
            rules: &rules,
            uses: None,
            directives: DirectiveOptions::default(),
            dockerignore: Some(&dockerignore),
            context_files: None,
            base_images: None,
            detections: &[],
            secrets: None,
        };
        let findings = lint(text, &options).into_iter().filter(|finding| finding.rule == RULE);
        findings
            .map(|f| (f.span.and_then(|s| s.slice(text)).unwrap_or("").to_owned(), f.message))
            .collect()
    }

    #[track_caller]
    fn underlined(ignore: &str, text: &str, expected: &[&str]) {
        let found = found(ignore, text);
        let words: Vec<&str> = found.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, expected, "in\n{text}");
    }

    #[test]
    fn the_source_is_underlined() {
        let text = "FROM a\ncopy x ./docs/b \\\n  \"c.log\" /d/\nADD [\"c.log\", \"/d/\"]\n";
        let expected = [
            ("./docs/b", "Attempting to Copy file \"docs/b\" that is excluded by .dockerignore"),
            ("\"c.log\"", "Attempting to Copy file \"c.log\" that is excluded by .dockerignore"),
            ("\"c.log\"", "Attempting to Add file \"c.log\" that is excluded by .dockerignore"),
        ];
        let found = found("docs\n*.log\n", text);
        let found: Vec<_> = found.iter().map(|(word, text)| (&**word, &**text)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_context_itself_is_ignored_only_by_what_takes_everything() {
        underlined("*\n", "FROM a\nCOPY . /b\n", &["."]);
        underlined(".*\n", "FROM a\nCOPY . /b\n", &[]);
    }

    #[test]
    fn sources_from_elsewhere_are_silent() {
        let all = "**\n";
        underlined(all, "FROM a AS b\nFROM a\nCOPY --from=b c /d\nONBUILD COPY c /d\n", &[]);
        underlined(
            all,
            "FROM a\nADD https://e.org/c \"http://e.org/c\" git@e.org:c.git /d/\n",
            &[],
        );
        underlined(all, "FROM a\nADD github.com/e/c c@d /d/\n", &["github.com/e/c", "c@d"]);
        underlined(all, "FROM a\nCOPY <<EOF /d\nc\nEOF\nCOPY $c ${d}/c /d/\nRUN COPY c /d\n", &[]);
    }

    #[test]
    fn exceptions_and_a_missing_ignore_file_silence_the_rule() {
        underlined("*.log\n!c.log\n", "FROM a\nCOPY b.log /d\n", &[]);
        harness::check(RULE, "FROM a\nCOPY b.log /d\n");
    }
}
