//! The differences from tally that are meant, each with its reason.

use probity_dockerfile::{Arguments, Dockerfile, Expander, Instruction, Keyword, Platform};

/// A difference that is meant.
pub(super) struct Difference {
    /// The rule, or `rejected` for a file that one of us rejects.
    pub(super) rule: &'static str,
    pub(super) side: Side,
    pub(super) reason: &'static str,
    pub(super) holds: fn(&Case<'_>) -> bool,
}

/// Who alone has something to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Theirs,
}

/// What a difference is seen in.
pub(super) struct Case<'a> {
    pub(super) file: &'a Dockerfile<'a>,
    pub(super) line: usize,
    /// Why the file is rejected, where it is.
    pub(super) reason: &'a str,
}

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        rule: "rejected",
        side: Side::Ours,
        reason: "tally does not read the options of --mount; BuildKit's parser does",
        holds: |case| {
            let of_mounts = ["mount", "unexpected key", "key=value pair", "invalid value for"];
            of_mounts.iter().any(|part| case.reason.contains(part))
        },
    },
    Difference {
        rule: "rejected",
        side: Side::Ours,
        reason: "tally drops instructions before the first FROM; BuildKit's parser refuses them",
        holds: |case| case.reason.contains("before FROM"),
    },
    Difference {
        rule: "rejected",
        side: Side::Ours,
        reason: "tally makes findings of triggers that BuildKit's parser refuses",
        holds: |case| case.reason.contains("ONBUILD"),
    },
    Difference {
        rule: "rejected",
        side: Side::Ours,
        reason: "BuildKit refuses signals and ports when it converts, which tally never does",
        holds: |case| {
            let of_conversion = ["invalid signal", "invalid port", "invalid protocol"];
            of_conversion.iter().any(|part| case.reason.starts_with(part))
        },
    },
    Difference {
        rule: "rejected",
        side: Side::Ours,
        reason: "BuildKit expands words when it converts, which tally never does",
        holds: |case| case.reason.starts_with("failed to process"),
    },
    Difference {
        rule: "buildkit/ExposeInvalidFormat",
        side: Side::Theirs,
        reason: "BuildKit looks at the expanded port; tally takes the colon of ${PORT:-80} for one \
                 between addresses",
        holds: |case| case.source().contains("${"),
    },
    Difference {
        rule: "buildkit/ConsistentInstructionCasing",
        side: Side::Ours,
        reason: "we flag an ARG before the first FROM too, as the rule's page says",
        holds: |case| case.globals().any(|arg| arg.lines().0 == case.line),
    },
    Difference {
        rule: "buildkit/ConsistentInstructionCasing",
        side: Side::Theirs,
        reason: "tally lets an ARG before the first FROM vote; BuildKit counts stages only",
        holds: |case| case.globals().next().is_some(),
    },
    Difference {
        rule: "buildkit/FromPlatformFlagConstDisallowed",
        side: Side::Theirs,
        reason: "BuildKit says nothing of a platform that it cannot parse, for the build fails",
        holds: |case| {
            let value =
                case.instruction().and_then(|instruction| instruction.flag_value("platform"));
            value.is_some_and(|value| Platform::parse(&value.text).is_err())
        },
    },
    Difference {
        rule: "buildkit/JSONArgsRecommended",
        side: Side::Theirs,
        reason: "BuildKit is silent where SHELL says what the command runs in",
        holds: |case| case.before().any(|instruction| instruction.keyword == Keyword::Shell),
    },
    Difference {
        rule: "buildkit/RedundantTargetPlatform",
        side: Side::Theirs,
        reason: "an ARG gives TARGETPLATFORM a default, so that the flag has an effect",
        holds: |case| case.globals().any(|arg| case.text_of(arg).contains("TARGETPLATFORM=")),
    },
    Difference {
        rule: "buildkit/UndefinedArgInFrom",
        side: Side::Ours,
        reason: "an earlier ARG cannot be expanded: BuildKit and tally stop there, we look on",
        holds: |case| case.globals().any(|arg| case.cannot_be_expanded(arg)),
    },
    Difference {
        rule: "buildkit/InvalidDefaultArgInFrom",
        side: Side::Ours,
        reason: "an earlier ARG cannot be expanded: BuildKit and tally stop there, we look on",
        holds: |case| case.globals().any(|arg| case.cannot_be_expanded(arg)),
    },
    Difference {
        rule: "buildkit/UndefinedVar",
        side: Side::Theirs,
        reason: "BuildKit gives PATH to every stage; tally forgets scratch, and a stage that has \
                 the name of its image",
        holds: |case| case.source().contains("$PATH") && !case.from().contains("=windows"),
    },
    Difference {
        rule: "buildkit/UndefinedVar",
        side: Side::Theirs,
        reason: "a stage that is called scratch is what FROM scratch means from then on",
        holds: |case| {
            let mut aliases = case.before().filter_map(alias);
            case.base() == "scratch" && aliases.any(is_scratch)
        },
    },
    Difference {
        rule: "buildkit/UndefinedVar",
        side: Side::Ours,
        reason: "a stage that is called scratch is what FROM scratch means from then on, and runs \
                 the triggers of that stage",
        holds: |case| {
            let mut aliases = case.file.instructions.iter().filter_map(alias);
            case.source().starts_with("ONBUILD") && aliases.any(is_scratch)
        },
    },
    Difference {
        rule: "buildkit/UndefinedVar",
        side: Side::Ours,
        reason: "BuildKit leaves PATH to the image on Windows",
        holds: |case| case.source().contains("$PATH") && case.from().contains("=windows"),
    },
    Difference {
        rule: "buildkit/UndefinedVar",
        side: Side::Theirs,
        reason: "an image that is not an official one may set the variable; BuildKit has the image and \
                 knows, tally takes every such variable for undefined",
        holds: |case| {
            let mut images = case.before().filter_map(image);
            images.any(|image| image.contains('/'))
        },
    },
    Difference {
        rule: "buildkit/SecretsUsedInArgOrEnv",
        side: Side::Theirs,
        reason: "a path, a switch or nothing in an ENV is not a secret",
        holds: |case| {
            case.instruction().is_some_and(|instruction| instruction.keyword == Keyword::Env)
        },
    },
    Difference {
        rule: "buildkit/SecretsUsedInArgOrEnv",
        side: Side::Ours,
        reason: "a trigger defines it in every image that is built on this one",
        holds: |case| {
            case.instruction().is_some_and(|instruction| instruction.keyword == Keyword::Onbuild)
        },
    },
    Difference {
        rule: "buildkit/WorkdirRelativePath",
        side: Side::Theirs,
        reason: "BuildKit has the image and knows its system; where it is unknown to us, a drive letter \
                 says Windows",
        holds: |case| case.source().contains("C:/"),
    },
    Difference {
        rule: "buildkit/WorkdirRelativePath",
        side: Side::Ours,
        reason: "BuildKit looks at the image; tally takes the escape character for a sign of Windows",
        holds: |case| case.source().contains("C:/") && case.file.escape == '`',
    },
    Difference {
        rule: "buildkit/WorkdirRelativePath",
        side: Side::Ours,
        reason: "BuildKit looks at the expanded path, as we do where the value is known; tally does \
                 not expand",
        holds: |case| case.source().contains('$'),
    },
];

