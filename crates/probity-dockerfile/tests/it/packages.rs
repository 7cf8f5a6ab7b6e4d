//! What package managers are asked for, and the text under each package.

use probity_dockerfile::{Action, Facts, Manager, Package, PackageKind, Version, parse};

/// One line for each call: manager, action, packages with versions, files.
fn calls(text: &str) -> Vec<String> {
    let file = parse(text);
    let facts = Facts::of(&file);
    let all = (0..file.instructions.len()).flat_map(|index| {
        let mut calls = facts.package_calls(&file, index).to_vec();
        calls.extend(facts.windows_package_calls(&file, index));
        calls
    });
    all.map(|call| {
        let show = |package: &Package| {
            assert_eq!(package.span.slice(text).unwrap().replace("\\\n", ""), package.text);
            match &package.kind {
                PackageKind::Named { name, version: Version::None } => name.clone(),
                PackageKind::Named { name, version: Version::Exact(v) } => format!("{name}=={v}"),
                PackageKind::Named { name, version: Version::Range(v) } => format!("{name}~{v}"),
                other => format!("{other:?}({})", package.text),
            }
        };
        let packages: Vec<String> = call.packages.iter().map(show).collect();
        let files: Vec<&str> = call.files.iter().map(|file| file.text.as_str()).collect();
        let mut line = format!("{:?} {:?} [{}]", call.manager, call.action, packages.join(", "));
        if !files.is_empty() {
            line.push_str(&format!(" files={}", files.join(",")));
        }
        for (name, value) in [("virtual", &call.virtual_name), ("target", &call.target)] {
            if let Some(value) = value {
                line.push_str(&format!(" {name}={value}"));
            }
        }
        line
    })
    .collect()
}

#[track_caller]
fn check(command: &str, expected: &[&str]) {
    assert_eq!(calls(&format!("FROM a\nRUN {command}\n")), expected, "{command}");
}

