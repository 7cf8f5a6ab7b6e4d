//! The part of a Compose file that describes builds; everything else is skipped.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_saphyr::Spanned;

use crate::DescribeError;

#[derive(Debug, Default, Deserialize)]
pub(super) struct ComposeFile {
    #[serde(default)]
    pub(super) services: BTreeMap<String, Option<Service>>,
    #[serde(default)]
    pub(super) include: Vec<Include>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Service {
    pub(super) build: Option<ServiceBuild>,
    pub(super) platform: Option<String>,
    pub(super) extends: Option<Extends>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ServiceBuild {
    pub(super) context: Option<String>,
    pub(super) dockerfile: Option<String>,
    pub(super) dockerfile_inline: Option<Spanned<String>>,
    pub(super) target: Option<String>,
    pub(super) args: Pairs,
    pub(super) platforms: Vec<String>,
    pub(super) additional_contexts: Pairs,
}

/// The long form of `build`.
#[derive(Deserialize)]
struct LongBuild {
    context: Option<String>,
    dockerfile: Option<String>,
    dockerfile_inline: Option<Spanned<String>>,
    target: Option<String>,
    #[serde(default)]
    args: Pairs,
    #[serde(default)]
    platforms: Vec<String>,
    #[serde(default)]
    additional_contexts: Pairs,
}

/// Names and values: a map, or a list of `NAME=VALUE` and `NAME`.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs(pub(super) BTreeMap<String, Option<String>>);

#[derive(Clone, Debug)]
pub(super) enum Extends {
    Service(String),
    Elsewhere { service: String, file: Option<String> },
}

impl Extends {
    pub(super) fn service(&self) -> &str {
        match self {
            Self::Service(service) | Self::Elsewhere { service, .. } => service,
        }
    }

    pub(super) fn file(&self) -> Option<&str> {
        match self {
            Self::Service(_) => None,
            Self::Elsewhere { file, .. } => file.as_deref(),
        }
    }
}

/// Files of another project.
#[derive(Debug, Default)]
pub(super) struct Include {
    pub(super) paths: Vec<String>,
    /// Where relative paths in these files begin; the directory of the first file if it is absent.
    pub(super) project_directory: Option<String>,
    pub(super) env_files: Vec<String>,
}

/// Compose reads the first document alone and refuses duplicate keys, as this does.
pub(super) fn parse(text: &str) -> Result<ComposeFile, DescribeError> {
    let parsed: Result<Option<ComposeFile>, _> = serde_saphyr::from_str(text);
    parsed.map(Option::unwrap_or_default).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line());
        DescribeError::Syntax { line, message: without_position(&error.to_string()) }
    })
}

/// The message without the position before it, which we print ourselves, and the excerpt below it.
fn without_position(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    let told = first.strip_prefix("error: line ").and_then(|rest| rest.split_once(": "));
    let message = told.map_or(first, |(_, message)| message);
    message.split(", set ").next().unwrap_or(message).to_owned()
}

/// A value that is one string, a list or a map, with what each of them means.
struct Forms<T> {
    expected: &'static str,
    text: fn(&str) -> Option<T>,
    list: fn(Vec<String>) -> Option<T>,
    map: Option<MapForm<T>>,
}

type MapForm<T> = fn(BTreeMap<String, Option<OneOrMany>>) -> Option<T>;

/// A scalar or a list of scalars.
#[derive(Debug)]
struct OneOrMany(Vec<String>);

impl<'de, T> Visitor<'de> for Forms<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expected)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.text)(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<T, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element::<String>()? {
            items.push(item);
        }
        let unexpected = serde::de::Unexpected::Seq;
        (self.list)(items).ok_or_else(|| serde::de::Error::invalid_type(unexpected, &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let entries = BTreeMap::deserialize(MapAccessDeserializer::new(map))?;
        let unexpected = serde::de::Unexpected::Map;
        let value = self.map.and_then(|form| form(entries));
        value.ok_or_else(|| serde::de::Error::invalid_type(unexpected, &self))
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Scalars)
    }
}

/// Scalars of any kind as texts.
struct Scalars;

impl<'de> Visitor<'de> for Scalars {
    type Value = OneOrMany;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value or a list of values")
    }

    fn visit_str<E>(self, text: &str) -> Result<OneOrMany, E> {
        Ok(OneOrMany(vec![text.to_owned()]))
    }

    fn visit_bool<E>(self, value: bool) -> Result<OneOrMany, E> {
        Ok(OneOrMany(vec![value.to_string()]))
    }

    fn visit_i64<E>(self, value: i64) -> Result<OneOrMany, E> {
        Ok(OneOrMany(vec![value.to_string()]))
    }

    fn visit_u64<E>(self, value: u64) -> Result<OneOrMany, E> {
        Ok(OneOrMany(vec![value.to_string()]))
    }

    fn visit_f64<E>(self, value: f64) -> Result<OneOrMany, E> {
        Ok(OneOrMany(vec![value.to_string()]))
    }

    fn visit_unit<E>(self) -> Result<OneOrMany, E> {
        Ok(OneOrMany(Vec::new()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<OneOrMany, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element::<String>()? {
            items.push(item);
        }
        Ok(OneOrMany(items))
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Forms {
            expected: "a map, or a list of NAME=VALUE",
            text: |_| None,
            list: |items| {
                let pairs = items.into_iter().map(|item| match item.split_once('=') {
                    Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                    None => (item, None),
                });
                Some(Pairs(pairs.collect()))
            },
            map: Some(|entries| {
                let first =
                    |value: Option<OneOrMany>| value.and_then(|all| all.0.into_iter().next());
                Some(Pairs(entries.into_iter().map(|(name, value)| (name, first(value))).collect()))
            }),
        })
    }
}

impl<'de> Deserialize<'de> for Extends {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Forms {
            expected: "the name of a service, or a map with `service`",
            text: |service| Some(Self::Service(service.to_owned())),
            list: |_| None,
            map: Some(|mut entries| {
                let mut take = |key| entries.remove(key).flatten()?.0.into_iter().next();
                Some(Self::Elsewhere { service: take("service")?, file: take("file") })
            }),
        })
    }
}

impl<'de> Deserialize<'de> for Include {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Forms {
            expected: "a path, or a map with `path`",
            text: |path| Some(Self { paths: vec![path.to_owned()], ..Self::default() }),
            list: |_| None,
            map: Some(|mut entries| {
                let mut take = |key| entries.remove(key).flatten().map(|values| values.0);
                Some(Self {
                    paths: take("path")?,
                    project_directory: take("project_directory")
                        .and_then(|all| all.into_iter().next()),
                    env_files: take("env_file").unwrap_or_default(),
                })
            }),
        })
    }
}

impl<'de> Deserialize<'de> for ServiceBuild {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EitherForm;

        impl<'de> Visitor<'de> for EitherForm {
            type Value = ServiceBuild;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a build context, or a map with `context`")
            }

            fn visit_str<E>(self, context: &str) -> Result<ServiceBuild, E> {
                Ok(ServiceBuild { context: Some(context.to_owned()), ..ServiceBuild::default() })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ServiceBuild, A::Error> {
                let long = LongBuild::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ServiceBuild {
                    context: long.context,
                    dockerfile: long.dockerfile,
                    dockerfile_inline: long.dockerfile_inline,
                    target: long.target,
                    args: long.args,
                    platforms: long.platforms,
                    additional_contexts: long.additional_contexts,
                })
            }
        }

        deserializer.deserialize_any(EitherForm)
    }
}
