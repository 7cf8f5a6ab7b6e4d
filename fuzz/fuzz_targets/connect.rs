//! Any bytes as the head that a sandboxed program sends to the proxy for allowed hosts.
#![no_main]

#[path = "../../crates/probity-sandbox/src/door/request.rs"]
#[allow(dead_code, reason = "the module belongs to another crate")]
mod request;

use libfuzzer_sys::fuzz_target;
use request::Request;

fuzz_target!(|bytes: &[u8]| {
    let Ok(Some(request)) = Request::read(&mut &bytes[..]) else { return };
    let (target, forward) = (request.target, request.forward);
    assert!(
        !target.host.is_empty() && !target.host.contains(['@', '\0', '\r', '\n']),
        "{target:?}"
    );
    // A forwarded head is one head: nothing in it can begin a second request.
    if let Some(head) = forward {
        let ends = head.windows(4).filter(|window| *window == b"\r\n\r\n").count();
        assert!(ends == 1 && head.ends_with(b"\r\n\r\n"), "{head:?}");
    }
});