#[test]
fn powershell_and_cmd_call_managers_too() {
    let shells = [r#"["powershell", "-Command"]"#, r#"["cmd", "/S", "/C"]"#];
    for shell in shells {
        for (command, expected) in [
            (
                "choco install -y --version 1.2 git ./a.nupkg",
                "Chocolatey Install [git==1.2, Local(./a.nupkg)]",
            ),
            ("scoop install -g main/git@2.0 x", "Scoop Install [main/git==2.0, x]"),
            ("winget.exe install -e --source winget Git.Git", "Winget Install [Git.Git]"),
            ("C:\\tools\\npm.cmd install a@1", "Npm Install [a==1]"),
            ("pip install a", "Pip Install [a]"),
        ] {
            let text = format!("FROM a\nSHELL {shell}\nRUN {command}\nRUN echo {command}\n");
            assert_eq!(calls(&text), [expected], "{text}");
        }
    }
    // Nothing else knows these managers.
    assert_eq!(calls("FROM a\nRUN choco install a\n"), [""; 0]);
}

#[test]
fn every_manager_spells_versions_in_its_own_way() {
    for (command, expected) in [
        (
            "apt-get install -y curl wget=1.2 git/bookworm ./a.deb",
            "AptGet Install [curl, wget==1.2, git~bookworm, Local(./a.deb)]",
        ),
        ("apt-get -o A=b -y install \"curl=$V\" $P", "AptGet Install [curl==$, Unknown($P)]"),
        ("apt install x", "Apt Install [x]"),
        (
            "apk add --no-cache --virtual .b gcc=1-r0 'make>4' 'musl~1' py3@edge",
            "Apk Install [gcc==1-r0, make~>4, musl~~1, py3] virtual=.b",
        ),
        ("apk del .b", "Apk Remove [.b]"),
        (
            "yum install -y httpd-2.4.6 gcc-c++ https://x/y.rpm @dev",
            "Yum Install [httpd==2.4.6, gcc-c++, Remote(https://x/y.rpm), @dev]",
        ),
        ("dnf -y install 'glibc-$V' @nodejs:18", "Dnf Install [glibc-$V, @nodejs:18~18]"),
        ("dnf -y install glibc-$V", "Dnf Install [glibc==$]"),
        ("microdnf install tar", "Microdnf Install [tar]"),
        ("zypper --non-interactive in 'a>=1' b=2 c", "Zypper Install [a~>=1, b==2, c]"),
        (
            "pip install -r r.txt --requirement=s.txt -c c.txt flask==1 'a[b]>=2' . x.whl git+https://g/x",
            "Pip Install [flask==1, a~>=2, Local(.), Local(x.whl), Remote(git+https://g/x)] files=r.txt,--requirement=s.txt,c.txt",
        ),
        ("python3.11 -m pip install --target /t black", "Pip Install [black] target=/t"),
        ("uv pip install black", "Pip Install [black]"),
        (
            "npm install -g typescript@5.1.0 @babel/core @types/node@^20 x@latest ./t.tgz",
            "Npm Install [typescript==5.1.0, @babel/core, @types/node~^20, x~latest, Local(./t.tgz)]",
        ),
        ("npm ci", "Npm Install []"),
        ("yarn", "Yarn Install []"),
        ("yarn global add a@1", "Yarn Install [a==1]"),
        ("yarn cache clean", "Yarn Clean []"),
        ("pnpm add -D vite", "Pnpm Install [vite]"),
        ("gem install rails:7.1 rake", "Gem Install [rails==7.1, rake]"),
        ("gem install rails -v 7.1", "Gem Install [rails==7.1]"),
        (
            "go install example.com/x@v1.2 ./cmd/y example.com/z@latest",
            "Go Install [example.com/x==v1.2, Local(./cmd/y), example.com/z~latest]",
        ),
        ("cargo install ripgrep --version 14.1.0 --locked", "Cargo Install [ripgrep==14.1.0]"),
        ("cargo install a@1.2 b", "Cargo Install [a==1.2, b]"),
        ("composer require a/b:1.2 c/d:^3", "Composer Install [a/b==1.2, c/d~^3]"),
        ("composer require a/b 1.2 ext-c c/d ^3", "Composer Install [a/b==1.2, ext-c, c/d~^3]"),
        ("pip3.12 install black", "Pip Install [black]"),
        ("zypper patch -y", "Zypper Upgrade []"),
    ] {
        check(command, &[expected]);
    }
}

#[test]
fn calls_are_found_wherever_a_shell_would_run_them() {
    check(
        "set -e; if true; then sudo apt-get update && (apt-get install -y a); fi | cat; x=$(apk add b)",
        &["AptGet Update []", "AptGet Install [a]", "Apk Install [b]"],
    );
    check("<<EOF\napt-get install \\\n  a \\\n  b\nEOF", &["AptGet Install [a, b]"]);
    check("[\"sh\", \"-c\", \"pip install a\"]", &["Pip Install [a]"]);
    check("apt-get install -y \\\n # comment\n  a \\\n\n  b", &["AptGet Install [a, b]"]);
    check("env A=b DEBIAN_FRONTEND=x apt-get install a", &["AptGet Install [a]"]);
}

#[test]
fn what_merely_mentions_a_manager_is_no_call() {
    for command in [
        "echo apt-get install a",
        "echo 'apt-get install a' > x",
        "apt-cache policy a",
        "apt-mark hold a",
        "npm run build",
        "yarn build",
        "go build ./...",
        "cargo build",
        "pip --version",
        "python -m venv x",
        "my-apt-get install a",
        "$MANAGER install a",
    ] {
        check(command, &[]);
    }
}

#[test]
fn the_value_of_a_flag_is_no_package() {
    for (command, expected) in [
        ("pip install --root-user-action ignore a==3", "Pip Install [a==3]"),
        ("pip install --config-settings a=b --cert c -C d=e x", "Pip Install [x]"),
        ("dnf install -y --repo updates nginx bash", "Dnf Install [nginx, bash]"),
        ("dnf --forcearch x --advisory y install z", "Dnf Install [z]"),
        ("apt-get install --default-release stable a=1", "AptGet Install [a==1]"),
        ("npm install --omit dev -C /x --before 2024-01-01 a", "Npm Install [a]"),
        ("zypper -p https://x in --download only a", "Zypper Install [a]"),
        ("gem install --platform ruby --document ri a", "Gem Install [a]"),
        ("cargo install --config a=b --color never c", "Cargo Install [c]"),
        ("go install -C /x -modfile y z.org/a@v1", "Go Install [z.org/a==v1]"),
        ("apk add --cache-dir /x --timeout 5 a", "Apk Install [a]"),
    ] {
        check(command, &[expected]);
    }
}

#[test]
fn a_flag_is_known_or_not() {
    for (command, expected) in [
        ("apt-get install -yq --unheard a -t b -Z c --opt=d", "-y -q !--unheard -t !-Z --opt"),
        ("npm i -g --omit=dev -gD x --omit dev", "-g --omit -g -D --omit"),
        ("go install -race -unheard x", "-r -a -c -e !-u !-n !-h !-e !-a !-r !-d"),
    ] {
        let text = format!("FROM a\nRUN {command}\n");
        let file = parse(&text);
        let facts = Facts::of(&file);
        let flags = facts.package_calls(&file, 1)[0].flags.iter();
        let shown = flags.map(|flag| format!("{}{}", if flag.known { "" } else { "!" }, flag.name));
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{command}");
    }
}

#[test]
fn flags_and_mounts_are_known() {
    let text = "FROM a\nRUN --mount=type=cache,target=/var/cache/apt --mount=type=bind,target=/x \
                apt-get install -yq --no-install-recommends --opt=v a\n";
    let file = parse(text);
    let facts = Facts::of(&file);
    let call = &facts.package_calls(&file, 1)[0];
    assert!(call.has_flag(&["-y", "--yes"]) && call.has_flag(&["-q"]));
    assert!(call.has_flag(&["--no-install-recommends"]) && call.has_flag(&["--opt"]));
    assert!(!call.has_flag(&["-x"]));
    assert_eq!((call.manager, call.action), (Manager::AptGet, Action::Install));
    assert_eq!(call.subcommand.slice(text), Some("install"));
    assert_eq!(call.name_span.slice(text), Some("apt-get"));
    assert_eq!(file.instructions[1].passing_mounts().collect::<Vec<_>>(), ["/var/cache/apt"]);
}
