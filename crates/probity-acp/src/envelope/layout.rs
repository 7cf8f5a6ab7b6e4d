//! Where the parts of a message stand in its text.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Byte ranges of the parts. Of a key that comes twice the last counts, as in most readers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(super) batch: bool,
    /// One of the parts comes twice.
    pub(super) twice: bool,
    pub(super) id: Option<Range<usize>>,
    pub(super) method: Option<Range<usize>>,
    pub(super) params: Option<Range<usize>>,
    pub(super) result: Option<Range<usize>>,
    pub(super) error: Option<Range<usize>>,
}

impl Layout {
    /// `None` if the text is not JSON, or not JSON-RPC by any reading.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let parts: Parts<'_> = serde_json::from_str(text).ok()?;
        if parts.batch {
            return Some(Self { batch: true, ..Self::default() });
        }
        if parts.method.is_some_and(|method| !method.get().starts_with('"')) {
            return None;
        }
        let known = [parts.method, parts.id, parts.result, parts.error];
        if known.iter().all(Option::is_none) {
            return None;
        }
        let place = |raw: Option<&RawValue>| {
            let raw = raw?.get();
            let start = raw.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
            Some(start..start + raw.len())
        };
        Some(Self {
            batch: false,
            twice: parts.twice,
            id: place(parts.id),
            method: place(parts.method),
            params: place(parts.params),
            result: place(parts.result),
            error: place(parts.error),
        })
    }
}

#[derive(Default)]
struct Parts<'a> {
    batch: bool,
    twice: bool,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Parts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A derived reader would refuse a key that comes twice.
        deserializer.deserialize_any(PartsVisitor)
    }
}

struct PartsVisitor;

impl<'de> Visitor<'de> for PartsVisitor {
    type Value = Parts<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts<'de>, A::Error> {
        let mut parts = Parts::default();
        while let Some(key) = map.next_key::<Key>()? {
            let slot = match key {
                Key::Id => &mut parts.id,
                Key::Method => &mut parts.method,
                Key::Params => &mut parts.params,
                Key::Result => &mut parts.result,
                Key::Error => &mut parts.error,
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let before = slot.replace(map.next_value()?);
            parts.twice |= before.is_some();
        }
        Ok(parts)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Parts<'de>, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Parts { batch: true, ..Parts::default() })
    }
}

enum Key {
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Key, E> {
        Ok(match key {
            "id" => Key::Id,
            "method" => Key::Method,
            "params" => Key::Params,
            "result" => Key::Result,
            "error" => Key::Error,
            _ => Key::Other,
        })
    }
}
