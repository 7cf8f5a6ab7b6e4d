//! ONBUILD: an instruction for later, which BuildKit hardly looks at now.

use super::{LinePlace, Request, checked_flag, instruction};
use crate::{Arguments, ErrorKind, Keyword, error::Report, tree::Extras};

pub(super) fn parse(request: &Request<'_>, report: &mut Report<'_>) -> Arguments {
    checked_flag::check(request, report);
    if request.rest.is_empty() {
        request.needs_an_argument(report);
        return Arguments::Onbuild(None);
    }
    let mut errors = Vec::new();
    let mut later = Report { errors: &mut errors, line: report.line };
    let line = request.line.part(request.rest.clone());
    let mut nested = instruction(line, LinePlace::Trigger, request.escape, &mut later);
    // Whatever else is wrong comes out when the trigger fires, in another build.
    let (now, later): (Vec<_>, Vec<_>) =
        errors.into_iter().partition(|error| error.code.is_of_shape());
    report.errors.extend(now);
    match nested.keyword {
        Keyword::Onbuild => report.error(
            ErrorKind::InvalidOnbuild,
            nested.keyword_span(),
            "chaining ONBUILD via ONBUILD ONBUILD is not allowed",
        ),
        Keyword::From | Keyword::Maintainer => report.error(
            ErrorKind::InvalidOnbuild,
            nested.keyword_span(),
            format!("{} is not allowed as an ONBUILD trigger", nested.keyword),
        ),
        _ => {
            nested.extras =
                Extras { trigger_errors: later.into(), ..Extras::default() }.unless_empty()
        }
    }
    Arguments::Onbuild(Some(Box::new(nested)))
}

impl ErrorKind {
    /// Whether the shape of the line is broken, before anyone asks what the instruction means.
    fn is_of_shape(self) -> bool {
        matches!(self, Self::NonStringJson | Self::MissingValue | Self::MissingEquals)
    }
}
