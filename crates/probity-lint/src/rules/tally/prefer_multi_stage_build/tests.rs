//! Images that build, and images that merely install.

use crate::{
    OptionValue,
    engine::harness::{run, run_with},
};

const RULE: &str = "tally/prefer-multi-stage-build";

/// The score and the kinds of signals, or nothing where the rule is silent.
fn verdict(run_lines: &str) -> Option<(u32, Vec<&'static str>)> {
    let text = format!("FROM debian:12\n{run_lines}\nCMD [\"app\"]\n");
    let found = run_with(RULE, &text, |_| {});
    let fix = found.first()?.fixes.first()?;
    let objective = fix.objective.as_ref()?;
    assert_eq!((fix.priority, fix.edits.len()), (150, 0));
    for signal in &objective.signals {
        assert!(signal.span.slice(&text).is_some());
    }
    Some((objective.score, objective.signals.iter().map(|signal| signal.kind).collect()))
}

#[test]
fn what_builds_is_found_with_its_score() {
    for (text, score, kinds) in [
        ("RUN go build -o /app .", 4, &["build_step"][..]),
        ("RUN cd x && (cargo +nightly build --release)", 4, &["build_step"]),
        ("RUN ./mvnw -B clean package -DskipTests", 4, &["build_step"]),
        ("RUN ./gradlew :app:bootJar", 4, &["build_step"]),
        ("RUN dotnet publish -c Release", 4, &["build_step"]),
        ("RUN gcc -o app main.c", 4, &["build_step"]),
        ("RUN make", 4, &["build_step"]),
        ("RUN cmake --build . && ninja install", 8, &["build_step", "build_step"]),
        ("RUN composer install --no-dev", 4, &["build_step"]),
        ("RUN php composer.phar install", 4, &["build_step"]),
        ("RUN bundle install", 4, &["build_step"]),
        ("RUN npx tsc -p .", 4, &["build_step"]),
        ("RUN npx ng build --configuration production", 4, &["build_step"]),
        ("RUN yarn workspace web run build", 4, &["build_step"]),
        ("RUN pnpm exec vite build", 4, &["build_step"]),
        ("RUN ./gradlew distTar", 4, &["build_step"]),
        ("RUN curl https://x | bash", 4, &["download_install"]),
        ("RUN apt-get install -y libpq-dev", 4, &["package_install"]),
        ("RUN dnf install -y openssl-devel", 4, &["package_install"]),
        ("RUN apk add --no-cache gcc musl-dev", 5, &["package_install"]),
        (
            "RUN apk add gcc && pip install -r requirements.txt",
            6,
            &["package_install", "build_step"],
        ),
        ("RUN apt-get install -y g++ make && npm ci", 7, &["package_install", "build_step"]),
        (
            "RUN apk add gcc make git && ./configure && make",
            14,
            &["package_install", "build_step", "build_step"],
        ),
        ("RUN npm ci && npm run build && npm run build:css", 8, &["build_step", "build_step"]),
        (
            "RUN curl -L https://x/y.tar.gz | tar xz && cd y && make",
            8,
            &["download_install", "build_step"],
        ),
        (
            "RUN <<EOF\nwget https://x/y.zip\nunzip y.zip\ncmake .\nEOF",
            8,
            &["download_install", "build_step"],
        ),
    ] {
        assert_eq!(verdict(text), Some((score, kinds.to_vec())), "{text}");
    }
}

#[test]
fn what_merely_installs_or_mentions_is_silent() {
    for text in [
        "RUN apt-get update && apt-get install -y curl ca-certificates",
        "RUN pip install flask==1.0",
        "RUN npm ci --omit=dev",
        "RUN npx prisma generate && npx vite --version && yarn workspace web start",
        "RUN apt-get install -y git patch libpq5 ca-certificates tzdata",
        "RUN bundle exec rake && composer --version && php -r 'echo 1;'",
        "RUN go version && cargo --version && gcc --version && make --version",
        "RUN echo go build && echo 'cargo build'",
        "RUN curl -fsSL https://x/y -o /usr/bin/y",
        "CMD go build && make",
        "RUN yarn start",
        "RUN apk add --virtual .deps gcc make && make && make install && apk del .deps",
        "RUN apt-get install -y gcc make && make && apt-get purge -y --auto-remove gcc make",
    ] {
        assert_eq!(verdict(text), None, "{text}");
    }
}

#[test]
fn base_images_are_silent() {
    let built = "FROM debian:12\nRUN ./configure && make && make install\n";
    assert_eq!(run(RULE, &format!("{built}CMD [\"app\"]\n")).len(), 1);
    let entrypoint = "COPY docker-entrypoint.sh /\nENTRYPOINT [\"/docker-entrypoint.sh\"]\n";
    for end in ["", "CMD [\"python3\"]\n", "CMD bash\n", &format!("{entrypoint}CMD [\"node\"]\n")] {
        assert_eq!(run(RULE, &format!("{built}{end}")), [], "{end}");
    }
    let programs =
        ["CMD [\"python3\", \"app.py\"]\n", "CMD [\"sh\", \"-c\", \"app\"]\n", entrypoint];
    for end in programs {
        assert_eq!(run(RULE, &format!("{built}{end}")).len(), 1, "{end}");
    }
}

#[test]
fn more_than_one_stage_is_somebody_s_work_already() {
    assert_eq!(run(RULE, "FROM a AS b\nRUN go build .\nFROM c\nCOPY --from=b /x /x\n"), []);
}

#[test]
fn the_strongest_sign_is_the_place_and_the_score_can_be_set() {
    let text = "FROM a\nRUN apk add gcc make && go build -o x \\\n  ./y && make\nCMD [\"x\"]\n";
    let found = run(RULE, text);
    let place = found[0].span.unwrap().slice(text).unwrap();
    assert_eq!(place, "go build -o x \\\n  ./y");
    assert!(
        found[0].detail.as_ref().unwrap().contains("go build -o x ./y"),
        "{:?}",
        found[0].detail
    );
    assert_eq!(found[0].related.len(), 2);
    let strict = |rules: &mut crate::RuleSet| {
        rules.set_option(RULE, "min-score", &OptionValue::Integer(14));
    };
    assert_eq!(run_with(RULE, text, strict), []);
}
