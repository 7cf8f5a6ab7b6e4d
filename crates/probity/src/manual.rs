//! Where the manual page of a rule is: in this program, and on a site if `PROBITY_DOCS_URL` names one.
//!
//! Under the name `tally` findings keep the URLs of the tools that the rules come from, because programs read
//! them there.

use std::{collections::HashSet, env, sync::OnceLock};

use probity_finding::Finding;

use crate::{commands::rules, name::Name};

/// The command that prints a rule's page.
pub(crate) const EXPLAIN: &str = "probity explain";

const VARIABLE: &str = "PROBITY_DOCS_URL";

/// Which pages findings lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Manual {
    /// Those of the tools that the rules come from.
    Elsewhere,
    /// Our own, on this site if there is one.
    Own { site: Option<String> },
}

impl Manual {
    /// What a name uses. A site that is not a URL is reported once, and not used.
    pub(crate) fn of(name: Name) -> Self {
        if name == Name::Tally {
            return Self::Elsewhere;
        }
        let named = env::var(VARIABLE).ok().filter(|url| !url.trim().is_empty());
        let site = named.and_then(|url| {
            let site = as_site(&url);
            if site.is_none() {
                tracing::warn!(
                    "{VARIABLE} is `{}`, which is not an http or https URL, so findings have no links",
                    probity_text::visible::line(&url)
                );
            }
            site
        });
        Self::Own { site }
    }

    /// The command that explains a rule to somebody who reads its name.
    pub(crate) fn command(&self) -> Option<&'static str> {
        match self {
            Self::Elsewhere => None,
            Self::Own { .. } => Some(EXPLAIN),
        }
    }

    /// Leads a finding to its page.
    pub(crate) fn link(&self, finding: &mut Finding) {
        // ShellCheck's findings are explained best by its own wiki.
        if let Self::Own { .. } = self
            && !finding.rule.starts_with("shellcheck/")
        {
            finding.docs = self.url(&finding.rule).map(Into::into);
        }
    }

    /// The page of a rule on the site.
    pub(crate) fn url(&self, rule: &str) -> Option<String> {
        match self {
            Self::Own { site: Some(site) } if has_page(rule) => {
                Some(format!("{site}/rules/{rule}/"))
            }
            _ => None,
        }
    }
}

fn as_site(url: &str) -> Option<String> {
    let url = url.trim().trim_end_matches('/');
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace();
    (!host.is_empty() && host.chars().all(is_plain)).then(|| url.to_owned())
}

fn has_page(rule: &str) -> bool {
    static NAMES: OnceLock<HashSet<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| rules::all().map(|rule| rule.name).collect()).contains(rule)
}

#[cfg(test)]
mod tests {
    use probity_finding::Severity;

    use super::*;

    #[test]
    fn a_finding_leads_to_our_page_or_to_none() {
        let own = Manual::Own { site: None };
        let site = Manual::Own { site: as_site("https://docs.example/probity/") };
        let theirs = "https://example.org/theirs";
        let rows = [
            (&Manual::Elsewhere, "hadolint/DL3008", Some(theirs)),
            (&own, "hadolint/DL3008", None),
            (&own, "shellcheck/SC2086", Some(theirs)),
            (&site, "hadolint/DL3008", Some("https://docs.example/probity/rules/hadolint/DL3008/")),
            (&site, "shellcheck/SC2086", Some(theirs)),
            (&site, "mine/no-page", None),
        ];
        for (manual, rule, expected) in rows {
            let mut finding = Finding::of_file(rule, Severity::Info, "").with_docs(theirs);
            manual.link(&mut finding);
            assert_eq!(finding.docs.as_deref(), expected, "{manual:?} {rule}");
        }
    }

    #[test]
    fn a_site_is_a_url_without_its_last_slash() {
        for (text, expected) in [
            ("https://a.example/", Some("https://a.example")),
            (" http://localhost:8000/x// ", Some("http://localhost:8000/x")),
            ("a.example", None),
            ("https://", None),
            ("javascript:alert(1)", None),
            ("https://a\u{1b}]8;;b", None),
        ] {
            assert_eq!(as_site(text).as_deref(), expected, "{text:?}");
        }
    }
}
