//! nginx is stopped with SIGQUIT.

use probity_finding::Finding;

use crate::{
    engine::context::Context,
    facts::stop_signal::{self, Wanted},
};

rule! {
    /// # What it does
    ///
    /// Flags a stage that starts `nginx` or `openresty` in exec form with a stop signal other than
    /// `SIGQUIT`.
    ///
    /// The official images of both programs set the signal themselves, so the rule ignores stages
    /// built from them. Unlike probity, tally flags those stages.
    ///
    /// # Why it is bad
    ///
    /// On `SIGTERM`, nginx drops open connections. On `SIGQUIT`, it completes the open requests
    /// first.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// CMD ["nginx", "-g", "daemon off;"]
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// STOPSIGNAL SIGQUIT
    /// CMD ["nginx", "-g", "daemon off;"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// STOPSIGNAL SIGQUIT
    /// CMD ["nginx", "-g", "daemon off;"]
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix sets `STOPSIGNAL SIGQUIT`. Stopping the container may then take as long
    /// as its slowest request.
    PreferNginxSigquit {
        name: "tally/prefer-nginx-sigquit",
        severity: Info,
        category: BestPractice,
        fixes: Suggestion,
        url: "https://tally.wharflab.com/rules/tally/prefer-nginx-sigquit/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let wanted = Wanted {
        is_program: |path| {
            let name = path.rsplit('/').next();
            matches!(name, Some("nginx" | "nginx-debug" | "openresty"))
        },
        what: "nginx",
        signal: "SIGQUIT",
        images: &["nginx", "nginxinc/nginx-unprivileged", "openresty/openresty"],
    };
    stop_signal::flag(context, &wanted, findings);
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixed, fixes};

    const RULE: &str = "tally/prefer-nginx-sigquit";

    #[test]
    fn the_signal_or_what_starts_it_is_underlined() {
        check(
            RULE,
            r#"
FROM a AS x
ENTRYPOINT ["/usr/sbin/nginx"]
           ^^^^^^^^^^^^^^^^^^^ nginx ends well with SIGQUIT; STOPSIGNAL is missing
FROM x
STOPSIGNAL TERM
           ^^^^ nginx ends well with SIGQUIT; this is another signal
"#,
        );
    }

    #[test]
    fn other_programs_and_images_that_say_it_are_silent() {
        for text in [
            "FROM nginx:1.27\nCMD [\"nginx\"]",
            "FROM nginx:1.27 AS x\nFROM x\nCMD [\"nginx\"]",
            "FROM a\nSTOPSIGNAL quit\nCMD [\"nginx\"]",
            "FROM a\nSTOPSIGNAL $S\nCMD [\"nginx\"]",
            "FROM a\nCMD [\"app\", \"nginx\"]",
            "FROM a\nENTRYPOINT [\"app\"]\nCMD [\"nginx\"]",
            "FROM a\nCMD nginx",
            "FROM a AS x\nSTOPSIGNAL 3\nFROM x\nCMD [\"nginx\"]",
        ] {
            check(RULE, &format!("{text}\n"));
        }
    }

    #[test]
    fn the_signal_is_set_or_changed() {
        fixes(
            RULE,
            &[
                (
                    "# why\n  CMD [\"nginx\", \\\n    \"-x\"]",
                    "# why\n  STOPSIGNAL SIGQUIT\n  CMD [\"nginx\", \\\n    \"-x\"]",
                ),
                ("STOPSIGNAL 15\nCMD [\"nginx\"]", "STOPSIGNAL SIGQUIT\nCMD [\"nginx\"]"),
            ],
        );
        let after = "FROM a AS x\nSTOPSIGNAL SIGQUIT\nCMD [\"nginx\"]\nFROM x\n";
        fixed(RULE, "FROM a AS x\nCMD [\"nginx\"]\nFROM x\n", after);
    }
}
