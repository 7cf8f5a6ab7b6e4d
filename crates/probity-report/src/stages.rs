//! The stages of a Dockerfile before and after a change: a tree for terminals, a graph for markdown.

use std::{collections::BTreeSet, fmt::Write as _};

use probity_check::{StageShown, StagesReport};
use serde_json::{Value, json};

use super::counts::plural;

/// Each line ends with a newline and begins with these spaces.
pub fn tree(report: &StagesReport, indent: &str) -> String {
    let mut out = String::new();
    for (side, stages) in sides(report) {
        // Writing to a string cannot fail.
        _ = writeln!(out, "{indent}{side}: {}", plural(stages.len(), "stage"));
        let mut seen = BTreeSet::new();
        if let Some(last) = stages.len().checked_sub(1) {
            branch(&mut out, stages, last, "", indent, &mut seen);
        }
        for unused in (0..stages.len()).filter(|stage| !seen.contains(stage)) {
            let StageShown { name, base, .. } = &stages[unused];
            _ = writeln!(out, "{indent}    not used: {name} FROM {base}");
        }
    }
    out
}

/// A fenced block that ends with a newline.
pub fn mermaid(report: &StagesReport) -> String {
    let mut out = "```mermaid\ngraph LR\n".to_owned();
    for (side, stages) in sides(report) {
        _ = writeln!(out, "  subgraph {side}");
        for (index, StageShown { name, base, .. }) in stages.iter().enumerate() {
            let (name, base) = (label(name), label(base));
            _ = writeln!(out, "    {side}{index}[\"{name}<br/>FROM {base}\"]");
        }
        for (index, stage) in stages.iter().enumerate() {
            for (number, need) in stage.needs.iter().enumerate() {
                let from = match need.stage {
                    Some(other) => format!("{side}{other}"),
                    None => format!("{side}{index}x{number}([\"{}\"])", label(&need.name)),
                };
                _ = writeln!(out, "    {from} -- {} --> {side}{index}", need.instruction);
            }
        }
        out.push_str("  end\n");
    }
    out + "```\n"
}

pub fn stages_json(report: &StagesReport) -> Value {
    let side = |stages: &[StageShown]| -> Value {
        let shown = stages.iter().map(|stage| {
            let needs = stage.needs.iter().map(|need| {
                let kind = if need.stage.is_some() { "stage" } else { "image" };
                json!({ "instruction": need.instruction, kind: need.name })
            });
            let needs: Vec<Value> = needs.collect();
            json!({ "name": stage.name, "from": stage.base, "needs": needs })
        });
        shown.collect()
    };
    json!({ "before": side(&report.before), "after": side(&report.after) })
}

fn sides(report: &StagesReport) -> [(&'static str, &[StageShown]); 2] {
    [("before", &report.before), ("after", &report.after)]
}

/// A stage and what it is made of; what was shown before is only named.
fn branch(
    out: &mut String,
    stages: &[StageShown],
    index: usize,
    edge: &str,
    indent: &str,
    seen: &mut BTreeSet<usize>,
) {
    let Some(StageShown { name, base, needs }) = stages.get(index) else { return };
    let is_new = seen.insert(index);
    let again = if is_new { "" } else { " (see above)" };
    _ = writeln!(out, "{indent}└── {edge}{name} FROM {base}{again}");
    if !is_new {
        return;
    }
    let indent = format!("{indent}    ");
    for need in needs {
        let edge = format!("{} ", need.instruction);
        match need.stage {
            Some(stage) => branch(out, stages, stage, &edge, &indent, seen),
            None => _ = writeln!(out, "{indent}└── {edge}image {}", need.name),
        }
    }
}

/// A text that means nothing to mermaid or markdown.
fn label(text: &str) -> String {
    let is_plain = |char: &char| char.is_alphanumeric() || " .:/@_-$+".contains(*char);
    text.chars().filter(is_plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: &str = "FROM golang:1.22 AS build\nRUN go build\nFROM build AS test\nRUN go test\n\
                         FROM debian:12\nCOPY --from=build /a /a\nCOPY --from=nginx:1 /b /b\n";

    fn report() -> StagesReport {
        let before = "FROM golang:1.22\nRUN go build\n";
        StagesReport::of(before, AFTER, &|text: &str| text.to_owned()).unwrap()
    }

    #[test]
    fn a_tree_begins_with_the_final_stage() {
        let expected = "  before: 1 stage
  └── stage 0 FROM golang:1.22
  after: 3 stages
  └── stage 2 FROM debian:12
      └── COPY build FROM golang:1.22
      └── COPY image nginx:1
      not used: test FROM build
";
        assert_eq!(tree(&report(), "  "), expected);
    }

    #[test]
    fn a_graph_has_stages_as_nodes_and_instructions_as_edges() {
        let expected = r#"```mermaid
graph LR
  subgraph before
    before0["stage 0<br/>FROM golang:1.22"]
  end
  subgraph after
    after0["build<br/>FROM golang:1.22"]
    after1["test<br/>FROM build"]
    after2["stage 2<br/>FROM debian:12"]
    after0 -- FROM --> after1
    after0 -- COPY --> after2
    after2x1(["nginx:1"]) -- COPY --> after2
  end
```
"#;
        assert_eq!(mermaid(&report()), expected);
    }

    #[test]
    fn a_stage_that_copies_from_itself_ends() {
        let itself = "FROM a AS b\nCOPY --from=b / /\n";
        let report = StagesReport::of("FROM a\n", itself, &|text: &str| text.to_owned()).unwrap();
        assert_eq!(tree(&report, "").matches("(see above)").count(), 1);
        assert_eq!(StagesReport::of(itself, itself, &|text: &str| text.to_owned()), None);
    }

    #[test]
    fn names_are_hidden_and_cannot_end_a_label() {
        let text = "FROM a\"];click AS x\nFROM y\nCOPY --from=secret / /\n";
        let hide = |text: &str| text.replace("secret", "***");
        let report = StagesReport::of("FROM a\n", text, &hide).unwrap();
        let graph = mermaid(&report);
        assert!(!graph.contains("secret") && !tree(&report, "").contains("secret"), "{graph}");
        insta::assert_snapshot!(graph, @r#"
        ```mermaid
        graph LR
          subgraph before
            before0["stage 0<br/>FROM a"]
          end
          subgraph after
            after0["x<br/>FROM aclick"]
            after1["stage 1<br/>FROM y"]
            after1x0([""]) -- COPY --> after1
          end
        ```
        "#);
    }
}
