//! Fenced blocks of a markdown text.

/// A text, taken apart into its fenced blocks and the lines around them.
#[derive(Debug, Default)]
pub(super) struct Fenced<'a> {
    pub(super) blocks: Vec<Block>,
    /// The lines outside of blocks, without their ends.
    pub(super) prose: Vec<&'a str>,
    /// Whether the last block has no end; it is not among the blocks.
    pub(super) unclosed: bool,
}

/// A fenced block.
#[derive(Debug)]
pub(super) struct Block {
    /// The first word of the info string.
    pub(super) label: String,
    /// The lines between the fences, each ended by `\n`.
    pub(super) content: String,
}

impl<'a> Fenced<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut fenced = Self::default();
        let mut open: Option<(Fence<'_>, String)> = None;
        for line in text.lines() {
            match open.take() {
                None => match Fence::opening(line) {
                    Some(fence) => open = Some((fence, String::new())),
                    None => fenced.prose.push(line),
                },
                Some((fence, content)) if fence.is_closed_by(line) => {
                    fenced.blocks.push(Block { label: fence.label(), content });
                }
                Some((fence, mut content)) => {
                    content.push_str(fence.without_indent(line));
                    content.push('\n');
                    open = Some((fence, content));
                }
            }
        }
        fenced.unclosed = open.is_some();
        fenced
    }
}

/// The line that opens a block.
#[derive(Debug)]
struct Fence<'a> {
    indent: usize,
    sign: char,
    length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn opening(line: &'a str) -> Option<Self> {
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        let sign = rest.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let info = rest.trim_start_matches(sign);
        let length = rest.len() - info.len();
        // Code within a line of prose may begin it with three backticks and end them further on.
        let is_inline = sign == '`' && info.contains('`');
        (indent <= 3 && length >= 3 && !is_inline).then(|| Self {
            indent,
            sign,
            length,
            info: info.trim(),
        })
    }

    /// Whether a line is the end of this block.
    ///
    /// Markdown lets the end be indented by up to three blanks. Here it must not be indented more
    /// than the beginning: a context line of a diff that holds a fence begins with a blank.
    fn is_closed_by(&self, line: &str) -> bool {
        Fence::opening(line).is_some_and(|end| {
            end.sign == self.sign
                && end.length >= self.length
                && end.info.is_empty()
                && end.indent <= self.indent
        })
    }

    /// A line of the block without the indentation that the block as a whole has.
    fn without_indent<'line>(&self, line: &'line str) -> &'line str {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        line.get(blanks.min(self.indent)..).unwrap_or(line)
    }

    fn label(&self) -> String {
        let word = self.info.split([' ', '\t', ',', ':']).next().unwrap_or_default();
        word.trim_matches(['{', '}', '.']).chars().take(40).collect()
    }
}
