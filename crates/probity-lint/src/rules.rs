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
        dl1001::Dl1001,
        dl3001::Dl3001,
        dl3002::Dl3002,
        dl3003::Dl3003,
        dl3004::Dl3004,
        dl3006::Dl3006,
        dl3007::Dl3007,
        dl3008::Dl3008,
        dl3009::Dl3009,
        dl3010::Dl3010,
        dl3013::Dl3013,
        dl3014::Dl3014,
        dl3015::Dl3015,
        dl3016::Dl3016,
        dl3018::Dl3018,
        dl3019::Dl3019,
        dl3020::Dl3020,
        dl3021::Dl3021,
        dl3022::Dl3022,
        dl3023::Dl3023,
        dl3026::Dl3026,
        dl3027::Dl3027,
        dl3028::Dl3028,
        dl3030::Dl3030,
        dl3032::Dl3032,
        dl3033::Dl3033,
        dl3034::Dl3034,
        dl3035::Dl3035,
        dl3036::Dl3036,
        dl3037::Dl3037,
        dl3038::Dl3038,
        dl3040::Dl3040,
        dl3041::Dl3041,
        dl3042::Dl3042,
        dl3045::Dl3045,
        dl3046::Dl3046,
        dl3047::Dl3047,
        dl3048::Dl3048,
        dl3049::Dl3049,
        dl3050::Dl3050,
        dl3051::Dl3051,
        dl3052::Dl3052,
        dl3053::Dl3053,
        dl3054::Dl3054,
        dl3055::Dl3055,
        dl3056::Dl3056,
        dl3057::Dl3057,
        dl3058::Dl3058,
        dl3059::Dl3059,
        dl3060::Dl3060,
        dl3062::Dl3062,
        dl3066::Dl3066,
        dl3067::Dl3067,
        dl4001::Dl4001,
        dl4005::Dl4005,
        dl4006::Dl4006,
    }
    probity {
        glued_continuation::GluedContinuation,
        heredoc_without_errexit::HeredocWithoutErrexit,
        nested_run::NestedRun,
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
