//! Signals by name and number, and what programs want to be stopped with.

use probity_dockerfile::{CommandLine, Os, Runtime, RuntimeEntry, Setting, Value};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::{engine::context::Context, text::lines};

/// The signals of Linux, by their numbers from one on.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// The full name of a signal: `SIGTERM` for `term` and for `15`; none for what is no signal.
pub(crate) fn canonical(written: &str) -> Option<String> {
    let bare = written.trim_matches(['"', '\'']);
    if let Ok(number) = bare.parse::<usize>() {
        let name = NAMES.get(number.checked_sub(1)?)?;
        return Some(format!("SIG{name}"));
    }
    let upper = bare.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    let offset = name.strip_prefix("RTMIN+").or_else(|| name.strip_prefix("RTMAX-"));
    let is_real_time = offset
        .is_some_and(|offset| offset.parse::<u8>().is_ok_and(|value| value <= 30))
        || matches!(name, "RTMIN" | "RTMAX");
    (NAMES.contains(&name) || is_real_time).then(|| format!("SIG{name}"))
}

/// A kind of program and the signal that it ends well with.
pub(crate) struct Wanted {
    pub(crate) is_program: fn(&str) -> bool,
    /// As it is called in messages.
    pub(crate) what: &'static str,
    pub(crate) signal: &'static str,
    /// Images that set the signal themselves, without tags.
    pub(crate) images: &'static [&'static str],
}

/// Adds a finding, with a fix, for every stage that starts such a program and would stop it otherwise.
pub(crate) fn flag(context: &Context<'_>, wanted: &Wanted, findings: &mut Vec<Finding>) {
    let signal = wanted.signal;
    // Few files start such a program, and what a stage inherits costs more to know.
    let configs =
        context.facts.stages().iter().filter_map(|stage| context.facts.config(stage.index));
    let mut commands =
        configs.flat_map(|own| own.get(Setting::Entrypoint).iter().chain(own.get(Setting::Cmd)));
    if !commands.any(|entry| starts(entry, wanted.is_program)) {
        return;
    }
    for stage in context.facts.stages().iter().filter(|stage| stage.os == Os::Linux) {
        let Some(own) = context.facts.config(stage.index) else { continue };
        let runtime = context.facts.runtime(stage.index);
        let Some(start) = start(&runtime, wanted.is_program) else { continue };
        let stop = own.get(Setting::Stopsignal).first();
        // A stage that changes neither has been told where they are set.
        let is_own = stage.instructions.contains(&start.instruction) || stop.is_some();
        if !is_own {
            continue;
        }
        let message = |said: &str| format!("{} ends well with {signal}; {said}", wanted.what);
        match stop.or(runtime.get(Setting::Stopsignal).first()) {
            Some(stop) => {
                let Value::Text(text) = &stop.entry.value else { continue };
                let Some(value) = text.constant_value() else { continue };
                if canonical(value).as_deref() != Some(signal) {
                    let fix = Fix::suggestion(
                        format!("use {signal}"),
                        vec![Edit::replace(stop.span, signal)],
                    );
                    let finding = context.finding(stop.span, message("this is another signal"));
                    findings.push(finding.with_fix(fix));
                }
            }
            None if sets_itself(context, start, wanted.images) => {}
            None => {
                let finding = context.finding(start.span, message("STOPSIGNAL is missing"));
                let fix = insertion(context, start, signal);
                findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            }
        }
    }
}

/// What starts such a program: the entrypoint, or the command where there is none.
fn start(runtime: &Runtime, is_program: fn(&str) -> bool) -> Option<&RuntimeEntry> {
    let entrypoint = runtime.get(Setting::Entrypoint).first();
    let entry = entrypoint.or(runtime.get(Setting::Cmd).first())?;
    starts(entry, is_program).then_some(entry)
}

fn starts(entry: &RuntimeEntry, is_program: fn(&str) -> bool) -> bool {
    let Value::Command(CommandLine::Exec(words)) = &entry.entry.value else { return false };
    words.first().is_some_and(|first| is_program(first))
}

fn sets_itself(context: &Context<'_>, start: &RuntimeEntry, images: &[&str]) -> bool {
    let image = crate::facts::base_image::root_image(context, start.instruction);
    image.is_some_and(|image| images.contains(&image.familiar_name().as_str()))
}

fn insertion(context: &Context<'_>, start: &RuntimeEntry, signal: &str) -> Option<Fix> {
    let at = context.file.instructions.get(start.instruction)?.span.start;
    let line = lines::whole_lines(context.file.text, Span::at(at));
    let indentation = Span::new(line.start, at).slice(context.file.text)?;
    let text = format!("STOPSIGNAL {signal}{}{indentation}", lines::line_end(context.file.text));
    indentation
        .trim()
        .is_empty()
        .then(|| Fix::suggestion(format!("add STOPSIGNAL {signal}"), vec![Edit::insert(at, text)]))
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn every_spelling_has_one_name() {
        for (written, name) in [
            ("15", "SIGTERM"),
            ("term", "SIGTERM"),
            ("SigTerm", "SIGTERM"),
            ("\"SIGINT\"", "SIGINT"),
            ("rtmin+3", "SIGRTMIN+3"),
            ("31", "SIGSYS"),
        ] {
            assert_eq!(canonical(written).as_deref(), Some(name), "{written}");
        }
        for written in ["0", "32", "37", "", "$X", "TERMINATE", "RTMIN+x", "-1"] {
            assert_eq!(canonical(written), None, "{written}");
        }
    }
}
