//! Whatever happens to a text, nothing panics and every span stays where it belongs.

use probity_shell::Dialect;
use proptest::prelude::*;

use crate::outline::{assert_sound, script};

const DIALECTS: [Dialect; 5] =
    [Dialect::Sh, Dialect::Dash, Dialect::Bash, Dialect::Mksh, Dialect::Zsh];

const PIECES: &[&str] = &[
    "'", "\"", "`", "$(", ")", "${", "}", "((", "))", "[[", "]]", "{", "(", "|", "&&", "||", ";",
    ";;", "&", "\n", "\\", "\\\n", " ", "\t", "<<E", "<<-E", "<<<", ">", "2>&1", "&>", "<(", "#",
    "=", "+=", "=(", "*", "?", "~", "!", "$", "$'", "$((", "if ", "then ", "fi", "for ", "in ",
    "do ", "done", "case ", "esac", "f() ", "time ", "export ", "ü", "日", "\u{0}", "\r\n", "E\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_texts_are_sound(
        base in 0..BODIES.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len() + 2), 1..5),
        dialect in 0..DIALECTS.len(),
    ) {
        let mut text = BODIES[base].to_owned();
        for (at, edit) in edits {
            let at = text.floor_char_boundary(at.index(text.len() + 1));
            match PIECES.get(edit) {
                Some(piece) => text.insert_str(at, piece),
                None if edit == PIECES.len() => text.truncate(at),
                None => text.drain(..at).for_each(drop),
            }
        }
        let (script, file) = script(&text, DIALECTS[dialect]);
        assert_sound(&script, &file);
    }
}

#[test]
fn every_body_is_valid_and_every_beginning_of_it_is_sound() {
    for body in BODIES {
        let (whole, _) = script(body, Dialect::Bash);
        assert_eq!(whole.errors(), [], "{body:?}");
        assert!(whole.opaque.is_none() && !whole.commands.is_empty(), "{body:?}");
        for (end, _) in body.char_indices() {
            let (script, file) = script(&body[..end], Dialect::Bash);
            assert_sound(&script, &file);
        }
    }
}

const BODIES: &[&str] = &[
    "apt-get update && apt-get install -y --no-install-recommends curl ca-certificates && rm -rf /var/lib/apt/lists/*",
    "apk add --no-cache git openssh-client",
    "set -eux; apk add --virtual .build gcc; make -j\"$(nproc)\"; apk del .build",
    "curl -fsSL https://example.com/install.sh | bash -s -- --yes",
    "wget -qO- https://example.com/key.asc | gpg --dearmor > /usr/share/keyrings/x.gpg",
    "cd /src && ./configure --prefix=/opt && make && make install",
    "if [ -f package-lock.json ]; then npm ci; else npm install; fi",
    "for d in a b c; do mkdir -p \"/data/$d\"; chown app:app \"/data/$d\"; done",
    "while read -r line; do echo \"$line\"; done < /etc/hosts",
    "until nc -z db 5432; do sleep 1; done",
    "case \"$TARGETARCH\" in amd64) A=x86_64;; arm64|arm) A=aarch64;; *) exit 1;; esac && echo $A",
    "export PATH=\"$PATH:/opt/bin\" VERSION=${VERSION:-1.0} && run",
    "A=b C=\"d e\" cmd --flag=$X",
    "echo \"deb [arch=$(dpkg --print-architecture)] https://x $(. /etc/os-release && echo \"$VERSION_CODENAME\") main\" > /etc/apt/sources.list.d/x.list",
    "echo `uname -r` > /kernel",
    "test -n \"${TOKEN:?token is needed}\" || exit 2",
    "(cd /tmp && tar xzf a.tgz) && rm /tmp/a.tgz",
    "{ echo a; echo b; } >> /etc/profile 2>&1",
    "useradd -m app && echo 'app ALL=(ALL) NOPASSWD:ALL' >> /etc/sudoers",
    "sed -i 's/^#\\(Port\\) 22/\\1 2222/; s|a|b|g' /etc/ssh/sshd_config",
    "awk '{ print $1 \"\\t\" $2 }' /etc/fstab | sort -u | tee /out",
    "find / -name '*.pyc' -exec rm -f {} + || true",
    "find . -type f -print0 | xargs -0 chmod 0644",
    "f() { local x=$1; echo \"$x\"; }; f a; f b",
    "function g { return 1; }; g || :",
    "cat <<EOF > /etc/x.conf\nname = $NAME\npath = $(pwd)\nEOF\nchmod 600 /etc/x.conf",
    "cat <<-'EOF' | sh\n\techo $HOME\n\tEOF",
    "python3 - <<EOF\nprint(1)\nEOF",
    "grep -q x <<< \"$LIST\"",
    "diff <(sort a) <(sort b)",
    "x=(1 2 \"3 4\"); echo \"${x[@]}\" ${#x[@]} ${x[0]}",
    "declare -A m=([a]=1 [b]=2); echo ${m[a]}",
    "for (( i = 0; i < 3; i++ )); do echo $i; done",
    "[[ $A == b* && ! -f /x || $C =~ ^[0-9]+$ ]] && echo ok",
    "(( n = 3 + 4 )); echo $(( n * 2 )) $((${n}+1))",
    "echo ${A%.tar.gz} ${A##*/} ${A/x/y} ${A//x/y} ${A:1:3} ${A^^} ${!A}",
    "echo {a,b,c}{1..3} ~/x ~root *.txt [a-z]? \\* '*'",
    "echo 'single '\"double \\\"q\\\" $X\"$'ansi\\n'plain\\ escaped",
    "! grep -q bad /log",
    "time -p make test 2> /timing",
    "sleep 10 & wait $!",
    "exec \"$@\"",
    "trap 'rm -f \"$t\"' EXIT; t=$(mktemp)",
    "pip install --no-cache-dir -r requirements.txt # why not",
    "# first\necho a\n# last",
    "echo a \\\n  b \\\n  && echo c",
    "a() ( echo sub ); a",
    "if a; then b; elif c; then d; else e; fi > /log 2>&1",
    "select x in a b; do break; done",
    "ln -sf /usr/bin/{python3,python} 2>/dev/null >&2 </dev/null",
    "sudo -u app env HOME=/app npm run build --if-present",
    "printf '%s\\n' \"${A:-$(hostname || echo \"${B:=c}\")}\"",
    "echo \"größe: ${GRÖSSE:-日本}\" | tr ö o",
    "gpg --batch --keyserver hkps://keys.openpgp.org --recv-keys \"$KEY\" || gpg --recv-keys \"$KEY\"",
    "mkdir -p /a/b/c; cd /a; pwd; cd - > /dev/null",
    "read -r A B < <(echo 1 2); echo $A$B",
    "yes | head -n 1 |& cat",
    "eval \"$(ssh-agent -s)\" && ssh-add /key",
    "IFS=, read -ra parts <<< \"a,b\"; unset IFS",
    "set -- a b; while [ $# -gt 0 ]; do shift; done",
];
