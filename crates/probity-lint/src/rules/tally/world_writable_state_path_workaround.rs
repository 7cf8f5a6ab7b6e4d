//! Files that everybody may write.

use probity_dockerfile::Keyword;
use probity_finding::Finding;
use probity_shell::{Call, Word};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a `chmod`, `mkdir -m` or `install -m` in a `RUN` that lets every user write.
    ///
    /// Examples of such modes are `777`, `a+w` and `o+rwx`.
    ///
    /// The rule allows directories with the sticky bit (`1777`), such as `/tmp`, which tally flags.
    /// It also allows tool directories that users of the image install into, such as `$CARGO_HOME`
    /// and `$GOPATH`.
    ///
    /// # Why it is bad
    ///
    /// Authors use such modes if a program cannot write its own files, but then every other program
    /// can write them, too. Make the program's user the owner of the files with `chown` or
    /// `COPY --chown`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// RUN chmod -R 777 /var/lib/app
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN chown -R app /var/lib/app
    /// ```
    WorldWritableStatePathWorkaround {
        name: "tally/world-writable-state-path-workaround",
        severity: Warning,
        category: Security,
        url: "https://tally.wharflab.com/rules/tally/world-writable-state-path-workaround/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (index, _) in context.each(Keyword::Run) {
        for command in context.scripts(index).iter().flat_map(|script| &script.commands) {
            let Some((word, mode)) = mode(&command.effective()) else { continue };
            if lets_everybody_write(&mode) && !is_of_tools(&command.effective(), word) {
                let message =
                    format!("{mode} lets every user write; change the owner with `chown` instead");
                findings.push(context.finding(word.span(), message));
            }
        }
    }
}

/// The mode that a command sets, and the word that says it.
fn mode<'w>(call: &Call<'w>) -> Option<(&'w Word, String)> {
    match call.name()?.as_ref() {
        "chmod" => {
            let first = call.args().iter().find(|word| !is_flag(word))?;
            Some((first, first.literal()?.into_owned()))
        }
        "mkdir" | "install" => {
            let (word, value) = call.flag_value(&["-m", "--mode"])?;
            Some((word, value))
        }
        _ => None,
    }
}

/// Whether everything behind the mode is the home of a tool, by the name of its variable.
fn is_of_tools(call: &Call<'_>, mode: &Word) -> bool {
    let mut files =
        call.args().iter().filter(|word| word.span().start >= mode.span().end).peekable();
    files.peek().is_some()
        && files.all(|word| match word.variables().as_slice() {
            [(_, variable)] if word.prefix().is_empty() => {
                variable.name.ends_with("_HOME") || variable.name == "GOPATH"
            }
            _ => false,
        })
}

/// `-R`, `--recursive`; but `-x` takes a permission away and is a mode.
fn is_flag(word: &Word) -> bool {
    let flag = word.prefix();
    matches!(flag.as_ref(), "-R" | "-v" | "-c" | "-f" | "-Rv" | "-vR" | "-Rf" | "-fR")
        || flag.starts_with("--")
}

fn lets_everybody_write(mode: &str) -> bool {
    if mode.bytes().all(|byte| byte.is_ascii_digit()) {
        let others =
            mode.bytes().last().is_some_and(|byte| matches!(byte, b'2' | b'3' | b'6' | b'7'));
        let is_sticky =
            mode.len() == 4 && matches!(mode.bytes().next(), Some(b'1' | b'3' | b'5' | b'7'));
        return others && !is_sticky && mode.len() >= 3;
    }
    mode.split(',').any(|clause| {
        let Some(at) = clause.find(['+', '=']) else { return false };
        let (who, what) = clause.split_at(at);
        // Without anybody named the umask decides, and that keeps others from writing.
        who.contains(['a', 'o']) && what.contains('w') && !what.contains('t')
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "tally/world-writable-state-path-workaround";

    #[test]
    fn the_mode_is_underlined() {
        check(
            RULE,
            r#"
FROM a
RUN a && (chmod -R "0777" /x) \
                   ^^^^^^ 0777 lets every user write; change the owner with `chown` instead
    && mkdir -p -m 777 /y
                   ^^^ 777 lets every user write; change the owner with `chown` instead
RUN <<EOF
chmod u+x,a+rwx $Z
      ^^^^^^^^^ u+x,a+rwx lets every user write; change the owner with `chown` instead
EOF
RUN ["chmod", "o=w", "/x"]
               ^^^ o=w lets every user write; change the owner with `chown` instead
"#,
        );
    }

    #[test]
    fn other_modes_and_mentions_are_silent() {
        for run in [
            "chmod -R a+w $CARGO_HOME \"$RUSTUP_HOME\"",
            "chmod 755 /x",
            "chmod +w /x",
            "chmod g+w,o-w /x",
            "chmod 1777 /tmp",
            "chmod a+rx /x",
            "chmod $M /x",
            "echo chmod 777 /x",
            "mkdir /777",
        ] {
            check(RULE, &format!("FROM a\nRUN {run}\n"));
        }
    }
}
