//! The options of one comparison in a test.

use std::{path::Path, time::Duration};

use probity_image::{BuildOptions, Level, Options, StartOptions, Variant};

/// Two minutes for a build and one second for a start, with nothing pulled and no network.
pub(crate) fn options(context: &Path, level: Level) -> Options {
    Options {
        level,
        build: BuildOptions {
            context: context.to_owned(),
            ignore_file: None,
            variant: Variant::default(),
            network: false,
            pull: false,
            timeout: Duration::from_secs(120),
            memory: 4 << 30,
        },
        start: StartOptions { watched: Duration::from_secs(1), command: Vec::new() },
        disk_limit: 1 << 30,
    }
}
