//! Build tools that stay in the image.

mod signals;
#[cfg(test)]
mod tests;

use probity_finding::{Finding, Fix, Objective};

use self::signals::Scored;
use crate::{
    context::Context,
    rule::{OptionKind, OptionSpec},
    startup::Startup,
};

rule! {
    /// # What it does
    ///
    /// Flags a Dockerfile with one stage that builds something in it: compilers are installed, a
    /// program is compiled, sources are downloaded and unpacked.
    ///
    /// Each sign has a score, and the rule speaks when the scores reach `min-score`. By default one
    /// sign of 4 is enough. An image that installs only run-time packages has no sign.
    ///
    /// A `RUN` that removes packages after it has built something does not count: it leaves no tools
    /// behind. The rule leaves base images alone: those that start nothing, or only a shell or an
    /// interpreter.
    ///
    /// | sign | score |
    /// |---|---|
    /// | a build command: `go build`, `cargo build`, `mvn package`, `dotnet publish`, `npm run build`, `make`, `cmake`, `ninja` | 4 |
    /// | `composer install`, `bundle install` | 4 |
    /// | a download that is unpacked or run | 4 |
    /// | build packages: `gcc`, `build-essential`, `cmake`, `-dev` and `-devel` packages | 4, and 1 for each further one, 6 at most |
    /// | `pip install`, `npm ci` and the like beside a compiler that the file installs | 2 |
    /// | packages that are also used at run time: `binutils`, `patch` | 2 |
    /// | `git` | 1 |
    ///
    /// # Why it is bad
    ///
    /// Whatever built the program is in the image too: it costs space, time to pull, and every
    /// vulnerability that a compiler's packages have. A second stage that copies only the result has
    /// none of that.
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
    /// ```dockerfile,good
    /// FROM debian:12
    /// RUN apt-get update && apt-get install -y gcc=12.2 make=4.3 git=2.39
    /// ```
    ///
    /// # Fix safety
    ///
    /// Unsafe: no rule can tell what the program needs at run time, so an agent has to propose the
    /// stages, and its proposal is taken only when every check of it passes.
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
                about: "The score from which on the rule speaks.",
            },
            OptionSpec {
                name: "max-churn",
                kind: OptionKind::Integer,
                default: "0",
                about: "The share of lines that an agent may change, in percent; 0 means any.",
            },
        ],
    }
}

const MESSAGE: &str = "This Dockerfile appears to build artifacts in a single stage; consider a \
                       multi-stage build to reduce final image size.";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let [stage] = context.facts.stages() else { return };
    if Startup::of(context, stage).is_base_image() {
        return;
    }
    let found = signals::find(context);
    let score: u32 = found.iter().map(|scored| scored.score).sum();
    let least = u32::try_from(context.integer("min-score")).unwrap_or_default();
    // The place to look at is what builds, then what weighs most; the first of equals.
    let strongest = found.iter().rev().max_by_key(|scored| (scored.is_build(), scored.score));
    let Some(strongest) = strongest.filter(|_| score >= least) else { return };
    let mut finding = context.finding(strongest.signal.span, MESSAGE).with_detail(detail(&found));
    for other in found.iter().filter(|it| it.signal.span != strongest.signal.span) {
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
    let top: Vec<&str> = signs.iter().take(3).map(|it| it.signal.evidence.as_str()).collect();
    format!(
        "Signs: {}. A final stage that only copies what was built would leave the tools out.",
        top.join("; ")
    )
}
