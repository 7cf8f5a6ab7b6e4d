//! What each command does, one file a command.

pub(crate) mod accept;
pub(crate) mod acp;
pub(crate) mod agent;
pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod containers;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod hadolint;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod names;
pub(crate) mod review;
pub(crate) mod rules;
pub(crate) mod stop;
pub(crate) mod version;
