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
        from_platform_flag_const_disallowed::FromPlatformFlagConstDisallowed,
        invalid_base_image_platform::InvalidBaseImagePlatform,
        invalid_default_arg_in_from::InvalidDefaultArgInFrom,
        redundant_target_platform::RedundantTargetPlatform,
        stage_name_casing::StageNameCasing,
        undefined_arg_in_from::UndefinedArgInFrom,
        undefined_var::UndefinedVar,
        workdir_relative_path::WorkdirRelativePath,
    }
}
