//! What a workshop is doing, for whoever looks on. Nothing depends on it.

use std::{fmt, sync::Arc};

/// What runs now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity<'a> {
    /// A step of the preparation, in words.
    Preparing(&'a str),
    /// Something about the claim of this id.
    Claim { id: &'a str, step: ClaimStep },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimStep {
    /// Its test, on the code as it is.
    Test,
    /// The test on the code as it is and on another version, in turn.
    Pair { number: u32, of: u32 },
    /// The existing tests, with the fix and without it.
    ExistingTests,
}

type Tell = dyn Fn(Activity<'_>) + Send + Sync;

/// Who is told; by default nobody.
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<Tell>>);

impl Watch {
    pub fn new(tell: impl Fn(Activity<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub fn tell(&self, activity: Activity<'_>) {
        if let Some(tell) = &self.0 {
            tell(activity);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Watch").field(&self.0.is_some()).finish()
    }
}
