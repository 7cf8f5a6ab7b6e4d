//! Protocols in lower case.

use probity_dockerfile::{Arguments, Expander, Keyword};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `EXPOSE` port whose protocol is not lowercase.
    ///
    /// The rule knows the protocols `tcp`, `udp` and `sctp`. It does not expand variables. It
    /// ignores instructions after `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// The image stores the protocol in lowercase, and every tool prints it that way. A search for
    /// `80/tcp` does not find `80/TCP`.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// EXPOSE 53/UDP
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// EXPOSE 53/udp
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// EXPOSE 53/udp
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe: the fix writes the protocol in lowercase, as the image stores it anyway. If the port
    /// contains a variable, the fix is a suggestion, because only the build knows the variable's
    /// value.
    ///
    /// probity offers no fix if the protocol contains a variable or the port contains a newline.
    ExposeProtoCasing {
        name: "buildkit/ExposeProtoCasing",
        severity: Warning,
        category: Style,
        fixes: Safe,
        url: "https://docs.docker.com/go/dockerfile/rule/expose-proto-casing/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let expander = Expander::new(context.file.escape, &|_| None).keep_unset();
    for (_, expose) in context.each(Keyword::Expose) {
        let Arguments::Words { words, .. } = &expose.arguments else { continue };
        for word in words {
            let Ok(port) = expander.expand(&word.text) else { continue };
            if has_proto_in_other_case(&port.text) {
                let message = format!(
                    "Defined protocol '{}' in EXPOSE instruction should be lowercase",
                    port.text
                );
                let finding = context.finding(word.span, message);
                let fix = fix(word.span, context.file.text);
                findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            }
        }
    }
}

/// Lowers what stands behind the last slash, quotes or not.
fn fix(span: Span, text: &str) -> Option<Fix> {
    let written = span.slice(text)?;
    let slash = written.rfind('/')?;
    let protocol = written.get(slash..)?;
    // A word that goes over a line end is left as it is.
    if written.contains('\n') || protocol.contains('$') {
        return None;
    }
    let edit =
        Edit::replace(Span::new(span.start + slash, span.end), protocol.to_ascii_lowercase());
    let title = "Write the protocol in lower case";
    Some(if written.contains('$') {
        Fix::suggestion(title, vec![edit])
    } else {
        Fix::safe(title, vec![edit])
    })
}

/// Whether the text ends with a known protocol that is not in lower case.
fn has_proto_in_other_case(port: &str) -> bool {
    let container = port.rsplit_once(':').map_or(port, |(_, container)| container);
    let Some((number, protocol)) = container.split_once('/') else { return false };
    let lower = protocol.to_ascii_lowercase();
    !number.is_empty() && lower != protocol && ["tcp", "udp", "sctp"].contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::has_proto_in_other_case;
    use crate::engine::harness::check;

    const RULE: &str = "buildkit/ExposeProtoCasing";

    #[test]
    fn the_port_is_underlined() {
        check(
            RULE,
            r#"
FROM a
EXPOSE 80 90/TCP \
          ^^^^^^ Defined protocol '90/TCP' in EXPOSE instruction should be lowercase
  53/Udp
  ^^^^^^ Defined protocol '53/Udp' in EXPOSE instruction should be lowercase
expose "80/SCTP" ${PORT}/TCP
       ^^^^^^^^^ Defined protocol '80/SCTP' in EXPOSE instruction should be lowercase
                 ^^^^^^^^^^^ Defined protocol '${PORT}/TCP' in EXPOSE instruction should be lowercase
"#,
        );
    }

    #[test]
    fn lower_case_triggers_and_variables_are_silent() {
        check(
            RULE,
            "FROM a\nEXPOSE 80 90/tcp 53/udp $PORT/$PROTO\nONBUILD EXPOSE 80/TCP\nRUN EXPOSE 80/TCP\n",
        );
    }

    #[test]
    fn what_is_no_port_is_left_to_the_parser() {
        for port in ["", "/TCP", "80/HTTP", "80/", "80/TCP:90", "TCP"] {
            assert!(!has_proto_in_other_case(port), "{port}");
        }
        assert!(has_proto_in_other_case("1.2.3.4:80:80/TCP"));
    }
}
