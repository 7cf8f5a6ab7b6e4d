//! FROM and AS in the same case.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Edit, Finding, Fix};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `AS` whose case differs from its `FROM`.
    ///
    /// A `FROM` in mixed case, such as `From`, does not require a case. The rule ignores its `AS`.
    ///
    /// # Why it is bad
    ///
    /// Both keywords belong to one instruction. In different cases they look unrelated. Readers
    /// easily mistake a lowercase `as` between uppercase words for part of the image name.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM golang:1.22 as build
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM golang:1.22 AS build
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM golang:1.22 AS build
    /// ```
    ///
    /// ```dockerfile,good
    /// from golang:1.22 as build
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe: the fix rewrites `AS` in the case of `FROM`, and BuildKit ignores the case of
    /// keywords. probity offers no fix if a line continuation splits `AS`.
    FromAsCasing {
        name: "buildkit/FromAsCasing",
        severity: Warning,
        category: Style,
        fixes: Safe,
        url: "https://docs.docker.com/go/dockerfile/rule/from-as-casing/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, from) in context.each(Keyword::From) {
        let Arguments::From { alias: Some(alias), .. } = &from.arguments else { continue };
        let (from, written) = (from.keyword_text(), alias.keyword.text.as_str());
        let expected = if from == from.to_lowercase() {
            written.to_lowercase()
        } else if from == from.to_uppercase() {
            written.to_uppercase()
        } else {
            continue;
        };
        if written != expected {
            let message = format!("'{written}' and '{from}' keywords' casing do not match");
            let finding = context.finding(alias.keyword.span, message);
            let finding = finding.with_detail(format!("Write `{expected}`."));
            let whole = alias.keyword.span.slice(context.file.text) == Some(written);
            let edit = Edit::replace(alias.keyword.span, expected.clone());
            let fix = whole.then(|| Fix::safe(format!("Write `{expected}`"), vec![edit]));
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    #[test]
    fn the_keyword_between_image_and_name_is_underlined() {
        check(
            "buildkit/FromAsCasing",
            r"
FROM a as one
       ^^ 'as' and 'FROM' keywords' casing do not match
FROM --platform=linux/amd64 a \
  # a comment
  As two
  ^^ 'As' and 'FROM' keywords' casing do not match
from a AS three
       ^^ 'AS' and 'from' keywords' casing do not match
",
        );
    }

    #[test]
    fn what_matches_or_cannot_match_is_silent() {
        check("buildkit/FromAsCasing", "FROM a AS one\nfrom a as two\nFrom a as three\nFROM as\n");
        check("buildkit/FromAsCasing", "FROM a\nRUN echo FROM a as b\nRUN <<E\nFROM a as b\nE\n");
    }
}
