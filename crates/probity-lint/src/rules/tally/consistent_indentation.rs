//! Indentation that shows the stages.

use probity_dockerfile::Keyword;
use probity_finding::{Finding, Span};

use crate::{engine::context::Context, text::lines::whole_lines};

rule! {
    /// # What it does
    ///
    /// Flags an instruction with the wrong indentation.
    ///
    /// If the file has several stages, one tab belongs before every instruction in a stage. If it
    /// has one stage, instructions are not indented. `FROM` and everything before the first `FROM`
    /// are never indented.
    ///
    /// The rule is off by default. tally also reports continuation lines and offers a fix.
    ///
    /// # Why it is bad
    ///
    /// If every stage is indented, a reader sees where each stage begins.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12 AS build
    /// RUN make
    /// FROM debian:12
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN make
    /// ```
    ConsistentIndentation {
        name: "tally/consistent-indentation",
        severity: Off,
        category: Style,
        url: "https://tally.wharflab.com/rules/tally/consistent-indentation/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let text = context.file.text;
    let is_staged = context.facts.stages().len() > 1;
    for (index, instruction) in context.file.instructions.iter().enumerate() {
        let is_inside =
            instruction.keyword != Keyword::From && context.facts.stage_of(index).is_some();
        let wanted = if is_inside && is_staged { "\t" } else { "" };
        let start = whole_lines(text, Span::at(instruction.span.start)).start;
        let blank = Span::new(start, instruction.span.start);
        let own = blank.slice(text).unwrap_or_default().trim_start_matches('\u{feff}');
        if own == wanted {
            continue;
        }
        let message = match wanted {
            "" => "nothing belongs before this instruction",
            _ => "one tab belongs before this instruction",
        };
        findings.push(context.finding(instruction.keyword_span(), message));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/consistent-indentation";

    #[test]
    fn the_keyword_is_underlined() {
        check(
            RULE,
            "ARG a\nFROM b AS c\n\tRUN d \\\n  e\n# f\nFROM c\nRUN g\n^^^ one tab belongs before this instruction\n",
        );
        check(RULE, "FROM a\n  RUN b\n  ^^^ nothing belongs before this instruction\nRUN c\n");
    }
}
