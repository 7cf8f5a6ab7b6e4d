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
        consistent_instruction_casing::ConsistentInstructionCasing,
        copy_ignored_file::CopyIgnoredFile,
        duplicate_stage_name::DuplicateStageName,
        expose_invalid_format::ExposeInvalidFormat,
        expose_proto_casing::ExposeProtoCasing,
        from_as_casing::FromAsCasing,
        from_platform_flag_const_disallowed::FromPlatformFlagConstDisallowed,
        invalid_base_image_platform::InvalidBaseImagePlatform,
        invalid_default_arg_in_from::InvalidDefaultArgInFrom,
        invalid_definition_description::InvalidDefinitionDescription,
        json_args_recommended::JsonArgsRecommended,
        legacy_key_value_format::LegacyKeyValueFormat,
        maintainer_deprecated::MaintainerDeprecated,
        multiple_instructions_disallowed::MultipleInstructionsDisallowed,
        no_empty_continuation::NoEmptyContinuation,
        redundant_target_platform::RedundantTargetPlatform,
        reserved_stage_name::ReservedStageName,
        secrets_used_in_arg_or_env::SecretsUsedInArgOrEnv,
        stage_name_casing::StageNameCasing,
        undefined_arg_in_from::UndefinedArgInFrom,
        undefined_var::UndefinedVar,
        workdir_relative_path::WorkdirRelativePath,
    }
    hadolint {
        dl3008::Dl3008,
        dl3009::Dl3009,
        dl3015::Dl3015,
        dl3057::Dl3057,
        dl4001::Dl4001,
        dl4006::Dl4006,
    }
    tally {
        eol_last::EolLast,
        max_lines::MaxLines,
        newline_between_instructions::NewlineBetweenInstructions,
        no_multi_spaces::NoMultiSpaces,
        no_multiple_empty_lines::NoMultipleEmptyLines,
        no_trailing_spaces::NoTrailingSpaces,
        no_unreachable_stages::NoUnreachableStages,
        prefer_multi_stage_build::PreferMultiStageBuild,
        prefer_slim_base_image::PreferSlimBaseImage,
        secrets_in_code::SecretsInCode,
    }
}
