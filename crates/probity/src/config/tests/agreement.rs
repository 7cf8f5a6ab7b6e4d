//! The JSON Schema and the strict reader accept and refuse the same files.

use super::{CATALOGUE, file, own_file};
use crate::config::{key::Dialect, schema::schema};

const GOOD: &[&str] = &[
    "",
    "unsafe-fixes = false",
    "[output]\nformat = 'sarif'\npath = 'out.sarif'\nshow-source = false\nfail-level = 'none'",
    "[rules]\ninclude = ['hadolint/*']\nexclude = []",
    "[rules.tally.max-lines]\nmax = 10\nseverity = 'error'\nfix = 'unsafe-only'",
    "[rules.tally.max-lines.exclude]\npaths = ['test/**']",
    "[rules.tally.labels.prefer-grouped]\nmin-labels = 2",
    "[rules.tally.'labels/prefer-grouped']\nmin-labels = 2",
    "[rules.tally.require-secret-mounts.commands.pip]\nid = 'x'\nenv = 'Y'",
    "[rules.hadolint.DL4001]\nfix-preference = 'curl'",
    "[rules.hadolint.DL9999]\nwhatever = 1",
    "[rules.shellcheck.SC2086]\nseverity = 'off'",
    "[rules.powershell.PSAvoidUsingCmdletAliases]\nseverity = 'info'",
    "[inline-directives]\nenabled = true\nvalidate-rules = true\nwarn-unused = true\nrequire-reason = true",
    "[ai]\nenabled = true\ncommand = ['gemini', '--acp']\ntimeout = '1m30s'\nmax-rounds = 5",
    "[ai]\nagent = 'mine'\n[ai.agents.mine]\ncommand = ['x']\ntimeout = '10s'",
    "[ai]\nredact-secrets = false\nsandbox = 'bwrap'\ncontext = 'read-only'",
    "file-validation.max-file-size = 0",
    "[slow-checks]\nmode = 'off'\ntimeout = '1.5s'\nfail-fast = false",
    "[shellcheck]\nmode = 'binary'\ntimeout = '10s'",
];

const BAD: &[&str] = &[
    "outptu = 1",
    "fix = true",
    "unsafe-fixes = 'no'",
    "output = 3",
    "output.format = 'jsn'",
    "'output.format' = 'json'",
    "rules.include = 'x'",
    "rules.include = [1]",
    "rules.custom = {}",
    "rules.tally.max-linse = {}",
    "rules.tally.max-lines = 3",
    "rules.tally.max-lines.mx = 3",
    "rules.tally.max-lines.max = -3",
    "rules.tally.max-lines.max = '3'",
    "rules.tally.max-lines.exclude.path = []",
    "rules.tally.max-lines.exclude = []",
    "rules.tally.labels.prefer-groupd = {}",
    "rules.tally.labels = 1",
    "rules.tally.require-secret-mounts.commands = []",
    "[rules.tally.require-secret-mounts.commands]\npip = 'x'",
    "[rules.tally.require-secret-mounts.commands.pip]\nid = 'x'",
    "[rules.tally.require-secret-mounts.commands.pip]\nid = ''\nenv = 'Y'",
    "[rules.tally.require-secret-mounts.commands.pip]\nid = 'x'\nenv = 'Y'\nn = 1",
    "rules.hadolint.DL4001.fix-preference = 'aria2'",
    "rules.hadolint.DL4001.fix-preferenc = 'curl'",
    "rules.hadolint.DL999 = {}",
    "rules.hadolint.DL9999.severity = 'fatal'",
    "rules.hadolint.SC2086 = {}",
    "rules.powershell.PSavoid = {}",
    "rules.buildkit.stagenamecasing = {}",
    "ai.command = 'gemini'",
    "ai.command = []",
    "ai.command = ['']",
    "ai.max-rounds = 0",
    "ai.max-rounds = 6",
    "ai.timeout = '0s'",
    "ai.timeout = '90'",
    "ai.timeout = 90",
    "ai.agents.mine = {}",
    "ai.agents.mine = { command = ['x'], comand = 1 }",
    "ai.sandbox = 'jail'",
    "slow-checks.mode = true",
    "shellcheck.mode = 'wasm'",
    "shellcheck.timeout = 5",
    "file-validation.max-file-size = -1",
];

