//! Each objective: accepted, left alone, refused, and repaired in the second round.

use super::agents::{
    BASE_IMAGE, COMMAND_FAMILY, Case, HEALTHCHECK, MULTI_STAGE, diff, replaced, shown,
};

pub(crate) const GO: &str = "\
# The service.
FROM golang:1.22
WORKDIR /src
COPY . .
RUN go build -o /usr/local/bin/app ./cmd/app
EXPOSE 8080
USER 65532
ENTRYPOINT [\"/usr/local/bin/app\"]
";

pub(crate) const WEB: &str = "\
FROM nginx:1.27
RUN apt-get update && apt-get install -y curl=8.5 && rm -rf /var/lib/apt/lists/*
COPY site /usr/share/nginx/html
EXPOSE 80
CMD [\"nginx\", \"-g\", \"daemon off;\"]
";

pub(crate) const TWO_TOOLS: &str = "\
FROM debian:12-slim
RUN curl -fsSL https://example.com/a -o /a
RUN wget -q https://example.com/b -O /b
CMD [\"/a\"]
";

pub(crate) const PYTHON: &str = "\
FROM python:3.12
WORKDIR /app
COPY app.py .
CMD [\"python\", \"app.py\"]
";

/// The two-stage file that a good agent makes of the one-stage one it is shown.
pub(crate) fn two_stages(file: &str) -> String {
    let (build, run) = file.split_once("EXPOSE").unwrap();
    let build = build.replacen("golang:1.22\n", "golang:1.22 AS build\n", 1);
    format!(
        "{build}\nFROM debian:12-slim\nWORKDIR /src\n\
         COPY --from=build /usr/local/bin/app /usr/local/bin/app\nEXPOSE{run}"
    )
}

/// An objective with a good edit, and a bad one that a check refuses.
struct Sample {
    rule: &'static str,
    text: &'static str,
    good: fn(&str) -> String,
    bad: fn(&str) -> String,
    refused_by: &'static str,
    /// From the bad text to a good one.
    repair: fn(&str) -> String,
}

const SAMPLES: &[Sample] = &[
    Sample {
        rule: MULTI_STAGE,
        text: GO,
        good: two_stages,
        bad: |file| two_stages(file).replace("ENTRYPOINT [\"/usr/local/bin/app\"]\n", ""),
        refused_by: "runtime-invariants",
        repair: |file| format!("{file}ENTRYPOINT [\"/usr/local/bin/app\"]\n"),
    },
    Sample {
        rule: HEALTHCHECK,
        text: WEB,
        good: |file| file.replace("CMD [", "HEALTHCHECK CMD curl -f http://localhost:80/\nCMD ["),
        bad: |file| file.replace("CMD [", "HEALTHCHECK CMD curl -f http://localhost:80/up\nCMD ["),
        refused_by: "healthcheck-endpoint",
        repair: |file| file.replace("/up", "/"),
    },
    Sample {
        rule: COMMAND_FAMILY,
        text: TWO_TOOLS,
        good: |file| {
            file.replace("wget -q https://example.com/b -O", "curl -fsSL https://example.com/b -o")
        },
        bad: |file| file.replace("wget -q https://example.com/b -O /b", "curl -fsSLO"),
        refused_by: "only-tool-calls-change",
        repair: |file| file.replace("curl -fsSLO", "curl -fsSL https://example.com/b -o /b"),
    },
    Sample {
        rule: BASE_IMAGE,
        text: PYTHON,
        good: |file| file.replace("python:3.12\n", "python:3.12-slim\n"),
        bad: |file| file.replace("python:3.12\n", "python:3.13-slim\n"),
        refused_by: "base-family",
        repair: |file| file.replace("3.13-slim", "3.12-slim"),
    },
];

#[test]
fn a_good_answer_is_taken_and_nothing_else_changes() {
    for sample in SAMPLES {
        let ran = Case::new(&[sample.rule], sample.text)
            .ask(|_, prompt| diff(prompt, &(sample.good)(&shown(prompt))));
        assert_eq!(ran.outcomes(), ["applied"], "{}: {:?}", sample.rule, ran.refused);
        assert_eq!(ran.text, (sample.good)(sample.text), "{}", sample.rule);
        assert_eq!((ran.resolution.session.rounds, ran.prompts.len()), (1, 1));
        assert_eq!(ran.resolution.session.prompt_bytes, ran.prompts[0].len());
        assert_eq!(ran.resolution.session.denied, ["fs/read_text_file /etc/passwd"]);
    }
}

#[test]
fn a_byte_order_mark_is_not_shown_and_stays() {
    for sample in SAMPLES {
        for end in ["\n", "\r\n"] {
            let marked = |text: &str| format!("\u{feff}{}", text.replace('\n', end));
            let (rules, text) = ([sample.rule], marked(sample.text));
            let ran = Case::new(&rules, &text)
                .ask(|_, prompt| diff(prompt, &(sample.good)(&shown(prompt))));
            assert_eq!(ran.outcomes(), ["applied"], "{}: {:?}", sample.rule, ran.refused);
            assert_eq!(ran.text, marked(&(sample.good)(sample.text)), "{}", sample.rule);
            assert!(!ran.prompts[0].contains('\u{feff}'), "{}", sample.rule);
        }
    }
}

#[test]
fn an_agent_that_is_not_sure_changes_nothing_and_has_not_failed() {
    for sample in SAMPLES {
        let ran = Case::new(&[sample.rule], sample.text).ask(|_, _| " NO_CHANGE\n".to_owned());
        assert_eq!(ran.outcomes(), ["no-change"], "{}", sample.rule);
        assert_eq!((ran.text.as_str(), ran.prompts.len()), (sample.text, 1));
    }
}

#[test]
fn a_bad_answer_that_is_not_repaired_is_refused() {
    for sample in SAMPLES {
        // The second answer is against the proposal, which is shown, and is no better.
        let ran = Case::new(&[sample.rule], sample.text).ask(|round, prompt| match round {
            1 => diff(prompt, &(sample.bad)(&shown(prompt))),
            _ => replaced(prompt, "FROM", "# again\nFROM"),
        });
        let outcome = &ran.outcomes()[0];
        let expected = format!("validation-failed: {}: ", sample.refused_by);
        assert!(outcome.starts_with(&expected), "{}: {outcome}", sample.rule);
        assert_eq!(ran.refused, [[sample.refused_by]; 2], "{}", sample.rule);
        assert_eq!(ran.text, sample.text);
    }
}

#[test]
fn a_bad_answer_is_repaired_in_the_second_round() {
    for sample in SAMPLES {
        let ran = Case::new(&[sample.rule], sample.text).ask(|round, prompt| {
            let edit = if round == 1 { sample.bad } else { sample.repair };
            diff(prompt, &edit(&shown(prompt)))
        });
        assert_eq!(ran.outcomes(), ["applied"], "{}: {:?}", sample.rule, ran.refused);
        assert_eq!(ran.text, (sample.repair)(&(sample.bad)(sample.text)), "{}", sample.rule);
        assert_eq!(ran.resolution.session.rounds, 2);
        // What was wrong is told as JSON, and the proposal is the new base.
        let second = &ran.prompts[1];
        let json = second.split("(JSON):\n").nth(1).unwrap();
        let mut issues = serde_json::Deserializer::from_str(json).into_iter::<serde_json::Value>();
        let issues = issues.next().unwrap().unwrap();
        assert_eq!(issues[0]["rule"], sample.refused_by);
        assert_eq!(issues[0]["file"], "Dockerfile");
        assert_eq!(shown(second), (sample.bad)(sample.text));
    }
}

#[test]
fn an_agent_that_gives_up_in_the_second_round_leaves_the_first_reason() {
    let ran = Case::new(&[MULTI_STAGE], GO).ask(|round, prompt| match round {
        1 => replaced(prompt, "golang:1.22", "golang:1.22 AS build"),
        _ => "NO_CHANGE".to_owned(),
    });
    insta::assert_snapshot!(ran.outcomes()[0], @"validation-failed: stage-count: the file must have more stages than before");
}
