//! The experiments on one claim: the same test on two versions of the code, and what that shows.
//!
//! | | the claim's test | existing tests that touch the changed files |
//! |---|---|---|
//! | code as it is | fails in every run | outcome recorded |
//! | code with the fix | passes in every run | nothing that passed before fails |
//!
//! The other version may also be the merge base, or a flagged function that returns another value.
//!
//! A vulnerability has a control of honest use beside its test, the exploit:
//!
//! | | exploit | control |
//! |---|---|---|
//! | code as it is | fails in every run | passes in every run |
//! | code with the fix | passes in every run | passes in every run |
//! | entry point that rejects everything, without a fix | passes in every run | fails in every run |

mod altered;
mod cheat;
mod exploit;
mod fix;
mod inert;
mod pairs;
mod prove;
mod reading;
mod refused;
mod rejected;
mod staged;
mod start;
mod suite;

pub(crate) use self::{prove::Laboratory, suite::Baselines};
