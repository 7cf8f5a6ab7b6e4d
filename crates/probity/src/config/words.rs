//! The closed choices of the configuration, each a list of words and a type at once.

use probity_finding::Severity;

/// Makes an enum whose variants are words, so that the words are written down once.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            pub(crate) const WORDS: &[&str] = &[$($word),+];

            pub(crate) fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

words! {
    /// From which severity on findings make the run fail.
    FailLevel {
        Error = "error",
        Warning = "warning",
        Info = "info",
        Style = "style",
        None = "none",
    }
}

impl FailLevel {
    /// The least severity that fails; none when nothing does.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Style => Some(Severity::Style),
            Self::None => None,
        }
    }
}

words! {
    /// What a file says about the severity of one rule.
    RuleSeverity {
        Off = "off",
        Error = "error",
        Warning = "warning",
        Info = "info",
        Style = "style",
    }
}

impl RuleSeverity {
    /// The severity to report with; none when the rule is off.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Style => Some(Severity::Style),
        }
    }
}

words! {
    /// Where ShellCheck's findings come from.
    ShellcheckMode {
        /// From this program itself, with no other one.
        Native = "native",
        /// From an installed ShellCheck.
        Binary = "binary",
        /// From nowhere.
        Off = "off",
    }
}

words! {
    /// When the fixes of one rule may be applied.
    FixMode {
        Never = "never",
        /// Only when the rule is named on the command line.
        Explicit = "explicit",
        Always = "always",
        /// Only together with unsafe fixes.
        UnsafeOnly = "unsafe-only",
    }
}

words! {
    /// What happens to a file that holds secrets before an agent sees it.
    SecretsPolicy {
        Deny = "deny",
        Allow = "allow",
        Tokenize = "tokenize",
    }
}

words! {
    /// The shape in which an agent answers.
    AutofixOutput {
        Patch = "patch",
        Dockerfile = "dockerfile",
    }
}

words! {
    /// How much of the build context an agent gets to know.
    AiContext {
        None = "none",
        Snapshot = "snapshot",
        ReadOnly = "read-only",
    }
}

words! {
    /// Whether checks that ask a registry run.
    SlowChecksMode {
        /// On, except under continuous integration.
        Auto = "auto",
        On = "on",
        Off = "off",
    }
}
