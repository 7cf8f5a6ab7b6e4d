//! How fast secrets are found: `cargo run --release -p probity-secrets --example search`.
#![expect(clippy::print_stdout, reason = "it prints a table")]

use std::time::Instant;

use probity_secrets::{Detector, DetectorError, Options};

/// Lines of the kind that Dockerfiles and configurations are made of, one of them with a token that
/// is put together here.
fn text(bytes: usize) -> String {
    let token = ["ghp_", "q7Zr2LmX9tPw4KcVb3Nd8YhJ5sFg6TuQe1Ab"].concat();
    let lines = [
        "RUN apt-get update && apt-get install -y --no-install-recommends curl ca-certificates",
        "ENV PATH=/usr/local/bin:$PATH LANG=C.UTF-8 APP_HOME=/srv/app",
        "COPY --from=build --chown=app:app /src/dist /srv/app/dist",
        "ADD --checksum=sha256:0123456789abcdef https://example.com/tool.tar.gz /tmp/",
        "# the key of the service is mounted at run time; see the guide",
        "LABEL org.opencontainers.image.source=\"https://example.com/team/app\"",
    ];
    let mut text = format!("ENV TOKEN={token}\n");
    for line in lines.iter().cycle() {
        text.push_str(line);
        text.push('\n');
        if text.len() >= bytes {
            break;
        }
    }
    text
}

fn main() -> Result<(), DetectorError> {
    let started = Instant::now();
    let detector = Detector::new(&Options::default())?;
    println!("building the detector: {:.2?}", started.elapsed());
    for megabytes in [1, 10] {
        let text = text(megabytes * 1_000_000);
        for run in ["cold", "warm"] {
            let started = Instant::now();
            let found = detector.find(&text).len();
            println!("{megabytes} MB, {run}: {:.2?}, {found} found", started.elapsed());
        }
    }
    Ok(())
}
