//! The heuristic detectors: contracts with every check in place, and the same with one taken away.
//!
//! Each line of [`TWINS`] makes a vulnerable twin of a sound contract, in one of three styles. Every
//! twin is also tried with all of its own names changed, and with the handlers' bodies moved into a
//! function of another module.

mod forms;

use std::{fs, path::Path};

use probity_audit::{Finding, detect, heuristic_classes};

use self::forms::{outlined, renamed};

const INLINE: &str = include_str!("heuristic/inline.ak");
const HELPERS: &str = include_str!("heuristic/helpers.ak");
const OLD: &str = include_str!("heuristic/old.ak");

/// A class, the sound contract, and what is replaced to make it vulnerable.
type Twin = (&'static str, &'static str, &'static str, &'static str);

const TWINS: &[Twin] = &[
    (
        "arbitrary-datum",
        INLINE,
        "opened.datum == InlineDatum(board),",
        "opened.datum != NoDatum || True,",
    ),
    ("arbitrary-datum", HELPERS, " && opened.datum == InlineDatum(board)", ""),
    ("double-satisfaction", INLINE, "output.datum == InlineDatum(own_ref),", ""),
    ("double-satisfaction", HELPERS, "output.datum == InlineDatum(tag) && ", ""),
    ("double-satisfaction", OLD, " && o.datum == InlineDatum(own_ref)", ""),
    ("duplicate-signatories", INLINE, "list.unique(voters)", "voters"),
    ("duplicate-signatories", HELPERS, "list.unique(voters)", "voters"),
    (
        "insufficient-staking-control",
        INLINE,
        "{ output.address == own.output.address })\n        let names",
        "{ output.address.payment_credential == own.output.address.payment_credential })\n        let names",
    ),
    ("insufficient-staking-control", HELPERS, "expect opened.address.stake_credential == None", ""),
    (
        "insufficient-staking-control",
        OLD,
        "o.address == own.output.address",
        "own.output.address.payment_credential == o.address.payment_credential",
    ),
    ("minting-policy", INLINE, "list.all(burned, fn(pair) { pair.2nd < 0 })", "burned != []"),
    (
        "minting-policy",
        INLINE,
        "list.any(self.inputs, fn(input) { input.output_reference",
        "list.any(self.reference_inputs, fn(input) { input.output_reference",
    ),
    (
        "minting-policy",
        HELPERS,
        "minted |> list.all(fn(pair) { pair.2nd < 0 })",
        "!list.is_empty(minted)",
    ),
    ("minting-policy", OLD, "list.all(dict.to_list(minted), fn(token) { token.2nd < 0 })", "True"),
    ("missing-address-validation", INLINE, "output.address == pot.receiver,", ""),
    ("missing-address-validation", HELPERS, "if is_at(output, to) {", "if True {"),
    ("missing-address-validation", OLD, "o.address == pot.receiver && ", ""),
    (
        "missing-signatory",
        INLINE,
        "earliest >= pot.opens && list.has(self.extra_signatories, pot.heir)",
        "earliest >= pot.opens",
    ),
    (
        "missing-signatory",
        INLINE,
        "list.has(self.extra_signatories, pot.keeper),\n          next.datum",
        "next.datum",
    ),
    ("missing-signatory", HELPERS, " && signed(self, pot.heir)", ""),
    ("missing-signatory", OLD, " && list.has(extra_signatories, pot.heir)?", ""),
    (
        "missing-utxo-authentication",
        INLINE,
        "quantity_of(input.output.value, seal, coin_name) == 1",
        "input.output.address == home",
    ),
    (
        "missing-utxo-authentication",
        HELPERS,
        "sealed(input.output.value, seal, \"coin\")",
        "input.output.datum != NoDatum",
    ),
    ("negative-amount", INLINE, "amount > 0,", ""),
    ("negative-amount", HELPERS, "expect amount > 0", ""),
    ("negative-amount", OLD, "expect amount >= 1", ""),
    ("oracle-freshness", INLINE, "latest <= rate.published + 60_000,", ""),
    ("oracle-freshness", HELPERS, "expect latest <= published + 60_000", ""),
    ("other-token-name", INLINE, "[Pair(name, quantity)] =", "[Pair(name, quantity), ..] ="),
    (
        "other-token-name",
        HELPERS,
        "[Pair(name, 1)] = minted",
        "Some(Pair(name, 1)) = minted |> find(fn(pair) { pair.1st == pot_name })",
    ),
    (
        "own-input-confusion",
        OLD,
        "expect Some(own) = tx.find_input(inputs, own_ref)\n        expect value.quantity_of(own.output.value, seal, seal_name) == 1",
        "expect Some(own) = list.head(inputs)",
    ),
    (
        "own-input-confusion",
        INLINE,
        "expect Some(own) = find_input(self.inputs, own_ref)\n        expect quantity_of(own.output.value, seal, seal_name) == 1\n        expect [next] =\n          list.filter(self.outputs, fn(output) { output.address == own.output.address })\n        and {\n          pot.sold",
        "expect [own, ..] = self.inputs\n        expect [next] =\n          list.filter(self.outputs, fn(output) { output.address == own.output.address })\n        and {\n          pot.sold",
    ),
    ("permissive-fallback", INLINE, "else(_) {\n    fail", "else(_) {\n    True"),
    (
        "permissive-fallback",
        HELPERS,
        "else(_) {\n    fail",
        "publish(_redeemer: Data, _certificate: Certificate, _self: Transaction) {\n    True",
    ),
    (
        "rounding",
        INLINE,
        "( pot.price * rate.per_coin * 3 + 99 ) / 100",
        "pot.price * rate.per_coin / 100 * 3",
    ),
    (
        "rounding",
        HELPERS,
        "( pot.price * price_now(self, seal) * 3 + 99 ) / 100",
        "3 * ( pot.price * price_now(self, seal) / 100 )",
    ),
    ("rounding", OLD, "pot.price * 3 / 100", "pot.price / 100 * 3"),
    (
        "strict-value-equality",
        INLINE,
        "lovelace_of(output.value) >= ( pot",
        "lovelace_of(output.value) == ( pot",
    ),
    (
        "strict-value-equality",
        HELPERS,
        "assets.lovelace_of(output.value) >= least",
        "output.value == assets.from_lovelace(least)",
    ),
    (
        "strict-value-equality",
        OLD,
        "value.lovelace_of(paid.value) >= pot.price * 3 / 100",
        "!( pot.price * 3 / 100 != value.lovelace_of(paid.value) )",
    ),
    (
        "time-handling",
        INLINE,
        "self.validity_range.lower_bound.bound_type",
        "self.validity_range.upper_bound.bound_type",
    ),
    (
        "time-handling",
        HELPERS,
        "Finite(earliest) -> earliest >= time\n    _ -> False",
        "Finite(earliest) -> earliest >= time\n    _ -> True",
    ),
    (
        "time-handling",
        OLD,
        "validity_range.lower_bound.bound_type",
        "validity_range.upper_bound.bound_type",
    ),
    ("unbounded-datum", INLINE, "list.length(names) <= longest,", ""),
    ("unbounded-datum", HELPERS, "expect list.length(names) < longest", ""),
    ("unbounded-inputs", INLINE, "pot.sold + 1 <= longest,", ""),
    ("unbounded-inputs", HELPERS, "expect sold <= longest", ""),
    (
        "unbounded-value",
        INLINE,
        "without_lovelace(next.value) == without_lovelace(own.output.value),",
        "quantity_of(next.value, seal, seal_name) == 1,",
    ),
    ("unbounded-value", HELPERS, "same_tokens && enough", "enough"),
    (
        "unbounded-value",
        OLD,
        "expect value.without_lovelace(next.value) == value.without_lovelace(own.output.value)",
        "",
    ),
    ("unvalidated-datum", INLINE, "next.datum == InlineDatum(Pot { ..pot, names }),", ""),
    (
        "unvalidated-datum",
        HELPERS,
        "datum == InlineDatum(state) && reference_script == None",
        "reference_script == None",
    ),
    (
        "unvalidated-datum",
        OLD,
        "expect next.datum == InlineDatum(pot)",
        "expect InlineDatum(raw) = next.datum\n        expect kept: Pot = raw\n        expect kept.keeper == pot.keeper",
    ),
    ("unvalidated-index", INLINE, "position > after,", ""),
    (
        "unvalidated-reference-script",
        INLINE,
        "next.reference_script == None,\n          without_lovelace",
        "without_lovelace",
    ),
    ("unvalidated-reference-script", HELPERS, " && reference_script == None", ""),
    ("unvalidated-reference-script", OLD, "expect next.reference_script == None", ""),
    (
        "withdraw-zero",
        INLINE,
        "pairs.has_key(self.withdrawals, Script(logic))",
        "!list.is_empty(self.withdrawals)",
    ),
    ("withdraw-zero", HELPERS, "withdrawal.1st == Script(logic)", "withdrawal.2nd == 0"),
];

