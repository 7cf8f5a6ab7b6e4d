//! The types that a key can have, and the way between them and the values that layers hold.

use std::{path::PathBuf, time::Duration};

use super::{
    key::Typed,
    kind::ValueKind,
    merge::Merged,
    value::{Sourced, Value},
    word::Word,
};

/// The type of a key.
pub(crate) trait Setting: Sized {
    /// The shape that values have; a key can narrow it.
    const KIND: ValueKind;

    /// Reads a value that [`ValueKind::check`] let through.
    fn from_value(value: &Value) -> Option<Self>;

    /// The value as layers hold it; none where the setting is absent.
    fn to_value(&self) -> Option<Value>;

    /// What is in force for a key.
    fn of(merged: &Merged, key: &Typed<Self>) -> Self {
        let setting = merged.setting(&key.key);
        let value = setting.and_then(|setting| Self::from_value(&setting.value));
        value.unwrap_or_else(key.default)
    }
}

impl<T: Word> Setting for T {
    const KIND: ValueKind = ValueKind::OneOf(T::NAMES);

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) => Self::from_word(word),
            _ => None,
        }
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::Text(self.word().to_owned()))
    }
}

impl<T: Setting> Setting for Option<T> {
    const KIND: ValueKind = T::KIND;

    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }

    fn to_value(&self) -> Option<Value> {
        self.as_ref().and_then(T::to_value)
    }
}

/// Whole numbers; one that is too large for its type is the largest there is.
macro_rules! whole_numbers {
    ($($number:ty),+) => {
        $(
            impl Setting for $number {
                const KIND: ValueKind = ValueKind::Int;

                fn from_value(value: &Value) -> Option<Self> {
                    match value {
                        Value::Int(number) => Some(Self::try_from(*number).unwrap_or(Self::MAX)),
                        _ => None,
                    }
                }

                fn to_value(&self) -> Option<Value> {
                    Some(Value::Int(i64::try_from(*self).unwrap_or(i64::MAX)))
                }
            }
        )+
    };
}

whole_numbers!(u16, u32, u64, usize);

/// Types that a value holds as they are.
macro_rules! plain_values {
    ($($plain:ty => $kind:expr, $variant:ident);+ $(;)?) => {
        $(
            impl Setting for $plain {
                const KIND: ValueKind = $kind;

                fn from_value(value: &Value) -> Option<Self> {
                    match value {
                        Value::$variant(value) => Some(value.clone()),
                        _ => None,
                    }
                }

                fn to_value(&self) -> Option<Value> {
                    Some(Value::$variant(self.clone()))
                }
            }
        )+
    };
}

plain_values! {
    bool => ValueKind::Bool, Bool;
    f64 => ValueKind::Amount, Float;
    String => ValueKind::String, Text;
    Duration => ValueKind::Duration, Duration;
    Vec<String> => ValueKind::StringList, List;
}

impl Setting for PathBuf {
    const KIND: ValueKind = ValueKind::String;

    fn from_value(value: &Value) -> Option<Self> {
        String::from_value(value).map(Self::from)
    }

    fn to_value(&self) -> Option<Value> {
        self.to_string_lossy().into_owned().to_value()
    }
}

/// An amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

impl Setting for Bytes {
    const KIND: ValueKind = ValueKind::Memory;

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(Self(*bytes)),
            _ => None,
        }
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::Bytes(self.0))
    }
}

/// A list to which every layer adds, so that each item has an origin of its own.
impl Setting for Vec<Sourced<String>> {
    const KIND: ValueKind = ValueKind::StringList;

    fn from_value(_: &Value) -> Option<Self> {
        None
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::List(self.iter().map(|item| item.value.clone()).collect()))
    }

    fn of(merged: &Merged, key: &Typed<Self>) -> Self {
        merged.items(&key.key)
    }
}
