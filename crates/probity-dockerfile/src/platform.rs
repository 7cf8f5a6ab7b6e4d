//! Platform specifiers: `linux/arm64/v8`, and what they are called in canonical form.
//!
//! The rules are containerd's. What a specifier leaves open is filled in by the build host, which
//! this crate does not know; it stays open here.

use std::{error, fmt};

/// A platform in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// `None` if the specifier names an architecture only.
    pub os: Option<String>,
    /// What stands in parentheses behind the operating system: its version and features.
    pub os_options: Option<String>,
    /// `None` if the specifier names an operating system only.
    pub architecture: Option<String>,
    pub variant: Option<String>,
}

impl Platform {
    /// Whether there are such a system and such an architecture.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let is_architecture = |name: &String| KNOWN_ARCHITECTURES.contains(&name.as_str());
        self.os.as_ref().is_none_or(|os| KNOWN_OS.contains(&os.as_str()))
            && self.architecture.as_ref().is_none_or(is_architecture)
    }

    pub fn parse(specifier: &str) -> Result<Self, PlatformError> {
        let invalid = |component: &str| PlatformError::Component {
            specifier: specifier.to_owned(),
            component: component.to_owned(),
        };
        let mut components = specifier.split('/');
        let first = components.next().unwrap_or_default();
        let (os, os_options) = split_os(first).ok_or_else(|| invalid(first))?;
        let rest: Vec<&str> = components.collect();
        if let Some(component) = rest.iter().find(|component| !is_component(component)) {
            return Err(invalid(component));
        }
        let os = normalize_os(os);
        let os_options = os_options.map(str::to_owned);
        match rest.as_slice() {
            [] if KNOWN_OS.contains(&os.as_str()) => {
                Ok(Self { os: Some(os), os_options, architecture: None, variant: None })
            }
            [] => {
                let (architecture, variant) = normalize_architecture(first, "");
                if !KNOWN_ARCHITECTURES.contains(&architecture.as_str()) {
                    return Err(PlatformError::Unknown { specifier: specifier.to_owned() });
                }
                let variant = variant.filter(|variant| architecture != "arm" || variant != "v7");
                Ok(Self { os: None, os_options, architecture: Some(architecture), variant })
            }
            [architecture] => {
                let (architecture, variant) = normalize_architecture(architecture, "");
                let variant = variant.filter(|variant| architecture != "arm" || variant != "v7");
                Ok(Self { os: Some(os), os_options, architecture: Some(architecture), variant })
            }
            [architecture, variant] => {
                let (architecture, variant) = normalize_architecture(architecture, variant);
                let default = || (architecture == "arm64").then(|| "v8".to_owned());
                let variant = variant.or_else(default);
                Ok(Self { os: Some(os), os_options, architecture: Some(architecture), variant })
            }
            _ => Err(PlatformError::TooManyComponents { specifier: specifier.to_owned() }),
        }
    }
}

/// The specifier in canonical form.
impl fmt::Display for Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(os) = &self.os {
            write!(formatter, "{os}")?;
        }
        if let Some(options) = &self.os_options {
            write!(formatter, "({options})")?;
        }
        if self.os.is_some() && self.architecture.is_some() {
            write!(formatter, "/")?;
        }
        if let Some(architecture) = &self.architecture {
            write!(formatter, "{architecture}")?;
        }
        match &self.variant {
            Some(variant) => write!(formatter, "/{variant}"),
            None => Ok(()),
        }
    }
}

/// Why a text is no platform specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformError {
    Component { specifier: String, component: String },
    Unknown { specifier: String },
    TooManyComponents { specifier: String },
}

impl fmt::Display for PlatformError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Component { specifier, component } => {
                write!(formatter, "\"{component}\" is an invalid component of \"{specifier}\"")
            }
            Self::Unknown { specifier } => {
                write!(formatter, "\"{specifier}\" is not a known operating system or architecture")
            }
            Self::TooManyComponents { specifier } => {
                write!(formatter, "\"{specifier}\" has more than three components")
            }
        }
    }
}

impl error::Error for PlatformError {}

const KNOWN_OS: [&str; 17] = [
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "ios",
    "js",
    "linux",
    "nacl",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "windows",
    "zos",
];

const KNOWN_ARCHITECTURES: [&str; 24] = [
    "386",
    "amd64",
    "amd64p32",
    "arm",
    "arm64",
    "arm64be",
    "armbe",
    "loong64",
    "mips",
    "mips64",
    "mips64le",
    "mips64p32",
    "mips64p32le",
    "mipsle",
    "ppc",
    "ppc64",
    "ppc64le",
    "riscv",
    "riscv64",
    "s390",
    "s390x",
    "sparc",
    "sparc64",
    "wasm",
];

