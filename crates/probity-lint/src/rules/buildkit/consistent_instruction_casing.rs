//! All instructions in one case.

use probity_dockerfile::{Instruction, Keyword};
use probity_finding::{Edit, Finding, Fix};

use crate::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an instruction whose keyword is not in the case that most instructions of the file are
    /// in, and a keyword in mixed case.
    ///
    /// Keywords in mixed case and an `ARG` before the first `FROM` have no vote; upper case wins a
    /// tie. Unlike BuildKit, this rule flags such an `ARG` too. The instruction behind `ONBUILD` is
    /// not looked at.
    ///
    /// # Why it is bad
    ///
    /// Keywords are found by the eye, at the beginning of a line, by their shape. One that looks
    /// different from the others is overlooked, or taken for something else.
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
    /// Safe: BuildKit does not look at the case of a keyword. A keyword that a continuation cuts in
    /// two is left as it is.
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
    use crate::harness::check;

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
