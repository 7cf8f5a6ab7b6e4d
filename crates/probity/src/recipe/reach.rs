//! What a file asks of the builder itself: sources of `ADD`, flags of `RUN`, a frontend.
//!
//! Every instruction counts, whichever stage it is in: not all builders skip the stages that nobody
//! needs. Where builders may read a file differently, every reading counts.

use probity_dockerfile::{
    Arguments, DirectiveName, Dockerfile, Facts, Instruction, Keyword, Step, Text, parse,
};
use probity_image::{AddSource, Origin, RunFlag};

/// The sources of `ADD` that are not plainly files of the context.
pub(super) fn sources(file: &Dockerfile<'_>, facts: &Facts) -> Vec<AddSource> {
    let mut sources = Vec::new();
    for (index, instruction) in file.instructions.iter().enumerate() {
        let variables = || -> Vec<String> {
            facts.references(index).iter().map(|reference| reference.name.clone()).collect()
        };
        match &instruction.arguments {
            Arguments::Transfer { sources: words, .. } if instruction.keyword == Keyword::Add => {
                let values = added(facts.steps(index));
                for (place, word) in words.iter().enumerate() {
                    let origin = origin(&word.text, values.get(place).copied(), variables);
                    sources.extend(source(instruction, &word.text, origin));
                }
            }
            // What the values are is known to the build that obeys it.
            Arguments::Onbuild(Some(trigger)) => sources.extend(unexpanded(trigger)),
            _ => {}
        }
        sources.extend(in_heredocs(file, instruction).flat_map(|(line, file)| {
            let found = file.instructions.iter().flat_map(unexpanded).collect::<Vec<_>>();
            found.into_iter().map(move |source| AddSource { line, ..source }).collect::<Vec<_>>()
        }));
    }
    sources
}

/// The flags of every `RUN`, triggers included.
pub(super) fn flags(file: &Dockerfile<'_>) -> Vec<RunFlag> {
    let mut flags = Vec::new();
    for instruction in &file.instructions {
        flags.extend(flags_of(instruction));
        if let Arguments::Onbuild(Some(trigger)) = &instruction.arguments {
            flags.extend(flags_of(trigger));
        }
        for (line, inner) in in_heredocs(file, instruction) {
            let found = inner.instructions.iter().flat_map(flags_of);
            flags.extend(found.map(|flag| RunFlag { line, ..flag }));
        }
    }
    flags
}

/// The frontend that BuildKit would read the file with. It also takes the directive behind `#!`, after
/// `//` instead of `#`, and as a file that is JSON.
pub(super) fn frontend(text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Ok(serde_json::Value::Object(keys)) = serde_json::from_str(text) {
        return keys.get("syntax").map(|value| value.as_str().unwrap_or_default().to_owned());
    }
    let behind_shebang = text.split_once('\n').filter(|(first, _)| first.starts_with("#!"));
    let text = behind_shebang.map_or(text, |(_, rest)| rest);
    let slashes = text.lines().map_while(|line| line.strip_prefix("//"));
    let as_comments: String = slashes.map(|line| format!("#{line}\n")).collect();
    [text, &as_comments].into_iter().find_map(directive)
}

fn directive(text: &str) -> Option<String> {
    let file = parse(text);
    let mut directives = file.directives.iter();
    let syntax = directives.find(|directive| directive.name == DirectiveName::Syntax)?;
    Some(syntax.value.clone())
}

/// The expanded sources of an `ADD`, in the order of its words.
fn added(steps: &[Step]) -> Vec<&Text> {
    let transfers = steps.iter().filter_map(|step| match step {
        Step::Transfer(transfer) => Some(transfer),
        _ => None,
    });
    transfers.flat_map(|transfer| &transfer.sources).collect()
}

/// None for a word that is the same file in every build.
fn origin(
    written: &str,
    expanded: Option<&Text>,
    variables: impl FnOnce() -> Vec<String>,
) -> Option<Origin> {
    let Some(value) = expanded.and_then(|text| text.value.as_deref()) else {
        return Some(Origin::Unknown);
    };
    if AddSource::is_remote(value) {
        return Some(Origin::Remote);
    }
    written.contains('$').then(|| Origin::Local { variables: variables() })
}

