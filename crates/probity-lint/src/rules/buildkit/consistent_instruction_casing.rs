//! All instructions in one case.

use probity_dockerfile::{Instruction, Keyword};
use probity_finding::{Edit, Finding, Fix};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags instruction keywords whose case differs from most keywords in the file.
    ///
    /// The rule also flags every keyword in mixed case, such as `Run`. It determines the majority
    /// as follows:
    ///
    /// - A keyword in mixed case does not count.
    /// - An `ARG` before the first `FROM` does not count. The rule still flags it; BuildKit does
    ///   not.
    /// - If uppercase and lowercase are equally common, uppercase wins.
    ///
    /// The rule ignores the instruction after `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// Readers recognize keywords by their shape at the start of a line. They overlook a keyword
    /// that looks different, or mistake it for something else.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// run apk add --no-cache curl
    /// CMD ["curl"]
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// RUN apk add --no-cache curl
    /// CMD ["curl"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// RUN apk add --no-cache curl
    /// CMD ["curl"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe: the fix rewrites the keyword in the case of the majority, and BuildKit ignores the
    /// case of keywords. probity offers no fix if a line continuation splits the keyword.
    ConsistentInstructionCasing {
        name: "buildkit/ConsistentInstructionCasing",
        severity: Warning,
        category: Style,
        fixes: Safe,
        url: "https://docs.docker.com/go/dockerfile/rule/consistent-instruction-casing/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let known = context.file.instructions.iter().filter(|i| i.keyword != Keyword::Unknown);
    // BuildKit counts the instructions of stages only; with the same votes, what it flags is flagged.
    let voters = known.clone().skip_while(|instruction| instruction.keyword == Keyword::Arg);
    let (lower, upper): (Vec<_>, Vec<_>) = voters
        .map(Instruction::keyword_text)
        .filter(|text| is_lower(text) || is_upper(text))
        .partition(|text| is_lower(text));
    let lower_wins = lower.len() > upper.len();
    let casing = if lower_wins { "lowercase" } else { "uppercase" };
    for instruction in known {
        let text = instruction.keyword_text();
        let wanted = if lower_wins { text.to_lowercase() } else { text.to_uppercase() };
        if text != wanted {
            let message = format!(
                "Command '{text}' should match the case of the command majority ({casing})"
            );
            let finding = context.finding(instruction.keyword_span(), message);
            let whole = instruction.keyword_span().slice(context.file.text) == Some(text);
            let edit = Edit::replace(instruction.keyword_span(), wanted);
            let fix = whole.then(|| Fix::safe(format!("Write {casing}"), vec![edit]));
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

fn is_lower(text: &str) -> bool {
    text == text.to_lowercase()
}

fn is_upper(text: &str) -> bool {
    text == text.to_uppercase()
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "buildkit/ConsistentInstructionCasing";

    #[test]
    fn the_keywords_of_the_minority_are_underlined() {
        check(
            RULE,
            r"
arg VERSION
^^^ Command 'arg' should match the case of the command majority (uppercase)
FROM a
  run \
  ^^^ Command 'run' should match the case of the command majority (uppercase)
    b
Cmd [ ]
^^^ Command 'Cmd' should match the case of the command majority (uppercase)
ENV A=1
",
        );
        check(
            RULE,
            r"
from a
run b
CMD [ ]
^^^ Command 'CMD' should match the case of the command majority (lowercase)
",
        );
    }

    #[test]
    fn upper_case_wins_a_tie_and_globals_have_no_vote() {
        check(
            RULE,
            r"
arg A
^^^ Command 'arg' should match the case of the command majority (uppercase)
arg B
^^^ Command 'arg' should match the case of the command majority (uppercase)
arg C
^^^ Command 'arg' should match the case of the command majority (uppercase)
FROM a
env A=1
^^^ Command 'env' should match the case of the command majority (uppercase)
",
        );
    }

    #[test]
    fn only_keywords_at_the_beginning_count() {
        check(RULE, "FROM a\nONBUILD run b\nRUN run c\nCOPY <<e /f\nrun d\ne\nHEALTHCHECK cmd x\n");
        check(RULE, "from a as b\nrun c\n");
    }
}
