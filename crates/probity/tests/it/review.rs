//! `probity review` and `ci-agent-review`, as a person and as a CI step would run them.
