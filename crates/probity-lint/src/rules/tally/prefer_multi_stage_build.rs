//! Build tools that stay in the image.

mod signals;
#[cfg(test)]
mod tests;

use probity_dockerfile::Setting;
use probity_finding::{Finding, Fix, Objective};

use self::signals::Scored;
use crate::{
    engine::{
        context::Context,
        rule::{OptionKind, OptionSpec},
    },
    facts::startup::Startup,
};

rule! {
    /// # What it does
    ///
    /// Flags a Dockerfile with only one stage that also builds software.
    ///
    /// Such a stage installs compilers, compiles a program, or downloads and unpacks sources.
    ///
    /// Each sign has a score. The rule reports a finding if the sum of the scores reaches
    /// `min-score`. By default, one sign with a score of 4 is enough. An image that installs only
    /// run-time packages has no sign.
    ///
    /// The rule ignores a `RUN` that removes packages after building, because it leaves no tools in
    /// the image. The rule also ignores base images, which start nothing or only a shell or an
    /// interpreter.
    ///
    /// | sign | score |
    /// |---|---|
    /// | `go build`, `cargo build`, `mvn package`, `dotnet publish` and similar | 4 |
    /// | `npm run build`, `make`, `cmake`, `ninja` and similar | 4 |
    /// | `composer install`, `bundle install` | 4 |
    /// | a download that the script unpacks or runs | 4 |
    /// | build packages: `gcc`, `build-essential`, `cmake`, `-dev` or `-devel` packages | 4 to 6 |
    /// | `pip install`, `npm ci` or similar, if the file installs a compiler | 2 |
    /// | packages that programs also use at run time: `binutils`, `patch` | 2 |
    /// | `git` | 1 |
    ///
    /// The first build package of a command counts 4, and each further one counts 1, up to a total
    /// of 6.
    ///
    /// # Why it is bad
    ///
    /// The image also contains the tools that built the program. They take space, increase the pull
    /// time, and bring every vulnerability of the compiler packages. A second stage that copies
    /// only the result avoids all of this.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM golang:1.22
    /// WORKDIR /src
    /// COPY . .
    /// RUN go build -o /usr/local/bin/app ./cmd/app
    /// CMD ["app"]
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM golang:1.22 AS build
    /// WORKDIR /src
    /// COPY . .
    /// RUN go build -o /app ./cmd/app
    /// FROM debian:12-slim
    /// COPY --from=build /app /usr/local/bin/app
    /// CMD ["app"]
    /// ```
    ///
    /// This image starts nothing, so it is a base image:
    ///
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get update && apt-get install -y gcc=12.2 make=4.3 git=2.39
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe. No rule can know what the program needs at run time, so an agent must propose the
    /// stages. probity applies the proposal only if it passes every check.
    PreferMultiStageBuild {
        name: "tally/prefer-multi-stage-build",
        severity: Info,
        category: Performance,
        fixes: Unsafe,
        by_agent: true,
        options: &[
            OptionSpec {
                name: "min-score",
                kind: OptionKind::Integer,
                default: "4",
                about: "Minimum score that the rule flags.",
            },
            OptionSpec::max_churn("0"),
        ],
    }
}

const MESSAGE: &str = "This Dockerfile appears to build artifacts in a single stage; consider a \
                       multi-stage build to reduce final image size.";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let [stage] = context.facts.stages() else { return };
    let startup = Startup::of(context, stage);
    // A port without a command of its own: the base image starts the server, as those of PHP do.
    let is_server = startup.entry().is_none()
        && !startup.has_triggers()
        && !startup.runtime().get(Setting::Expose).is_empty();
    if startup.is_base_image() && !is_server {
        return;
    }
    let found = signals::find(context);
    let score: u32 = found.iter().map(|scored| scored.score).sum();
    let least = u32::try_from(context.integer("min-score")).unwrap_or_default();
    // The place to look at is what builds, then what weighs most; the first of equals.
    let strongest = found.iter().rev().max_by_key(|scored| (scored.is_build(), scored.score));
    if score < least {
        return;
    }
    let Some(strongest) = strongest else { return };
    let mut finding = context.finding(strongest.signal.span, MESSAGE).with_detail(detail(&found));
    for other in found.iter().filter(|other| other.signal.span != strongest.signal.span) {
        finding = finding.with_related(other.signal.span, other.signal.kind.replace('_', " "));
    }
    let objective = Objective {
        kind: "multi-stage",
        score,
        signals: found.into_iter().map(|scored| scored.signal).collect(),
        max_churn: context.max_churn(),
    };
    let title = "AI AutoFix: convert to multi-stage build";
    findings.push(finding.with_fix(Fix::by_agent(title, 150, objective)));
}

/// The signs that weigh most, and what a second stage would give.
fn detail(found: &[Scored]) -> String {
    let mut signs: Vec<&Scored> = found.iter().collect();
    signs.sort_by_key(|scored| std::cmp::Reverse(scored.score));
    let top: Vec<&str> = signs.iter().take(3).map(|sign| sign.signal.evidence.as_str()).collect();
    format!(
        "Signs: {}. A final stage that only copies what was built would leave the tools out.",
        top.join("; ")
    )
}
