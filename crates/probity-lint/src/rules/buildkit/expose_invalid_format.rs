//! Ports of the container, not of the host.

use probity_dockerfile::{Arguments, Expander, Keyword};
use probity_finding::{Edit, Finding, Fix, Span};

use crate::engine::context::Context;

rule! {
    /// # What it does
    ///
    /// Flags an `EXPOSE` port with a host IP address or a host port before it.
    ///
    /// The rule does not expand variables. It treats a variable before a colon as a host port. It
    /// ignores instructions after `ONBUILD`.
    ///
    /// # Why it is bad
    ///
    /// An image cannot choose where its ports appear on a host; `docker run -p` does that. BuildKit
    /// silently drops the host IP address and the host port.
    ///
    /// # Examples
    ///
    /// ```dockerfile,bad
    /// FROM alpine:3.20
    /// EXPOSE 127.0.0.1:8080:80
    /// ```
    ///
    /// ```dockerfile,fixed
    /// FROM alpine:3.20
    /// EXPOSE 80
    /// ```
    ///
    /// ```dockerfile,good
    /// FROM alpine:3.20
    /// EXPOSE 80
    /// ```
    ///
    /// # Fix safety
    ///
    /// Safe: the fix removes the part that BuildKit drops. probity offers no fix if the port
    /// contains:
    ///
    /// - a variable, because only the build knows its value;
    /// - a backslash, a backtick or a newline.
    ExposeInvalidFormat {
        name: "buildkit/ExposeInvalidFormat",
        severity: Warning,
        category: Correctness,
        fixes: Safe,
        url: "https://docs.docker.com/go/dockerfile/rule/expose-invalid-format/",
    }
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let unquoted = Expander::new(context.file.escape, &|_| None).keep_unset();
    // The colon of `${PORT:-80}` is none of the port, so that a number stands in for each variable.
    let filled = Expander::new(context.file.escape, &|_| Some("1"));
    for (_, expose) in context.each(Keyword::Expose) {
        let Arguments::Words { words, .. } = &expose.arguments else { continue };
        for word in words {
            let (Ok(written), Ok(filled)) =
                (unquoted.expand(&word.text), filled.expand(&word.text))
            else {
                continue;
            };
            if has_host_part(&filled.text) {
                let message = format!(
                    "EXPOSE instruction should not define an IP address or host-port mapping, found \
                     '{}'",
                    written.text
                );
                let finding = context.finding(word.span, message).with_detail(
                    "Only the port of the container is used; the rest belongs to docker run -p.",
                );
                let fix = fix(word.span, context.file.text);
                findings.push(fix.into_iter().fold(finding, Finding::with_fix));
            }
        }
    }
}

/// Removes everything up to the last colon, but for a quote before it.
fn fix(span: Span, text: &str) -> Option<Fix> {
    let written = span.slice(text)?;
    let quotes = written.len() - written.trim_start_matches(['"', '\'']).len();
    let colon = written.rfind(':')?;
    let is_plain = !written.contains(['$', '\n', '\\', '`']);
    let dropped = Span::new(span.start + quotes, span.start + colon + 1);
    let title = "Name the port of the container alone";
    is_plain.then(|| Fix::safe(title, vec![Edit::delete(dropped)]))
}

/// Whether an address or a port stands before the container's port. Empty ones do not count.
fn has_host_part(port: &str) -> bool {
    let Some((host, container)) = port.rsplit_once(':') else { return false };
    let (number, protocol) = container.split_once('/').unwrap_or((container, ""));
    let known = ["", "tcp", "udp", "sctp"].iter().any(|known| protocol.eq_ignore_ascii_case(known));
    let (address, host_port) = host.rsplit_once(':').unwrap_or(("", host));
    // Without a port, or with an unknown protocol, there is a syntax error instead.
    !number.is_empty() && known && !(address.is_empty() && host_port.is_empty())
}

#[cfg(test)]
mod tests {
    use super::has_host_part;
    use crate::engine::harness::{check, fixed};

    const RULE: &str = "buildkit/ExposeInvalidFormat";

    #[test]
    fn the_port_is_underlined() {
        check(
            RULE,
            r#"
FROM a
EXPOSE 80 8080:80 \
          ^^^^^^^ EXPOSE instruction should not define an IP address or host-port mapping, found '8080:80'
  127.0.0.1:80:80
  ^^^^^^^^^^^^^^^ EXPOSE instruction should not define an IP address or host-port mapping, found '127.0.0.1:80:80'
expose "81:80" $HOST:80
       ^^^^^^^ EXPOSE instruction should not define an IP address or host-port mapping, found '81:80'
               ^^^^^^^^ EXPOSE instruction should not define an IP address or host-port mapping, found '$HOST:80'
"#,
        );
    }

    #[test]
    fn plain_ports_triggers_and_defaults_are_silent() {
        check(RULE, "FROM a\nEXPOSE 80 90/tcp 100-200 ${PORT:-80} ${PORT:+9}/udp\n");
        check(RULE, "FROM a\nONBUILD EXPOSE 8080:80\nRUN EXPOSE 8080:80\n");
    }

    #[test]
    fn what_is_dropped_is_removed() {
        fixed(
            RULE,
            "FROM a\nEXPOSE 8080:80 \"[::1]:80:81/UDP\" \\\n  1-2:3-4 $HOST:80\n",
            "FROM a\nEXPOSE 80 \"81/UDP\" \\\n  3-4 $HOST:80\n",
        );
    }

    #[test]
    fn the_parts_are_told_apart() {
        for port in ["1:2", "1.2.3.4::80", "[::1]:80:80", "1-2:3-4/UDP", "1:2/"] {
            assert!(has_host_part(port), "{port}");
        }
        for port in ["", "80", ":80", "::80", "1:", "1:/tcp", "1:2/http"] {
            assert!(!has_host_part(port), "{port}");
        }
    }
}
