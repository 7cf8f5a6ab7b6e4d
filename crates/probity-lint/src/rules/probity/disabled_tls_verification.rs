//! Downloads without a check of the server's certificate.

use probity_dockerfile::{Arguments, Keyword};
use probity_finding::{Finding, Span};
use probity_shell::{Call, Command, Dialect, Opaque, Script, Word};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags commands and variables that turn off certificate or signature checks.
    ///
    /// The rule reads `RUN`, `ENV` and `ARG` and looks for these settings:
    ///
    /// - curl with `-k`, `--insecure` or `--proxy-insecure`, and `wget --no-check-certificate`;
    /// - `pip --trusted-host`, also through Python or uv;
    /// - npm, yarn and pnpm with `strict-ssl false`, and git with `http.sslVerify=false`;
    /// - `apt-get --allow-unauthenticated`, `apt-get --force-yes` and `apk --allow-untrusted`;
    /// - yum, dnf and microdnf with `--nogpgcheck` or `--no-gpgchecks`, and zypper with
    ///   `--no-gpg-checks`;
    /// - `sslverify=0` or `gpgcheck=0`, for example in a yum or dnf configuration file;
    /// - `StrictHostKeyChecking=no` for SSH;
    /// - `NODE_TLS_REJECT_UNAUTHORIZED=0`, `PYTHONHTTPSVERIFY=0`, `GIT_SSL_NO_VERIFY=1`,
    ///   `NPM_CONFIG_STRICT_SSL=false` and `YARN_STRICT_SSL=false`;
    /// - `ServerCertificateValidationCallback` and `-SkipCertificateCheck` in PowerShell.
    ///
    /// The rule ignores `apk add --allow-untrusted` if all packages are local files.
    ///
    /// # Why it is bad
    ///
    /// An attacker between the build and the server can replace the download, and the image then
    /// runs the attacker's code. If your own certificate authority signed the server's certificate,
    /// install the authority's certificate.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN curl -fsSLk -o /usr/local/bin/tool https://tools.example.com/tool
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// COPY corporate-ca.crt /usr/local/share/ca-certificates/
    /// RUN update-ca-certificates \
    ///     && curl -fsSL -o /usr/local/bin/tool https://tools.example.com/tool
    /// ```
    DisabledTlsVerification {
        name: "probity/disabled-tls-verification",
        severity: Warning,
        category: Security,
    }
}

/// Flags that switch off a check, by the program.
const FLAGS: &[(&[&str], &[&str])] = &[
    (&["curl"], &["-k", "--insecure", "--proxy-insecure"]),
    (&["wget"], &["--no-check-certificate"]),
    (&["pip", "pip3"], &["--trusted-host"]),
    (&["apt-get", "apt"], &["--allow-unauthenticated", "--force-yes"]),
    (&["yum", "dnf", "microdnf"], &["--nogpgcheck", "--no-gpgchecks"]),
    (&["zypper"], &["--no-gpg-checks"]),
];

/// Settings that switch off a check where a program reads them as words.
const WORDS: &[(&str, &str)] =
    &[("strict-ssl", "false"), ("http.sslverify", "false"), ("http.sslverify", "0")];

/// The same as a part of a word or a line.
const PARTS: &[&str] = &[
    "strict-ssl=false",
    "http.sslverify=false",
    "sslverify=0",
    "sslverify=false",
    "gpgcheck=0",
    "-skipcertificatecheck",
    "::servercertificatevalidationcallback",
    "stricthostkeychecking=no",
    "stricthostkeychecking no",
];

