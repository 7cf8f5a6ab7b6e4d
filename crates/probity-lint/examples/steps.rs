//! One file of a family, as long as asked for: printed, or looked at by every rule and by the fix
//! loop, so that somebody outside can count the steps of each.
//!
//! `steps FAMILY SIZE [print|lint|fix]`; without arguments the names of the families. The counting
//! is done by `tests/it/linear.rs` and by `script/bench linear`, both with callgrind.

use std::{collections::BTreeMap, env, io::Write as _, process::ExitCode};

use probity_finding::Applicability;
use probity_lint::{
    DirectiveOptions, FixOptions, LintOptions, OptionValue, Pattern, RULES, RuleSet, fix, lint,
};
use probity_secrets::{Detector, FindSecrets, Options};

/// What a file of so many parts looks like; the number of each part goes in.
type Family = fn(&mut String, usize);

/// Names, what comes before the parts, one part, and what comes after them.
const FAMILIES: &[(&str, &str, Family, &str)] = &[
    ("runs", "FROM debian:12\n", runs, ""),
    ("commands", "FROM debian:12\nRUN set -ex", commands, "\n"),
    ("stages", "", stages, ""),
    ("variables", "FROM debian:12\n", variables, ""),
    ("copies", "FROM debian:12 AS s0\nFROM debian:12\n", copies, ""),
    ("heredocs", "FROM debian:12\n", heredocs, ""),
    (
        "packages",
        "FROM debian:12\nRUN apt-get update && apt-get install -y",
        packages,
        "\nUSER app\n",
    ),
    ("comments", "FROM debian:12\n", comments, ""),
    ("nesting", "FROM debian:12\n", nesting, ""),
    ("metadata", "FROM debian:12\n", metadata, "CMD run\nENTRYPOINT run\n"),
    ("downloads", "FROM debian:12\n", downloads, ""),
    ("secrets", "FROM debian:12\n", secrets, ""),
];

fn runs(text: &mut String, n: usize) {
    put(
        text,
        match n % 4 {
            0 => format!("RUN apt-get update && apt-get install p{n} | grep b\n"),
            1 => format!("RUN cd /a{n} && pip install x{n} && npm install y{n}\n"),
            2 => format!("RUN yum install -y z{n} && useradd u{n}\n"),
            _ => format!("RUN echo {n} > /etc/f{n} && chmod +x /etc/f{n} && sudo make\n"),
        },
    );
}

fn commands(text: &mut String, n: usize) {
    put(
        text,
        match n % 4 {
            0 => format!(" && apt-get install p{n} | grep $(id -u)"),
            1 => format!(" ; cd /a{n} && pip install \"x{n}\""),
            2 => format!(" \\\n  && mkdir -p /d{n} && chown u:u /d{n}"),
            _ => format!(" || ( echo $A{n} > /f{n}; rm -rf /f{n} )"),
        },
    );
}

fn stages(text: &mut String, n: usize) {
    let base = match n {
        0 => "debian".to_owned(),
        n => format!("s{}", n / 2),
    };
    put(text, format!("FROM {base} AS s{}\nARG A{n}\nCOPY --from=s{n} /a /b{n}\n", n + 1));
    put(text, format!("RUN echo $A{n} | cat\nWORKDIR w{n}\n"));
}

fn variables(text: &mut String, n: usize) {
    put(text, format!("ARG A{n}={n}\nENV B{n}=$A{n} C=$B{} D{n}=${{C:-x}}\n", n / 2));
    put(text, format!("WORKDIR /$B{n}/$UNKNOWN{n}\nRUN echo $B{n} $A{}\n", n / 2));
}

fn copies(text: &mut String, n: usize) {
    put(text, format!("COPY --from=s0 /a{n} /b{n}\nCOPY --chown=1:1 c{n} d{n} /e/\n"));
    put(text, format!("ADD f{n}.tar.gz /g{n}\nCOPY h{n}.tar.gz /h/\nADD https://x/{n} /i\n"));
}

fn heredocs(text: &mut String, n: usize) {
    put(text, format!("RUN <<EOF\napt-get install a{n}\n"));
    for line in 0..8 {
        put(text, format!("echo {line} | tee /x{n}\n"));
    }
    put(text, format!("EOF\nCOPY <<A <<'B' /d{n}/\none $X\nA\ntwo\nB\n"));
}

fn packages(text: &mut String, n: usize) {
    put(text, format!(" {}{n}{}", ["a", "z", "m"][n % 3], ["", "=1", " \\\n "][n % 3]));
}

fn comments(text: &mut String, n: usize) {
    put(text, format!("# hadolint ignore=DL3003,DL3{:03}\n# check=skip=all\n", n % 60));
    put(text, format!("RUN cd /a{n}\n# tally ignore=max-lines\n#\n   # words {n}\n\n"));
}

fn nesting(text: &mut String, n: usize) {
    put(text, format!("RUN if [ -f /a{n} ]; then \\\n    # why\n  for x in a b; do \\\n"));
    put(text, format!("    (cd /b{n} && {{ sh -c 'apt-get install c{n}'; }}); \\\n\n"));
    put(text, "  done; \\\n  else case \"$x\" in a) true;; *) false;; esac; fi\n".to_owned());
}

