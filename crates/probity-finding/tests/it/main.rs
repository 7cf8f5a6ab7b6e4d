//! What the values of probity-finding promise, shown on generated texts and edits.

mod apply;
mod line_index;
