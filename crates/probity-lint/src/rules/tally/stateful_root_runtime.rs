//! Data that root writes.

use probity_dockerfile::{Arguments, Base, Keyword, Os, Setting, Stage, Step, Text};
use probity_finding::{Finding, Span};

use crate::{engine::context::Context, facts::identity};

rule! {
    /// # What it does
    ///
    /// Flags an image that runs as root and keeps data.
    ///
    /// An image keeps data in one of these cases:
    ///
    /// - The final stage, or a stage that it is based on, has a `VOLUME`.
    /// - The final stage uses a data directory in `WORKDIR`, `COPY`, `ADD` or `mkdir`.
    ///
    /// Data directories are `/data`, `/srv` (but not as a `WORKDIR`), and everything in `/var/lib`,
    /// `/var/log`, `/var/cache`, `/var/run` and `/var/spool`.
    ///
    /// The rule ignores an image in these cases:
    ///
    /// - The tag of its base image contains `nonroot`.
    /// - It starts or installs `gosu`, `su-exec`, `setpriv` or a similar program.
    /// - It starts a server that changes its user itself.
    /// - It starts a script that the Dockerfile does not contain.
    ///
    /// # Why it is bad
    ///
    /// Files that the image writes remain on the host or in a volume, and root owns them. An
    /// attacker who breaks into the program can write them as root. If the image later runs as
    /// another user, you must change the owner of all these files.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// VOLUME /var/lib/app
    /// CMD ["app"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// VOLUME /var/lib/app
    /// USER app
    /// CMD ["app"]
    /// ```
    StatefulRootRuntime {
        name: "tally/stateful-root-runtime",
        severity: Warning,
        category: Security,
        url: "https://tally.wharflab.com/rules/tally/stateful-root-runtime/",
    }
}

/// Directories that hold data themselves.
const DATA: &[&str] = &["/data", "/srv"];
/// Directories that hold data with all that is below them.
const DATA_BELOW: &[&str] = &["/var/cache", "/var/lib", "/var/log", "/var/run", "/var/spool"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(last) = context.facts.final_stage().filter(|last| last.os == Os::Linux) else {
        return;
    };
    let mut signs = volumes(context, last);
    for index in last.instructions.clone() {
        signs.extend(sign(context, last, index));
    }
    let Some((first, more)) = signs.split_first() else { return };
    if !identity::image_runs_as_root(context, last) {
        return;
    }
    let message = format!("the image runs as root and keeps data in {}", first.path);
    let mut finding = context.finding(first.span, message);
    for other in more {
        finding = finding.with_related(other.span, format!("data in {}", other.path));
    }
    findings.push(finding);
}

/// A place that says where data is kept.
struct Sign {
    span: Span,
    path: String,
}

/// Whatever is a volume is data, wherever it is, and no later instruction takes it back.
fn volumes(context: &Context<'_>, last: &Stage) -> Vec<Sign> {
    let stages = context.facts.stages();
    let chain = std::iter::successors(Some(last), |stage| match stage.base {
        Base::Stage(base) => stages.get(base),
        _ => None,
    });
    let configs = chain.filter_map(|stage| context.facts.config(stage.index));
    let volumes = configs.flat_map(|config| config.get(Setting::Volume));
    let mut found: Vec<Sign> =
        volumes.map(|volume| Sign { span: volume.span, path: volume.entry.key.clone() }).collect();
    found.sort_by_key(|sign| sign.span);
    found
}

fn sign(context: &Context<'_>, last: &Stage, index: usize) -> Option<Sign> {
    let instruction = context.file.instructions.get(index).filter(|_| index != last.instruction)?;
    let (span, text) = match (&instruction.arguments, context.facts.steps(index)) {
        (Arguments::Text(Some(word)), [Step::Workdir(text), ..]) => (word.span, text),
        (Arguments::Transfer { destination: Some(word), .. }, [Step::Transfer(it), ..]) => {
            (word.span, it.destination.as_ref()?)
        }
        (_, [Step::Run { .. }, ..]) if instruction.keyword == Keyword::Run => {
            return made(context, index);
        }
        _ => return None,
    };
    let Text { value: Some(path), .. } = text else { return None };
    // Programs are put into `/srv` as often as data.
    let is_program =
        instruction.keyword == Keyword::Workdir && path.trim_end_matches('/') == "/srv";
    (is_data(path) && !is_program).then(|| Sign { span, path: path.clone() })
}