fn metadata(text: &mut String, n: usize) {
    put(text, format!("LABEL a.b{n}=c maintainer=x url=http://{n}\nEXPOSE {} 80/TCP\n", n % 70000));
    put(text, format!("USER u{n}\nONBUILD RUN apt-get install d{n}\nVOLUME /v{n}\n"));
    put(text, format!("SHELL [\"/bin/bash\", \"-c\"]\nCMD run {n}\nHEALTHCHECK CMD x\n"));
}

fn downloads(text: &mut String, n: usize) {
    put(text, format!("RUN curl -L https://e.com/{n}.tar.gz -o /tmp/{n}.tar.gz && \\\n"));
    put(text, format!("  tar -xzf /tmp/{n}.tar.gz -C /opt && rm /tmp/{n}.tar.gz\n"));
    put(text, format!("RUN wget https://e.com/x{n} && curl https://e.com/{n}.sh | sh\n"));
    put(text, format!("ADD https://e.com/{n}.zip /a{n}.zip\nRUN unzip /a{n}.zip\n"));
}

fn secrets(text: &mut String, n: usize) {
    let key = format!("{:032x}", (n as u128 + 3).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060));
    put(text, format!("ENV API_TOKEN{n}=ghp_{key}Ab1C\nARG PASSWORD_{n}=x{key}\n"));
    put(text, format!("RUN curl -H \"Authorization: Bearer {key}\" https://x.example/{n}\n"));
}

fn put(text: &mut String, part: String) {
    text.push_str(&part);
}

fn text_of(family: &str, size: usize) -> Option<String> {
    let (_, before, part, after) = FAMILIES.iter().find(|(name, ..)| *name == family)?;
    let mut text = (*before).to_owned();
    for number in 0..size {
        part(&mut text, number);
    }
    text.push_str(after);
    Some(text)
}

/// All rules, with the settings that some of them need to find anything.
fn all_rules() -> RuleSet {
    let mut rules = RuleSet::default();
    // A rule that runs only on request has to be named.
    let names: Vec<Pattern> = RULES.iter().map(|rule| Pattern::new(rule.metadata().name)).collect();
    rules.select(&names);
    rules.without_shell_findings();
    rules.set_option("tally/max-lines", "max", &OptionValue::Integer(2));
    for (code, label) in [
        ("DL3049", "maintainer"),
        ("DL3050", "maintainer"),
        ("DL3051", "maintainer"),
        ("DL3052", "url"),
        ("DL3053", "url"),
        ("DL3054", "url"),
        ("DL3055", "url"),
        ("DL3056", "url"),
        ("DL3058", "url"),
    ] {
        let labels = OptionValue::TextList(vec![label.to_owned()]);
        rules.set_option(&format!("hadolint/{code}"), "labels", &labels);
    }
    let trusted = OptionValue::TextList(vec!["registry.example.com".to_owned()]);
    rules.set_option("hadolint/DL3026", "trusted-registries", &trusted);
    rules
}

/// What a rule must not do, to see that the measure finds it: it neither allocates nor calls anything
/// that others share.
#[inline(never)]
fn quadratic(text: &str) -> usize {
    let (mut found, bytes) = (0, text.as_bytes());
    let mut at = 0;
    while at < bytes.len() {
        let mut before = 0;
        while before < at {
            found += usize::from(bytes[before] == b'\n' && bytes[at] == b'\n');
            before += 32;
        }
        at += 32;
    }
    found
}

/// What the measure must not find.
#[inline(never)]
fn linear(text: &str) -> usize {
    let (mut found, mut at) = (0, 0);
    while at < text.len() {
        found += usize::from(text.as_bytes()[at] == b'\n');
        at += 1;
    }
    found
}

fn main() -> ExitCode {
    let given: Vec<String> = env::args().skip(1).collect();
    let mut said = String::new();
    match given.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => FAMILIES.iter().for_each(|(name, ..)| said.extend([name, "\n"])),
        [family, size, what] => {
            let size: Option<usize> = size.parse().ok();
            let Some(text) = size.and_then(|size| text_of(family, size)) else {
                return ExitCode::from(2);
            };
            match *what {
                "print" => said = text,
                what => {
                    let Some((count, rounds)) = work(&text, what) else {
                        return ExitCode::from(2);
                    };
                    said = format!("{count} {rounds}\n");
                }
            }
        }
        _ => return ExitCode::from(2),
    }
    match std::io::stdout().write_all(said.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Every rule, or every fix, and the two that the measure is tried with; how much came of it, and in
/// how many rounds.
#[inline(never)]
fn work(text: &str, what: &str) -> Option<(usize, usize)> {
    let rules = all_rules();
    let detector = Detector::new(&Options::default()).ok()?;
    let directives = DirectiveOptions::default();
    let secrets: Option<&dyn FindSecrets> = Some(&detector);
    let options = LintOptions {
        rules: &rules,
        uses: None,
        directives,
        dockerignore: None,
        context_files: None,
        base_images: None,
        detections: &[],
        secrets,
    };
    let modes = BTreeMap::new();
    let (count, rounds) = match what {
        "lint" => (lint(text, &options).len(), 0),
        "fix" => {
            let ceiling = Applicability::Unsafe;
            let options = FixOptions {
                lint: options,
                ceiling,
                only: &[],
                modes: &modes,
                excluded: &[],
                known: None,
            };
            let fixed = fix(text, &options);
            (fixed.applied.len(), fixed.rounds)
        }
        _ => return None,
    };
    Some((count + quadratic(text) + linear(text), rounds))
}
