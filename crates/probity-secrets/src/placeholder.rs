//! Values that stand for a secret and are none: variables, stand-ins, keys out of a vendor's
//! manual.

use crate::checksum;

/// Words that say so, and are too long to turn up in random text.
const STAND_INS: &[&str] = &[
    "example",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "redacted",
    "dummy",
    "your-",
    "your_",
    "yourtoken",
    "yourkey",
    "yourpassword",
    "not-a-real",
    "not_a_real",
    "notasecret",
    "insert-",
    "insert_",
    "replace-",
    "replace_",
    "replaceme",
    "deadbeef",
    "xxxxx",
    "*****",
    ".....",
    "-----",
    "_____",
    "00000000",
    "11111111",
];

/// Characters in their order: what people type for a token. Somebody's real token can contain them
/// too, so text with them does not leave the machine.
const SEQUENCES: &[&str] = &["0123456789abcdef", "12345678901234567890"];

/// Words that are a stand-in where they are all the letters of a password. With digits and marks
/// around them they are still what manuals print.
const PASSWORD_WORDS: &[&str] = &[
    "",
    "admin",
    "administrator",
    "abc",
    "changeit",
    "default",
    "demo",
    "dev",
    "example",
    "foo",
    "foobar",
    "guest",
    "letmein",
    "mypass",
    "mypassword",
    "mysecret",
    "mysecretpassword",
    "none",
    "null",
    "nil",
    "pass",
    "passw",
    "passwd",
    "password",
    "passphrase",
    "pssw",
    "psswrd",
    "pssword",
    "pswd",
    "postgres",
    "prod",
    "pw",
    "pwd",
    "qwerty",
    "root",
    "sample",
    "secret",
    "string",
    "test",
    "testing",
    "todo",
    "token",
    "true",
    "false",
    "user",
    "username",
    "value",
    "welcome",
    "yourpass",
];

/// Parts of what stands for a password in examples; where a value is as simple as a word and a
/// number, one of them makes it a stand-in.
const PARTS_OF_STAND_INS: &[&str] =
    &["pass", "pswd", "pwd", "secret", "change", "test", "demo", "sample", "default", "foo", "bar"];

/// CRC32 of keys that a vendor's manual or emulator prints for everybody: Stripe's manual, the
/// example of jwt.io, the emulators of Azure Storage and Cosmos DB. As sums, so that this file
/// holds nothing that looks like a key.
const DOCUMENTED: &[u32] =
    &[0x776D_E070, 0x396D_8142, 0x599B_3D05, 0xCEA6_7886, 0xB4CB_D586, 0x8770_7360];

/// The value is one that nobody would be given, but it does not say so.
pub(crate) fn is_sequence(value: &[u8]) -> bool {
    SEQUENCES.iter().any(|characters| contains(value, characters.as_bytes()))
}

/// The value says that it is not a real token, whatever its format.
pub(crate) fn in_token(value: &[u8]) -> bool {
    is_variable(value)
        || is_our_token(value)
        || STAND_INS.iter().any(|word| contains(value, word.as_bytes()))
        || DOCUMENTED.contains(&checksum::crc32(value))
}

/// The value is what people write where a password would stand.
pub(crate) fn in_password(value: &[u8], user: &[u8]) -> bool {
    let mut letters: Vec<u8> =
        value.iter().filter(|b| b.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    let word = PASSWORD_WORDS.iter().any(|word| word.as_bytes() == letters);
    letters.sort_unstable();
    letters.dedup();
    let one_letter_only = letters.len() == 1 && !value.iter().any(u8::is_ascii_digit);
    in_token(value)
        || is_sequence(value)
        || word
        || one_letter_only
        || value.eq_ignore_ascii_case(user)
}

/// The value is too simple to tell what it is, and names what examples are made of.
pub(crate) fn in_simple_password(value: &[u8]) -> bool {
    in_password(value, b"")
        || PARTS_OF_STAND_INS.iter().any(|word| contains(value, word.as_bytes()))
}

/// `$VAR`, `${VAR}`, `$(command)`, `%VAR%`, `{{ template }}`, `<token>`, `@token@`, `__TOKEN__`.
pub(crate) fn is_variable(value: &[u8]) -> bool {
    let opens = [b"${".as_slice(), b"$(", b"{{", b"$ENV", b"#{", b"<%"];
    match value {
        [b'$', next, ..] if next.is_ascii_alphabetic() || matches!(next, b'_' | b'{' | b'(') => {
            true
        }
        [b'%', .., b'%'] | [b'<', .., b'>'] | [b'@', .., b'@'] | [b'[', .., b']'] => true,
        [b'_', b'_', .., b'_', b'_'] => true,
        [b'%' | b'{', .., b'}'] => true,
        _ => opens.iter().any(|open| value.windows(open.len()).any(|window| window == *open)),
    }
}

/// A token that stands for a secret of ours: it must not be taken for one in the next round.
fn is_our_token(value: &[u8]) -> bool {
    contains(value, b"probity_") && contains(value, b"_secret_")
}

/// `word` is in lower case.
fn contains(value: &[u8], word: &[u8]) -> bool {
    value.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_told_from_values_with_marks() {
        for variable in [
            "$TOKEN",
            "${TOKEN:-x}",
            "$(cat x)",
            "%TOKEN%",
            "{{ .token }}",
            "<token>",
            "a${B}c",
            "__TOKEN__",
            "@token@",
            "{token}",
        ] {
            assert!(is_variable(variable.as_bytes()), "{variable}");
        }
        for value in ["pa$$word1", "a%20b", "x{1}y", "$1a", "a<b", ""] {
            assert!(!is_variable(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn what_people_write_for_a_password_is_none() {
        for word in ["password", "P@ssw0rd", "Password123!", "secret", "xxx", "***", "postgres1"] {
            assert!(in_password(word.as_bytes(), b"user"), "{word}");
        }
        assert!(in_password(b"shop", b"shop"));
        for word in ["kT9#vLq2", "correct-horse-9", "Zq3tigerlily"] {
            assert!(!in_password(word.as_bytes(), b"user"), "{word}");
        }
    }
}
