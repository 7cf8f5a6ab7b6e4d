//! Labels that should be an SPDX license and are not.

use probity_finding::Finding;

use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    facts::labels,
};

rule! {
    /// # What it does
    ///
    /// Checks that configured labels contain an SPDX license expression.
    ///
    /// An expression may join identifiers with `AND`, `OR` and `WITH`; hadolint accepts only single
    /// identifiers. If the rule does not know a license, write `LicenseRef-NAME`.
    ///
    /// The option `labels` lists the labels to check. If the list is empty, the rule reports
    /// nothing. The rule ignores a value with a variable. DL3051 reports an empty value.
    ///
    /// # Why it is bad
    ///
    /// A program that reads the label expects an SPDX license expression and cannot use another
    /// value.
    ///
    /// # Examples
    ///
    /// With `labels = ["org.opencontainers.image.licenses"]`:
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// LABEL org.opencontainers.image.licenses="Apache 2"
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// LABEL org.opencontainers.image.licenses="Apache-2.0"
    /// ```
    Dl3054 {
        name: "hadolint/DL3054",
        severity: Warning,
        category: Correctness,
        options: &[OptionSpec {
            name: "labels",
            kind: OptionKind::TextList,
            default: "[]",
            about: "Labels whose value must be an SPDX license expression.",
        }],
        url: "https://github.com/hadolint/hadolint/wiki/DL3054",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    labels::flag_values(context, is_licence, "an SPDX license", findings);
}

/// Identifiers joined by `AND`, `OR` and `WITH`, in parentheses; hadolint takes single ones only.
fn is_licence(value: &str) -> bool {
    let spaced = value.replace('(', " ( ").replace(')', " ) ");
    let (mut depth, mut wants_name, mut is_exception) = (0_usize, true, false);
    for word in spaced.split_whitespace() {
        match word {
            "(" if wants_name => depth += 1,
            ")" if !wants_name && depth > 0 => depth -= 1,
            "AND" | "OR" | "WITH" if !wants_name => {
                wants_name = true;
                is_exception = word == "WITH";
            }
            name if wants_name && (is_exception || is_identifier(name)) => {
                wants_name = false;
                is_exception = false;
            }
            _ => return false,
        }
    }
    depth == 0 && !wants_name
}

fn is_identifier(name: &str) -> bool {
    let bare = name.strip_suffix('+').unwrap_or(name);
    let is_own = ["LicenseRef-", "DocumentRef-"].iter().any(|prefix| bare.starts_with(prefix));
    is_own
        || LICENCES
            .binary_search_by_key(&bare.to_ascii_lowercase(), |licence| {
                licence.to_ascii_lowercase()
            })
            .is_ok()
}

/// The identifiers that packages use; whatever is missing here can be written as `LicenseRef-…`.
const LICENCES: &[&str] = &[
    "0BSD",
    "AAL",
    "AFL-1.1",
    "AFL-1.2",
    "AFL-2.0",
    "AFL-2.1",
    "AFL-3.0",
    "AGPL-1.0",
    "AGPL-1.0-only",
    "AGPL-1.0-or-later",
    "AGPL-3.0",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "ANTLR-PD",
    "Apache-1.0",
    "Apache-1.1",
    "Apache-2.0",
    "APL-1.0",
    "APSL-1.0",
    "APSL-1.1",
    "APSL-1.2",
    "APSL-2.0",
    "Artistic-1.0",
    "Artistic-1.0-cl8",
    "Artistic-1.0-Perl",
    "Artistic-2.0",
    "Beerware",
    "BlueOak-1.0.0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-2-Clause-Patent",
    "BSD-2-Clause-Views",
    "BSD-3-Clause",
    "BSD-3-Clause-Attribution",
    "BSD-3-Clause-Clear",
    "BSD-3-Clause-LBNL",
    "BSD-3-Clause-No-Nuclear-License",
    "BSD-3-Clause-Open-MPI",
    "BSD-4-Clause",
    "BSD-4-Clause-UC",
    "BSD-Protection",
    "BSD-Source-Code",
    "BSL-1.0",
    "BUSL-1.1",
    "bzip2-1.0.6",
    "CAL-1.0",
    "CATOSL-1.1",
    "CC-BY-1.0",
    "CC-BY-2.0",
    "CC-BY-2.5",
    "CC-BY-3.0",
    "CC-BY-4.0",
    "CC-BY-NC-3.0",
    "CC-BY-NC-4.0",
    "CC-BY-NC-ND-3.0",
    "CC-BY-NC-ND-4.0",
    "CC-BY-NC-SA-3.0",
    "CC-BY-NC-SA-4.0",
    "CC-BY-ND-3.0",
    "CC-BY-ND-4.0",
    "CC-BY-SA-1.0",
    "CC-BY-SA-2.0",
    "CC-BY-SA-2.5",
    "CC-BY-SA-3.0",
    "CC-BY-SA-4.0",
    "CC-PDDC",
    "CC0-1.0",
    "CDDL-1.0",
    "CDDL-1.1",
    "CDLA-Permissive-1.0",
    "CDLA-Permissive-2.0",
    "CDLA-Sharing-1.0",
    "CECILL-1.0",
    "CECILL-1.1",
    "CECILL-2.0",
    "CECILL-2.1",
    "CECILL-B",
    "CECILL-C",
    "CERN-OHL-P-2.0",
    "CERN-OHL-S-2.0",
    "CERN-OHL-W-2.0",
    "ClArtistic",
    "CNRI-Python",
    "CPAL-1.0",
    "CPL-1.0",
    "CUA-OPL-1.0",
    "curl",
    "ECL-1.0",
    "ECL-2.0",
    "EFL-1.0",
    "EFL-2.0",
    "Elastic-2.0",
    "Entessa",
    "EPL-1.0",
    "EPL-2.0",
    "EUDatagrid",
    "EUPL-1.0",
    "EUPL-1.1",
    "EUPL-1.2",
    "Fair",
    "Frameworx-1.0",
    "FSFAP",
    "FSFUL",
    "FSFULLR",
    "FTL",
    "GFDL-1.1",
    "GFDL-1.1-only",
    "GFDL-1.1-or-later",
    "GFDL-1.2",
    "GFDL-1.2-only",
    "GFDL-1.2-or-later",
    "GFDL-1.3",
    "GFDL-1.3-only",
    "GFDL-1.3-or-later",
    "GPL-1.0",
    "GPL-1.0-only",
    "GPL-1.0-or-later",
    "GPL-2.0",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "HPND",
    "ICU",
    "IJG",
    "ImageMagick",
    "Info-ZIP",
    "Intel",
    "IPA",
    "IPL-1.0",
    "ISC",
    "JasPer-2.0",
    "JSON",
    "LGPL-2.0",
    "LGPL-2.0-only",
    "LGPL-2.0-or-later",
    "LGPL-2.1",
    "LGPL-2.1-only",
    "LGPL-2.1-or-later",
    "LGPL-3.0",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "LGPLLR",
    "Libpng",
    "libpng-2.0",
    "libtiff",
    "LiLiQ-P-1.1",
    "LiLiQ-R-1.1",
    "LiLiQ-Rplus-1.1",
    "Linux-OpenIB",
    "LPL-1.0",
    "LPL-1.02",
    "LPPL-1.0",
    "LPPL-1.1",
    "LPPL-1.2",
    "LPPL-1.3a",
    "LPPL-1.3c",
    "MirOS",
    "MIT",
    "MIT-0",
    "MIT-advertising",
    "MIT-CMU",
    "MIT-Modern-Variant",
    "MITNFA",
    "Motosoto",
    "MPL-1.0",
    "MPL-1.1",
    "MPL-2.0",
    "MPL-2.0-no-copyleft-exception",
    "MS-PL",
    "MS-RL",
    "MulanPSL-1.0",
    "MulanPSL-2.0",
    "Multics",
    "NAIST-2003",
    "NASA-1.3",
    "Naumen",
    "NCSA",
    "Net-SNMP",
    "NGPL",
    "Nokia",
    "NPL-1.0",
    "NPL-1.1",
    "NPOSL-3.0",
    "NTP",
    "OCLC-2.0",
    "ODbL-1.0",
    "ODC-By-1.0",
    "OFL-1.0",
    "OFL-1.1",
    "OGL-UK-1.0",
    "OGL-UK-2.0",
    "OGL-UK-3.0",
    "OGTSL",
    "OLDAP-2.7",
    "OLDAP-2.8",
    "OpenSSL",
    "OSET-PL-2.1",
    "OSL-1.0",
    "OSL-1.1",
    "OSL-2.0",
    "OSL-2.1",
    "OSL-3.0",
    "Parity-6.0.0",
    "Parity-7.0.0",
    "PDDL-1.0",
    "PHP-3.0",
    "PHP-3.01",
    "PolyForm-Noncommercial-1.0.0",
    "PolyForm-Small-Business-1.0.0",
    "PostgreSQL",
    "PSF-2.0",
    "Python-2.0",
    "QPL-1.0",
    "RPL-1.1",
    "RPL-1.5",
    "RPSL-1.0",
    "RSCPL",
    "Ruby",
    "SAX-PD",
    "Sendmail",
    "SGI-B-2.0",
    "SimPL-2.0",
    "SISSL",
    "SISSL-1.2",
    "Sleepycat",
    "SMLNJ",
    "Spencer-99",
    "SPL-1.0",
    "SSPL-1.0",
    "TCL",
    "Ubuntu-font-1.0",
    "UCL-1.0",
    "Unicode-3.0",
    "Unicode-DFS-2015",
    "Unicode-DFS-2016",
    "Unlicense",
    "UPL-1.0",
    "Vim",
    "VSL-1.0",
    "W3C",
    "Watcom-1.0",
    "WTFPL",
    "X11",
    "XFree86-1.1",
    "Xnet",
    "YPL-1.1",
    "Zend-2.0",
    "Zimbra-1.4",
    "Zlib",
    "zlib-acknowledgement",
    "ZPL-1.1",
    "ZPL-2.0",
    "ZPL-2.1",
];

#[cfg(test)]
mod tests {
    use crate::engine::harness::flagged;

    const RULE: &str = "hadolint/DL3054";

    #[test]
    fn the_value_is_underlined() {
        for wrong in ["Apache 2", "foo", "MIT OR", "(MIT", "MIT MIT", "AND"] {
            let text = format!("FROM a\nLABEL other=1 x=\"{wrong}\"\n");
            let said = "label x is not an SPDX license".to_owned();
            assert_eq!(flagged(RULE, &text, &["x"]), [(format!("\"{wrong}\""), said)]);
            assert_eq!(flagged(RULE, &text, &["y"]), []);
        }
    }

    #[test]
    fn right_open_and_empty_values_are_silent() {
        for right in [
            "MIT",
            "mit",
            "Apache-2.0 OR MIT",
            "(GPL-2.0-only WITH Classpath-exception-2.0) AND BSD-3-Clause",
            "LicenseRef-mine",
            "GPL-2.0+",
            "$V",
            "",
        ] {
            assert_eq!(
                flagged(RULE, &format!("FROM a\nLABEL x=\"{right}\"\n"), &["x"]),
                [],
                "{right}"
            );
        }
    }
}
