//! Texts of a script that depend on what was asked.

use serde_json::Value;

/// The names that texts may use, and what they stand for.
#[derive(Debug, Default)]
pub(super) struct Template {
    names: Vec<(String, String)>,
}

impl Template {
    /// For a request with these parameters.
    pub(super) fn of(params: &Value, captures: &[(String, [String; 2])]) -> Self {
        let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        let blocks = params.get("prompt").and_then(Value::as_array).into_iter().flatten();
        let prompt: Vec<&str> = blocks.filter_map(|block| block.get("text")?.as_str()).collect();
        let prompt = prompt.join("\n");
        let mut names: Vec<_> = captures
            .iter()
            .map(|(name, [after, before])| {
                let found = between(&prompt, after, before).unwrap_or_default();
                (format!("${{{name}}}"), found.to_owned())
            })
            .collect();
        names.push(("${session}".to_owned(), session.to_owned()));
        names.push(("${prompt}".to_owned(), prompt));
        Self { names }
    }

    /// Fills in a text, in one pass: what is filled in is not looked at again.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut output = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, found) = rest.split_at(at);
            output.push_str(before);
            let known = self.names.iter().find(|(name, _)| found.starts_with(name.as_str()));
            let (value, length) = match known {
                Some((name, value)) => (value.as_str(), name.len()),
                None => ("${", 2),
            };
            output.push_str(value);
            rest = found.get(length..).unwrap_or_default();
        }
        output + rest
    }

    /// Fills in every string of a value.
    pub(super) fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| (key.clone(), self.fill_value(value))).collect()
            }
            other => other.clone(),
        }
    }
}

/// The text after the first `after` and before the next `before`; an empty `before` is the end.
fn between<'a>(text: &'a str, after: &str, before: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(after)?;
    if before.is_empty() { Some(rest) } else { rest.split_once(before).map(|(found, _)| found) }
}

#[cfg(test)]
mod tests {
    use super::Template;
    use serde_json::json;

    #[test]
    fn captures_come_from_the_prompt_and_are_filled_in_once() {
        let params = json!({"sessionId": "s", "prompt": [
            {"type": "text", "text": "MARK=${session};\nFROM x\n"}, {"type": "image"},
            {"type": "text", "text": "end"},
        ]});
        let ends = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let captures = [
            ("mark".to_owned(), ends("MARK=", ";")),
            ("tail".to_owned(), ends("FROM x\n", "")),
            ("none".to_owned(), ends("absent", "")),
        ];
        let template = Template::of(&params, &captures);
        for (text, expected) in [
            ("<${mark}>", "<${session}>"),
            ("${tail}|${none}|${session}", "\nend||s"),
            ("${unknown} $ ${", "${unknown} $ ${"),
            ("${prompt}", "MARK=${session};\nFROM x\n\nend"),
        ] {
            assert_eq!(template.fill(text), expected, "{text}");
        }
        assert_eq!(template.fill_value(&json!({"a": ["${session}", 1]})), json!({"a": ["s", 1]}));
    }
}