/// The first directory for data that a `RUN` makes.
fn made(context: &Context<'_>, index: usize) -> Option<Sign> {
    let commands = context.scripts(index).iter().flat_map(|script| &script.commands);
    let mut calls =
        commands.map(|command| command.effective()).filter(|call| call.is_any(&["mkdir"]));
    calls.find_map(|call| {
        let words = call.positional(&["-m", "--mode"]);
        let word =
            words.into_iter().find(|word| word.literal().is_some_and(|path| is_data(&path)))?;
        Some(Sign { span: word.span(), path: word.literal()?.into_owned() })
    })
}

fn is_data(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let is_below = |root: &&str| {
        path.strip_prefix(*root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    DATA.contains(&path) || DATA_BELOW.iter().any(is_below)
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, run};

    const RULE: &str = "tally/stateful-root-runtime";

    #[test]
    fn the_first_sign_is_underlined() {
        for (text, marks, path) in [
            ("VOLUME /x /y", "       ^^", "/x"),
            ("VOLUME [\"/x\"]\nUSER root", "", "/x"),
            ("WORKDIR /data", "        ^^^^^", "/data"),
            ("COPY --chown=a b /var/lib/x/", "                 ^^^^^^^^^^^", "/var/lib/x/"),
            ("ADD a /srv", "      ^^^^", "/srv"),
            (
                "RUN a && (mkdir -m 755 -p /b \"/data\")",
                "                             ^^^^^^^",
                "/data",
            ),
            ("RUN bash -c 'mkdir /data'", "                   ^^^^^", "/data"),
        ] {
            if marks.is_empty() {
                assert_eq!(run(RULE, &format!("FROM a\n{text}\n")).len(), 1, "{text}");
                continue;
            }
            let says = format!("the image runs as root and keeps data in {path}");
            check(RULE, &format!("FROM a\n{text}\n{marks} {says}\n"));
        }
        check(
            RULE,
            "FROM a AS b\nVOLUME /x\n       ^^ the image runs as root and keeps data in /x\nFROM b\nRUN <<EOF\nmkdir /data\nEOF\n",
        );
    }

    #[test]
    fn all_other_signs_are_told() {
        let found = run(RULE, "FROM a\nRUN mkdir \\\n  # why\n  /data\nVOLUME /b /a\nUSER 0:0\n");
        let related = found
            .iter()
            .flat_map(|finding| &finding.related)
            .map(|related| related.message.as_str());
        assert_eq!(related.collect::<Vec<_>>(), ["data in /a", "data in /data"]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn other_users_places_and_mentions_are_silent() {
        for text in [
            "VOLUME /x\nUSER app",
            "VOLUME /x\nUSER 1000",
            "ARG U\nVOLUME /x\nUSER $U",
            "VOLUME /x\nENTRYPOINT [\"gosu\", \"app\", \"x\"]",
            "VOLUME /x\nCMD exec su-exec app x",
            "WORKDIR /app/data",
            "WORKDIR /srv",
            "WORKDIR $D",
            "COPY a /var/library",
            "COPY a /opt/data /srv/app",
            "RUN echo mkdir /data",
            "RUN mkdir $X/data",
            "ENV D=/data",
            "VOLUME /data\nFROM b",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
        check(RULE, "FROM gcr.io/distroless/static:nonroot\nVOLUME /x\n");
        check(RULE, "FROM mcr.microsoft.com/windows/servercore:ltsc2022\nVOLUME C:\\\\x\n");
    }
}
