//! Asks container registries about images: digests, platforms and configurations.
//!
//! **Invariant:** the crate reads no file, no environment and starts no program. Credentials,
//! certificates, proxies, mirrors and the cache are values of the caller. Every answer is bounded in
//! size while it arrives, every wait ends at the caller's deadline, and no content is believed that
//! does not have the digest it was asked by.

mod authorize;
mod cache;
mod challenge;
mod client;
mod configuration;
mod digest;
mod error;
mod fetch;
mod look_up;
mod manifest;
mod platform;
mod reference;
mod retry_after;

pub use crate::{
    cache::{Cache, NoCache},
    client::{Credential, Proxies, Settings},
    configuration::Configuration,
    digest::Digest,
    error::Error,
    look_up::{Image, Question, TagNow, look_up},
    platform::Platform,
    reference::Reference,
};
