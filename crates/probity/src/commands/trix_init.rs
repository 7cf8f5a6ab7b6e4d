//! `trix init`: a new project in this directory. Nothing is reported to anybody.

use std::{
    env,
    io::{self, Write as _},
};

use anyhow::Context as _;
use probity_scope::HeldDirectory;

use crate::{exit::Exit, failure::Failure, screen::is_confirmed, streams};

const IGNORED: &str = ".tx3\n";

const DEVNET: &str = r#"# What each wallet of the local network begins with, in lovelace.

[[utxos]]
address = "@alice"
value = 100000000000

[[utxos]]
address = "@bob"
value = 100000000000

[[utxos]]
address = "@charlie"
value = 100000000000
"#;

const MAIN: &str = r"// Moves some lovelace from one party to another.

party Sender;

party Receiver;

tx transfer(
    quantity: Int
) {
    input source {
        from: Sender,
        min_amount: Ada(quantity) + fees,
    }

    output {
        to: Receiver,
        amount: Ada(quantity),
    }

    output {
        to: Sender,
        amount: source - Ada(quantity) - fees,
    }
}
";

const TEST: &str = r#"file = "./main.tx3"

[[wallets]]
name = "alice"
balance = 100000000000

[[wallets]]
name = "bob"
balance = 100000000000

[[transactions]]
description = "alice pays bob"
template = "transfer"
signers = ["alice"]
args = { quantity = 2000000, sender = "@alice", receiver = "@bob" }

[[expect]]
from = "@bob"

[[expect.min_amount]]
amount = 100002000000
"#;

/// Makes what is missing, and writes `trix.toml` anew.
pub(crate) fn run(yes: bool) -> anyhow::Result<Exit> {
    let root = env::current_dir().context("cannot find the working directory")?;
    let name = root.file_name().map_or("project".into(), |name| name.to_string_lossy());
    if !yes && !is_confirmed(&format!("Make the project `{name}` in this directory?"))? {
        return Err(Failure::new("nothing was made", "answer y, or call `trix init --yes`").into());
    }
    let here = HeldDirectory::open(&root).context("cannot open the working directory")?;
    for (file, text) in [
        (".gitignore", IGNORED),
        ("devnet.toml", DEVNET),
        ("main.tx3", MAIN),
        ("tests/basic.toml", TEST),
    ] {
        missing(&here, file, text)
            .with_context(|| Failure::new(format!("cannot write {file}"), "see the cause"))?;
    }
    here.write_whole("trix.toml", project(&name).as_bytes())
        .with_context(|| Failure::new("cannot write trix.toml", "see the cause"))?;
    writeln!(streams::stdout().lock(), "Made a project in {}", root.display())?;
    Ok(Exit::Clean)
}

fn project(name: &str) -> String {
    let name = toml::Value::String(name.to_owned());
    format!(
        "[protocol]\nname = {name}\nversion = \"0.0.0\"\nmain = \"main.tx3\"\n\n[ledger]\nfamily = \"cardano\"\n"
    )
}

/// Writes a file that is not there yet, and through no link of the project.
fn missing(here: &HeldDirectory, file: &str, text: &str) -> io::Result<()> {
    match here.create_file(file, 0o666) {
        Ok(mut out) => out.write_all(text.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