fn normalize_os(os: &str) -> String {
    let lower = os.to_ascii_lowercase();
    if lower == "macos" { "darwin".to_owned() } else { lower }
}

fn normalize_architecture(architecture: &str, variant: &str) -> (String, Option<String>) {
    let architecture = architecture.to_ascii_lowercase();
    let variant = variant.to_ascii_lowercase();
    let (architecture, variant) = match (architecture.as_str(), variant.as_str()) {
        ("i386", _) => ("386", ""),
        ("x86_64" | "x86-64" | "amd64", "v1") => ("amd64", ""),
        ("x86_64" | "x86-64" | "amd64", other) => ("amd64", other),
        ("aarch64" | "arm64", "8" | "v8") => ("arm64", ""),
        ("aarch64" | "arm64", other) => ("arm64", other),
        ("armhf", _) | ("arm", "" | "7") => ("arm", "v7"),
        ("armel", _) | ("arm", "6") => ("arm", "v6"),
        ("arm", "5") => ("arm", "v5"),
        ("arm", "8") => ("arm", "v8"),
        (other, variant) => (other, variant),
    };
    (architecture.to_owned(), (!variant.is_empty()).then(|| variant.to_owned()))
}

/// `os` or `os(version+feature…)`.
fn split_os(component: &str) -> Option<(&str, Option<&str>)> {
    let (os, options) = match component.split_once('(') {
        Some((os, rest)) => (os, Some(rest.strip_suffix(')')?)),
        None => (component, None),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let is_option = |byte: u8| is_name(byte) || byte == b'.' || byte == b'%';
    if os.is_empty() || !os.bytes().all(is_name) {
        return None;
    }
    let mut parts = options.unwrap_or_default().split('+');
    let version = parts.next().unwrap_or_default();
    let well_formed = version.bytes().all(is_option)
        && parts.all(|feature| !feature.is_empty() && feature.bytes().all(is_option));
    well_formed.then_some((os, options.filter(|options| !options.is_empty())))
}

fn is_component(component: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    !component.is_empty() && component.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::{Platform, PlatformError};

    #[test]
    fn specifiers_are_made_canonical() {
        let cases = [
            ("linux/amd64", "linux/amd64"),
            ("linux/x86_64", "linux/amd64"),
            ("Linux/X86-64/v1", "linux/amd64"),
            ("linux/amd64/v3", "linux/amd64/v3"),
            ("linux/arm64", "linux/arm64"),
            ("linux/aarch64/v8", "linux/arm64/v8"),
            ("linux/arm64/8", "linux/arm64/v8"),
            ("linux/arm", "linux/arm"),
            ("linux/arm/7", "linux/arm/v7"),
            ("linux/armhf", "linux/arm"),
            ("linux/armel", "linux/arm/v6"),
            ("linux/arm/v5", "linux/arm/v5"),
            ("linux/i386", "linux/386"),
            ("macos/arm64", "darwin/arm64"),
            ("windows(10.0.17763)/amd64", "windows(10.0.17763)/amd64"),
            ("windows(10.0+win32k)/amd64", "windows(10.0+win32k)/amd64"),
            ("linux", "linux"),
            ("amd64", "amd64"),
            ("x86_64", "amd64"),
            ("armhf", "arm"),
            ("unheard/of", "unheard/of"),
        ];
        for (specifier, canonical) in cases {
            let platform = Platform::parse(specifier);
            let platform = platform.unwrap_or_else(|error| panic!("{specifier}: {error}"));
            assert_eq!(platform.to_string(), canonical, "{specifier}");
        }
    }

    #[test]
    fn what_the_host_decides_stays_open() {
        assert_eq!(Platform::parse("linux").unwrap().architecture, None);
        assert_eq!(Platform::parse("arm64").unwrap().os, None);
    }

    #[test]
    fn wrong_specifiers_are_refused() {
        let components = [
            ("", ""),
            ("/", ""),
            ("linux/", ""),
            ("*", "*"),
            ("linux/*", "*"),
            ("linux/amd 64", "amd 64"),
            ("linux(/amd64", "linux("),
            ("windows(1+)/amd64", "windows(1+)"),
            ("$X/amd64", "$X"),
        ];
        for (specifier, component) in components {
            let specifier = specifier.to_owned();
            let component = component.to_owned();
            let result = Platform::parse(&specifier);
            assert_eq!(result, Err(PlatformError::Component { specifier, component }));
        }
        let specifier = "unheard".to_owned();
        assert_eq!(Platform::parse("unheard"), Err(PlatformError::Unknown { specifier }));
        let specifier = "linux/arm/v7/x".to_owned();
        let result = Platform::parse(&specifier);
        assert_eq!(result, Err(PlatformError::TooManyComponents { specifier }));
    }
}
