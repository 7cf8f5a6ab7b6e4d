//! How a compiled program is told what to return: by a variable of its environment.
//!
//! Nothing about it can be known ahead by a test, and nothing of it tells whether something is
//! altered: names and key are others in each review, and every run has the variable, with as many
//! digits that look alike.

use std::hash::{BuildHasher as _, RandomState};

/// Between the number of a switch and what it is to return.
const SEPARATOR: char = '\u{1f}';

/// Bytes that a plan is filled up to, so that its length tells nothing.
const BLOCK: usize = 512;

/// Of the generator whose bytes hide a plan.
const FACTOR: u64 = 6_364_136_223_846_793_005;
const SUMMAND: u64 = 1_442_695_040_888_963_407;

#[derive(Debug)]
pub(super) struct Channel {
    pub(super) variable: String,
    /// Begins every name that is put into the code.
    pub(super) name: String,
    /// What a switch that has done something writes, where no test can read it.
    pub(super) trace: String,
    key: u64,
}

impl Channel {
    pub(super) fn new() -> Self {
        let variable = format!("SETTING_{:X}", random());
        let trace = format!("{:016x}", random());
        Self { variable, name: format!("z{:x}", random()), trace, key: random() }
    }

    /// The variable's value for a switch and what it is to do, or for nothing at all.
    pub(super) fn encode(&self, plan: Option<(usize, &str)>) -> String {
        // No switch has the number zero.
        let (id, words) = plan.unwrap_or((0, ""));
        let mut bytes = format!("{id}{SEPARATOR}{words}").into_bytes();
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        let nonce = random();
        let mut state = self.key ^ nonce;
        let mut value = format!("{nonce:016x}");
        for byte in bytes {
            state = state.wrapping_mul(FACTOR).wrapping_add(SUMMAND);
            let [hidden, ..] = state.to_be_bytes();
            value.push_str(&format!("{:02x}", byte ^ hidden));
        }
        value
    }

    /// Statements that bind what this switch is to do, as an optional reference to a string. The
    /// standard library has our name there, since the code may have none, or another of that name.
    pub(super) fn decode(&self, id: usize) -> String {
        let Self { variable, name, key, .. } = self;
        let shared = name.to_uppercase();
        format!(
            "static {shared}_PLAN: {name}::sync::OnceLock<{name}::option::Option<{name}::string::String>> = \
             {name}::sync::OnceLock::new(); \
             let {name}_plan = {shared}_PLAN.get_or_init(|| {{ \
             let text = {name}::env::var({variable:?}).ok()?; \
             let mut state = {key}_u64 ^ u64::from_str_radix(text.get(..16)?, 16).ok()?; \
             let mut bytes = {name}::vec::Vec::new(); let mut at = 16_usize; \
             while let {name}::option::Option::Some(pair) = text.get(at..at + 2) {{ \
             state = state.wrapping_mul({FACTOR}_u64).wrapping_add({SUMMAND}_u64); \
             bytes.push(u8::from_str_radix(pair, 16).ok()? ^ (state >> 56_u32) as u8); at += 2; }} \
             let text = {name}::string::String::from_utf8(bytes).ok()?; \
             let (id, words) = text.trim_end_matches('\\0').split_once({SEPARATOR:?})?; \
             if id == \"{id}\" {{ {name}::option::Option::Some({name}::string::String::from(words)) }} \
             else {{ {name}::option::Option::None }} }}); "
        )
    }
}

fn random() -> u64 {
    RandomState::new().hash_one(0)
}

#[cfg(test)]
mod tests {
    use super::Channel;

    #[test]
    fn a_value_tells_nothing_of_what_it_is_for() {
        let channel = Channel::new();
        let values = [None, None, Some((1, "3")), Some((8, "a longer text"))]
            .map(|plan| channel.encode(plan));
        for (number, value) in values.iter().enumerate() {
            assert_eq!(value.len(), values[0].len(), "{value}");
            assert!(value.bytes().all(|byte| byte.is_ascii_hexdigit()), "{value}");
            assert!(!values[..number].contains(value), "{value}");
        }
        let other = Channel::new();
        assert_ne!((&other.variable, &other.name), (&channel.variable, &channel.name));
    }
}
