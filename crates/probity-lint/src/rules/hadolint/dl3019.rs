//! The index of apk that stays.

use probity_dockerfile::{Action, Manager};
use probity_finding::{Finding, Span};

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags an `apk add` without `--no-cache` that leaves the package index in the image.
    ///
    /// The rule accepts the call if:
    ///
    /// - the same `RUN` removes `/var/cache/apk` or `/etc/apk/cache` after it;
    /// - a cache or tmpfs mount covers that directory;
    /// - the call has the flag `--no-network`.
    ///
    /// The rule ignores stages that only serve `COPY --from`, which hadolint flags. hadolint also
    /// flags `apk add --update` if a later command removes the directory.
    ///
    /// # Why it is bad
    ///
    /// The downloaded package index stays in the layer.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// RUN apk add curl=8.5.0-r0
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// RUN apk add --no-cache curl=8.5.0-r0
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// RUN apk add --no-cache curl=8.5.0-r0
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix adds `--no-cache`. The packages are the same. A later `apk` command
    /// without an index must download it.
    Dl3019 {
        name: "hadolint/DL3019",
        severity: Info,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3019",
    }
}

const CACHES: &[&str] = &["/var/cache/apk", "/etc/apk/cache"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let kept = packages::stages_of_the_image(context.facts);
    // The instruction that was last seen, and the last command of it that removes the cache.
    let mut last: Option<(usize, Option<Span>)> = None;
    for (index, call) in packages::calls(context, &[Manager::Apk], &[Action::Install]) {
        if !packages::is_kept(context, &kept, index) {
            continue;
        }
        let removal = match last {
            Some((known, removal)) if known == index => removal,
            _ => packages::last_removal(context.scripts(index), CACHES),
        };
        last = Some((index, removal));
        let run = context.innermost(index);
        // Without the network no index is fetched.
        let is_clean = call.has_flag(&["--no-cache", "--no-network"])
            || removal.is_some_and(|removal| removal > call.span)
            || run.is_some_and(|run| packages::mounts(run, CACHES));
        if is_clean {
            continue;
        }
        let message = "the index stays in the layer; use --no-cache";
        let finding = context.finding(call.subcommand, message);
        findings.push(packages::with_flag(context, index, call, "--no-cache", finding));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3019";
    const SAYS: &str = "the index stays in the layer; use --no-cache";

    /// What a stage leaves behind that only serves `COPY --from` is in no image.
    #[test]
    fn stages_that_are_not_kept_are_silent() {
        let call = "apk add x";
        check(RULE, &format!("FROM a AS b\nRUN {call}\nFROM c\nCOPY --from=b /x /x\n"));
    }

    #[test]
    fn the_subcommand_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a && (apk "add" x) \
              ^^^^^ {SAYS}
    && b
RUN <<EOF
apk -U add x
       ^^^ {SAYS}
EOF
"#
            ),
        );
    }

    #[test]
    fn cleaned_and_mounted_ones_and_mentions_are_silent() {
        for run in [
            "apk add --no-cache x",
            "apk --no-cache add x",
            "apk add --no-network --virtual .run x",
            "apk update && apk add x && rm -rf /var/cache/apk/*",
            "--mount=type=cache,target=/var/cache/apk apk add x",
            "apk del x",
            "echo apk add x",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }

    #[test]
    fn the_flag_is_added_wherever_the_call_stands() {
        fixes(
            RULE,
            &[
                ("RUN apk 'add' x", "RUN apk 'add' --no-cache x"),
                ("RUN (apk add x; a)", "RUN (apk add --no-cache x; a)"),
                ("RUN bash -c \"apk add $X\"", "RUN bash -c \"apk add --no-cache $X\""),
                ("RUN apk add \\\n  # why\n  x", "RUN apk add --no-cache \\\n  # why\n  x"),
                ("RUN <<EOF\napk add x\nEOF", "RUN <<EOF\napk add --no-cache x\nEOF"),
                (r#"RUN ["apk", "add", "x"]"#, r#"RUN ["apk", "add", "--no-cache", "x"]"#),
                (r#"RUN ["sh", "-c", "apk add x"]"#, r#"RUN ["sh", "-c", "apk add --no-cache x"]"#),
                ("RUN apk $VERB x", "RUN apk $VERB x"),
                ("RUN echo 'apk add x'", "RUN echo 'apk add x'"),
            ],
        );
    }
}
