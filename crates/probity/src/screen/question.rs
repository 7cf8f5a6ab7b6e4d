//! Questions at the terminal that a user answers with yes or no.

use std::io::{self, IsTerminal as _, Write as _};

use crate::streams;

/// Whether somebody says yes. No answer is a no.
pub(crate) fn is_confirmed(question: &str) -> io::Result<bool> {
    let mut err = streams::stderr().lock();
    write!(err, "{question} [y/N]: ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    // Nobody's Enter ended the line, and what comes next is not part of the question.
    if !io::stdin().is_terminal() || !answer.ends_with('\n') {
        writeln!(err)?;
    }
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
