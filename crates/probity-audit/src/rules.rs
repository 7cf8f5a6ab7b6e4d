//! Whose rules hold where the specification and we differ.

/// The name under which an audit runs decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The specification, to the letter: an answer is final as soon as the model says so.
    Specification,
    /// Ours: "no findings" needs every line of the sources shown, and quotes that do not occur go
    /// back to the model once.
    Probity,
}
