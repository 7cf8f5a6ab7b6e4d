//! Tools that send usage data, how a file gives them away, and the variable that stops them.

/// One tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) variable: &'static str,
    pub(super) value: &'static str,
    pub(super) programs: &'static [&'static str],
    /// Packages by which npm and the like, pip and the like, and systems install it.
    pub(super) node: &'static [&'static str],
    pub(super) python: &'static [&'static str],
    pub(super) system: &'static [&'static str],
}

const fn tool(
    name: &'static str,
    variable: &'static str,
    value: &'static str,
    programs: &'static [&'static str],
) -> Tool {
    Tool { name, variable, value, programs, node: &[], python: &[], system: &[] }
}

/// By the name of the variable's tool; the order is that of the variables in a fix.
pub(super) const TOOLS: &[Tool] = &[
    tool("Bun", "DO_NOT_TRACK", "1", &["bun"]),
    Tool {
        python: &["azure-cli"],
        system: &["azure-cli"],
        ..tool("The Azure CLI", "AZURE_CORE_COLLECT_TELEMETRY", "0", &["az"])
    },
    Tool {
        node: &["wrangler"],
        ..tool("Wrangler", "WRANGLER_SEND_METRICS", "false", &["wrangler"])
    },
    Tool {
        python: &[
            "accelerate",
            "datasets",
            "diffusers",
            "huggingface-hub",
            "huggingface_hub",
            "peft",
            "transformers",
        ],
        ..tool("Hugging Face", "HF_HUB_DISABLE_TELEMETRY", "1", &["hf", "huggingface-cli"])
    },
    tool("Yarn", "YARN_ENABLE_TELEMETRY", "0", &[]),
    Tool { node: &["next"], ..tool("Next.js", "NEXT_TELEMETRY_DISABLED", "1", &["next"]) },
    Tool { node: &["nuxt"], ..tool("Nuxt", "NUXT_TELEMETRY_DISABLED", "1", &["nuxi", "nuxt"]) },
    Tool {
        node: &["gatsby", "gatsby-cli"],
        ..tool("Gatsby", "GATSBY_TELEMETRY_DISABLED", "1", &["gatsby"])
    },
    Tool { node: &["astro"], ..tool("Astro", "ASTRO_TELEMETRY_DISABLED", "1", &["astro"]) },
    Tool { node: &["turbo"], ..tool("Turborepo", "TURBO_TELEMETRY_DISABLED", "1", &["turbo"]) },
    Tool {
        system: &["dotnet-sdk"],
        ..tool(".NET", "DOTNET_CLI_TELEMETRY_OPTOUT", "1", &["dotnet"])
    },
    Tool {
        system: &["powershell"],
        ..tool("PowerShell", "POWERSHELL_TELEMETRY_OPTOUT", "1", &["powershell", "pwsh"])
    },
    tool("vcpkg", "VCPKG_DISABLE_METRICS", "1", &["vcpkg"]),
    tool("Homebrew", "HOMEBREW_NO_ANALYTICS", "1", &["brew"]),
];
