//! The place between two links of a chain, and how a line is broken there.

use probity_dockerfile::Dockerfile;
use probity_finding::{Edit, Span};

use crate::text::lines;

/// Where one link ends and the next one begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seam {
    pub(super) left: usize,
    /// The `&&` or `||` between two commands.
    pub(super) joiner: Option<Span>,
    pub(super) right: usize,
}

impl Seam {
    pub(super) fn is_within_line(&self, text: &str) -> bool {
        let between = Span::new(self.left, self.right).slice(text);
        between.is_some_and(|between| !between.contains('\n'))
    }

    /// The blanks before the joiner, and those behind it; where there is none, those between.
    fn before(&self) -> Span {
        Span::new(self.left, self.joiner.map_or(self.right, |joiner| joiner.start))
    }

    fn behind(&self) -> Span {
        Span::new(self.joiner.map_or(self.right, |joiner| joiner.end), self.right)
    }

    /// How the line is broken here already: whether behind the joiner, and how the next one is
    /// indented.
    fn layout<'t>(&self, text: &'t str) -> Option<(Side, &'t str)> {
        let broken = |span: Span| Some(span.slice(text)?.rsplit_once('\n')?.1);
        let before = broken(self.before()).map(|indentation| (Side::Before, indentation));
        before.or_else(|| Some((Side::Behind, broken(self.behind())?)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Before,
    Behind,
}

/// Breaks the line at each seam that lies within one, in the way of the first that does not; none
/// where anything but blanks would be replaced. `step` is the indentation where no seam has one.
pub(super) fn breaks(file: &Dockerfile<'_>, seams: &[Seam], step: &str) -> Option<Vec<Edit>> {
    let text = file.text;
    let laid_out = seams.iter().find_map(|seam| seam.layout(text));
    let (side, indentation) = laid_out.unwrap_or((Side::Before, step));
    if !is_blank(indentation) {
        return None;
    }
    let written = format!(" {}{}{indentation}", file.escape, lines::line_end(text));
    let within = seams.iter().filter(|seam| seam.is_within_line(text));
    within
        .map(|seam| {
            let blanks = match side {
                Side::Before => seam.before(),
                Side::Behind => seam.behind(),
            };
            is_blank(blanks.slice(text)?).then(|| Edit::replace(blanks, written.as_str()))
        })
        .collect()
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}
