//! One name for a repository, however it was cloned.

/// `github.com/owner/name` of any address of it, without user, password, scheme and `.git`.
/// Nothing for a path on this machine, whose name says nothing elsewhere.
pub(super) fn normal(url: &str) -> Option<String> {
    let rest = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.to_owned(),
        // `user@host:path`, as ssh has it; a slash before the colon makes it a path.
        None => match url.split_once(':') {
            Some((host, path)) if !host.contains('/') => format!("{host}/{path}"),
            _ => return None,
        },
    };
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit('@').next().unwrap_or(host);
    let path = path.trim_matches('/');
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let path = path.strip_suffix(".git").unwrap_or(path);
    if host.is_empty() || path.is_empty() {
        return None;
    }
    let name = format!("{}/{path}", host.to_ascii_lowercase());
    Some(name.chars().filter(|char| !char.is_control()).take(300).collect())
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn every_way_to_clone_gives_one_name_and_no_password() {
        for url in [
            "https://github.com/owner/name.git",
            "https://user:secret@github.com/owner/name",
            "git@github.com:owner/name.git",
            "ssh://git@GitHub.com/owner/name/",
            "https://github.com/owner/name.git?token=secret",
        ] {
            assert_eq!(normal(url).as_deref(), Some("github.com/owner/name"), "{url}");
        }
        for url in ["/srv/name.git", "../name", "file:///srv/name", "https://host", ""] {
            assert_eq!(normal(url), None, "{url}");
        }
    }
}
