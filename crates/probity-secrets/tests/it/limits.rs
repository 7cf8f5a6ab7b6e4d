//! Any input is searched without a panic, and ranges always fit the text.

use proptest::{collection::vec, prelude::*};

use crate::{
    detector,
    forge::{Dice, token},
    genuine,
};

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        for secret in detector().find(&text) {
            prop_assert!(text.get(secret.range).is_some());
        }
    }

    #[test]
    fn pieces_of_tokens_in_odd_company_never_panic(
        seed in any::<u64>(),
        cuts in vec((0_usize..genuine::TOKENS.len(), 0_usize..80, "\\PC{0,8}"), 1..12),
    ) {
        let mut dice = Dice::new(seed | 1);
        let mut text = String::new();
        for (row, cut, filling) in cuts {
            let (_, name, recipe) = genuine::TOKENS[row];
            let token = token(recipe, &mut dice);
            text.push_str(name);
            text.push_str(&filling);
            text.push_str(&token[..cut.min(token.len())]);
        }
        let found = detector().find(&text);
        for pair in found.windows(2) {
            prop_assert!(pair[0].range.end <= pair[1].range.start);
        }
        for secret in found {
            prop_assert!(text.get(secret.range).is_some_and(|value| !value.is_empty()));
        }
    }
}
