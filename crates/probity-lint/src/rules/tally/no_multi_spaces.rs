//! One blank between words.

use probity_dockerfile::{Arguments, Command, Instruction, Keyword, Word};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags several spaces in a row between the words of an instruction.
    ///
    /// The rule checks only spaces that BuildKit treats as one. It ignores the following:
    ///
    /// - indentation and spaces before a continuation;
    /// - comments, quoted text and heredocs;
    /// - the value of an `ENV` or `LABEL` without an equals sign;
    /// - commands that a shell runs;
    /// - the arguments of an instruction after `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// The spaces look like a deliberate alignment, and the next edit breaks it.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM   alpine:3.20  AS base
    /// ENV    A=1   B="two  spaces"
    /// RUN    echo  "two  spaces"
    /// CMD ["sh",   "-c"]
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20 AS base
    /// ENV A=1 B="two  spaces"
    /// RUN echo  "two  spaces"
    /// CMD ["sh", "-c"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20 AS base
    /// ENV A=1 \
    ///     B=2
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe. The fix removes only spaces that BuildKit skips. It does not change spaces inside a
    /// command, because a shell reads them.
    NoMultiSpaces {
        name: "tally/no-multi-spaces",
        severity: Style,
        category: Style,
        fixes: Safe,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for instruction in &context.file.instructions {
        if instruction.keyword == Keyword::Unknown {
            continue;
        }
        let words = words(instruction);
        let mut runs: Vec<Span> = Vec::new();
        for pair in words.windows(2) {
            let [left, right] = pair else { continue };
            if left.end < right.start {
                add_runs(context.file.text, Span::new(left.end, right.start), &mut runs);
            }
        }
        let Some((&first, _)) = runs.split_first() else { continue };
        let extra: usize = runs.iter().map(|run| run.len() - 1).sum();
        let edits = runs.iter().map(|&run| Edit::replace(run, " ")).collect();
        findings.push(
            context
                .finding(first, format!("multiple consecutive spaces ({extra} extra)"))
                .with_fix(Fix::safe("Leave one space", edits)),
        );
    }
}

/// The runs of two blanks or more in the gap between two words, if the gap stands on one line.
fn add_runs(text: &str, gap: Span, runs: &mut Vec<Span>) {
    let between = gap.slice(text).unwrap_or_default();
    if between.contains(['\n', '\r']) {
        return;
    }
    let mut start = None;
    for (at, byte) in between.bytes().chain([b'x']).enumerate() {
        let is_blank = matches!(byte, b' ' | b'\t');
        match start {
            None if is_blank => start = Some(at),
            Some(begin) if !is_blank => {
                if at - begin > 1 {
                    runs.push(Span::new(gap.start + begin, gap.start + at));
                }
                start = None;
            }
            _ => {}
        }
    }
}

/// The keyword, the flags and the words that BuildKit tells apart, in the order of the text.
fn words(instruction: &Instruction) -> Vec<Span> {
    let mut spans = vec![instruction.keyword_span()];
    spans.extend(instruction.flags.iter().map(|flag| flag.span));
    let mut add = |words: &[&Word]| spans.extend(words.iter().map(|word| word.span));
    match &instruction.arguments {
        Arguments::From { image, alias, surplus } => {
            add(image.as_deref().as_slice());
            if let Some(alias) = alias {
                add(&[&alias.keyword, &alias.name]);
            }
            add(&surplus.iter().collect::<Vec<_>>());
        }
        Arguments::Pairs { legacy: true, pairs } => {
            for pair in pairs {
                add(&std::iter::once(&pair.key).chain(&pair.value).collect::<Vec<_>>());
            }
        }
        Arguments::Pairs { pairs, .. } => spans.extend(pairs.iter().map(|pair| pair.span)),
        Arguments::Transfer { sources, destination, .. } => {
            add(&sources.iter().chain(destination.as_deref()).collect::<Vec<_>>());
        }
        Arguments::Command(command) => add(&command_words(command)),
        Arguments::Healthcheck { kind, command } => {
            add(kind.as_deref().as_slice());
            add(&command_words(command));
        }
        Arguments::Words { words, .. } => add(&words.iter().collect::<Vec<_>>()),
        Arguments::Text(word) => add(&word.iter().collect::<Vec<_>>()),
        Arguments::Onbuild(nested) => {
            spans.extend(nested.as_deref().map(|nested| nested.keyword_span()));
        }
    }
    spans.sort();
    spans
}

fn command_words(command: &Command) -> Vec<&Word> {
    match command {
        Command::Missing => Vec::new(),
        Command::Shell(word) => vec![word],
        Command::Json { words, .. } => words.iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "tally/no-multi-spaces";

    #[test]
    fn the_first_run_is_underlined() {
        check(
            RULE,
            "FROM  a   AS b\n    ^^ multiple consecutive spaces (3 extra)\n  USER c\nRUN  d   e\n   ^^ multiple consecutive spaces (1 extra)\n",
        );
    }

    #[test]
    fn words_keep_one_blank_and_all_else_stays() {
        for (before, after) in [
            ("COPY  --from=x   a  b   c", "COPY --from=x a b c"),
            ("COPY  [ \"a  b\" ,   \"c\"  ]", "COPY [ \"a  b\" , \"c\"  ]"),
            ("ENV  A=1 \t B='x  y'", "ENV A=1 B='x  y'"),
            ("ENV  A  b   c", "ENV A b   c"),
            ("LABEL  a=b\\   c=d", "LABEL a=b\\  c=d"),
            ("ARG  A=1   B", "ARG A=1 B"),
            ("EXPOSE  80   90", "EXPOSE 80 90"),
            ("VOLUME  /a   /b", "VOLUME /a /b"),
            ("WORKDIR  /a  b", "WORKDIR /a  b"),
            ("HEALTHCHECK  --retries=1   CMD   a  b", "HEALTHCHECK --retries=1 CMD a  b"),
            ("ENTRYPOINT  [ \"a\",  \"b\" ]", "ENTRYPOINT [ \"a\", \"b\" ]"),
            (
                "RUN  --mount=type=tmpfs,target=/a   b  'c  d'",
                "RUN --mount=type=tmpfs,target=/a b  'c  d'",
            ),
            ("ONBUILD  RUN  a", "ONBUILD RUN  a"),
            ("ENV A=1   \\\n    B=2", "ENV A=1   \\\n    B=2"),
            ("COPY a  \\\n  # b  c\n  d   e  /f", "COPY a  \\\n  # b  c\n  d e /f"),
            ("RUN  <<E\n a  b\nE", "RUN <<E\n a  b\nE"),
            ("COPY  <<E   /a\n b  c\nE", "COPY <<E /a\n b  c\nE"),
            ("SHELL  [\"a\",  \"b\"]", "SHELL [\"a\", \"b\"]"),
            ("STOPSIGNAL  9", "STOPSIGNAL 9"),
            ("# a  b\nUSER  c", "# a  b\nUSER c"),
        ] {
            fixed(RULE, &format!("FROM a\n{before}\n"), &format!("FROM a\n{after}\n"));
        }
    }
}
