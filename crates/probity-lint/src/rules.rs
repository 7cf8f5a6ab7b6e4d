//! The registry: one line per rule, in alphabetical order within its namespace.
//!
//! Beside a rule is the smallest preset that it belongs to. `Recommended` is what the maintainers of
//! a well-kept image would want in their CI: defects in nearly every file. `Strict` adds what is about
//! correctness, size and security but needs a decision, such as pinned versions. `All` adds layout and
//! taste. A rule that is `OnRequest` runs only if it is named.

use crate::{
    preset::Preset,
    rule::{Listed, Rule},
};

macro_rules! registry {
    ($($namespace:ident { $($module:ident::$rule:ident: $preset:ident,)* })*) => {
        $(mod $namespace { $(pub(super) mod $module;)* })*
        $($(impl Listed for $namespace::$module::$rule {
            const PRESET: Option<Preset> = preset!($preset);
        })*)*
        /// Every rule of this version.
        pub static RULES: &[&dyn Rule] = &[$($(&$namespace::$module::$rule,)*)*];
    };
}

macro_rules! preset {
    (OnRequest) => {
        None
    };
    ($preset:ident) => {
        Some(Preset::$preset)
    };
}

registry! {
    buildkit {
        consistent_instruction_casing::ConsistentInstructionCasing: Recommended,
        copy_ignored_file::CopyIgnoredFile: Recommended,
        duplicate_stage_name::DuplicateStageName: Recommended,
        expose_invalid_format::ExposeInvalidFormat: Recommended,
        expose_proto_casing::ExposeProtoCasing: Recommended,
        from_as_casing::FromAsCasing: Recommended,
        from_platform_flag_const_disallowed::FromPlatformFlagConstDisallowed: Recommended,
        invalid_base_image_platform::InvalidBaseImagePlatform: Recommended,
        invalid_default_arg_in_from::InvalidDefaultArgInFrom: Recommended,
        invalid_definition_description::InvalidDefinitionDescription: OnRequest,
        json_args_recommended::JsonArgsRecommended: Recommended,
        legacy_key_value_format::LegacyKeyValueFormat: Recommended,
        maintainer_deprecated::MaintainerDeprecated: Recommended,
        multiple_instructions_disallowed::MultipleInstructionsDisallowed: Recommended,
        no_empty_continuation::NoEmptyContinuation: Recommended,
        redundant_target_platform::RedundantTargetPlatform: Recommended,
        reserved_stage_name::ReservedStageName: Recommended,
        secrets_used_in_arg_or_env::SecretsUsedInArgOrEnv: Recommended,
        stage_name_casing::StageNameCasing: Recommended,
        undefined_arg_in_from::UndefinedArgInFrom: Recommended,
        undefined_var::UndefinedVar: Recommended,
        workdir_relative_path::WorkdirRelativePath: Recommended,
    }
    hadolint {
        dl1001::Dl1001: OnRequest,
        dl3001::Dl3001: All,
        dl3002::Dl3002: Strict,
        dl3003::Dl3003: All,
        dl3004::Dl3004: Recommended,
        dl3006::Dl3006: Recommended,
        dl3007::Dl3007: Recommended,
        dl3008::Dl3008: Strict,
        dl3009::Dl3009: Recommended,
        dl3010::Dl3010: Strict,
        dl3013::Dl3013: Strict,
        dl3014::Dl3014: Recommended,
        dl3015::Dl3015: Strict,
        dl3016::Dl3016: Strict,
        dl3018::Dl3018: Strict,
        dl3019::Dl3019: Recommended,
        dl3020::Dl3020: Recommended,
        dl3021::Dl3021: Recommended,
        dl3022::Dl3022: Recommended,
        dl3023::Dl3023: Recommended,
        dl3026::Dl3026: Recommended,
        dl3027::Dl3027: Recommended,
        dl3028::Dl3028: Strict,
        dl3030::Dl3030: Recommended,
        dl3032::Dl3032: Recommended,
        dl3033::Dl3033: Strict,
        dl3034::Dl3034: Recommended,
        dl3035::Dl3035: Strict,
        dl3036::Dl3036: Recommended,
        dl3037::Dl3037: Strict,
        dl3038::Dl3038: Recommended,
        dl3040::Dl3040: Recommended,
        dl3041::Dl3041: Strict,
        dl3042::Dl3042: Recommended,
        dl3045::Dl3045: Strict,
        dl3046::Dl3046: Recommended,
        dl3047::Dl3047: All,
        dl3048::Dl3048: Strict,
        dl3049::Dl3049: Recommended,
        dl3050::Dl3050: Recommended,
        dl3051::Dl3051: Recommended,
        dl3052::Dl3052: Recommended,
        dl3053::Dl3053: Recommended,
        dl3054::Dl3054: Recommended,
        dl3055::Dl3055: Recommended,
        dl3056::Dl3056: Recommended,
        dl3057::Dl3057: OnRequest,
        dl3058::Dl3058: Recommended,
        dl3059::Dl3059: All,
        dl3060::Dl3060: Strict,
        dl3062::Dl3062: Strict,
        dl3066::Dl3066: Strict,
        dl3067::Dl3067: Strict,
        dl4001::Dl4001: All,
        dl4005::Dl4005: Strict,
        dl4006::Dl4006: Strict,
    }
    probity {
        add_without_checksum::AddWithoutChecksum: Recommended,
        arg_out_of_scope::ArgOutOfScope: Recommended,
        change_after_volume::ChangeAfterVolume: Recommended,
        chmod_after_user::ChmodAfterUser: Recommended,
        circular_stages::CircularStages: Recommended,
        copied_secret_file::CopiedSecretFile: Recommended,
        copy_from_empty_stage::CopyFromEmptyStage: Recommended,
        copy_outside_context::CopyOutsideContext: Recommended,
        disabled_tls_verification::DisabledTlsVerification: Recommended,
        emptied_heredoc_variable::EmptiedHeredocVariable: Recommended,
        end_of_life_image::EndOfLifeImage: Recommended,
        entrypoint_without_exec::EntrypointWithoutExec: Recommended,
        final_stage_on_build_platform::FinalStageOnBuildPlatform: Recommended,
        from_without_digest::FromWithoutDigest: OnRequest,
        glued_continuation::GluedContinuation: Recommended,
        heredoc_without_errexit::HeredocWithoutErrexit: Recommended,
        ignored_cmd::IgnoredCmd: Recommended,
        ignored_parser_directive::IgnoredParserDirective: Recommended,
        ignored_verification::IgnoredVerification: Recommended,
        install_without_root::InstallWithoutRoot: Recommended,
        invalid_onbuild_trigger::InvalidOnbuildTrigger: Recommended,
        invalid_platform::InvalidPlatform: Recommended,
        lost_shell_state::LostShellState: Recommended,
        lost_system_state::LostSystemState: Recommended,
        missing_c_library::MissingCLibrary: Recommended,
        missing_script_interpreter::MissingScriptInterpreter: Recommended,
        missing_user::MissingUser: Recommended,
        nested_run::NestedRun: Recommended,
        nonexistent_image::NonexistentImage: Recommended,
        npm_install_with_lockfile::NpmInstallWithLockfile: Recommended,
        outdated_digest::OutdatedDigest: Recommended,
        overwritten_path::OverwrittenPath: Recommended,
        passwordless_sudo::PasswordlessSudo: Recommended,
        secret_written_to_layer::SecretWrittenToLayer: Recommended,
        semicolon_without_errexit::SemicolonWithoutErrexit: Recommended,
        shell_in_bare_image::ShellInBareImage: Recommended,
        sources_before_dependencies::SourcesBeforeDependencies: Recommended,
        unchecked_checksum::UncheckedChecksum: Recommended,
        unexpanded_heredoc::UnexpandedHeredoc: Recommended,
        unexpanded_tilde::UnexpandedTilde: Recommended,
        unknown_build_target::UnknownBuildTarget: Recommended,
        unknown_user::UnknownUser: Recommended,
        unnoticed_download_failure::UnnoticedDownloadFailure: Recommended,
        unused_build_argument::UnusedBuildArgument: Recommended,
        unsupported_base_image::UnsupportedBaseImage: Strict,
        unverified_download::UnverifiedDownload: Recommended,
        unverified_script::UnverifiedScript: Recommended,
        variable_in_exec_form::VariableInExecForm: Recommended,
    }
    tally {
        copy_after_user_without_chown::CopyAfterUserWithoutChown: Strict,
        curl_should_follow_redirects::CurlShouldFollowRedirects: Strict,
        eol_last::EolLast: All,
        max_lines::MaxLines: OnRequest,
        named_identity_in_passwdless_stage::NamedIdentityInPasswdlessStage: Recommended,
        newline_between_instructions::NewlineBetweenInstructions: All,
        newline_per_chained_call::NewlinePerChainedCall: All,
        no_multi_spaces::NoMultiSpaces: All,
        no_multiple_empty_lines::NoMultipleEmptyLines: All,
        no_trailing_spaces::NoTrailingSpaces: All,
        no_ungraceful_stopsignal::NoUngracefulStopsignal: Recommended,
        no_unreachable_stages::NoUnreachableStages: Strict,
        prefer_canonical_stopsignal::PreferCanonicalStopsignal: All,
        prefer_copy_chmod::PreferCopyChmod: All,
        prefer_copy_heredoc::PreferCopyHeredoc: All,
        prefer_multi_stage_build::PreferMultiStageBuild: Strict,
        prefer_nginx_sigquit::PreferNginxSigquit: Strict,
        prefer_package_cache_mounts::PreferPackageCacheMounts: All,
        prefer_run_heredoc::PreferRunHeredoc: All,
        prefer_slim_base_image::PreferSlimBaseImage: OnRequest,
        prefer_systemd_sigrtmin_plus_3::PreferSystemdSigrtminPlus3: Recommended,
        secrets_in_code::SecretsInCode: Recommended,
        shell_run_in_scratch::ShellRunInScratch: Recommended,
        sort_packages::SortPackages: All,
        stateful_root_runtime::StatefulRootRuntime: Strict,
        user_created_but_never_used::UserCreatedButNeverUsed: Recommended,
        user_explicit_group_drops_supplementary_groups::UserExplicitGroupDropsSupplementaryGroups: Strict,
        windows_no_stopsignal::WindowsNoStopsignal: Recommended,
        world_writable_state_path_workaround::WorldWritableStatePathWorkaround: Recommended,
    }
}
