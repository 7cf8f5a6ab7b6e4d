//! Compares a proof of level `build` with the two builds alone, in time on the wall and of our own CPU.
//!
//! `image_speed ROUNDS CLIENT IMAGE` asks the docker client CLIENT, whose engine has IMAGE. Every round
//! has a word of its own in its files, and so nothing comes from a cache.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a program that cannot set its stage ends there and then"
)]

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use probity_image::{Engine, EngineKind, Experiment, Level, Recipe, Subject, Workbench};

use trial::options;

#[path = "../tests/it/trial.rs"]
mod trial;

const FILES: usize = 2_000;
const FILE_SIZE: usize = 20_000;
/// Of the kernel's clock for processes.
const TICKS_PER_SECOND: f64 = 100.0;

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let [rounds, client, image] = &words[..] else {
        panic!("usage: image_speed ROUNDS CLIENT IMAGE");
    };
    let rounds: usize = rounds.parse().unwrap();
    let context = context();
    let engine = Engine::with_program(EngineKind::Docker, PathBuf::from(client));
    let (mut builds, mut proofs) = (Vec::new(), Vec::new());
    let mut ticks = 0.0;
    for round in 0..rounds {
        builds.push(timed(|| plain(client, context.path(), &texts(image, &format!("a{round}")))));
        let before = own_ticks();
        proofs.push(timed(|| {
            proof(&engine, context.path(), image, &texts(image, &format!("b{round}")));
        }));
        ticks += own_ticks() - before;
    }
    let (builds, proofs) = (sorted(builds), sorted(proofs));
    let mut out = io::stdout().lock();
    writeln!(out, "milliseconds, {FILES} files of {FILE_SIZE} bytes, {rounds} rounds").unwrap();
    writeln!(out, "{:36}{:>10}{:>10}", "", "least", "median").unwrap();
    for (name, times) in [("two builds", &builds), ("proof of level build", &proofs)] {
        let (least, median) = (times[0], times[times.len() / 2]);
        writeln!(out, "{name:36}{:10.0}{:10.0}", millis(least), millis(median)).unwrap();
    }
    let added = |at: usize| millis(proofs[at]) - millis(builds[at]);
    writeln!(out, "{:36}{:10.0}{:10.0}", "added on the wall", added(0), added(proofs.len() / 2))
        .unwrap();
    let cpu = ticks * 1_000.0 / TICKS_PER_SECOND / rounds as f64;
    writeln!(out, "{:36}{:>10}{cpu:10.0}", "our own CPU, mean", "").unwrap();
}

/// The original, and the same without one of its steps.
fn texts(image: &str, word: &str) -> [String; 2] {
    let original = format!(
        "FROM {image}\nCOPY . /srv\nRUN echo {word} > /first\nRUN echo {word} > /second\n\
         CMD [\"cat\", \"/first\"]\n"
    );
    let proposal = original
        .replace(&format!("RUN echo {word} > /first\nRUN"), &format!("RUN echo {word} > /first;"));
    [original, proposal]
}

fn context() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for number in 0..FILES {
        let path = directory.path().join(format!("{}/{number}.txt", number % 20));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{number} ").repeat(FILE_SIZE).get(..FILE_SIZE).unwrap()).unwrap();
    }
    directory
}

/// What a user would run; the images are removed outside of the measured time of a proof too.
fn plain(client: &str, context: &Path, texts: &[String; 2]) {
    for (number, text) in texts.iter().enumerate() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        let built = Command::new(client)
            .args(["build", "-q", "--network=none", "-t", &format!("bench-plain:{number}"), "-f"])
            .args([file.path(), context])
            .env("DOCKER_BUILDKIT", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(built.unwrap().success());
    }
}

fn proof(engine: &Engine, context: &Path, image: &str, texts: &[String; 2]) {
    let subject = |text: &str| {
        let (images, base) = (vec![image.to_owned()], Some(image.to_owned()));
        Subject::Dockerfile(Recipe { text: text.to_owned(), images, base, ..Recipe::default() })
    };
    let options = options(context, Level::Build);
    let bench = Workbench::new(engine.clone()).unwrap();
    let mut experiment =
        Experiment::prepare(bench, &subject(&texts[0]), options, &|| false).unwrap();
    let verdict = experiment.try_proposal(&subject(&texts[1]), &[], &|| false).unwrap();
    assert!(verdict.level == Level::Build && verdict.is_harmless(), "{verdict}");
    experiment.finish().unwrap();
}

fn timed(work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    begin.elapsed()
}

fn sorted(mut times: Vec<Duration>) -> Vec<Duration> {
    times.sort_unstable();
    times
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// User and system time of this process without those that it started.
fn own_ticks() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    rest.split(' ').skip(11).take(2).map(|word| word.parse::<f64>().unwrap()).sum()
}
