//! System packages that a user without rights is to install.

use probity_dockerfile::{Action, Manager};
use probity_finding::Finding;

use crate::{engine::context::Context, facts::packages};

rule! {
    /// # What it does
    ///
    /// Flags a package manager that changes system packages after `USER` selects a non-root user.
    ///
    /// The rule knows `apt-get`, `apt`, `apk`, `dnf`, `yum`, `microdnf` and `zypper`. It ignores
    /// calls through `sudo` or a similar program, and users that only the build knows.
    ///
    /// # Why it is bad
    ///
    /// Only root can install system packages, so the build fails with `Permission denied`. Install
    /// the packages before `USER`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM debian:12
    /// USER app
    /// RUN apt-get update && apt-get install -y curl
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get update && apt-get install -y curl
    /// USER app
    /// ```
    InstallWithoutRoot {
        name: "probity/install-without-root",
        severity: Error,
        category: Correctness,
    }
}

const MANAGERS: &[Manager] = &[
    Manager::AptGet,
    Manager::Apt,
    Manager::Apk,
    Manager::Yum,
    Manager::Dnf,
    Manager::Microdnf,
    Manager::Zypper,
];

const ACTIONS: &[Action] = &[Action::Install, Action::Remove, Action::Update, Action::Upgrade];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut last = None;
    for (index, call) in packages::calls(context, MANAGERS, ACTIONS) {
        let user = context.facts.state(index).and_then(|state| state.user.as_deref());
        let Some(user) = user.filter(|user| user.is_constant()) else { continue };
        let name = user.value.as_deref().unwrap_or_default();
        let name = name.split(':').next().unwrap_or_default();
        let has_wrapper =
            packages::words(context, index, call).is_some_and(|words| !words.wrappers.is_empty());
        let is_elsewhere = call.target.is_some() || context.is_trigger(index);
        // One finding says it for the whole RUN.
        if matches!(name, "" | "root" | "0") || has_wrapper || is_elsewhere || last == Some(index) {
            continue;
        }
        last = Some(index);
        let message = format!("only root can do this, but `USER` is {name}; move it before `USER`");
        findings.push(context.finding(call.span, message));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::harness::check;

    const RULE: &str = "probity/install-without-root";

    #[test]
    fn the_first_call_is_underlined() {
        check(
            RULE,
            "\
FROM a
USER app:app
RUN a && (apt-get update) && apt-get install -y b
          ^^^^^^^^^^^^^^ only root can do this, but `USER` is app; move it before `USER`
RUN apk add --no-cache b
    ^^^^^^^^^^^^^^^^^^^^ only root can do this, but `USER` is app; move it before `USER`
USER 0
RUN apk add --no-cache b
",
        );
    }

    #[test]
    fn root_sudo_and_others_are_silent() {
        for text in [
            "RUN apt-get update",
            "USER root\nRUN apt-get update",
            "ARG U\nUSER $U\nRUN apt-get update",
            "USER app\nRUN sudo apt-get update && sudo apt-get install -y b",
            "USER app\nRUN apk --root /tmp/x add b",
            "USER app\nRUN pip install --user b && npm install",
            "USER app\nRUN apt-get clean",
            "USER app\nFROM b\nRUN apt-get update",
        ] {
            check(RULE, &format!("FROM a\n{text}\n"));
        }
    }
}
