//! A claimed defect: the lines it is about, the test that shows it, and the fix that cures it.

/// A defect that somebody claims, and the test that is to prove it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// Names the test's file, so it should be unique; anything but letters and digits is dropped.
    pub id: String,
    /// The flagged file, relative to the repository.
    pub file: String,
    pub line: u32,
    pub end_line: Option<u32>,
    pub test_code: String,
    /// Where the agent would put its test. Only the directory is used, but the path as a whole has
    /// to be one that a new test may have.
    pub test_file: Option<String>,
    /// Found in the code if it is not given.
    pub test_name: Option<String>,
    /// A unified diff against the repository that makes the test pass.
    pub fix_patch: Option<String>,
    /// Other fixes of the same defect, tried in turn if the first does not prove it.
    pub other_fixes: Vec<String>,
}

/// The lines that a claim is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlaggedLines {
    pub(crate) file: String,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl FlaggedLines {
    pub(crate) fn overlap(&self, first: u32, last: u32) -> bool {
        first <= self.last && self.first <= last
    }
}
