//! The flags for colors, which every command of probity has.

use clap::Args;

use crate::screen::When;

#[derive(Args, Debug)]
pub(super) struct ColorArgs {
    /// Do not use colors
    #[arg(long)]
    no_color: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", conflicts_with = "no_color", default_value = "auto")]
    color: When,
}

impl ColorArgs {
    pub(super) fn when(&self) -> When {
        if self.no_color { When::Never } else { self.color }
    }
}
