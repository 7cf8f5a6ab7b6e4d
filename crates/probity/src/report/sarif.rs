//! SARIF 2.1.0, for code scanning services and editors.
//!
//! Results are written as they come, and the tool with the rules that were hit behind them. Columns
//! count UTF-16 units. SARIF has no severity below `note`, so that style findings say so in their
//! properties.

mod result;
mod uri;

use std::{
    collections::HashMap,
    io::{self, Write},
};

use probity_finding::{Finding, Fingerprints, LineIndex};
use serde::Serialize;

use self::result::Message;
use super::{
    FileReport, Options, Reporter, Totals,
    stream::{Items, write_json},
};

const HEAD: &str = "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\
                    \"version\":\"2.1.0\",\"runs\":[{\"results\":[";

#[derive(Debug)]
pub(crate) struct Sarif {
    tool_version: &'static str,
    results: Items,
    rules: Vec<Rule>,
    indices: HashMap<String, usize>,
}

impl Sarif {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            tool_version: options.tool_version,
            results: Items::default(),
            rules: Vec::new(),
            indices: HashMap::new(),
        }
    }

    /// Where the finding's rule stands among the rules that were hit.
    fn rule_index(&mut self, finding: &Finding) -> usize {
        if let Some(&index) = self.indices.get(finding.rule.as_ref()) {
            return index;
        }
        let index = self.rules.len();
        self.rules.push(Rule {
            id: finding.rule.to_string(),
            short_description: Message { text: finding.rule.to_string() },
            help_uri: finding.docs.as_ref().map(ToString::to_string),
        });
        self.indices.insert(finding.rule.to_string(), index);
        index
    }
}

impl Reporter for Sarif {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        let lines = LineIndex::new(file.text);
        let artifact = uri::ArtifactLocation::new(file.path);
        let mut fingerprints = Fingerprints::new(file.path, &lines);
        for finding in file.findings {
            let rule_index = self.rule_index(finding);
            let fingerprint = fingerprints.next(finding);
            let result = result::result(&artifact, &lines, finding, rule_index, fingerprint);
            self.results.push(out, HEAD, &result)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, _totals: &Totals) -> io::Result<()> {
        self.results.end(out, HEAD)?;
        out.write_all(b",\n\"tool\":")?;
        let driver = Driver { name: "probity", version: self.tool_version, rules: self.rules };
        write_json(out, &Tool { driver })?;
        out.write_all(b",\n\"columnKind\":\"utf16CodeUnits\",\"originalUriBaseIds\":")?;
        let description = Message { text: "The directory that paths are relative to.".to_owned() };
        write_json(out, &HashMap::from([(uri::BASE, UriBase { description })]))?;
        out.write_all(b"}]}\n")
    }
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    short_description: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
}

#[derive(Serialize)]
struct UriBase {
    description: Message,
}

#[cfg(test)]
mod tests {
    use crate::report::{Format, samples};

    #[test]
    fn results_come_first_and_the_rules_behind_them() {
        insta::assert_snapshot!(samples::report(Format::Sarif), @"");
    }
}
