//! What a rule is, and the macro that declares one from its manual page.

use probity_finding::{Applicability, Finding, Severity};

use crate::engine::{context::Context, preset::Preset, ruleset::same_rule};

/// One rule: its metadata, its manual page and its check, all from one file.
pub trait Rule: Sync {
    fn metadata(&self) -> &'static Metadata;
    /// Adds what it finds. Rules do not see each other's findings.
    fn check(&self, context: &Context<'_>, findings: &mut Vec<Finding>);
}

/// What the registry says about a rule; a rule that is not listed there does not compile.
pub(crate) trait Listed {
    /// The smallest preset that the rule belongs to; none for a rule that runs only by name.
    const PRESET: Option<Preset>;
}

impl std::fmt::Debug for dyn Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.metadata().name)
    }
}

/// What is known about a rule without running it.
#[derive(Debug)]
pub struct Metadata {
    /// `namespace/name`, as configurations and directives spell it.
    pub name: &'static str,
    /// `None` for a rule that runs only when it is asked for.
    pub severity: Option<Severity>,
    /// The smallest preset that the rule belongs to; `None` for a rule that runs only by name.
    pub preset: Option<Preset>,
    pub category: Category,
    /// The best fix that the rule can offer.
    pub fixes: Option<Applicability>,
    /// Whether only an agent can fix what the rule finds.
    pub by_agent: bool,
    pub options: &'static [OptionSpec],
    /// Names of the same check in other tools.
    pub equals: &'static [&'static str],
    /// Where the check is documented by those who invented it.
    pub url: Option<&'static str>,
    /// The manual page, in markdown; its examples are run as tests.
    pub page: &'static str,
    /// The source file that declares the rule.
    pub file: &'static str,
}

impl Metadata {
    #[must_use]
    pub fn namespace(&self) -> &'static str {
        self.name.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The name without its namespace.
    #[must_use]
    pub fn bare_name(&self) -> &'static str {
        self.name.split_once('/').map_or(self.name, |(_, name)| name)
    }

    /// Whether a name means this rule: its own, or one that it has elsewhere.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        same_rule(name, self.name) || self.equals.iter().any(|other| same_rule(name, other))
    }

    /// The first sentence of the manual page.
    #[must_use]
    pub fn summary(&self) -> String {
        let text: Vec<&str> = self
            .page
            .lines()
            .map(str::trim)
            .skip_while(|line| line.is_empty() || line.starts_with('#'))
            .take_while(|line| !line.is_empty())
            .collect();
        text.join(" ")
    }

    /// The severity that the rule has when it is switched on by hand.
    #[must_use]
    pub fn severity_when_on(&self) -> Severity {
        self.severity.unwrap_or(Severity::Warning)
    }
}

/// What a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    Correctness,
    Security,
    Reproducibility,
    Performance,
    BestPractice,
    Maintainability,
    Style,
}

impl Category {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Correctness => "correctness",
            Self::Security => "security",
            Self::Reproducibility => "reproducibility",
            Self::Performance => "performance",
            Self::BestPractice => "best-practice",
            Self::Maintainability => "maintainability",
            Self::Style => "style",
        }
    }
}

/// An option that a rule's table in the configuration may set.
#[derive(Debug)]
pub struct OptionSpec {
    pub name: &'static str,
    pub kind: OptionKind,
    /// As it would be written in the configuration.
    pub default: &'static str,
    pub about: &'static str,
}

/// The option that limits how much of a file an agent may change.
pub(crate) const MAX_CHURN: &str = "max-churn";

impl OptionSpec {
    /// The one declaration of [`MAX_CHURN`].
    pub(crate) const fn max_churn(default: &'static str) -> Self {
        Self {
            name: MAX_CHURN,
            kind: OptionKind::Integer,
            default,
            about: "Maximum percentage of lines that an agent may change; 0 means no limit.",
        }
    }
}

/// What values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    Integer,
    Boolean,
    Text,
    TextList,
    OneOf(&'static [&'static str]),
    /// A table of programs, each a table with `id`, `target` and `env`.
    SecretMounts,
}

/// The value of an option, checked against its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    Integer(i64),
    Boolean(bool),
    Text(String),
    TextList(Vec<String>),
    SecretMounts(Vec<SecretMount>),
}

/// A secret that every call of a program needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretMount {
    pub program: String,
    pub id: String,
    /// The file that the secret is mounted as.
    pub target: Option<String>,
    /// The variable that the secret is passed in.
    pub env: Option<String>,
}

/// Declares a rule from its manual page and its metadata. The file has to define
/// `fn check(context: &Context<'_>, findings: &mut Vec<Finding>)` beside it.
macro_rules! rule {
    (
        $(#[doc = $doc:literal])*
        $rule:ident {
            name: $name:literal,
            severity: $severity:ident,
            category: $category:ident,
            $(fixes: $fixes:ident,)?
            $(by_agent: $by_agent:literal,)?
            $(options: $options:expr,)?
            $(equals: $equals:expr,)?
            $(url: $url:literal,)?
        }
    ) => {
        $(#[doc = $doc])*
        pub(crate) struct $rule;

        impl $crate::engine::rule::Rule for $rule {
            fn metadata(&self) -> &'static $crate::engine::rule::Metadata {
                static METADATA: $crate::engine::rule::Metadata = $crate::engine::rule::Metadata {
                    name: $name,
                    severity: rule!(@severity $severity),
                    preset: <$rule as $crate::engine::rule::Listed>::PRESET,
                    category: $crate::engine::rule::Category::$category,
                    fixes: rule!(@first $(Some(probity_finding::Applicability::$fixes),)? None),
                    by_agent: rule!(@first $($by_agent,)? false),
                    options: rule!(@first $($options,)? &[]),
                    equals: rule!(@first $($equals,)? &[]),
                    url: rule!(@first $(Some($url),)? None),
                    page: concat!($($doc, "\n"),*),
                    file: file!(),
                };
                &METADATA
            }

            fn check(
                &self,
                context: &$crate::engine::context::Context<'_>,
                findings: &mut Vec<probity_finding::Finding>,
            ) {
                check(context, findings);
            }
        }
    };
    (@severity Off) => { None };
    (@severity $severity:ident) => { Some(probity_finding::Severity::$severity) };
    (@first $first:expr $(, $rest:expr)?) => { $first };
}