const VARIABLES: &[(&str, &[&str])] = &[
    ("NODE_TLS_REJECT_UNAUTHORIZED", &["0"]),
    ("PYTHONHTTPSVERIFY", &["0"]),
    ("GIT_SSL_NO_VERIFY", &["1", "true"]),
    ("NPM_CONFIG_STRICT_SSL", &["false"]),
    ("npm_config_strict_ssl", &["false"]),
    ("YARN_STRICT_SSL", &["false"]),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, instruction) in context.each_nested() {
        match (&instruction.arguments, instruction.keyword) {
            (Arguments::Pairs { pairs, .. }, Keyword::Env | Keyword::Arg) => {
                let spans = pairs.iter().filter_map(|pair| {
                    let value = pair.value.as_ref()?.text.trim_matches(['"', '\'']);
                    let lower = value.to_ascii_lowercase();
                    let says_so = PARTS.iter().any(|part| lower.contains(part));
                    (says_so || switches_off(&pair.key.text, value)).then_some(pair.span)
                });
                findings.extend(spans.map(|span| finding(context, span)));
            }
            // What stands behind ONBUILD has the scripts of its ONBUILD.
            (Arguments::Command(_), Keyword::Run) if !context.is_trigger(index) => {
                let scripts = context.scripts(index);
                let commands = scripts.iter().flat_map(|script| &script.commands);
                let found = commands.filter_map(disables);
                let opaque = scripts.iter().filter(|script| script.opaque == Some(Opaque::Dialect));
                let windows = opaque.flat_map(|script| {
                    let commands = script.all_commands().iter();
                    commands
                        .filter_map(move |command| disables_on_windows(script, command, scripts))
                });
                findings.extend(found.chain(windows).map(|span| finding(context, span)));
            }
            _ => {}
        }
    }
}

fn finding(context: &Context<'_>, span: Span) -> Finding {
    let message = "this trusts any server or package; install the right certificate or key instead";
    context.finding(span, message)
}

fn switches_off(name: &str, value: &str) -> bool {
    VARIABLES.iter().any(|(known, values)| *known == name && values.contains(&value))
}

/// The word of a command that switches off a check.
fn disables(command: &Command) -> Option<Span> {
    let call = command.effective();
    let assigned = command.assignments().iter().chain(command.declarations()).find(|assignment| {
        let value = assignment.value.as_ref().and_then(|value| value.literal());
        value.is_some_and(|value| switches_off(&assignment.name, &value))
    });
    let by_flag = FLAGS.iter().find(|(programs, _)| call.is_any(programs));
    let python = call.name().is_some_and(|name| name.starts_with("python") || name == "uv");
    let by_flag = match by_flag {
        Some((_, flags)) => call.flag(flags),
        None if python => call.flag(&["--trusted-host"]),
        None => None,
    };
    let by_flag = by_flag.or_else(|| untrusted_package(&call));
    let span = assigned.map(|assignment| assignment.span).or(by_flag.map(|word| word.span()));
    span.or_else(|| by_setting(&call)).or_else(|| {
        let mut words = call.words.iter();
        words.find(|word| word_says_so(word)).map(|word| word.span())
    })
}

/// `apk add --allow-untrusted` of something that is not a file.
fn untrusted_package<'w>(call: &Call<'w>) -> Option<&'w Word> {
    if !call.is_any(&["apk"]) {
        return None;
    }
    let is_file = |path: &str| path.ends_with(".apk") || path.starts_with(['/', '.', '*']);
    let files = call.positional(&[]).iter().skip(1).all(|word| is_file(word.text()));
    if files { None } else { call.flag(&["--allow-untrusted"]) }
}

/// `npm config set strict-ssl false`
fn by_setting(call: &Call<'_>) -> Option<Span> {
    if !call.is_any(&["npm", "yarn", "pnpm", "git"]) {
        return None;
    }
    call.words.windows(2).find_map(|pair| {
        let [name, value] = pair else { return None };
        let is_off = WORDS.iter().any(|(known, off)| {
            name.literal().is_some_and(|name| name.eq_ignore_ascii_case(known)) && value.is(off)
        });
        is_off.then(|| name.span().to(value.span()))
    })
}

fn word_says_so(word: &Word) -> bool {
    // `printf "…\n$x"` has a constant beginning too.
    let value = word.prefix().to_ascii_lowercase();
    PARTS.iter().any(|part| value.contains(part))
}

