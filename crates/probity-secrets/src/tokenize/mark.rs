//! The mark of a text: what makes its tokens different from everything in it.

use std::collections::HashSet;

const HEAD: &str = "PROBITY_";
const TAIL: &str = "_END";
/// Without letters and digits that are mistaken for one another, because models copy tokens.
const ALPHABET: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const LENGTH: usize = 3;
/// How many marks there are.
const MARKS: usize = ALPHABET.len().pow(LENGTH as u32);

/// Makes the words of tokens, all of one length.
pub(super) struct Mark {
    /// `PROBITY_K7Q_`
    head: String,
    /// `_K7Q_END`
    tail: String,
    digits: usize,
}

impl Mark {
    /// A mark whose head and tail do not occur in the text in any case.
    pub(super) fn absent_from(text: &str, tokens: usize) -> Mark {
        let taken = taken(text.as_bytes());
        let start = fingerprint(text.as_bytes());
        let candidates = (0..MARKS).map(|step| spell((start + step) % MARKS));
        let free = candidates
            // This one would make a second tail out of the end of a token and what follows it.
            .filter(|mark| mark != "END")
            .find(|mark| !taken.contains(mark.as_bytes()));
        // A text of megabytes made for it can hold every short mark. No text holds a longer run of
        // a letter than its longest.
        let mark = free.unwrap_or_else(|| "X".repeat(longest_run(text.as_bytes(), b'X') + 1));
        Mark {
            head: format!("{HEAD}{mark}_"),
            tail: format!("_{mark}{TAIL}"),
            digits: tokens.to_string().len().max(4),
        }
    }

    pub(super) fn word(&self, index: usize) -> String {
        format!("{}SECRET_{:0digits$}{}", self.head, index + 1, self.tail, digits = self.digits)
    }

    pub(super) fn head(&self) -> &[u8] {
        self.head.as_bytes()
    }

    pub(super) fn tail(&self) -> &[u8] {
        self.tail.as_bytes()
    }

    /// Length of every word.
    pub(super) fn word_length(&self) -> usize {
        self.head.len() + "SECRET_".len() + self.digits + self.tail.len()
    }
}

/// What stands in the text where a mark would stand, in capitals.
fn taken(text: &[u8]) -> HashSet<Vec<u8>> {
    let (head, tail) = (HEAD.as_bytes(), TAIL.as_bytes());
    let mut taken = HashSet::new();
    for window in text.windows(head.len() + LENGTH) {
        if let Some((start, mark)) = window.split_at_checked(head.len())
            && start.eq_ignore_ascii_case(head)
        {
            taken.insert(mark.to_ascii_uppercase());
        }
    }
    for window in text.windows(LENGTH + tail.len()) {
        if let Some((mark, end)) = window.split_at_checked(LENGTH)
            && end.eq_ignore_ascii_case(tail)
        {
            taken.insert(mark.to_ascii_uppercase());
        }
    }
    taken
}

/// A number that depends on the whole text, so that tokens of one text seldom fit another.
fn fingerprint(text: &[u8]) -> usize {
    let hash = text.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    (hash >> 40) as usize % MARKS
}

fn spell(number: usize) -> String {
    let letter = |place: u32| ALPHABET.get(number / ALPHABET.len().pow(place) % ALPHABET.len());
    (0..LENGTH as u32).filter_map(letter).map(|letter| char::from(*letter)).collect()
}

fn longest_run(text: &[u8], letter: u8) -> usize {
    let runs = text.split(|byte| !byte.eq_ignore_ascii_case(&letter));
    runs.map(<[u8]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_holds_the_mark_gets_another() {
        let text = "RUN make";
        let first = Mark::absent_from(text, 1);
        // Appending keeps neither mark nor hash, so every mark is put in, but for one.
        let all: String = (0..MARKS)
            .filter(|number| spell(*number) != "K7Q")
            .map(|number| HEAD.to_lowercase() + &spell(number).to_lowercase())
            .collect();
        assert_eq!(Mark::absent_from(&all, 1).head, "PROBITY_K7Q_");
        assert_ne!(first.head, "PROBITY_K7Q_");
    }

    #[test]
    fn a_text_that_holds_every_mark_gets_a_longer_one() {
        let all: String = (0..MARKS).map(|number| spell(number) + "_end ").collect();
        let mark = Mark::absent_from(&all, 1);
        assert_eq!(mark.head, "PROBITY_XXXX_");
        assert_eq!(mark.word(0).len(), mark.word_length());
    }
}
