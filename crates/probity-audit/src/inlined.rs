//! Sources that are small enough to be shown at once, in the first prompt.

use std::path::Path;

use probity_scope::Scope;

use crate::{
    coverage::ShownLines, prompt, secrets::Secrets, sources::MOST_BYTES, tools::MOST_CHARS,
};

/// Characters of all sources together. More would not fit beside the skill into the memory of a
/// small model, and a large one reads on by itself.
const MOST_INLINED: usize = 16_000;

/// What the first prompt shows, and how much there is to read where it shows nothing.
#[derive(Debug, Default)]
pub(crate) struct Inlined {
    shows: Shows,
    pub(crate) text: String,
    pub(crate) shown: Vec<ShownLines>,
    /// How many reads it takes to see every source.
    pub(crate) pages: usize,
}

#[derive(Clone, Copy, Debug, Default)]
enum Shows {
    #[default]
    Nothing,
    Changed,
    All,
}

impl Inlined {
    /// All sources, or all that have to be read, or none: half of a project would be judged as if it
    /// were the whole.
    pub(crate) fn new(
        scope: &Scope,
        sources: &[String],
        changed: Option<&[String]>,
        secrets: Option<&Secrets>,
        may_show: bool,
    ) -> Self {
        let all = Self::of(scope, sources, secrets, may_show);
        match changed {
            Some(changed) if all.shown.is_empty() => {
                let part = Self::of(scope, changed, secrets, may_show);
                let shows = if part.shown.is_empty() { Shows::Nothing } else { Shows::Changed };
                Self { shows, pages: all.pages, ..part }
            }
            _ => all,
        }
    }

    /// How the first prompt ends.
    pub(crate) fn first_question(&self) -> &'static str {
        match self.shows {
            Shows::Nothing => "\nAnswer with your first action.",
            Shows::Changed => {
                "\nYou have seen the changed sources. Answer with the action \"final\", or read what \
                 else you need."
            }
            Shows::All => {
                "\nYou have seen all sources. Answer with the action \"final\", or read what else you need."
            }
        }
    }

    fn of(scope: &Scope, sources: &[String], secrets: Option<&Secrets>, may_show: bool) -> Self {
        let mut inlined = Self::default();
        let mut chars = 0;
        let mut is_whole = may_show;
        for source in sources {
            let path = Path::new(source);
            let Ok(bytes) = scope.read(path, MOST_BYTES) else {
                (is_whole, inlined.pages) = (false, inlined.pages + 1);
                continue;
            };
            let text = String::from_utf8_lossy(&bytes);
            let length = text.chars().count();
            inlined.pages += length.div_ceil(MOST_CHARS).max(1);
            chars += length;
            is_whole &= chars <= MOST_INLINED && !text.contains('\0');
            if is_whole {
                let text = secrets
                    .map_or_else(|| text.clone().into_owned(), |secrets| secrets.mask(&text));
                inlined.text.push_str(&prompt::inlined(source, &text));
                let path = scope.relative(path).unwrap_or_else(|_| path.to_owned());
                let last = text.lines().count() as u64;
                inlined.shown.push(ShownLines { path, first: 1, last });
            }
        }
        if is_whole && !inlined.shown.is_empty() {
            inlined.shows = Shows::All;
        } else {
            inlined.text.clear();
            inlined.shown.clear();
        }
        inlined
    }
}
