//! Users with a number that makes log files huge.

use probity_finding::{Finding, Fix};
use probity_shell::{Call, Word};

use crate::{engine::context::Context, text::shell_edits};

rule! {
    /// # What it does
    ///
    /// Flags a `useradd` with a UID of more than five digits and without `--no-log-init`.
    ///
    /// # Why it is bad
    ///
    /// `useradd` writes a record for the user into `/var/log/lastlog` and `/var/log/faillog`. The
    /// UID determines the position of the record. On a disk the files are sparse, but in a layer
    /// they have their full size. A high UID can therefore add gigabytes to the image.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN useradd --uid 1000000 app
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM debian:12
    /// RUN useradd -l --uid 1000000 app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN useradd --uid 1000 app
    /// ```
    ///
    /// # Fix safety
    ///
    /// Suggestion: the fix adds `-l`, the short form of `--no-log-init`. The user is the same, but
    /// the two log files lack its record.
    Dl3046 {
        name: "hadolint/DL3046",
        severity: Warning,
        category: Performance,
        fixes: Suggestion,
        url: "https://github.com/hadolint/hadolint/wiki/DL3046",
    }
}

/// Numbers of as many digits are harmless.
const DIGITS: usize = 5;

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.runs() {
        let scripts = context.scripts(index).iter();
        let commands =
            scripts.flat_map(|script| script.commands.iter().map(move |command| (script, command)));
        for (script, command) in commands {
            let call = command.effective();
            if !call.is_any(&["useradd"]) {
                continue;
            }
            let Some(name) = call.name_word() else { continue };
            let value = call.flag_value(&["-u", "--uid"]).or_else(|| value_of_cluster(&call));
            let Some((word, number)) = value else { continue };
            let is_high = number.len() > DIGITS && number.bytes().all(|byte| byte.is_ascii_digit());
            if is_high && !call.has_flag(&["-l", "--no-log-init"]) {
                let message = "useradd with a high number makes huge log files without -l";
                let edit = shell_edits::insert_behind(context, script, name.span(), "-l");
                let fix = Fix::suggestion("add -l", vec![edit]);
                findings.push(context.finding(word.span(), message).with_fix(fix));
            }
        }
    }
}

/// The number of `-mu 123456`, where switches stand before the letter.
fn value_of_cluster<'w>(call: &Call<'w>) -> Option<(&'w Word, String)> {
    const SWITCHES: &[char] = &['m', 'M', 'N', 'U', 'r', 'l', 'o', 'D'];
    let is_cluster = |word: &Word| {
        let flag = word.prefix();
        let switches = flag.strip_prefix('-').and_then(|letters| letters.strip_suffix('u'));
        switches.is_some_and(|switches| switches.chars().all(|letter| SWITCHES.contains(&letter)))
    };
    let at = call.args().iter().position(is_cluster)?;
    let value = call.args().get(at + 1)?;
    Some((value, value.literal()?.into_owned()))
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::{check, fixes};

    const RULE: &str = "hadolint/DL3046";
    const SAYS: &str = "useradd with a high number makes huge log files without -l";

    #[test]
    fn the_number_is_underlined() {
        check(
            RULE,
            &format!(
                r#"
FROM a
RUN a; (useradd -m --uid=123456 x) && \
                   ^^^^^^^^^^^^ {SAYS}
    useradd -u '1234567' y
               ^^^^^^^^^ {SAYS}
RUN <<EOF
sudo useradd -u 999999 z
                ^^^^^^ {SAYS}
EOF
"#
            ),
        );
    }

    #[test]
    fn low_unknown_and_flagged_numbers_are_silent() {
        check(
            RULE,
            "FROM a\nRUN useradd -u 99999 a; useradd -lu 123456 b; useradd -u $N c; useradd d\n\
             RUN useradd --no-log-init -u 123456 e; echo useradd -u 123456; adduser -u 123456 f\n",
        );
    }

    #[test]
    fn the_flag_is_added_wherever_the_call_stands() {
        fixes(
            RULE,
            &[
                ("RUN \"useradd\" -u 123456 x", "RUN \"useradd\" -l -u 123456 x"),
                ("RUN (useradd -u 123456 $X; a)", "RUN (useradd -l -u 123456 $X; a)"),
                ("RUN sh -c 'useradd -u 123456 x'", "RUN sh -c 'useradd -l -u 123456 x'"),
                (
                    "RUN useradd \\\n  # why\n  -u 123456 x",
                    "RUN useradd -l \\\n  # why\n  -u 123456 x",
                ),
                ("RUN <<EOF\nuseradd -u 123456 x\nEOF", "RUN <<EOF\nuseradd -l -u 123456 x\nEOF"),
                (
                    r#"RUN ["useradd", "-u", "123456", "x"]"#,
                    r#"RUN ["useradd", "-l", "-u", "123456", "x"]"#,
                ),
                ("RUN useradd -u $N x", "RUN useradd -u $N x"),
            ],
        );
    }
}
