//! Programs that need a secret, called without one.

use probity_dockerfile::{Instruction, Keyword};
use probity_finding::{Edit, Finding, Fix};
use probity_shell::{Call, Opaque, Script};

use crate::engine::{
    context::Context,
    rule::{OptionKind, OptionSpec, SecretMount},
};

rule! {
    /// # What it does
    ///
    /// Flags a `RUN` that calls a configured program without its secret mount.
    ///
    /// The rule reports nothing until you configure programs:
    ///
    /// ```toml
    /// [check.rules.tally.require-secret-mounts]
    /// severity = "warning"
    ///
    /// [check.rules.tally.require-secret-mounts.commands.pip]
    /// id = "pipconf"
    /// target = "/etc/pip.conf"
    ///
    /// [check.rules.tally.require-secret-mounts.commands.aws]
    /// id = "aws-token"
    /// env = "AWS_SESSION_TOKEN"
    /// ```
    ///
    /// Each program has the `id` of a secret, and a `target` file or a variable (`env`), or both. The
    /// mount must have the same values. The rule also finds programs after `sudo` or `env`, in
    /// `sh -c`, in heredocs, in arrays, and in PowerShell and cmd. In `.tally.toml`, the tables begin
    /// with `rules` instead of `check.rules`.
    ///
    /// # Why it is bad
    ///
    /// Private registries need credentials. Without a secret mount, the call fails, or somebody
    /// copies the credentials into a layer of the image.
    ///
    /// # Examples
    ///
    /// In these examples, `pip` needs the secret `pipconf` at `/etc/pip.conf`.
    ///
    /// ```dockerfile,bad
    /// FROM python:3.12
    /// RUN pip install internal-package
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM python:3.12
    /// RUN --mount=type=secret,id=pipconf,target=/etc/pip.conf pip install internal-package
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM python:3.12
    /// RUN --mount=type=secret,id=pipconf,target=/etc/pip.conf pip install internal-package
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion. The fix adds the mount. The build then needs `--secret id=…`, and its cache treats
    /// the command as a new one.
    RequireSecretMounts {
        name: "tally/require-secret-mounts",
        severity: Off,
        category: Security,
        fixes: Suggestion,
        options: OPTIONS,
        url: "https://tally.wharflab.com/rules/tally/require-secret-mounts/",
    }
}

const OPTIONS: &[OptionSpec] = &[OptionSpec {
    name: "commands",
    kind: OptionKind::SecretMounts,
    default: "",
    about: "Programs, each with the `id` of its secret and a `target` file or an `env` variable.",
}];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let wanted = context.secret_mounts("commands");
    if wanted.is_empty() {
        return;
    }
    for (index, run) in context.each(Keyword::Run) {
        let mut missing: Vec<&SecretMount> = Vec::new();
        let mut first = None;
        for script in context.scripts(index) {
            for call in script.all_commands().iter().map(|command| command.effective()) {
                let needed = wanted.iter().filter(|mount| is_call(script, &call, &mount.program));
                for mount in needed.filter(|mount| !has_mount(run, mount)) {
                    first = first.or(call.name_word().map(|word| word.span()));
                    if !missing.contains(&mount) {
                        missing.push(mount);
                    }
                }
            }
        }
        let Some(span) = first else { continue };
        let programs: Vec<&str> = missing.iter().map(|mount| mount.program.as_str()).collect();
        let flags: Vec<String> = missing.iter().map(|mount| flag(mount)).collect();
        let verb = if programs.len() == 1 { "needs" } else { "need" };
        let message = format!("{} {verb} {}", programs.join(" and "), flags.join(" "));
        let finding = context.finding(span, message);
        // Behind the keyword, before whatever the RUN has.
        let at = run.keyword_span().end;
        let edit = Edit::insert(at, format!(" {}", flags.join(" ")));
        findings.push(finding.with_fix(Fix::suggestion("mount the secret", vec![edit])));
    }
}

fn is_call(script: &Script, call: &Call<'_>, program: &str) -> bool {
    match script.opaque {
        Some(Opaque::Dialect) => call.windows_name().as_deref() == Some(program),
        _ => call.is_any(&[program]),
    }
}

fn has_mount(run: &Instruction, wanted: &SecretMount) -> bool {
    run.flags_named("mount").any(|mount| {
        let option = |names: &[&str]| {
            let found = names.iter().find_map(|name| mount.option(name));
            found.map(|value| value.text.as_str())
        };
        let fits = |names: &[&str], wanted: &Option<String>| {
            wanted.is_none() || option(names) == wanted.as_deref()
        };
        option(&["type"]) == Some("secret")
            && option(&["id"]) == Some(wanted.id.as_str())
            && fits(&["target", "dst", "destination"], &wanted.target)
            && fits(&["env"], &wanted.env)
    })
}

