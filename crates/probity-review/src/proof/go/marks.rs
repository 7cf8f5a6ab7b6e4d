//! Marks in a Go file that tell which of its statements were run.
//!
//! The tool chain's own coverage costs half of a compilation again, and a program that panics leaves
//! none behind. A mark stands where a run of statements begins: behind the brace that opens a block,
//! behind a case, and behind a statement of several lines. Formatted source shows all of these by its
//! blanks and its line ends; what is not formatted may not compile with marks, and is then covered
//! by the tool chain.

/// A run of statements: where its mark goes, and its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) at: usize,
    pub(super) first: u32,
    pub(super) last: u32,
}

/// The runs of statements of a source whose comments and strings are blanked.
pub(super) fn stretches(bare: &str) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    let mut open: Vec<Bracket> = Vec::new();
    let mut line = 1;
    let mut line_start = 0;
    for (at, byte) in bare.bytes().enumerate() {
        let before = bare.get(line_start..at).unwrap_or_default();
        let behind = bare.get(at + 1..).unwrap_or_default();
        match byte {
            b'\n' => {
                line += 1;
                line_start = at + 1;
            }
            b'{' | b'(' | b'[' => {
                let inside = open.last().map(|it| it.kind);
                let kind = if byte == b'{' { kind(before, inside) } else { Kind::Other };
                if kind == Kind::Block {
                    end(&mut found, &open, line);
                }
                let mut bracket = Bracket { kind, line, stretch: None, spanned: 0 };
                // Nothing but cases may stand in there, even if there is none.
                let chooses = ["select", "switch"].iter().any(|it| before.trim().starts_with(it));
                if kind == Kind::Block && !chooses && !begins_case(behind) {
                    bracket.stretch = Some(found.len());
                    found.push(Stretch { at: at + 1, first: line, last: line });
                }
                open.push(bracket);
            }
            b'}' | b')' | b']' => {
                let Some(closed) = open.pop() else { return Vec::new() };
                let Some(around) = open.last_mut().filter(|it| it.kind == Kind::Block) else {
                    continue;
                };
                let rest = behind.split('\n').next().unwrap_or_default();
                if closed.line < line {
                    around.spanned = line;
                }
                let ends = rest.trim().is_empty() && around.spanned == line;
                if ends && !behind.trim_start().starts_with('}') && !begins_case(behind) {
                    around.stretch = Some(found.len());
                    found.push(Stretch { at: at + 1, first: line, last: line });
                }
            }
            b':' if open.last().is_some_and(|it| it.kind == Kind::Block) => {
                let ends = behind.split('\n').next().is_some_and(|rest| rest.trim().is_empty());
                if ends && begins_case(bare.get(line_start..).unwrap_or_default()) {
                    let stretch = Some(found.len());
                    if let Some(around) = open.last_mut() {
                        around.stretch = stretch;
                    }
                    found.push(Stretch { at: at + 1, first: line, last: line });
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ if begins_case(bare.get(line_start..).unwrap_or_default()) => {}
            _ => end(&mut found, &open, line),
        }
    }
    found
}

/// What runs up to this line is of the innermost block, unless another one begins there.
fn end(found: &mut [Stretch], open: &[Bracket], line: u32) {
    let block = open.iter().rfind(|it| it.kind == Kind::Block).and_then(|it| it.stretch);
    if let Some(stretch) = block.and_then(|it| found.get_mut(it)) {
        stretch.last = stretch.last.max(line);
    }
}

struct Bracket {
    kind: Kind,
    line: u32,
    /// The last run of statements in a block.
    stretch: Option<usize>,
    /// The last line at which something ended that began on another.
    spanned: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Block,
    Other,
}

/// What a brace opens, by the line before it. A value has its brace at its type, and the values in
/// it may have no type; only functions are blocks there.
fn kind(before: &str, inside: Option<Kind>) -> Kind {
    let header = before.trim_end();
    let apart = before.is_empty() || before.ends_with([' ', '\t']);
    let is_type = ["struct", "interface"].iter().any(|word| header.ends_with(word));
    let may_be = match inside {
        Some(Kind::Other) => header.contains("func("),
        Some(Kind::Block) => true,
        None => !header.is_empty(),
    };
    if apart && !is_type && may_be { Kind::Block } else { Kind::Other }
}

fn begins_case(text: &str) -> bool {
    let text = text.trim_start();
    let case = text.strip_prefix("case").is_some_and(|it| it.starts_with(char::is_whitespace));
    case || text.starts_with("default:")
}

#[cfg(test)]
mod tests {
    use super::{super::super::constant::without_text, stretches};

    /// The source with the lines of each mark in its place.
    fn shown(source: &str) -> String {
        let mut text = source.to_owned();
        for stretch in stretches(&without_text(source)).iter().rev() {
            text.insert_str(stretch.at, &format!("<{}-{}>", stretch.first, stretch.last));
        }
        text
    }

    #[test]
    fn marks_stand_where_statements_begin_and_nowhere_else() {
        let source = "package a

type T struct {
	f func() int
}

var table = map[string]T{
	\"a\": {nil},
	\"b\": {func() int {
		return 1
	}},
}

func A(x int) (int, error) {
	if x < 0 {
		return 0, nil
	} else if x > 9 {
		return 9, nil
	}
	for _, y := range []int{1, 2} {
		x += y
	}
	cases := []T{
		{nil},
	}
	switch {
	case x > 1:
		x++
	default:
		each(func(y int) {
			x = y
		})
		go func() {
			select {}
		}()
		x--
	}
	return len(cases), nil
}

func B() {}
func C[K comparable]() interface{ E() } { return struct{ E func() }{} }
";
        insta::assert_snapshot!(shown(source), @r#"
        package a

        type T struct {
        	f func() int
        }

        var table = map[string]T{
        	"a": {nil},
        	"b": {func() int {<9-10>
        		return 1
        	}},
        }

        func A(x int) (int, error) {<14-17>
        	if x < 0 {<15-16>
        		return 0, nil
        	} else if x > 9 {<17-18>
        		return 9, nil
        	}<19-20>
        	for _, y := range []int{1, 2} {<20-21>
        		x += y
        	}<22-24>
        	cases := []T{
        		{nil},
        	}<25-26>
        	switch {
        	case x > 1:<27-28>
        		x++
        	default:<29-30>
        		each(func(y int) {<30-31>
        			x = y
        		})<32-33>
        		go func() {<33-34>
        			select {}
        		}()<35-36>
        		x--
        	}<37-38>
        	return len(cases), nil
        }

        func B() {<41-41>}
        func C[K comparable]() interface{ E() } {<42-42> return struct{ E func() }{} }
        "#);
        assert!(stretches("func A() { ) }").is_empty());
        assert!(stretches("}").is_empty());
    }
}
