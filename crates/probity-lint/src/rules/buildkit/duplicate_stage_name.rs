//! One name, one stage.

use std::collections::BTreeMap;

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Finding, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a build stage with the same name as an earlier stage.
    ///
    /// The rule ignores the case of stage names.
    ///
    /// # Why it is bad
    ///
    /// After this line, the name refers to the later stage. Before it, the name refers to the
    /// earlier stage. Readers easily confuse the two, and `--target` cannot select the earlier
    /// stage.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM golang:1.22 AS build
    /// RUN go build -o /app
    ///
    /// FROM node:22 AS build
    /// RUN npm run build
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM golang:1.22 AS server
    /// RUN go build -o /app
    ///
    /// FROM node:22 AS pages
    /// RUN npm run build
    /// ```
    DuplicateStageName {
        name: "buildkit/DuplicateStageName",
        severity: Error,
        category: Correctness,
        equals: &["hadolint/DL3024"],
        url: "https://docs.docker.com/go/dockerfile/rule/duplicate-stage-name/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut first_by_name: BTreeMap<String, Span> = BTreeMap::new();
    for (_, from) in context.each(Keyword::From) {
        let Arguments::From { alias: Some(alias), .. } = &from.arguments else { continue };
        let name = alias.name.text.to_lowercase();
        let Some(&first) = first_by_name.get(&name) else {
            first_by_name.insert(name, alias.name.span);
            continue;
        };
        let message = format!("Duplicate stage name {name:?}, stage names should be unique");
        let finding = context.finding(alias.name.span, message);
        findings.push(finding.with_related(first, format!("{name:?} is defined here first")));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "buildkit/DuplicateStageName";

    #[test]
    fn every_later_name_is_underlined() {
        check(
            RULE,
            r#"
FROM a AS build
from b as Build
          ^^^^^ Duplicate stage name "build", stage names should be unique
FROM c \
  AS build
     ^^^^^ Duplicate stage name "build", stage names should be unique
"#,
        );
    }

    #[test]
    fn the_first_definition_is_related() {
        let findings = run(RULE, "FROM a AS x\nFROM a AS x\nFROM a AS x\n");
        let related: Vec<_> =
            findings.iter().flat_map(|f| &f.related).map(|r| r.span.start).collect();
        assert_eq!(related, [10, 10]);
    }

    #[test]
    fn images_and_other_names_are_silent() {
        check(RULE, "FROM a AS b\nFROM b\nFROM b AS c\nFROM b\nFROM b AS b1\n");
    }
}
