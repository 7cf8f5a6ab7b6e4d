//! A review as a whole: repositories, claims, and what becomes of them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set its stage fails there and then"
)]

mod proof;
