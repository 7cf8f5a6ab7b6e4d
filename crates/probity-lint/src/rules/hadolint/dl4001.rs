//! Two tools for one job.

use std::collections::BTreeMap;

use probity_finding::{Finding, Fix, Objective, Signal, Span};

use crate::engine::{context::Context, rule::OptionSpec};

rule! {
    /// # What it does
    ///
    /// Flags `curl` and `wget` in the same stage.
    ///
    /// The rule treats the first of the two as the project's choice and flags every call of the
    /// other. It counts `ONBUILD` commands separately, because they run in another image.
    ///
    /// # Why it is bad
    ///
    /// Both tools download files, so one of them is enough. The image then has one package less to
    /// install and update.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN wget https://example.com/a
    /// RUN curl https://example.com/b
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN curl -O https://example.com/a
    /// RUN curl https://example.com/b
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe: an agent proposes the calls, because the options of the two tools do not map one to
    /// one.
    Dl4001 {
        name: "hadolint/DL4001",
        severity: Warning,
        category: Maintainability,
        fixes: Unsafe,
        by_agent: true,
        options: &[OptionSpec::max_churn("20")],
        url: "https://github.com/hadolint/hadolint/wiki/DL4001",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    // The stage, the tool that came first in it, and where. What `ONBUILD` runs is in another image.
    let mut known: BTreeMap<(Option<usize>, bool), (String, Span)> = BTreeMap::new();
    for (index, _) in context.runs() {
        let stage = context.facts.stage_of(index).map(|stage| stage.index);
        let image = (stage, context.is_trigger(index));
        for command in context.scripts(index).iter().flat_map(|script| &script.commands) {
            let call = command.effective();
            let (Some(name), Some(word)) = (call.name(), call.name_word()) else { continue };
            if name != "curl" && name != "wget" {
                continue;
            }
            match known.get(&image) {
                Some((tool, _)) if *tool == name => {}
                Some((tool, place)) => {
                    let message =
                        format!("either use wget or curl but not both: {tool} is used too");
                    let signal = Signal {
                        kind: "second_tool",
                        tool: Some(name.into_owned()),
                        packages: Vec::new(),
                        evidence: context.quoted(command.span),
                        span: word.span(),
                    };
                    let objective = Objective {
                        kind: "command-family",
                        score: 1,
                        signals: vec![signal],
                        max_churn: context.max_churn(),
                    };
                    let title = format!("AI AutoFix: use {tool} here too");
                    let finding = context.finding(word.span(), message);
                    findings.push(
                        finding
                            .with_related(*place, format!("{tool} is used here"))
                            .with_fix(Fix::by_agent(title, 155, objective)),
                    );
                }
                None => {
                    known.insert(image, (name.into_owned(), word.span()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "hadolint/DL4001";

    #[test]
    fn every_call_of_the_second_tool_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN "curl" x | (cd y; /usr/bin/wget z)
                      ^^^^^^^^^^^^^ either use wget or curl but not both: curl is used too
RUN <<EOF
x=$(wget y)
    ^^^^ either use wget or curl but not both: curl is used too
curl z
EOF
"#,
        );
    }

    #[test]
    fn one_tool_other_stages_and_mentions_are_silent() {
        check(RULE, "FROM a\nRUN curl x\nRUN curl y && echo wget\nFROM b\nRUN wget z\n");
        check(RULE, "FROM a\nRUN apt-get install curl wget && $TOOL wget\nRUN wget x\n");
    }
}
