//! SARIF 2.1.0, for code scanning services and editors.
//!
//! Results are written as they come, and the tool with the rules that were hit behind them. Columns
//! count UTF-16 units. SARIF has no severity below `note`, so that style findings say so in their
//! properties.

mod result;
pub(super) mod uri;
pub(super) mod wire;

use std::{
    borrow::Cow,
    collections::HashMap,
    io::{self, Write},
};

use probity_check::AiFix;
use probity_finding::{Finding, Fingerprints, LineIndex};
use probity_lint::Rejection;
use serde_json::json;

use self::{
    uri::ArtifactLocation,
    wire::{
        COLUMN_KIND, Invocation, Location, Message, Notification, Region, Rule, Tool, UriBases,
    },
};
use super::{
    FileReport, Options, Reporter, Totals,
    proof::proof_json,
    stream::{Items, write_json},
};

#[derive(Debug)]
pub(crate) struct Sarif {
    tool_version: &'static str,
    describe: fn(&str) -> Option<String>,
    explain: Option<&'static str>,
    /// What comes before the results.
    head: String,
    results: Items,
    rules: Vec<Rule>,
    indices: HashMap<String, usize>,
    notifications: Vec<Notification<'static>>,
}

impl Sarif {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            tool_version: options.tool_version,
            describe: options.describe,
            explain: options.explain,
            head: format!(
                "{{\"$schema\":\"{}\",\"version\":\"{}\",\"runs\":[{{\"results\":[",
                wire::SCHEMA,
                wire::VERSION
            ),
            results: Items::default(),
            rules: Vec::new(),
            indices: HashMap::new(),
            notifications: Vec::new(),
        }
    }

    /// Where the finding's rule stands among the rules that were hit.
    fn rule_index(&mut self, finding: &Finding) -> usize {
        if let Some(&index) = self.indices.get(finding.rule.as_ref()) {
            return index;
        }
        let index = self.rules.len();
        let about = (self.describe)(&finding.rule).unwrap_or_else(|| finding.rule.to_string());
        self.rules.push(Rule {
            id: finding.rule.to_string(),
            short_description: Message::new(about),
            help: self.explain.map(|command| {
                Message::new(format!("`{command} {}` explains this rule.", finding.rule))
            }),
            help_uri: finding.docs.as_ref().map(ToString::to_string),
            properties: None,
        });
        self.indices.insert(finding.rule.to_string(), index);
        index
    }
}

impl Reporter for Sarif {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        let lines = LineIndex::new(file.text);
        let artifact = ArtifactLocation::new(file.path);
        let mut fingerprints = Fingerprints::new(file.path, &lines);
        for finding in file.findings {
            let rule_index = self.rule_index(finding);
            let fingerprint = fingerprints.next(finding);
            let result = result::result(&artifact, &lines, finding, rule_index, fingerprint);
            self.results.push(out, &self.head, &result)?;
        }
        self.notifications
            .extend(file.rejection.map(|rejection| notification(&artifact, rejection)));
        let proofs = file.ai_fixes.iter().filter_map(|fix| proof(&artifact, fix));
        self.notifications.extend(proofs);
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, _totals: &Totals) -> io::Result<()> {
        self.results.end(out, &self.head)?;
        out.write_all(b",\n\"tool\":")?;
        write_json(out, &Tool::new("probity", self.tool_version, self.rules))?;
        write!(out, ",\n\"columnKind\":\"{COLUMN_KIND}\",\"originalUriBaseIds\":")?;
        write_json(out, &UriBases::new("The directory that paths are relative to."))?;
        if !self.notifications.is_empty() {
            let invocation = Invocation {
                execution_successful: true,
                tool_execution_notifications: self.notifications,
            };
            out.write_all(b",\n\"invocations\":")?;
            write_json(out, &[invocation])?;
        }
        out.write_all(b"}]}\n")
    }
}

/// Why no fix was applied to a file.
fn notification(artifact: &ArtifactLocation, rejection: &Rejection) -> Notification<'static> {
    let region = rejection.line.map(Region::line);
    Notification {
        level: "note",
        message: Message::new(format!("no fix applied: {}", rejection.reason)),
        locations: vec![Location::new(Cow::Owned(artifact.clone()), region)],
        properties: None,
    }
}

/// What an experiment with an AI fix came to, in words and as the value that JSON reports have.
fn proof(artifact: &ArtifactLocation, fix: &AiFix) -> Option<Notification<'static>> {
    let proof = fix.proof.as_ref()?;
    let text = format!("AI fix {}: {}: {}", fix.rule, fix.outcome, proof.summary);
    Some(Notification {
        level: "note",
        message: Message::new(text),
        locations: vec![Location::new(Cow::Owned(artifact.clone()), None)],
        properties: Some(json!({ "proof": proof_json(proof) })),
    })
}

#[cfg(test)]
mod tests {
    use crate::{Format, samples};