const OWN_GOOD: &[&str] = &[
    "",
    "[check]\nunsafe-fixes = true\n[check.output]\nformat = 'json'",
    "[check.rules]\ninclude = ['hadolint/*']\n[check.rules.tally.max-lines]\nmax = 3",
    "[ai]\nenabled = true\nagent = 'claude'\n[ai.agents.mine]\ncommand = ['x']",
    "[audit]\nprovider = 'openai'\njobs = 64\nbudget = 1\nfail-on = 'high'\nenv = ['A_B']",
    "[review]\nthreshold = 8\nbudget = 2.5\npaths = ['src/**']\nformat = 'github-actions'",
    "[containment]\nmemory = '4g'\ncpus = 1.5\nruntime = 'podman'\nlogins = ['.x/y']",
    "[containment.network]\nmode = 'allowlist'\nallow = ['a.test']",
    "[containment.agents.claude]\nvariables = ['KEY']\nlogins = ['.claude/x']",
    "[containment.acp]\nprocess = 'workspace'\nterminals = 'editor'",
];

const OWN_BAD: &[&str] = &[
    "output.format = 'json'",
    "[chek]",
    "check.fix = true",
    "check.exclude = []",
    "check.rules.tally.max-linse = {}",
    "ai.agents.mine = {}",
    "audit.jobs = 0",
    "audit.jobs = 65",
    "audit.sandbox = 'chroot'",
    "audit.env = ['A=b']",
    "audit.fail-on = 'style'",
    "review.threshold = 11",
    "review.threshold = '8'",
    "review.budget = 0",
    "review.repo = '.'",
    "containment.memory = '0'",
    "containment.memory = 4",
    "containment.cpus = 0",
    "containment.runtime = 'none'",
    "containment.agents.mine = { comand = ['x'] }",
    "containment.network.mode = 'closed'",
];

#[test]
fn schema_and_reader_agree() {
    for (dialect, good, bad) in [(Dialect::Tally, GOOD, BAD), (Dialect::Probity, OWN_GOOD, OWN_BAD)]
    {
        let validator = jsonschema::draft202012::new(&schema(&CATALOGUE, dialect)).unwrap();
        let cases =
            good.iter().map(|text| (text, true)).chain(bad.iter().map(|text| (text, false)));
        for (text, is_good) in cases {
            let table: toml::Table = toml::from_str(text).unwrap();
            let instance = serde_json::to_value(table).unwrap();
            let read = if dialect == Dialect::Tally { file(text) } else { own_file(text) };
            assert_eq!(read.is_ok(), is_good, "the reader on {text}: {read:?}");
            assert_eq!(validator.is_valid(&instance), is_good, "the schema on {text}");
        }
    }
}

#[test]
fn the_schema_is_valid_and_warns_of_third_parties() {
    let schema = schema(&CATALOGUE, Dialect::Tally);
    assert!(jsonschema::meta::is_valid(&schema));
    let enabled = &schema["properties"]["ai"]["properties"]["enabled"];
    let description = enabled["description"].as_str().unwrap();
    insta::assert_snapshot!(description, @"Let an AI agent propose fixes; the agent may send the file to third parties");
    assert_eq!(enabled["default"], false);
    let ai = &schema["properties"]["ai"]["properties"];
    assert_eq!(ai["timeout"]["default"], "1m30s");
    assert_eq!(
        schema["properties"]["rules"]["properties"]["include"]["default"],
        serde_json::json!([])
    );
}
