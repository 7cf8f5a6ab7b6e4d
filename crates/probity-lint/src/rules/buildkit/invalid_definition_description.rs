//! Comments that describe an argument or a stage.

use probity_dockerfile::{Arguments, Instruction, Keyword};
use probity_finding::{Finding, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `ARG` or a named `FROM` if its comment does not begin with the name it defines.
    ///
    /// The rule checks the comment line right above the instruction. A blank line does not separate
    /// the comment from the instruction. A line that contains only `#` does. If an `ARG` defines
    /// several names, the comment may begin with any of them. The rule ignores instructions after
    /// `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// `docker build --call=outline` shows such comments as descriptions of arguments and stages.
    /// It shows only comments that begin with the name.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// # The version of the base image.
    /// ARG VERSION=3.20
    /// FROM alpine:${VERSION}
    /// ```
    ///
    /// ```dockerfile,good
    /// # VERSION is the version of the base image.
    /// ARG VERSION=3.20
    ///
    /// # A remark that describes nothing.
    /// #
    /// FROM alpine:${VERSION} AS final
    /// ```
    InvalidDefinitionDescription {
        name: "buildkit/InvalidDefinitionDescription",
        severity: Off,
        category: Style,
        url: "https://docs.docker.com/go/dockerfile/rule/invalid-definition-description/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for instruction in &context.file.instructions {
        let Some(comment) = instruction.comments().last() else { continue };
        let Some(defined) = Defined::by(instruction) else { continue };
        let text = comment.text.slice(context.file.text).unwrap_or_default();
        let first = text.split(' ').next().unwrap_or_default();
        if defined.names.iter().any(|name| name == first) {
            continue;
        }
        let example = match defined.names.as_slice() {
            [name] => name.as_str(),
            _ => "<arg_key>",
        };
        let message = format!(
            "Comment for {} should follow the format: `# {example} <description>`",
            instruction.keyword
        );
        findings.push(
            context
                .finding(defined.place, message)
                .with_detail(
                    "A line with nothing but `#` below the comment makes it a mere remark.",
                )
                .with_related(comment.span, "the comment"),
        );
    }
}

/// What a comment may describe.
struct Defined {
    names: Vec<String>,
    /// The name if it is one, the keyword if there are several.
    place: Span,
}

impl Defined {
    fn by(instruction: &Instruction) -> Option<Self> {
        match (instruction.keyword, &instruction.arguments) {
            (Keyword::From, Arguments::From { alias: Some(alias), .. }) => {
                let names = vec![alias.name.text.to_lowercase()];
                Some(Self { names, place: alias.name.span })
            }
            (Keyword::Arg, Arguments::Pairs { pairs, .. }) => {
                let place = match &**pairs {
                    [] => return None,
                    [pair] => pair.key.span,
                    _ => instruction.keyword_span(),
                };
                let names = pairs.iter().map(|pair| pair.key.text.to_string()).collect();
                Some(Self { names, place })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "buildkit/InvalidDefinitionDescription";

    #[test]
    fn the_name_is_underlined() {
        check(
            RULE,
            r"
# some version
ARG VERSION
    ^^^^^^^ Comment for ARG should follow the format: `# VERSION <description>`
# VERSION of the base
# and more
from a \
  as Build
     ^^^^^ Comment for FROM should follow the format: `# build <description>`

# both

arg A B=1
^^^ Comment for ARG should follow the format: `# <arg_key> <description>`
# A: with a colon
ARG A
    ^ Comment for ARG should follow the format: `# A <description>`
",
        );
    }

    #[test]
    fn the_last_line_of_the_comment_is_related() {
        let findings = run(RULE, "# a\n# b\nARG C\nFROM x\n");
        let related: Vec<_> =
            findings.iter().flat_map(|f| &f.related).map(|r| r.span.start).collect();
        assert_eq!(related, [4]);
    }

    #[test]
    fn descriptions_remarks_and_other_instructions_are_silent() {
        check(
            RULE,
            "# VERSION is it\nARG VERSION\n# B too\nARG A B\n# build it\nFROM a AS Build\n",
        );
        check(
            RULE,
            "# remark\n#\nARG A\n# remark\nFROM a\n# remark\nONBUILD ARG A\n# remark\nRUN b\n",
        );
    }
}
