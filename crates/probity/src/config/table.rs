//! The one table of settings: a section a file, an entry a key.
//!
//! From the entries come the typed structs, the keys by name, the strict readers, the variables, the
//! flags, the JSON Schemas, the printed configuration and the documents. A new key is one entry.

pub(crate) mod ai;
pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod containment;
pub(crate) mod review;

use super::{
    key::{Dialect, Key},
    kind::ValueKind,
};

/// The sections, in the order in which they are shown.
pub(crate) const SECTIONS: &[&str] = &["check", "ai", "audit", "review", "containment"];

/// Every key, in the order in which sections are shown.
pub(crate) fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    let sections = [check::KEYS, ai::KEYS, audit::KEYS, review::KEYS, containment::KEYS];
    sections.into_iter().flatten().copied()
}

/// Tables whose names the user chooses, such as `[ai.agents.NAME]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedTables {
    pub(crate) path: &'static str,
    tally: Option<&'static str>,
    containai: Option<&'static str>,
    pub(crate) doc: &'static str,
    pub(crate) keys: &'static [Key],
}

impl NamedTables {
    pub(crate) fn path_in(&self, dialect: Dialect) -> Option<&'static str> {
        match dialect {
            Dialect::Probity => Some(self.path),
            Dialect::Tally => self.tally,
            Dialect::Containai => self.containai,
        }
    }

    /// Whether a table without a command says nothing. In our own file it adds to a known agent.
    pub(crate) fn needs_command(&self, dialect: Dialect) -> bool {
        dialect != Dialect::Probity || self.path == ai::AGENTS.path
    }

    pub(crate) fn keys_in(&self, dialect: Dialect) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().filter(move |key| key.path_in(dialect).is_some())
    }
}

/// All of them.
pub(crate) static NAMED: &[NamedTables] = &[ai::AGENTS, containment::AGENTS];

/// A key of a named table, which is absent unless it is set.
const fn optional(path: &'static str, kind: ValueKind, doc: &'static str) -> Key {
    Key::new(path, kind, || None, doc)
}

/// Declares a section: its struct, the structs of its tables, and a constant for each key.
///
/// An entry is a doc comment, `name: Type = default`, and the columns that are not as usual. One that a
/// file can hold has a guard, or it does not compile: somebody decides what a repository may do with it.
macro_rules! section {
    (
        $section:ident $Section:ident {
            {
                $(
                    $(#[doc = $doc:literal])+
                    $name:ident: $type:ty = $default:expr
                    $(, $column:ident($($argument:expr),*))*;
                )*
            }
            $(
                $group:ident $Group:ident {
                    $(
                        $(#[doc = $group_doc:literal])+
                        $group_name:ident: $group_type:ty = $group_default:expr
                        $(, $group_column:ident($($group_argument:expr),*))*;
                    )*
                }
            )*
        }
    ) => {
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct $Section {
            $($(#[doc = $doc])+ pub(crate) $name: $type,)*
            $(pub(crate) $group: $Group,)*
        }

        $(
            #[derive(Clone, Debug, PartialEq)]
            pub(crate) struct $Group {
                $($(#[doc = $group_doc])+ pub(crate) $group_name: $group_type,)*
            }
        )*

        impl $Section {
            /// What is in force.
            pub(in crate::config) fn of(merged: &$crate::config::merge::Merged) -> Self {
                Self {
                    $($name: $crate::config::setting::Setting::of(merged, &key::$name),)*
                    $($group: $Group {
                        $($group_name: $crate::config::setting::Setting::of(
                            merged,
                            &key::$group::$group_name,
                        ),)*
                    },)*
                }
            }
        }

        /// The keys by name.
        #[expect(non_upper_case_globals, reason = "a key is written as its field is")]
        pub(crate) mod key {
            #[expect(clippy::allow_attributes, reason = "a section may need no types of its own")]
            #[allow(unused_imports)]
            use super::*;

            $(pub(crate) static $name: $crate::config::key::Typed<$type> =
                $crate::config::table::entry!(
                    concat!(stringify!($section), ".", stringify!($name)),
                    $type, $default, concat!($($doc),+), $($column($($argument),*)),*
                );)*
            $(
                pub(crate) mod $group {
                    #[expect(clippy::allow_attributes, reason = "as above")]
                    #[allow(unused_imports)]
                    use super::super::*;

                    $(pub(crate) static $group_name: $crate::config::key::Typed<$group_type> =
                        $crate::config::table::entry!(
                            concat!(
                                stringify!($section), ".", stringify!($group), ".",
                                stringify!($group_name)
                            ),
                            $group_type, $group_default, concat!($($group_doc),+),
                            $($group_column($($group_argument),*)),*
                        );)*
                }
            )*
        }

        pub(super) static KEYS: &[&$crate::config::key::Key] = &[
            $(&key::$name.key,)*
            $($(&key::$group::$group_name.key,)*)*
        ];
    };
}

/// One entry as a constant.
macro_rules! entry {
    (
        $path:expr, $type:ty, $default:expr, $doc:expr,
        $($column:ident($($argument:expr),*)),*
    ) => {{
        const UNDERSCORED: &str = $path;
        const DASHED: [u8; UNDERSCORED.len()] = $crate::config::key::dashed(UNDERSCORED);
        $crate::config::key::Typed {
            key: $crate::config::key::Key::new(
                $crate::config::key::text(&DASHED),
                <$type as $crate::config::setting::Setting>::KIND,
                || <$type as $crate::config::setting::Setting>::to_value(&$default),
                $doc,
            )
            $(.$column($($argument),*))*
            .classified(),
            default: || $default,
        }
    }};
}

pub(crate) use {entry, section};
