//! Dockerfiles by the number: mostly right, often odd, sometimes broken.

use super::{grammar::GRAMMAR, random::Random};

/// The Dockerfile of this number.
pub(crate) fn dockerfile(number: u64) -> String {
    let mut file = File { random: Random::new(number), text: String::new(), is_broken: false };
    file.is_broken = file.random.once_in(16);
    file.write();
    let File { mut random, text, .. } = file;
    let escape = if random.once_in(8) { "`" } else { "\\" };
    let declared = if escape == "`" && !text.contains("=¬") { "# escape=¬\n" } else { "" };
    let mut text = format!("{declared}{text}").replace('¬', escape);
    if random.once_in(14) {
        mutate(&mut text, &mut random);
    }
    if random.once_in(8) {
        text = text.replace('\n', "\r\n");
    }
    if random.once_in(12) {
        text.insert(0, '\u{feff}');
    }
    if random.once_in(6) {
        text.truncate(text.trim_end().len());
    }
    text
}

/// The same file after many slips of the hand.
pub(super) fn damaged(number: u64) -> String {
    let mut text = dockerfile(number);
    let random = &mut Random::new(!number);
    for _ in 0..=random.below(20) {
        mutate(&mut text, random);
    }
    text
}

struct File {
    random: Random,
    text: String,
    is_broken: bool,
}

impl File {
    fn write(&mut self) {
        self.expand("‹head›");
        for _ in 0..self.random.below(3) {
            self.expand("‹global›");
        }
        for _ in 0..=self.random.below(3) {
            self.expand("‹from›");
            for _ in 0..self.random.below(8) {
                self.expand("‹step›");
            }
        }
    }

    fn expand(&mut self, production: &str) {
        let mut rest = production;
        while let Some(at) = rest.find(['‹', '~']) {
            self.text.push_str(&rest[..at]);
            let (name, after) = match rest[at..].strip_prefix('~') {
                Some(after) => ("gap", after),
                None => rest[at..].trim_start_matches('‹').split_once('›').unwrap(),
            };
            rest = after;
            let chosen = alternative(&mut self.random, name, self.is_broken);
            self.expand(chosen);
        }
        self.text.push_str(rest);
    }
}

fn alternative(random: &mut Random, name: &str, is_broken: bool) -> &'static str {
    let (_, alternatives) = GRAMMAR.iter().find(|(known, _)| *known == name).unwrap();
    loop {
        let picked = random.pick(alternatives);
        match picked.strip_prefix('!') {
            Some(_) if !is_broken => {}
            Some(breaking) => return breaking,
            None => return picked,
        }
    }
}

/// What slips of the hand do to a file.
fn mutate(text: &mut String, random: &mut Random) {
    const SLIPS: &[&str] = &[
        "\\", "\"", "'", "$", "{", "}", "[", "]", "<<", "=", "#", " ", "\n", "--", "\t", "é", "`",
    ];
    for _ in 0..=random.below(2) {
        let mut at = random.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        match random.below(3) {
            0 => text.insert_str(at, random.pick(SLIPS)),
            1 if at < text.len() => drop(text.remove(at)),
            2 => {
                let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
                let from = random.below(lines.len().max(1));
                let to = random.below(lines.len().max(1));
                if from < lines.len() {
                    lines.swap(from, to);
                }
                *text = lines.concat();
            }
            _ => text.insert_str(at, random.pick(SLIPS)),
        }
    }
}