fn alias(instruction: &Instruction) -> Option<&str> {
    match &instruction.arguments {
        Arguments::From { alias: Some(alias), .. } => Some(&alias.name.text),
        _ => None,
    }
}

fn image(instruction: &Instruction) -> Option<&str> {
    match &instruction.arguments {
        Arguments::From { image: Some(image), .. } => Some(&image.text),
        _ => None,
    }
}

fn is_scratch(name: &str) -> bool {
    name.eq_ignore_ascii_case("scratch")
}

impl Case<'_> {
    fn text_of(&self, instruction: &Instruction) -> &str {
        instruction.span.slice(self.file.text).unwrap_or_default()
    }

    /// Whether BuildKit stops at this instruction, since a value of it has no meaning.
    fn cannot_be_expanded(&self, instruction: &Instruction) -> bool {
        let Arguments::Pairs { pairs, .. } = &instruction.arguments else { return false };
        let expander = Expander::new(self.file.escape, &|_| None);
        pairs
            .iter()
            .filter_map(|pair| pair.value.as_ref())
            .any(|value| expander.expand(&value.text).is_err())
    }

    /// The instruction that the difference is about.
    fn instruction(&self) -> Option<&Instruction> {
        self.file.instructions.iter().find(|instruction| instruction.lines().0 == self.line)
    }

    fn source(&self) -> &str {
        self.instruction().map_or("", |instruction| self.text_of(instruction))
    }

    fn before(&self) -> impl Iterator<Item = &Instruction> {
        self.file.instructions.iter().take_while(|instruction| instruction.lines().0 < self.line)
    }

    /// The ARG instructions before the first stage.
    fn globals(&self) -> impl Iterator<Item = &Instruction> {
        self.file.instructions.iter().take_while(|instruction| instruction.keyword == Keyword::Arg)
    }

    /// The FROM of the stage that the difference is in.
    fn from(&self) -> &str {
        let last = self.before().filter(|instruction| instruction.keyword == Keyword::From).last();
        last.map_or("", |instruction| self.text_of(instruction))
    }

    fn base(&self) -> &str {
        let last = self.before().filter(|instruction| instruction.keyword == Keyword::From).last();
        match last.map(|instruction| &instruction.arguments) {
            Some(Arguments::From { image: Some(image), .. }) => &image.text,
            _ => "",
        }
    }
}
