//! What the colors mean.

use anstyle::{AnsiColor, Style};
use probity_finding::Severity;

/// What a color says. A bug or a failure is red, and what is good is green, in every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Heading,
    Strong,
    /// What matters least.
    Faint,
    Good,
    Bad,
    Doubtful,
    Added,
    Removed,
    /// Where a part of a diff belongs.
    Place,
    Severity(Severity),
}

impl Paint {
    pub(super) fn style(self) -> Style {
        let bold = |color: AnsiColor| color.on_default().bold();
        match self {
            Self::Heading => Style::new().bold().underline(),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Good => bold(AnsiColor::Green),
            Self::Bad | Self::Severity(Severity::Error) => bold(AnsiColor::Red),
            Self::Doubtful | Self::Severity(Severity::Warning) => bold(AnsiColor::Yellow),
            Self::Added => AnsiColor::Green.on_default(),
            Self::Removed => AnsiColor::Red.on_default(),
            Self::Place => AnsiColor::Cyan.on_default(),
            Self::Severity(Severity::Info) => bold(AnsiColor::Cyan),
            Self::Severity(Severity::Style) => bold(AnsiColor::Blue),
        }
    }
}
