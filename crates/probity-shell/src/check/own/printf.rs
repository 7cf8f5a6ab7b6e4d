//! `printf`: as many arguments as the format asks for.

use super::Findings;
use crate::{Command, PartKind, Quote, Word};

pub(super) fn command(command: &Command, findings: &mut Findings) {
    let call = command.call();
    if !call.is_any(&["printf"]) {
        return;
    }
    let mut words = call.args();
    loop {
        match words {
            [flag, _, rest @ ..] if flag.is("-v") => words = rest,
            [flag, rest @ ..] if flag.is("--") => {
                words = rest;
                break;
            }
            _ => break,
        }
    }
    let [format, arguments @ ..] = words else { return };
    let Some(text) = format.literal() else { return };
    if arguments.iter().any(may_be_several) {
        return;
    }
    let wanted = conversions(&text);
    let given = arguments.len();
    match (wanted.len(), given) {
        (0, 0) => {}
        (0, _) => findings.error(2182, format.span(), "this format takes no arguments"),
        (_, 0) if wanted.iter().all(|character| *character == 'T') => {}
        // A format is used again for more arguments, as a whole.
        (wanted, given) if given > 0 && given % wanted == 0 => {}
        _ => {
            let message = "this format takes another number of arguments than are given";
            findings.warning(2183, format.span(), message);
        }
    }
}

/// The letters of the conversions; a star is one too.
fn conversions(format: &str) -> Vec<char> {
    let mut found = Vec::new();
    let mut rest = format.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter != '%' || rest.next_if_eq(&'%').is_some() {
            continue;
        }
        if rest.next_if_eq(&'(').is_some() {
            // `%(%F)T`
            rest.by_ref().take_while(|character| *character != ')').for_each(drop);
        }
        while let Some(modifier) =
            rest.next_if(|next| next.is_ascii_digit() || "-+ #'.*hlLjzt".contains(*next))
        {
            if modifier == '*' {
                found.push('*');
            }
        }
        found.extend(rest.next_if(char::is_ascii_alphabetic));
    }
    found
}

fn may_be_several(word: &Word) -> bool {
    word.parts().iter().any(|part| match &part.kind {
        PartKind::Glob(_) | PartKind::Brace(_) => true,
        PartKind::Variable(variable) => {
            part.quote == Quote::None
                || variable.name == "@"
                || variable.name.contains('[')
                || word.text().contains("[@]")
        }
        PartKind::Substitution { .. } => part.quote == Quote::None,
        _ => false,
    })
}
