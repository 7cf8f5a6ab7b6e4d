//! Whether a login is the one that was there, renewed.
//!
//! What an agent leaves after a review may be the work of whoever wrote the repository. A renewed login
//! has new tokens and times in the old places. It has no new key, leads to no other server, and switches
//! nothing on. Only an object of JSON can be judged like that; agents that renew a login keep it as one.

use serde_json::Value;

/// The bytes to keep, if these are the login renewed.
///
/// They are written anew from what was read: another reader could take a key that is there twice for
/// its other value.
pub(crate) fn renewed(kept: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    let (kept, now): (Value, Value) =
        (serde_json::from_slice(kept).ok()?, serde_json::from_slice(now).ok()?);
    if !kept.is_object() || !has_shape(&kept, &now) {
        return None;
    }
    serde_json::to_vec_pretty(&now).ok()
}

fn has_shape(kept: &Value, now: &Value) -> bool {
    match (kept, now) {
        (Value::Number(_), Value::Number(_)) => true,
        (Value::String(kept), Value::String(now)) => {
            kept == now || (is_token(kept) && is_token(now))
        }
        (Value::Array(kept), Value::Array(now)) => {
            now.iter().all(|item| kept.iter().any(|known| has_shape(known, item)))
        }
        (Value::Object(kept), Value::Object(now)) => {
            let same = |(key, now)| kept.get(key).is_some_and(|kept| has_shape(kept, now));
            kept.len() == now.len() && now.iter().all(same)
        }
        // A switch is no part of a login that is renewed.
        (kept, now) => kept == now,
    }
}

/// Text that can be a token, a name or a time. The address of a server stays what it was: the next
/// session would send its login and its prompts there.
fn is_token(text: &str) -> bool {
    !text.contains("://") && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::renewed;

    #[test]
    fn only_new_values_in_the_old_places_are_a_renewed_login() {
        let kept = r#"{"oauth": {"token": "a", "expires": 1, "scopes": ["x", "y"], "plan": null,
            "trusted": false}, "server": "https://model.test"}"#;
        for (what, now, is_renewed) in [
            ("the same", kept.to_owned(), true),
            ("a new token", kept.replace("\"a\"", "\"b\""), true),
            ("a new time", kept.replace(": 1", ": 2.5"), true),
            ("fewer scopes", kept.replace(", \"y\"", ""), true),
            (
                "another order",
                r#"{"server": "https://model.test", "oauth": {"scopes": [],
                "plan": null, "expires": 3, "token": "c", "trusted": false}}"#
                    .to_owned(),
                true,
            ),
            ("another server", kept.replace("model.test", "evil.test"), false),
            ("a token that is an address", kept.replace("\"a\"", "\"https://evil.test\""), false),
            ("a token of two lines", kept.replace("\"a\"", r#""a\nb""#), false),
            ("a switch", kept.replace("false", "true"), false),
            ("a plan", kept.replace("null", "\"p\""), false),
            ("another type", kept.replace("\"a\"", "1"), false),
            ("an object in a list", kept.replace("\"y\"", "{}"), false),
            ("a new key", kept.replace("\"server\"", "\"hooks\": {}, \"server\""), false),
            ("a lost key", kept.replace("\"plan\": null,", ""), false),
            ("another key", kept.replace("server", "hooks"), false),
            ("more after the end", format!("{kept} x"), false),
            ("nothing", String::new(), false),
            ("no object", "[]".to_owned(), false),
        ] {
            assert_eq!(renewed(kept.as_bytes(), now.as_bytes()).is_some(), is_renewed, "{what}");
        }
        // What cannot be compared is not kept, however alike it is.
        assert_eq!(renewed(b"KEY=1", b"KEY=2"), None);
    }

    #[test]
    fn a_key_that_is_there_twice_is_kept_once() {
        let kept = renewed(br#"{"token": "a"}"#, br#"{"token": {"x": 1}, "token": "b"}"#);
        assert_eq!(kept.unwrap(), b"{\n  \"token\": \"b\"\n}");
    }
}