    #[test]
    fn results_come_first_and_the_rules_behind_them() {
        insta::assert_snapshot!(samples::report(Format::Sarif), @r##"
{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"results":[
{"ruleId":"tally/no-user","ruleIndex":0,"level":"note","message":{"text":"no stage sets a user"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"app/Dockerfile","uriBaseId":"%SRCROOT%"}}}],"partialFingerprints":{"probity/v1":"487a867cf0d4e8a2c4a07463cdcfc2ce"}},
{"ruleId":"hadolint/DL3006","ruleIndex":1,"level":"warning","message":{"text":"the image is not tagged; pin a version\n\nAn untagged image is `latest`,\nwhich changes without notice."},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"app/Dockerfile","uriBaseId":"%SRCROOT%"},"region":{"startLine":1,"startColumn":6,"endLine":1,"endColumn":12}}}],"partialFingerprints":{"probity/v1":"82b968d498610fd9d57c3b39779e5591"},"fixes":[{"description":{"text":"Pin the version"},"artifactChanges":[{"artifactLocation":{"uri":"app/Dockerfile","uriBaseId":"%SRCROOT%"},"replacements":[{"deletedRegion":{"startLine":1,"startColumn":6,"endLine":1,"endColumn":12},"insertedContent":{"text":"debian:12"}}]}]}]},
{"ruleId":"buildkit/FromAsCasing","ruleIndex":2,"level":"note","message":{"text":"`as` and `FROM` differ in case"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"app/Dockerfile","uriBaseId":"%SRCROOT%"},"region":{"startLine":1,"startColumn":13,"endLine":1,"endColumn":15}}}],"relatedLocations":[{"id":1,"physicalLocation":{"artifactLocation":{"uri":"app/Dockerfile","uriBaseId":"%SRCROOT%"},"region":{"startLine":4,"startColumn":1,"endLine":4,"endColumn":18}},"message":{"text":"the stage is used here"}}],"partialFingerprints":{"probity/v1":"abd1385446f8366751803e695e6f9187"},"fixes":[{"description":{"text":"Write `AS`"},"artifactChanges":[{"artifactLocation":{"uri":"app/Dockerfile","uriBaseId":"%SRCROOT%"},"replacements":[{"deletedRegion":{"startLine":1,"startColumn":13,"endLine":1,"endColumn":15},"insertedContent":{"text":"AS"}}]}]},{"description":{"text":"Drop the name"},"artifactChanges":[{"artifactLocation":{"uri":"app/Dockerfile","uriBaseId":"%SRCROOT%"},"replacements":[{"deletedRegion":{"startLine":1,"startColumn":12,"endLine":1,"endColumn":21},"insertedContent":{"text":""}}]}]}],"properties":{"severity":"style"}},
{"ruleId":"hadolint/DL3004","ruleIndex":3,"level":"error","message":{"text":"sudo does not work as it seems to"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"app/Dockerfile","uriBaseId":"%SRCROOT%"},"region":{"startLine":2,"startColumn":16,"endLine":2,"endColumn":20}}}],"partialFingerprints":{"probity/v1":"2e760918118903bacd76f4e63b969ae5"}},
{"ruleId":"x/from","ruleIndex":4,"level":"warning","message":{"text":"a | b ` * _x_ <b>&amp; [l](u)\\"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a%20b/%C3%BC%2520%26%2C%3A.Dockerfile","uriBaseId":"%SRCROOT%"},"region":{"startLine":1,"startColumn":1,"endLine":1,"endColumn":5}}}],"partialFingerprints":{"probity/v1":"80b74f28b47dc79efb22d0f846fa9acc"}},
{"ruleId":"x/run","ruleIndex":5,"level":"warning","message":{"text":"<>&\"' 100% \u001b[31mred\u0000\nsecond, line: \u009b\u202e"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a%20b/%C3%BC%2520%26%2C%3A.Dockerfile","uriBaseId":"%SRCROOT%"},"region":{"startLine":2,"startColumn":1,"endLine":2,"endColumn":25}}}],"partialFingerprints":{"probity/v1":"331594bfa163e99ebeb845881f14cf55"},"fixes":[{"description":{"text":"Add a line\u0007"},"artifactChanges":[{"artifactLocation":{"uri":"a%20b/%C3%BC%2520%26%2C%3A.Dockerfile","uriBaseId":"%SRCROOT%"},"replacements":[{"deletedRegion":{"startLine":2,"startColumn":1,"endLine":2,"endColumn":1},"insertedContent":{"text":"# \"quoted\"\n"}}]}]}]},
{"ruleId":"buildkit/empty","ruleIndex":6,"level":"error","message":{"text":"the file is empty"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"empty.Dockerfile","uriBaseId":"%SRCROOT%"}}}],"partialFingerprints":{"probity/v1":"a09ac550925198d2cf87482149431eec"}}
],
"tool":{"driver":{"name":"probity","version":"1.2.3","rules":[{"id":"tally/no-user","shortDescription":{"text":"tally/no-user"},"help":{"text":"`probity explain tally/no-user` explains this rule."}},{"id":"hadolint/DL3006","shortDescription":{"text":"hadolint/DL3006"},"help":{"text":"`probity explain hadolint/DL3006` explains this rule."},"helpUri":"https://example.org/rules/DL3006"},{"id":"buildkit/FromAsCasing","shortDescription":{"text":"buildkit/FromAsCasing"},"help":{"text":"`probity explain buildkit/FromAsCasing` explains this rule."}},{"id":"hadolint/DL3004","shortDescription":{"text":"hadolint/DL3004"},"help":{"text":"`probity explain hadolint/DL3004` explains this rule."}},{"id":"x/from","shortDescription":{"text":"x/from"},"help":{"text":"`probity explain x/from` explains this rule."}},{"id":"x/run","shortDescription":{"text":"x/run"},"help":{"text":"`probity explain x/run` explains this rule."}},{"id":"buildkit/empty","shortDescription":{"text":"buildkit/empty"},"help":{"text":"`probity explain buildkit/empty` explains this rule."}}]}},
"columnKind":"utf16CodeUnits","originalUriBaseIds":{"%SRCROOT%":{"description":{"text":"The directory that paths are relative to."}}}}]}
"##);
    }
}