fn flag(mount: &SecretMount) -> String {
    let part = |name: &str, value: &Option<String>| {
        value.as_ref().map(|value| format!(",{name}={value}")).unwrap_or_default()
    };
    let (target, env) = (part("target", &mount.target), part("env", &mount.env));
    format!("--mount=type=secret,id={}{target}{env}", mount.id)
}

#[cfg(test)]
mod tests {
    use probity_finding::Applicability;

    use crate::{
        OptionValue, RuleSet, SecretMount,
        engine::harness::{check, fix_with, run_with},
    };

    const RULE: &str = "tally/require-secret-mounts";

    fn configured(rules: &mut RuleSet) {
        let mount =
            |program: &str, id: &str, target: Option<&str>, env: Option<&str>| SecretMount {
                program: program.to_owned(),
                id: id.to_owned(),
                target: target.map(str::to_owned),
                env: env.map(str::to_owned),
            };
        let mounts = vec![
            mount("pip", "p", Some("/etc/pip.conf"), None),
            mount("aws", "a", None, Some("TOKEN")),
        ];
        rules.set_option(RULE, "commands", &OptionValue::SecretMounts(mounts));
    }

    fn flagged(run: &str) -> Vec<(String, String)> {
        let text = format!("FROM a\n{run}\n");
        let found = run_with(RULE, &text, configured);
        let place = |finding: &probity_finding::Finding| {
            finding.span.unwrap().slice(&text).unwrap().to_owned()
        };
        found.iter().map(|finding| (place(finding), finding.message.clone())).collect()
    }

    #[test]
    fn calls_without_their_mount_are_flagged_once_a_run() {
        let needs = "pip needs --mount=type=secret,id=p,target=/etc/pip.conf";
        for (run, place, message) in [
            ("RUN pip install a && pip install b", "pip", needs),
            ("RUN a && sudo /usr/bin/pip install b", "/usr/bin/pip", needs),
            ("RUN bash -c 'pip install a'", "pip", needs),
            ("RUN [\"pip\", \"install\", \"a\"]", "pip", needs),
            ("RUN <<EOF\npip install a\nEOF", "pip", needs),
            ("RUN --mount=type=secret,id=q,target=/etc/pip.conf pip install a", "pip", needs),
            ("RUN --mount=type=cache,id=p,target=/etc/pip.conf pip install a", "pip", needs),
            ("SHELL [\"pwsh\", \"-c\"]\nRUN if (a) { pip.exe install b }", "pip.exe", needs),
            (
                "RUN aws s3 ls && pip install a",
                "aws",
                "aws and pip need --mount=type=secret,id=a,env=TOKEN \
                 --mount=type=secret,id=p,target=/etc/pip.conf",
            ),
        ] {
            assert_eq!(flagged(run), [(place.to_owned(), message.to_owned())], "{run}");
        }
    }

    #[test]
    fn mounted_mentioned_and_other_programs_are_silent() {
        for run in [
            "RUN --mount=type=secret,id=p,target=/etc/pip.conf pip install a",
            "RUN --mount=type=secret,id=p,dst=/etc/pip.conf,required=true pip install a",
            "RUN --mount=type=secret,id=a,env=TOKEN aws s3 ls",
            "RUN pip3 install a",
            "RUN echo pip install a",
            "RUN echo 'pip install a' # pip",
            "CMD pip install a",
            "COPY pip /aws",
        ] {
            assert_eq!(flagged(run), [], "{run}");
        }
        check(RULE, "FROM a\nRUN npm ci\n");
    }

    #[test]
    fn the_mount_goes_before_what_is_there() {
        for (before, after) in [
            (
                "RUN --mount=type=cache,target=/c pip install a",
                "RUN --mount=type=secret,id=p,target=/etc/pip.conf --mount=type=cache,target=/c pip install a",
            ),
            (
                "RUN aws a \\\n  && pip b",
                "RUN --mount=type=secret,id=a,env=TOKEN --mount=type=secret,id=p,target=/etc/pip.conf aws a \\\n  && pip b",
            ),
        ] {
            let text = format!("FROM a\n{before}\n");
            let fixed = fix_with(RULE, &text, Applicability::Suggestion, configured);
            assert_eq!(fixed, format!("FROM a\n{after}\n"));
        }
    }
}
