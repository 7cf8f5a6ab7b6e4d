//! Makes Dockerfiles out of everything that is hard about them; the same number, the same file.

/// A generator of numbers that are the same everywhere (xorshift).
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[self.below(from.len())]
    }
}

/// `_` is a run of blanks, `|` a continuation or a blank, `~` an escape character, `@` a stage.
const INSTRUCTIONS: &[&str] = &[
    "RUN_echo  \"a  b\"|&& true",
    "RUN_--mount=type=cache,target=/c|apt-get update&&|  apt-get install  -y curl",
    "RUN_--mount=type=bind,from=@,target=/x echo ~$HOME '$x'",
    "RUN_[\"sh\",_\"-c\",|\"echo  1\"]",
    "RUN_<<EOF\n  a  b  \n\n\n# no comment\nFROM x as Y\nEOF",
    "RUN_<<-\"EOF\" cat > /a\n\tone ~\n\n\ttwo\n\tEOF",
    "COPY_<<A_<<B_/etc/_\n1 \n\nA\n 2\nB",
    "COPY_--from=@_--chown=1:1_/a|/b_/c/",
    "COPY_[\"a  b\",_\"c\"]",
    "ADD_a_b_/d/",
    "ENV_A_some  value  here",
    "ENV_B_\"quoted  value\"",
    "ENV_C_it~ is $A and ${B}",
    "ENV_D_'$A'  \"$B\"",
    "ENV_PATH_$PATH:/opt/bin",
    "ENV_E=1|F=\"x  y\"_G='$E'",
    "ENV_H_a=b c=d",
    "LABEL_maintainer_\"A Team <a@b.c>\"",
    "LABEL_a=b|\"c d\"=\"e  f\"_g=h~ i",
    "LABEL_version_1.0",
    "MAINTAINER_A \"B\" $C <a@b.c>",
    "EXPOSE_80_8080:81/TCP|53/Udp_127.0.0.1:9:9",
    "EXPOSE_$PORT/TCP",
    "WORKDIR_app",
    "WORKDIR_/srv/my  app",
    "USER_nobody",
    "VOLUME_/a_/b",
    "STOPSIGNAL_SIGTERM",
    "SHELL_[\"/bin/bash\",_\"-c\"]",
    "HEALTHCHECK_--interval=5s|CMD_curl  -f http://localhost/",
    "HEALTHCHECK_NONE",
    "CMD_nginx -g \"daemon off;\"",
    "CMD_[\"a\",_\"b\"]",
    "CMD_exec  a $B",
    "ENTRYPOINT_/bin/app|--flag",
    "ENTRYPOINT_[\"/bin/app\"]",
    "ONBUILD_RUN  echo  a",
    "ONBUILD_COPY --from=@ /a  /b",
    "ARG_VERSION=1",
    "ARG_TARGET",
    "RUN_sudo apt-get update|&& apt-get install curl | tee /log",
    "RUN_yum install  httpd|&& cd /x;|make",
    "RUN_single",
    "RUN_apt-get update",
    "RUN_apt-get install -y git",
    "RUN_npm ci",
    "RUN_pip install|flask",
    "RUN_other  command|--flag",
    "RUN_cd /src && make|&& make install",
    "RUN_ln -sf /bin/bash /bin/sh",
];

const COMMENTS: &[&str] =
    &["# a  comment", "#", "# hadolint ignore=DL3000", "# syntax=later", "  # indented ", "#é\t"];

/// The Dockerfile with this number.
pub(super) fn dockerfile(number: u64) -> String {
    let mut numbers = Numbers::new(number + 1);
    let escape = if numbers.one_in(5) { '`' } else { '\\' };
    let mut text = String::new();
    if numbers.one_in(4) {
        text.push_str("# syntax=docker/dockerfile:1 \n");
    }
    if escape == '`' {
        text.push_str("# escape=`\n");
    }
    gap(&mut numbers, &mut text);
    if numbers.one_in(3) {
        text.push_str("ARG  BASE=debian\n");
    }
    let stages = ["Build", "test", "Final-1"];
    let count = 1 + numbers.below(3);
    for (stage, name) in stages.into_iter().enumerate().take(count) {
        gap(&mut numbers, &mut text);
        let base = match (stage, numbers.below(4)) {
            (1.., 0) => numbers.pick(&["build", "Build", "BUILD"]),
            (_, 1) => "${BASE:-alpine}",
            _ => "alpine:3.20",
        };
        let platform = numbers.pick(&["", "", "--platform=$TARGETPLATFORM_"]);
        let line = format!("FROM_{platform}{base}_{}_{}", numbers.pick(&["AS", "as"]), name);
        instruction(&mut numbers, &mut text, &line, escape);
        for _ in 0..numbers.below(7) {
            gap(&mut numbers, &mut text);
            let line = numbers.pick(INSTRUCTIONS);
            instruction(&mut numbers, &mut text, line, escape);
        }
    }
    gap(&mut numbers, &mut text);
    if numbers.one_in(12) {
        text.push_str("COPPY a b\nENV\n");
    }
    if numbers.one_in(3) {
        text.truncate(text.trim_end_matches('\n').len());
    }
    if numbers.one_in(4) {
        text = text.replace('\n', "\r\n");
    }
    if numbers.one_in(10) { format!("\u{feff}{text}") } else { text }
}

/// Blank lines and comments.
fn gap(numbers: &mut Numbers, text: &mut String) {
    for _ in 0..numbers.below(4) {
        match numbers.below(3) {
            0 => text.push_str(numbers.pick(COMMENTS)),
            1 => text.push_str(numbers.pick(&["", "  ", "\t"])),
            _ => continue,
        }
        text.push('\n');
    }
}

fn instruction(numbers: &mut Numbers, text: &mut String, pattern: &str, escape: char) {
    let keyword = pattern.find('_').unwrap();
    let (keyword, rest) = pattern.split_at(keyword);
    match numbers.below(5) {
        0 => text.push_str(&keyword.to_lowercase()),
        1 => text.push_str(&format!("  {keyword}")),
        _ => text.push_str(keyword),
    }
    // What follows the first line of a heredoc is content.
    let (first, body) = rest.split_once('\n').map_or((rest, None), |(a, b)| (a, Some(b)));
    for c in first.chars() {
        match c {
            '_' => text.push_str(numbers.pick(&[" ", " ", "  ", "\t", "   "])),
            '@' => text.push_str(numbers.pick(&["build", "Build", "0", "alpine"])),
            '~' => text.push(escape),
            '|' if body.is_none() => continuation(numbers, text, escape),
            '|' => text.push(' '),
            c => text.push(c),
        }
    }
    text.push_str(numbers.pick(&["", "", "", " ", "\t "]));
    if let Some(body) = body {
        text.push('\n');
        text.push_str(&body.replace('~', &escape.to_string()));
    }
    text.push('\n');
}

fn continuation(numbers: &mut Numbers, text: &mut String, escape: char) {
    text.push_str(numbers.pick(&[" ", "   "]));
    if numbers.one_in(2) {
        return;
    }
    text.push(escape);
    text.push_str(numbers.pick(&["", "", " "]));
    for _ in 0..numbers.below(3) {
        text.push('\n');
        text.push_str(numbers.pick(&["", "    # inside", "  "]));
    }
    text.push_str("\n    ");
}
