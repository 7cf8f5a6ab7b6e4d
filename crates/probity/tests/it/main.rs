//! End-to-end tests: the built binary, run as a user would run it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod acp;
mod agent;
mod ai_fix;
mod attacks;
mod audit;
mod binary;
mod check;
mod configuration;
mod containers;
mod demo;
mod deploy;
mod doctor;
mod exec;
mod failures;
mod fix;
mod formats;
mod guides;
mod hadolint;
mod help;
mod left_behind;
mod model_server;
mod names;
mod oracle;
mod presets;
mod protocol;
mod quarantine;
mod real_agents;
mod regressions;
mod release;
mod review;
mod sarif;
mod seats;
mod secrets;
mod settings;
mod shellcheck;
