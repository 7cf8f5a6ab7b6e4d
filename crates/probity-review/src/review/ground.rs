//! What a review stands on: the files of the repository, and the change under review.

use std::{
    fs,
    io::{self, Read as _},
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    path::Path,
};

use probity_proof::{Change, GitFacts, Note, Tree, has_commit};
use probity_scope::{Ignored, Policy, Quota, Scope, open_file};
use sha2::{Digest as _, Sha256};

use super::{Checkout, Event, Events, Failed, StepError};
use crate::{
    ReviewConfig,
    claims::{ClaimSettings, Claims, ClaimsError, hex},
};

pub(super) struct Ground {
    pub(super) tree: Tree,
    /// The paths of all files that tests can see.
    pub(super) names: Vec<String>,
    pub(super) change: Option<Change>,
    /// Only line texts and manifests are read through it, and only by us.
    pub(super) scope: Scope,
}

impl Ground {
    pub(super) fn look(
        checkout: &Checkout,
        base: Option<&str>,
        events: &Events<'_>,
    ) -> Result<Self, Failed> {
        events(Event::Step("looking at the repository"));
        let tree = Tree::of(&checkout.repo, checkout.output.as_deref())?;
        let names = tree.names();
        let change = match base {
            Some(base) => Some(probity_proof::change(&checkout.repo, base)?),
            None => None,
        };
        let policy = Policy {
            allow_sensitive: false,
            ignored: Ignored::Shown,
            max_file_bytes: 8 << 20,
            quota: Quota::UNLIMITED,
        };
        let scope = Scope::open(&checkout.repo, policy).map_err(|error| Failed::machine(&error))?;
        Ok(Self { tree, names, change, scope })
    }

    /// The ground of claims that another process made, if it is the same here.
    pub(super) fn of_claims(
        checkout: &Checkout,
        claims: &Claims,
        events: &Events<'_>,
    ) -> Result<Self, StepError> {
        let facts = GitFacts::of(&checkout.repo);
        let theirs = &claims.metadata.commit;
        if facts.commit != *theirs {
            let (theirs, here) = (theirs.clone(), facts.commit);
            return Err(ClaimsError::Commit { theirs, here }.into());
        }
        let base = claims.metadata.merge_base.as_deref();
        if let Some(base) = base
            && !has_commit(&checkout.repo, base)
        {
            return Err(ClaimsError::NoMergeBase(base.to_owned()).into());
        }
        let output = claims.output.as_ref().map(|output| checkout.repo.join(output));
        let checkout = Checkout { output, ..checkout.clone() };
        let ground = Self::look(&checkout, base, events)?;
        if ground.digest(&checkout) != claims.tree {
            let is_dirty = facts.notes.contains(&Note::Dirty);
            return Err(ClaimsError::Tree { is_dirty }.into());
        }
        Ok(ground)
    }

    /// Whether a file is under review.
    pub(super) fn is_reviewed(&self, config: &ReviewConfig, path: &str) -> bool {
        config.should_review(path) && self.change.as_ref().is_none_or(|change| change.touches(path))
    }

    /// Whether an issue of an earlier review is under review in this file.
    pub(super) fn is_known_reviewed(&self, settings: &ClaimSettings, path: &str) -> bool {
        if settings.prove_all_known {
            return settings.config.should_review(path);
        }
        self.is_reviewed(&settings.config, path)
    }

    /// The files under review.
    pub(super) fn files(&self, config: &ReviewConfig) -> Vec<String> {
        self.names.iter().filter(|path| self.is_reviewed(config, path)).cloned().collect()
    }

    /// Of the names, kinds and texts of all files but claims files and parts.
    pub(super) fn digest(&self, checkout: &Checkout) -> String {
        let mut digest = Sha256::new();
        for name in &self.names {
            if let Some(file) = file_digest(&checkout.repo.join(name)) {
                digest.update(name);
                digest.update([0]);
                digest.update(file);
            }
        }
        format!("sha256:{}", hex(&digest.finalize()))
    }
}

/// How claims files and parts begin, which lie in a checkout now and then and are no part of it.
const OWN_FILE: &[u8] = b"{\n  \"document\": \"probity-review-";

/// What cannot be read here is not what could be read elsewhere.
fn file_digest(path: &Path) -> Option<[u8; 32]> {
    let mut digest = Sha256::new();
    if let Ok(target) = fs::read_link(path) {
        digest.update(b"link\0");
        digest.update(target.as_os_str().as_bytes());
        return Some(digest.finalize().into());
    }
    let mut buffer = vec![0; 64 << 10];
    let mut read = || -> io::Result<bool> {
        let mut file = open_file(path)?;
        let is_program = file.metadata()?.permissions().mode() & 0o100 != 0;
        digest.update(if is_program { &b"program\0"[..] } else { b"file\0" });
        let mut is_first = true;
        loop {
            let count = file.read(&mut buffer)?;
            let bytes = buffer.get(..count).unwrap_or_default();
            if is_first && bytes.starts_with(OWN_FILE) {
                return Ok(false);
            }
            if bytes.is_empty() {
                return Ok(true);
            }
            is_first = false;
            digest.update(bytes);
        }
    };
    match read() {
        Ok(true) => {}
        Ok(false) => return None,
        Err(_) => digest.update(b"unreadable"),
    }
    Some(digest.finalize().into())
}