fn source(at: &Instruction, written: &str, origin: Option<Origin>) -> Option<AddSource> {
    let line = at.lines().0;
    origin.map(|origin| AddSource { line, text: written.to_owned(), origin })
}

/// The sources of an `ADD` whose variables have no value here.
fn unexpanded(instruction: &Instruction) -> Vec<AddSource> {
    let (Keyword::Add, Arguments::Transfer { sources, .. }) =
        (instruction.keyword, &instruction.arguments)
    else {
        return Vec::new();
    };
    let of_word = |word: &str| match word {
        word if AddSource::is_remote(word) => Some(Origin::Remote),
        word if word.contains('$') => Some(Origin::Unknown),
        _ => None,
    };
    sources.iter().filter_map(|word| source(instruction, &word.text, of_word(&word.text))).collect()
}

/// The bodies of heredocs as files, with the line of the instruction: a builder that does not know
/// heredocs takes their lines for instructions.
fn in_heredocs<'f>(
    file: &Dockerfile<'f>,
    instruction: &Instruction,
) -> impl Iterator<Item = (usize, Dockerfile<'f>)> {
    let line = instruction.lines().0;
    let text = file.text;
    let bodies: Vec<_> = instruction.heredocs().iter().map(|heredoc| heredoc.body).collect();
    bodies.into_iter().filter_map(move |body| Some((line, parse(body.slice(text)?))))
}

fn flags_of(instruction: &Instruction) -> Vec<RunFlag> {
    if instruction.keyword != Keyword::Run {
        return Vec::new();
    }
    let flags = instruction.flags.iter().map(|flag| {
        let options = flag.options.iter().map(|option| {
            let value = option.value.as_ref().map(|value| value.text.to_string());
            (option.key.text.to_string(), value)
        });
        RunFlag {
            line: instruction.lines().0,
            name: flag.name.text.to_string(),
            value: flag.value.as_ref().map(|value| value.text.to_string()),
            options: options.collect(),
        }
    });
    flags.collect()
}

#[cfg(test)]
mod tests {
    use probity_image::Variant;

    use super::*;
    use crate::recipe::recipe;

    fn origins(text: &str, arguments: &[(&str, &str)]) -> Vec<(usize, Origin)> {
        let given = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let arguments = arguments.iter().map(given).collect();
        let variant = Variant { arguments, ..Variant::default() };
        let sources = recipe(text, &variant).sources;
        sources.into_iter().map(|source| (source.line, source.origin)).collect()
    }

    #[test]
    fn remote_sources_are_found_in_every_form() {
        use Origin::{Remote, Unknown};
        for (text, expected) in [
            ("FROM a\nADD https://x.invalid/a /a\n", vec![(2, Remote)]),
            ("FROM a\nADD HTTP://x.invalid/a /a\n", vec![(2, Remote)]),
            ("FROM a\nadd git@x.invalid:a/b.git /a\n", vec![(2, Remote)]),
            ("FROM a\nADD me@x.invalid:a/b /a\n", vec![(2, Remote)]),
            ("FROM a\nADD ssh://x.invalid/b /a\n", vec![(2, Remote)]),
            ("FROM a\nADD github.com/a/b /a\n", vec![(2, Remote)]),
            ("FROM a\nADD [\"a b\", \"https://x.invalid/a\", \"/a/\"]\n", vec![(2, Remote)]),
            (
                "FROM a\nADD --checksum=sha256:0 \\\n  b https://x.invalid/a /a/\n",
                vec![(2, Remote)],
            ),
            ("FROM a\nADD \"ht\"'tps://x.invalid/a' /a\n", vec![(2, Remote)]),
            ("FROM a\nENV S=s P=//x\nADD http${S}:$P /a\n", vec![(3, Remote)]),
            ("FROM a\nENV C=:\nADD http$C//x /a\n", vec![(3, Remote)]),
            ("FROM a\nARG U=https://x.invalid/a\nADD $U /a\n", vec![(3, Remote)]),
            ("ARG U=https://x.invalid/a\nFROM a\nARG U\nADD $U /a\n", vec![(4, Remote)]),
            ("FROM a\nARG U\nADD ${U:-https://x.invalid/a} /a\n", vec![(3, Unknown)]),
            ("FROM a\nARG U\nADD $U /a\n", vec![(3, Unknown)]),
            ("FROM a\nADD $U /a\n", vec![(2, Unknown)]),
            ("FROM a AS x\nADD https://x.invalid/a /a\nFROM b\n", vec![(2, Remote)]),
            ("FROM a\nONBUILD ADD https://x.invalid/a /a\n", vec![(2, Remote)]),
            ("FROM a\nONBUILD ADD $U /a\n", vec![(2, Unknown)]),
            ("FROM a\nRUN <<LABEL\nADD https://x.invalid/a /a\nLABEL\n", vec![(2, Remote)]),
            ("FROM a\nADD a b /c/\nADD . /d\nCOPY --from=x /a /b\n", vec![]),
            ("FROM a\nADD <<E /c\nadd-apt-repository ppa:x/y\nE\n", vec![]),
        ] {
            assert_eq!(origins(text, &[]), expected, "{text}");
        }
    }

