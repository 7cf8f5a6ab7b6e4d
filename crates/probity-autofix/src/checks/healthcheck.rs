//! A health check runs a command that is there, against this container, and guesses no endpoint.

use probity_dockerfile::{CommandLine, Healthcheck, Keyword, RuntimeEntry, Setting, Value};

use super::{
    Change, Check, Explained, Issue, View,
    addresses::{Address, asked, is_local},
    base_image::{base, is_bare},
    belongings::final_chain,
    commands,
    endpoints::Endpoints,
    image_kind::ImageKind,
};

pub(crate) const MUST_ADD_HEALTHCHECK_CMD: Check =
    Check::new("patch/must-add-healthcheck-cmd", must_add_healthcheck_cmd);
pub(crate) const ENDPOINT: Check = Check::new("healthcheck-endpoint", endpoint);
pub(crate) const TOOL: Check = Check::new("healthcheck-tool", tool);

/// The HEALTHCHECKs of the final stage.
pub(crate) fn explained(change: &Change<'_>) -> Explained {
    let checks = |view: &View<'_>| {
        let stage =
            view.facts.final_stage().map(|stage| stage.instructions.clone()).unwrap_or_default();
        let is_check = |index: &usize| {
            let instruction = view.file.instructions.get(*index);
            instruction.is_some_and(|instruction| instruction.keyword == Keyword::Healthcheck)
        };
        stage.filter(is_check).collect()
    };
    Explained { before: checks(change.before), after: checks(change.after) }
}

fn must_add_healthcheck_cmd(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    if current(change.after).is_some_and(|(_, check)| check.command.is_some()) {
        return Vec::new();
    }
    let message = "the final stage must have a HEALTHCHECK with CMD, not NONE";
    vec![change.issue(check, message)]
}

fn endpoint(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some((place, text)) = command(change.after) else { return Vec::new() };
    let text = Endpoints::of(change).filled(&text);
    let Some(wrong) = guessed(change, &text) else { return Vec::new() };
    let message = if is_local(wrong.host) {
        format!(
            "nothing in the original shows that there is an endpoint `{}`; ask for `/`, or for a path \
             that a comment or a variable names",
            wrong.path
        )
    } else {
        format!("a health check asks this container, not `{}`", wrong.host)
    };
    vec![change.issue(check, &message).at(change.after, place.span)]
}

/// The first address that is not this container's, or whose path nothing shows.
fn guessed<'t>(change: &Change<'_>, text: &'t str) -> Option<Address<'t>> {
    let endpoints = Endpoints::of(change);
    // What a variable makes of a path is for the check of the command.
    let is_named = |path: &str| path.contains(['$', '#', '{', '+']) || endpoints.has_path(path);
    // `/dev/tcp/localhost/8080` is a port, not a path.
    let asked = if text.contains("/dev/tcp/") { Vec::new() } else { asked(text) };
    asked.into_iter().find(|address| !is_local(address.host) || !is_named(address.path))
}

/// Whether a path is guessed, which one check alone is to report.
pub(super) fn guesses_path(change: &Change<'_>) -> bool {
    let Some((_, text)) = command(change.after) else { return false };
    guessed(change, &text).is_some_and(|address| is_local(address.host))
}

/// Small images lack the usual probes, so something in the file has to show that one is there.
fn tool(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some((place, text)) = command(change.after) else { return Vec::new() };
    let image = base(change.after).unwrap_or_default();
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let missing = ["curl", "wget", "nc"].into_iter().find(|tool| {
        words.contains(tool) && lacks(&image, tool) && !probe_tools(change.after).contains(tool)
    });
    let Some(missing) = missing else { return Vec::new() };
    let message = format!("nothing shows that `{image}` has {missing}");
    vec![change.issue(check, &message).at(change.after, place.span)]
}

/// Whether an image is known to come without a tool.
fn lacks(image: &str, tool: &str) -> bool {
    const SYSTEMS: &[&str] = &[
        "amazoncorretto",
        "debian",
        "eclipse-temurin",
        "httpd",
        "mariadb",
        "mysql",
        "postgres",
        "redis",
        "ubuntu",
    ];
    let Some(kind) = ImageKind::of(image) else { return false };
    if is_bare(image) {
        return true;
    }
    if kind.is_musl() || kind.name == "busybox" {
        let has_curl =
            matches!(kind.name.as_str(), "php" | "nginx") && !kind.tag.ends_with("alpine-slim");
        return tool == "curl" && !has_curl;
    }
    match kind.name.as_str() {
        "php" | "nginx" => tool != "curl",
        _ if tool == "nc" => kind.is_plain() || kind.language.is_some(),
        _ => {
            kind.tag.contains("slim")
                || kind.language == Some("dotnet")
                || SYSTEMS.contains(&kind.name.as_str())
        }
    }
}

/// Tools that a probe could use and that the final stage installs or calls.
pub(crate) fn probe_tools(view: &View<'_>) -> Vec<&'static str> {
    let chain = final_chain(view);
    let packages: Vec<String> = chain
        .iter()
        .flat_map(|index| view.facts.package_calls(&view.file, *index))
        .flat_map(commands::names)
        .collect();
    let called: Vec<&String> =
        chain.iter().flat_map(|index| view.called(*index)).map(|called| &called.name).collect();
    ["curl", "wget", "pg_isready", "redis-cli", "mysqladmin", "nc"]
        .into_iter()
        .filter(|tool| {
            let is_package = packages
                .iter()
                .any(|package| package == tool || (*tool == "nc" && package.starts_with("netcat")));
            is_package || called.iter().any(|name| name == tool)
        })
        .collect()
}

/// Ports that the final stage exposes.
pub(crate) fn ports(view: &View<'_>) -> Vec<String> {
    let runtime = view.facts.final_runtime();
    runtime.get(Setting::Expose).iter().map(|entry| entry.entry.key.clone()).collect()
}

/// Servers whose names stand in the base image, the commands or the packages.
pub(crate) fn server_hints(view: &View<'_>) -> Vec<&'static str> {
    const SERVERS: &[&str] = &[
        "nginx", "httpd", "apache2", "caddy", "node", "express", "uvicorn", "gunicorn", "flask",
        "django", "aspnet", "dotnet", "tomcat", "java", "php-fpm", "puma", "rails", "postgres",
        "redis", "mysql",
    ];
    let runtime = view.facts.final_runtime();
    let commands = [Setting::Cmd, Setting::Entrypoint]
        .into_iter()
        .flat_map(|setting| runtime.get(setting))
        .map(|entry| entry.entry.to_string());
    let runs =
        view.file.instructions.iter().filter(|instruction| instruction.keyword == Keyword::Run);
    let runs = runs.map(|run| run.body_text().to_owned());
    let text: Vec<String> = commands.chain(base(view)).chain(runs).collect();
    let text = text.join(" ").to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
    SERVERS.iter().copied().filter(|server| words.contains(server)).collect()
}

fn current(view: &View<'_>) -> Option<(RuntimeEntry, Healthcheck)> {
    let runtime = view.facts.final_runtime();
    let entry = runtime.get(Setting::Healthcheck).first()?.clone();
    match &entry.entry.value {
        Value::Healthcheck(check) => Some((entry.clone(), check.clone())),
        _ => None,
    }
}

pub(super) fn command(view: &View<'_>) -> Option<(RuntimeEntry, String)> {
    let (entry, check) = current(view)?;
    let text = match check.command? {
        CommandLine::Exec(words) => words.join(" "),
        CommandLine::Shell { text, .. } => text.to_string(),
    };
    Some((entry, text))
}
