//! The registry: one line per rule, in alphabetical order within its namespace.

use crate::rule::Rule;

macro_rules! registry {
    ($($namespace:ident { $($module:ident::$rule:ident,)* })*) => {
        $(mod $namespace { $(pub(super) mod $module;)* })*
        /// Every rule of this version.
        pub static RULES: &[&dyn Rule] = &[$($(&$namespace::$module::$rule,)*)*];
    };
}

registry! {
    buildkit {
        stage_name_casing::StageNameCasing,
    }
}

/// Whether another tool has a rule of this name, so that naming it is no mistake even though it is
/// not implemented here: hadolint's and ShellCheck's numbered codes.
#[must_use]
pub fn is_known_elsewhere(name: &str) -> bool {
    let bare = name.strip_prefix("hadolint/").or_else(|| name.strip_prefix("shellcheck/")).unwrap_or(name);
    let number = bare.strip_prefix("DL").or_else(|| bare.strip_prefix("SC"));
    number.is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
