//! Home directories that no shell is there to insert.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Finding, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags `~` at the start of a path in `ENV`, `WORKDIR`, or the destination of `COPY` or `ADD`.
    ///
    /// In `ENV`, the rule checks each part of a value that `:` separates, such as the directories
    /// in `PATH`.
    ///
    /// # Why it is bad
    ///
    /// Only a shell expands `~`. In these places, `~` stays as it is. The builder creates a
    /// directory called `~`, and programs look for a directory with that name. Write the path of
    /// the home directory.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// ENV PATH=~/.local/bin:$PATH
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// ENV PATH=/home/app/.local/bin:$PATH
    /// ```
    UnexpandedTilde {
        name: "probity/unexpanded-tilde",
        severity: Warning,
        category: Correctness,
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, instruction) in context.each_nested() {
        let spans: Vec<Span> = match (&instruction.arguments, instruction.keyword) {
            (Arguments::Pairs { pairs, .. }, Keyword::Env) => {
                let values = pairs.iter().filter_map(|pair| pair.value.as_ref());
                let homes = values.filter(|value| value.text.split(':').any(is_home));
                homes.map(|value| value.span).collect()
            }
            (Arguments::Text(Some(word)), Keyword::Workdir) if is_home(&word.text) => {
                vec![word.span]
            }
            (Arguments::Transfer { destination: Some(word), .. }, _) if is_home(&word.text) => {
                vec![word.span]
            }
            _ => Vec::new(),
        };
        findings.extend(spans.into_iter().map(|span| {
            let message = "only a shell expands `~`; write the path of the home directory";
            context.finding(span, message)
        }));
    }
}

fn is_home(text: &str) -> bool {
    let text = text.trim_matches(['"', '\'']);
    text == "~" || text.starts_with("~/")
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/unexpanded-tilde";
    const SAYS: &str = "only a shell expands `~`; write the path of the home directory";

    #[test]
    fn the_path_is_underlined() {
        check(
            RULE,
            &format!(
                "\
FROM a
ENV A=1 PATH=\"/b:~/c:$PATH\"
             ^^^^^^^^^^^^^^ {SAYS}
WORKDIR ~/d
        ^^^ {SAYS}
COPY e ~/
       ^^ {SAYS}
"
            ),
        );
    }

    #[test]
    fn shells_and_other_tildes_are_silent() {
        check(RULE, "FROM a\nRUN cp b ~/c\nENV V=1.2~rc1 W=a~/b\nCOPY d~ /e\nWORKDIR /f\n");
    }
}
