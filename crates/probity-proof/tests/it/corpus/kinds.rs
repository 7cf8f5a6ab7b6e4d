//! The kinds of claims, which of them are true, and how many of each there are.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClaimKind {
    /// A broken function, and the fix.
    Fixed,
    /// A broken function without a fix.
    Unfixed,
    /// A function that does not come back, and the fix.
    EndlessCode,
    /// Fails whatever the code does: with a fix, without one, and behind a call.
    Constant,
    ConstantAlone,
    BehindCall,
    BehindCallAlone,
    /// Wants what is equal to nothing.
    Nan,
    NanAlone,
    /// Passes by chance, so often of a hundred times.
    Coin20,
    Coin50,
    Coin80,
    Clock,
    Network,
    MissingFile,
    /// Sound code and a wrong wish, granted by the fix, against an existing test.
    PinnedExpectation,
    /// The same without such a test: nobody can tell.
    FreeExpectation,
    /// Wants what the broken code does.
    BuggyValue,
    HangingTest,
    EditsCode,
    /// Sound code, a wrong wish, and a fix that serves the test alone.
    SpecialCase,
    Detects,
    Hollow,
    Exits,
    /// Fixes that are none.
    TouchesTest,
    TouchesSettings,
    OnlyComments,
    /// A broken function, and a fix that breaks another test.
    BreaksSuite,
    /// Looks for text in the code: with a fix that has it, without a fix, and for text to be gone.
    ReadsText,
    ReadsTextAlone,
    ReadsAbsence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Truth {
    /// True, with a fix.
    True,
    TrueWithoutFix,
    False,
    /// A matter of opinion.
    Open,
}

impl ClaimKind {
    pub(crate) const ALL: [Self; 31] = [
        Self::Fixed,
        Self::Unfixed,
        Self::EndlessCode,
        Self::Constant,
        Self::ConstantAlone,
        Self::BehindCall,
        Self::BehindCallAlone,
        Self::Nan,
        Self::NanAlone,
        Self::Coin20,
        Self::Coin50,
        Self::Coin80,
        Self::Clock,
        Self::Network,
        Self::MissingFile,
        Self::PinnedExpectation,
        Self::FreeExpectation,
        Self::BuggyValue,
        Self::HangingTest,
        Self::EditsCode,
        Self::SpecialCase,
        Self::Detects,
        Self::Hollow,
        Self::Exits,
        Self::TouchesTest,
        Self::TouchesSettings,
        Self::OnlyComments,
        Self::BreaksSuite,
        Self::ReadsText,
        Self::ReadsTextAlone,
        Self::ReadsAbsence,
    ];

    pub(crate) fn truth(self) -> Truth {
        match self {
            Self::Fixed | Self::EndlessCode => Truth::True,
            Self::Unfixed => Truth::TrueWithoutFix,
            Self::FreeExpectation => Truth::Open,
            _ => Truth::False,
        }
    }

    /// How many there are where a language has so many shapes: at first, and after all the others.
    pub(super) fn counts(self, shapes: usize) -> [usize; 2] {
        match self {
            Self::Fixed => [5 * shapes, 10 * shapes],
            Self::Unfixed => [5 * shapes, 2 * shapes],
            Self::PinnedExpectation | Self::SpecialCase => [shapes; 2],
            // Each costs the time limit several times.
            Self::EndlessCode | Self::HangingTest => [3, 0],
            _ => [5, 3],
        }
    }

    /// Whether an existing test asks for what the claim's test denies.
    pub(super) fn pins(self) -> bool {
        self == Self::PinnedExpectation
    }

    /// Whether the fix is a statement at the beginning of the function.
    pub(super) fn inserts_statement(self) -> bool {
        matches!(
            self,
            Self::SpecialCase | Self::Detects | Self::Hollow | Self::Exits | Self::BreaksSuite
        )
    }

    pub(super) fn is_wrong_expectation(self) -> bool {
        matches!(
            self,
            Self::PinnedExpectation
                | Self::FreeExpectation
                | Self::SpecialCase
                | Self::Detects
                | Self::Hollow
                | Self::Exits
                | Self::TouchesTest
                | Self::TouchesSettings
        )
    }

    /// Whether the code that is claimed to be wrong is right.
    pub(super) fn is_sound(self) -> bool {
        self.is_wrong_expectation()
            || matches!(self, Self::ReadsText | Self::ReadsTextAlone | Self::ReadsAbsence)
    }
}
