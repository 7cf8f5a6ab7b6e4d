//! The frameworks, by the names of their packages and programs.

/// What runs the tests of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framework {
    Node,
    Vitest,
    Jest,
    Mocha,
    Ava,
    Tap,
    Tape,
    Jasmine,
    Bun,
    Deno,
}

/// The frameworks that come as packages, by the names of those, in the order in which they are looked for.
pub(super) const PACKAGES: [(&str, Framework); 11] = [
    ("vitest", Framework::Vitest),
    ("jest", Framework::Jest),
    ("mocha", Framework::Mocha),
    ("ava", Framework::Ava),
    ("tap", Framework::Tap),
    ("@tapjs/core", Framework::Tap),
    ("tape", Framework::Tape),
    ("jasmine", Framework::Jasmine),
    ("jest-cli", Framework::Jest),
    ("bun", Framework::Bun),
    ("@types/bun", Framework::Bun),
];

impl Framework {
    /// By the name of a program, or of the package that brings it.
    pub(super) fn of_program(name: &str) -> Option<Self> {
        Some(match name {
            "vitest" => Self::Vitest,
            "jest" | "jest-cli" => Self::Jest,
            "mocha" | "_mocha" => Self::Mocha,
            "ava" => Self::Ava,
            "tap" => Self::Tap,
            "tape" => Self::Tape,
            "jasmine" => Self::Jasmine,
            _ => return None,
        })
    }

    /// The package that brings its program; none if it is a program of the machine.
    pub(super) fn package(self) -> Option<&'static str> {
        Some(match self {
            Self::Node | Self::Bun | Self::Deno => return None,
            Self::Vitest => "vitest",
            Self::Jest => "jest",
            Self::Mocha => "mocha",
            Self::Ava => "ava",
            Self::Tap => "tap",
            Self::Tape => "tape",
            Self::Jasmine => "jasmine",
        })
    }

    /// In words for people.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Node => "node --test",
            Self::Bun => "bun test",
            Self::Deno => "deno test",
            other => other.package().unwrap_or_default(),
        }
    }

    /// Whether it finds the tests that use a file by itself.
    pub(super) fn finds_related(self) -> bool {
        matches!(self, Self::Vitest | Self::Jest)
    }
}
