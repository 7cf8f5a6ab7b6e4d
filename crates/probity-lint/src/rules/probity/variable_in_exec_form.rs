//! Variables where no shell expands them.

use probity_dockerfile::{Arguments, Command, Keyword, Word};
use probity_finding::Finding;

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags a variable such as `$PORT` in the JSON form of `CMD`, `ENTRYPOINT`, `RUN` or
    /// `HEALTHCHECK`.
    ///
    /// The rule checks only names in capitals. It ignores commands that may expand the variable
    /// themselves:
    ///
    /// - shells;
    /// - programs that expand variables or start a shell, such as `envsubst` or `su`;
    /// - scripts whose name ends in `.sh` or contains `entrypoint`.
    ///
    /// # Why it is bad
    ///
    /// The JSON form starts the program without a shell, so the program receives the text `$PORT`
    /// instead of the value. Use the shell form with `exec`, start a shell, or let the program read
    /// its environment.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM python:3.12-slim
    /// USER 1000
    /// CMD ["gunicorn", "--bind", "0.0.0.0:$PORT", "app:app"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM python:3.12-slim
    /// USER 1000
    /// CMD ["sh", "-c", "exec gunicorn --bind 0.0.0.0:$PORT app:app"]
    /// ```
    VariableInExecForm {
        name: "probity/variable-in-exec-form",
        severity: Warning,
        category: Correctness,
    }
}

/// Programs that expand the variables of their arguments themselves, or that start a shell.
const EXPANDING: &[&str] = &[
    "ash",
    "awk",
    "bash",
    "busybox",
    "cmd",
    "cmd.exe",
    "dash",
    "envsubst",
    "eval",
    "gosu",
    "ksh",
    "nginx",
    "perl",
    "powershell",
    "powershell.exe",
    "pwsh",
    "pwsh.exe",
    "sh",
    "ssh",
    "su",
    "xargs",
    "zsh",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (_, instruction) in context.each_nested() {
        let command = match (&instruction.arguments, instruction.keyword) {
            (Arguments::Command(_), Keyword::Shell) => continue,
            (Arguments::Command(command) | Arguments::Healthcheck { command, .. }, _) => command,
            _ => continue,
        };
        let Command::Json { words, .. } = command else { continue };
        let name =
            |word: &Word| word.text.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        // A script that is started may expand its arguments.
        let is_script = |name: &str| name.ends_with(".sh") || name.contains("entrypoint");
        if words
            .iter()
            .any(|word| EXPANDING.contains(&name(word).as_str()) || is_script(&name(word)))
        {
            continue;
        }
        for word in words.iter().skip(1) {
            if let Some(variable) = variable(&word.text) {
                let message = format!("no shell runs here, so {variable} is not expanded");
                findings.push(context.finding(word.span, message));
            }
        }
    }
}

/// The first `$NAME` or `${NAME}` in capitals.
fn variable(text: &str) -> Option<&str> {
    let at = text.find('$')?;
    let written = text.get(at..)?;
    let is_braced = written.starts_with("${");
    let start = if is_braced { 2 } else { 1 };
    let rest = written.get(start..)?;
    let is_name =
        |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let end = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
    let name = rest.get(..end).filter(|name| {
        name.len() > 1 && !name.starts_with(|letter: char| letter.is_ascii_digit())
    })?;
    let behind = rest.get(end..)?;
    let closes = !is_braced || behind.starts_with(['}', ':', '-']);
    // `$NAMEs` in lower case is something else.
    let is_whole = !behind.starts_with(|letter: char| letter.is_ascii_lowercase());
    let braces = if is_braced { behind.find('}').map_or(0, |end| end + 1) } else { 0 };
    (closes && is_whole).then(|| written.get(..start + name.len() + braces)).flatten()
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/variable-in-exec-form";

    #[test]
    fn the_word_is_underlined() {
        check(
            RULE,
            r#"
FROM a
CMD ["flask", "run", "--port=$PORT"]
                     ^^^^^^^^^^^^^^ no shell runs here, so $PORT is not expanded
ENTRYPOINT ["java", "${JAVA_OPTS:-x}", "-jar", "a.jar"]
                    ^^^^^^^^^^^^^^^^^ no shell runs here, so ${JAVA_OPTS:-x} is not expanded
HEALTHCHECK CMD ["curl", "localhost:$PORT"]
                         ^^^^^^^^^^^^^^^^^ no shell runs here, so $PORT is not expanded
"#,
        );
    }

    #[test]
    fn shells_scripts_and_other_dollars_are_silent() {
        for text in [
            r#"CMD ["sh", "-c", "flask run --port=$PORT"]"#,
            r#"CMD ["tini", "--", "/bin/bash", "-c", "a $PORT"]"#,
            r#"CMD ["/docker-entrypoint.sh", "$PORT"]"#,
            "CMD flask run --port=$PORT",
            r#"CMD ["nginx", "-g", "env $HOME;"]"#,
            r#"CMD ["grep", "a$", "$1", "$host"]"#,
            r#"SHELL ["powershell", "-Command", "$ErrorActionPreference = 'Stop';"]"#,
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }
}