    #[test]
    fn build_arguments_decide_what_a_source_is() {
        let text = "FROM a\nARG U=https://x.invalid/a\nADD $U /a\n";
        let local = Origin::Local { variables: vec!["U".to_owned()] };
        assert_eq!(origins(text, &[("U", "file.tar")]), [(3, local)]);
        let text = "FROM a\nARG U=file.tar\nARG V\nADD $U $V /a/\n";
        let [remote, unknown] = [Origin::Remote, Origin::Unknown].map(|origin| (4, origin));
        assert_eq!(origins(text, &[("U", "http://x.invalid/a")]), [remote.clone(), unknown]);
        // A value is a value, whatever it would be as a part of the file.
        let hidden = "x\"\nRUN <<ONBUILD\n";
        let text = "FROM a\nARG U\nADD http://x.invalid/a /a\n";
        assert_eq!(origins(text, &[("U", hidden)]), [(3, Origin::Remote)]);
    }

    #[test]
    fn flags_of_run_are_found_wherever_it_is() {
        let text = "FROM a\nRUN --network=host --mount=type=cache,Target=/x true\n\
                    ONBUILD RUN --security=insecure true\nRUN <<CMD\nRUN --device=x true\nCMD\n";
        let found = flags(&parse(text));
        let shown: Vec<_> = found
            .iter()
            .map(|flag| (flag.line, flag.name.as_str(), flag.value.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [
                (2, "network", Some("host")),
                (2, "mount", Some("type=cache,Target=/x")),
                (3, "security", Some("insecure")),
                (4, "device", Some("x")),
            ]
        );
        let options = [("type", "cache"), ("target", "/x")];
        let options = options.map(|(key, value)| (key.to_owned(), Some(value.to_owned())));
        assert_eq!(found[1].options, options);
    }

    #[test]
    fn a_frontend_is_found_in_every_form() {
        for (text, expected) in [
            ("# syntax=a/b:1\nFROM a\n", Some("a/b:1")),
            ("#!/usr/bin/x\n# syntax = a/b\nFROM a\n", Some("a/b")),
            ("\u{feff}#SYNTAX=a/b\nFROM a\n", Some("a/b")),
            ("// syntax=a/b\nFROM a\n", Some("a/b")),
            ("//escape=`\n//syntax=a/b\nFROM a\n", Some("a/b")),
            ("#!/x\n//syntax=a/b\n", Some("a/b")),
            ("{\"syntax\": \"a/b\"}", Some("a/b")),
            ("FROM a\n# syntax=a/b\n", None),
            ("FROM a\n", None),
        ] {
            assert_eq!(frontend(text).as_deref(), expected, "{text}");
        }
    }
}