/// The same in PowerShell and cmd. Words that are a script for another shell are read there.
fn disables_on_windows(script: &Script, command: &Command, scripts: &[Script]) -> Option<Span> {
    let call = command.call();
    let name = call.windows_name();
    let by_flag = FLAGS
        .iter()
        .find(|(programs, _)| name.as_deref().is_some_and(|name| programs.contains(&name)));
    // `curl` and `wget` without their ending are a cmdlet in Windows PowerShell.
    let is_cmdlet =
        script.invocation.dialect == Dialect::PowerShell && call.is_any(&["curl", "wget"]);
    let by_flag = by_flag.filter(|_| !is_cmdlet);
    let by_flag = by_flag.and_then(|(_, flags)| call.flag(flags)).map(|word| word.span());
    let says_so = |text: &str| {
        let lower = text.to_ascii_lowercase();
        PARTS.iter().any(|part| lower.contains(part))
    };
    let assigned = command.assignments().iter().find(|assignment| says_so(&assignment.name));
    let is_script = |word: &Word| {
        let (own, word) = (command.span, word.span());
        let is_inner = |span: Span| own.start < span.start && span.end <= own.end;
        let overlaps = |span: Span| span.start < word.end && word.start < span.end;
        scripts.iter().any(|other| is_inner(other.span) && overlaps(other.span))
    };
    let mut words = command.words.iter().filter(|word| !is_script(word));
    by_flag
        .or_else(|| assigned.map(|assignment| assignment.name_span))
        .or_else(|| words.find(|word| says_so(word.text())).map(|word| word.span()))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "probity/disabled-tls-verification";
    const CMD: &str = "FROM a\nSHELL [\"cmd\", \"/S\", \"/C\"]\n";

    /// The words that the findings in a file mark.
    fn marked_in(text: &str) -> Vec<String> {
        let spans = run(RULE, text).into_iter().map(|finding| finding.span.unwrap());
        spans.map(|span| span.slice(text).unwrap().to_owned()).collect()
    }

    #[test]
    fn the_switch_is_underlined() {
        for (run_line, marked) in [
            ("RUN a && (curl -fsSLk https://b)", "-fsSLk"),
            ("RUN curl --insecure https://b", "--insecure"),
            ("RUN wget --no-check-certificate https://b", "--no-check-certificate"),
            ("RUN pip install --trusted-host b c", "--trusted-host"),
            ("RUN python3 -m pip install --trusted-host=b c", "--trusted-host=b"),
            ("RUN npm config set strict-ssl false", "strict-ssl false"),
            ("RUN git config --global http.sslVerify false", "http.sslVerify false"),
            ("RUN git -c http.sslVerify=false clone a", "http.sslVerify=false"),
            ("RUN apt-get install -y --allow-unauthenticated a", "--allow-unauthenticated"),
            ("RUN apk add --allow-untrusted a", "--allow-untrusted"),
            ("RUN echo \"sslverify=false\" >> /etc/yum.conf", "\"sslverify=false\""),
            ("RUN printf 'a\\ngpgcheck=0\\n' > /etc/yum.repos.d/a.repo", "'a\\ngpgcheck=0\\n'"),
            ("RUN GIT_SSL_NO_VERIFY=1 git clone a", "GIT_SSL_NO_VERIFY=1"),
            ("ENV A=1 NODE_TLS_REJECT_UNAUTHORIZED=0", "NODE_TLS_REJECT_UNAUTHORIZED=0"),
        ] {
            assert_eq!(marked_in(&format!("FROM a\n{run_line}\n")), [marked], "{run_line}");
        }
        let windows = "FROM a\nSHELL [\"powershell\", \"-Command\"]\nRUN [Net.ServicePointManager]::\
                       ServerCertificateValidationCallback = { $true }; b\n";
        assert_eq!(run(RULE, windows).len(), 1);
        for (line, marked) in [
            ("RUN powershell -Command \"iwr a -SkipCertificateCheck\"", "-SkipCertificateCheck"),
            ("RUN powershell iwr a -SkipCertificateCheck", "-SkipCertificateCheck"),
            ("RUN echo a & curl -k https://b", "-k"),
            ("RUN if exist a (curl.exe --insecure https://b)", "--insecure"),
            ("RUN powershell -Command \"curl.exe -k https://b\"", "-k"),
        ] {
            assert_eq!(marked_in(&format!("{CMD}{line}\n")), [marked], "{line}");
        }
        for line in ["RUN rem curl -k a", "RUN powershell -Command \"curl -k b\""] {
            assert_eq!(run(RULE, &format!("{CMD}{line}\n")), [], "{line}");
        }
    }

    #[test]
    fn other_flags_files_and_mentions_are_silent() {
        for run_line in [
            "RUN curl -fsSL -K config https://b",
            "RUN wget -qO- https://b && tar -k x",
            "RUN apk add --allow-untrusted /tmp/a.apk ./b.apk",
            "RUN pip install --index-url https://b c",
            "RUN npm config set strict-ssl true",
            "RUN sort -k 2 a && ls -k",
            "RUN echo gpgcheck=1 >> /etc/yum.conf",
            "ENV NODE_TLS_REJECT_UNAUTHORIZED=1",
        ] {
            check(RULE, &format!("FROM a\n{run_line}\n"));
        }
    }
}
