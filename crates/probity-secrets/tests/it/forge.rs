//! Makes up tokens in real formats, the same ones in every run.

/// A sequence of numbers that is the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| letters[self.below(letters.len())]).collect()
    }
}

/// A token from its recipe: words are literal, `@a36` is 36 random characters of alphabet `a`,
/// `@uuid` an identifier, `@crc` the checksum of what stands behind the first word.
pub(crate) fn token(recipe: &str, dice: &mut Dice) -> String {
    let mut made = String::new();
    let mut prefix = 0;
    for (index, piece) in recipe.split(' ').enumerate() {
        match piece.strip_prefix('@') {
            None => made.push_str(piece),
            Some("uuid") => {
                let groups = [8, 4, 4, 4, 12].map(|length| dice.text(HEX, length));
                made.push_str(&groups.join("-"));
            }
            Some("crc") => {
                let sum = base62(crc32(&made.as_bytes()[prefix..]));
                made.push_str(&sum);
            }
            Some(random) => {
                let (alphabet, length) = random.split_at(1);
                made.push_str(
                    &dice.text(alphabet_of(alphabet), length.parse().unwrap_or_default()),
                );
            }
        }
        if index == 0 {
            prefix = made.len();
        }
    }
    made
}

const HEX: &str = "0123456789abcdef";

fn alphabet_of(name: &str) -> &'static str {
    match name {
        "a" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "b" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "u" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
        "h" => HEX,
        "d" => "123456789",
        "l" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "U" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789",
        "B" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "z" => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        // A recipe with a wrong letter then makes a token that nothing finds.
        _ => " ",
    }
}

/// Base64 with padding, for what formats wrap.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let letters: Vec<char> = alphabet_of("b").chars().collect();
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_usize, |group, byte| group << 8 | usize::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = letters[group >> (18 - 6 * place) & 63];
            text.push(if place <= chunk.len() { letter } else { '=' });
        }
    }
    text
}

/// A private key in armour that is no key, with `line_break` between its lines.
pub(crate) fn armour(label: &str, lines: usize, line_break: &str, dice: &mut Dice) -> String {
    let body: Vec<String> = (0..lines).map(|_| token("@b64", dice)).collect();
    let dashes = "-".repeat(5);
    let (begin, end) =
        (format!("{dashes}BEGIN {label}{dashes}"), format!("{dashes}END {label}{dashes}"));
    [&[begin], body.as_slice(), &[end]].concat().join(line_break)
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

fn base62(mut number: u32) -> String {
    let letters = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut digits = Vec::new();
    for _ in 0..6 {
        digits.push(char::from(letters[(number % 62) as usize]));
        number /= 62;
    }
    digits.iter().rev().collect()
}