/// Paths below `lib` and `validators`, as in a project.
fn project(text: &str) -> Vec<(String, String)> {
    vec![("validators/pot.ak".to_owned(), text.to_owned())]
}

/// The same contract as it is, renamed, outlined, and both.
fn forms(text: &str) -> Vec<(&'static str, Vec<(String, String)>)> {
    vec![
        ("as written", project(text)),
        ("renamed", project(&renamed(text))),
        ("outlined", outlined(text)),
        ("renamed and outlined", outlined(&renamed(text))),
    ]
}

fn found(sources: &[(String, String)], class: &str) -> Vec<Finding> {
    detect(sources).remove(class).unwrap()
}

#[test]
fn sound_contracts_have_no_findings_in_any_form() {
    for (style, text) in [("inline", INLINE), ("helpers", HELPERS), ("old", OLD)] {
        for (form, sources) in forms(text) {
            for (class, findings) in detect(&sources) {
                assert!(findings.is_empty(), "{style}, {form}: {class}: {findings:#?}");
            }
        }
    }
}

#[test]
fn one_missing_check_is_found_in_every_form() {
    let mut missed = Vec::new();
    for (class, sound, before, after) in TWINS {
        assert!(sound.contains(before), "{class}: the contract does not contain {before}");
        for (form, sources) in forms(&sound.replace(before, after)) {
            if found(&sources, class).is_empty() {
                missed.push(format!("{class}, {form}: {before} -> {after}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn most_classes_have_twins_in_two_styles_and_all_have_one() {
    for class in heuristic_classes().filter(|class| *class != "locked-value") {
        assert!(TWINS.iter().any(|twin| twin.0 == class), "{class} has no twin");
    }
}

#[test]
fn evidence_is_the_line_that_the_finding_names() {
    for (class, sound, before, after) in TWINS {
        for (_, sources) in forms(&sound.replace(before, after)) {
            for finding in found(&sources, class) {
                let (_, text) =
                    sources.iter().find(|(path, _)| Some(path) == finding.file.as_ref()).unwrap();
                let line = usize::try_from(finding.line.unwrap()).unwrap();
                let quoted = finding.evidence[0].lines().next();
                assert_eq!(quoted, text.lines().nth(line - 1).map(str::trim));
                assert!(!finding.evidence[0].is_empty() && !finding.evidence[0].starts_with("//"));
            }
        }
    }
}

#[test]
fn value_that_is_locked_after_a_deadline_is_found_and_a_way_out_is_seen() {
    let only = "use aiken/collection/list\nuse aiken/interval.{Finite}\n\nvalidator once(closes: Int) {\n  spend(datum: Option<ByteArray>, late: Bool, _own_ref: OutputReference, self: Transaction) {\n    expect Some(owner) = datum\n    expect Finite(last) = self.validity_range.upper_bound.bound_type\n    list.has(self.extra_signatories, owner) && WHEN\n  }\n}\n";
    for (condition, count) in [("last <= closes", 1), ("( late || last <= closes )", 0)] {
        for (form, sources) in forms(&only.replace("WHEN", condition)) {
            assert_eq!(found(&sources, "locked-value").len(), count, "{condition}, {form}");
        }
    }
}

#[test]
fn shipped_examples_are_told_apart() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills/examples");
    let Ok(folders) = fs::read_dir(&examples) else { return };
    for folder in folders.map(|folder| folder.unwrap().path()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let class = name.trim_start_matches(|digit: char| digit.is_ascii_digit() || digit == '-');
        for (file, vulnerable) in [("vulnerable.ak", true), ("fixed.ak", false)] {
            let Ok(text) = fs::read_to_string(folder.join(file)) else { continue };
            for (form, sources) in forms(&text) {
                let Some(findings) = detect(&sources).remove(class) else { continue };
                assert_eq!(
                    !findings.is_empty(),
                    vulnerable,
                    "{name}/{file}, {form}: {findings:#?}"
                );
            }
        }
    }
}
