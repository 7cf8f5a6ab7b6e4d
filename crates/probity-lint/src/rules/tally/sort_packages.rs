//! Lists of packages in their order.

use std::collections::HashSet;

use probity_dockerfile::{Action, PackageCall, PackageKind};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{engine::context::Context, facts::packages, text::shell_edits};

rule! {
    /// # What it does
    ///
    /// Flags a list of packages to install that is not in alphabetical order.
    ///
    /// The rule ignores upper and lower case. It compares only literal names. Words that begin with
    /// a variable, files and URLs keep their places. The rule ignores a call that also reads a
    /// requirements file.
    ///
    /// # Why it is bad
    ///
    /// In a long unsorted list, nobody notices a duplicate package. If two people each add a
    /// package, their changes often conflict.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN apt-get install -y wget curl
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN apt-get install -y curl wget
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get install -y curl wget
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix sorts the names. Only names change places, so continuations, flags and
    /// spaces stay as they are. The package manager installs the same set, with these differences:
    ///
    /// - The build cache treats the command as a new one.
    /// - A resolver that tries versions may try them in another order.
    ///
    /// probity offers no fix in these cases:
    ///
    /// - The call contains a comment, which may refer to one name.
    /// - A name follows an unknown flag, because the name may be the value of the flag.
    /// - A name is escaped or continues on the next line.
    SortPackages {
        name: "tally/sort-packages",
        severity: Style,
        category: Style,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/sort-packages/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        for call in &context.all_package_calls(index) {
            if call.action != Action::Install || !call.files.is_empty() {
                continue;
            }
            let Some(list) = list(context, index, call) else { continue };
            let mut pairs = list.iter().zip(list.iter().skip(1));
            let Some((before, late)) = pairs.find(|(left, right)| left.key > right.key) else {
                continue;
            };
            let message = format!("{} comes before {}", late.key.1, before.key.1);
            let finding = context.finding(late.span, message);
            let fix = fix(context, index, call, &list);
            findings.push(fix.into_iter().fold(finding, Finding::with_fix));
        }
    }
}

/// A package that is written out.
struct Item {
    span: Span,
    /// In lower case, and as it is.
    key: (String, String),
}

fn list(context: &Context<'_>, index: usize, call: &PackageCall) -> Option<Vec<Item>> {
    let words = packages::words(context, index, call)?.words;
    let named =
        call.packages.iter().filter(|package| matches!(package.kind, PackageKind::Named { .. }));
    let items = named.filter_map(|package| {
        let value = words.iter().find(|word| word.span() == package.span)?.literal()?;
        Some(Item { span: package.span, key: (value.to_lowercase(), value.into_owned()) })
    });
    Some(items.collect())
}

/// Puts each name into the place that it has in the order.
fn fix(context: &Context<'_>, index: usize, call: &PackageCall, list: &[Item]) -> Option<Fix> {
    let text = context.file.text;
    let mut sorted: Vec<&Item> = list.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    let mut edits = Vec::new();
    for (place, item) in list.iter().zip(sorted) {
        let written = item.span.slice(text)?;
        // What is escaped or goes on in the next line cannot be moved as it is.
        if written.bytes().any(|byte| matches!(byte, b'\\' | b'`' | b'\n')) {
            return None;
        }
        edits.push(Edit::replace(place.span, written));
    }
    let script = context.scripts(index).get(call.script)?;
    let is_quoted = |item: &Item| {
        item.span.slice(text).is_none_or(|name| name.as_bytes().first() == Some(&b'"'))
    };
    let is_mixed = shell_edits::is_exec_form(script) && list.iter().any(is_quoted);
    let is_plain = !is_mixed
        && !is_doubtful(context, index, call)
        && !shell_edits::has_comment(context, call.span);
    is_plain.then(|| Fix::suggestion("sort the packages", edits))
}

/// Whether one of the packages may be the value of a flag that nobody has heard of.
fn is_doubtful(context: &Context<'_>, index: usize, call: &PackageCall) -> bool {
    let words =
        packages::words(context, index, call).map(|command| command.words).unwrap_or_default();
    let unknown = call.flags.iter().filter(|flag| !flag.known);
    let unknown: HashSet<Span> = unknown.map(|flag| flag.span).collect();
    let packages: HashSet<Span> = call.packages.iter().map(|package| package.span).collect();
    let mut pairs = words.iter().zip(words.iter().skip(1));
    pairs.any(|(flag, next)| unknown.contains(&flag.span()) && packages.contains(&next.span()))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "tally/sort-packages";

    #[test]
    fn the_first_that_is_late_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && (apt-get install -y b "c" a) \
                                   ^ a comes before c
    && pip install b==1 a==2
                        ^^^^ a==2 comes before b==1
RUN <<EOF
apk add -t x b \
  a
  ^ a comes before b
EOF
RUN ["npm", "install", "b", "a"]
                             ^ a comes before b
SHELL ["powershell", "-Command"]
RUN Write-Host b a; choco install -y --params 'z' git 7zip
                                                      ^^^^ 7zip comes before git
SHELL ["cmd", "/S", "/C"]
RUN echo b & npm.cmd install b a
                               ^ a comes before b
"#,
        );
    }

    #[test]
    fn sorted_unknown_and_mentioned_ones_are_silent() {
        for run in [
            "apt-get install a B c",
            "apt-get install b $X",
            "apt-get install $B a",
            "apt-get install -t b a",
            "apt-get remove b a",
            "pip install -r x b a",
            "pip install ./b a",
            "echo apt-get install b a",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn names_change_places_and_nothing_else_does() {
        fixes(
            RULE,
            &[
                (
                    "RUN apt-get install -y \\\n    c=1 \\\n    'b' \\\n    --no-upgrade a \\\n && x",
                    "RUN apt-get install -y \\\n    a \\\n    'b' \\\n    --no-upgrade c=1 \\\n && x",
                ),
                ("RUN (apk add c $B a)", "RUN (apk add a $B c)"),
                (
                    "RUN pip install --root-user-action ignore flask==3 django==5",
                    "RUN pip install --root-user-action ignore django==5 flask==3",
                ),
                (
                    "RUN dnf install -y --repo updates nginx bash",
                    "RUN dnf install -y --repo updates bash nginx",
                ),
                (
                    "RUN apt-get install --default-release stable nginx=1 bash=1",
                    "RUN apt-get install --default-release stable bash=1 nginx=1",
                ),
                ("RUN apk add --unheard=c b a", "RUN apk add --unheard=c a b"),
                ("RUN <<EOF\nyum install b A\nEOF", "RUN <<EOF\nyum install A b\nEOF"),
                ("RUN bash -c 'apk add b a'", "RUN bash -c 'apk add a b'"),
                (r#"RUN ["apk", "add", "b", "a"]"#, r#"RUN ["apk", "add", "a", "b"]"#),
            ],
        );
        for text in [
            "RUN apk add c \\\n  # why\n  a",
            "RUN apk add \\\n  # why c\n  c \\\n  a",
            "RUN bash -c \"apk add \\\"b\\\" a\"",
            "RUN apk add c\\\nd a",
            "RUN apk add --unheard c b a",
            "RUN apk add -Z c b a",
            "RUN composer require vendor/z 1.0 vendor/a 2.0",
        ] {
            fixes(RULE, &[(text, text)]);
        }
    }
}
