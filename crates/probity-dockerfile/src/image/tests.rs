//! Image references, valid and not.

use proptest::prelude::*;

use super::{ImageError, ImageRef};

const SHA256: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn references_are_made_canonical() {
    // input, canonical form, familiar name
    let cases = [
        ("alpine", "docker.io/library/alpine", "alpine"),
        ("alpine:3.20", "docker.io/library/alpine:3.20", "alpine"),
        ("docker.io/alpine", "docker.io/library/alpine", "alpine"),
        ("docker.io/library/alpine", "docker.io/library/alpine", "alpine"),
        ("index.docker.io/alpine:1", "docker.io/library/alpine:1", "alpine"),
        ("library/alpine", "docker.io/library/alpine", "alpine"),
        ("library/a/b", "docker.io/library/a/b", "library/a/b"),
        ("me/app", "docker.io/me/app", "me/app"),
        ("me/deep/app:v1", "docker.io/me/deep/app:v1", "me/deep/app"),
        ("ghcr.io/me/app", "ghcr.io/me/app", "ghcr.io/me/app"),
        ("localhost/app", "localhost/app", "localhost/app"),
        ("localhost", "docker.io/library/localhost", "localhost"),
        ("localhost:5000/app:1", "localhost:5000/app:1", "localhost:5000/app"),
        ("registry:5000/app", "registry:5000/app", "registry:5000/app"),
        ("registry:5000", "docker.io/library/registry:5000", "registry"),
        ("127.0.0.1:80/app", "127.0.0.1:80/app", "127.0.0.1:80/app"),
        ("[::1]:5000/app", "[::1]:5000/app", "[::1]:5000/app"),
        ("[fe80::1]/app", "[fe80::1]/app", "[fe80::1]/app"),
        ("UPPER/app", "UPPER/app", "UPPER/app"),
        ("a_b.c/d", "a_b.c/d", "a_b.c/d"),
        ("a__b-c.d/e---f:T_1.x-y", "a__b-c.d/e---f:T_1.x-y", "a__b-c.d/e---f"),
        ("scratch", "docker.io/library/scratch", "scratch"),
    ];
    for (input, canonical, familiar) in cases {
        let image = ImageRef::parse(input).unwrap_or_else(|error| panic!("{input}: {error}"));
        assert_eq!(image.to_string(), canonical, "{input}");
        assert_eq!(image.familiar_name(), familiar, "{input}");
    }
}

#[test]
fn tags_and_digests_have_places() {
    for (name, tag) in [("alpine", "3.20"), ("host:5000/a/b", "x"), ("docker.io/me/app", "v1")] {
        let input = format!("{name}:{tag}@{SHA256}");
        let image = ImageRef::parse(&input).unwrap();
        assert_eq!(&input[image.name_range.clone()], name);
        assert_eq!(&input[image.tag_range.clone().unwrap()], tag);
        assert_eq!(&input[image.digest_range.clone().unwrap()], SHA256);
        assert_eq!(image.tag.as_deref(), Some(tag));
        assert_eq!(image.digest.as_deref(), Some(SHA256));
    }
    let input = format!("host:5000/a@{SHA256}");
    let image = ImageRef::parse(&input).unwrap();
    assert_eq!((image.tag, image.tag_range), (None, None));
    assert_eq!(&input[image.digest_range.unwrap()], SHA256);
    let image = ImageRef::parse("host:5000/a").unwrap();
    assert_eq!((image.name_range, image.digest_range), (0..11, None));
}

#[test]
fn a_first_element_that_is_no_registry_belongs_to_the_path() {
    let image = ImageRef::parse("a_b.c/d").unwrap();
    assert_eq!((image.domain.as_str(), image.path.as_str()), ("", "a_b.c/d"));
}

#[test]
fn wrong_references_are_refused() {
    let format = |reference: &str| ImageError::Format { reference: reference.to_owned() };
    let formats = [
        ":tag",
        "a:",
        "a:b:c",
        "a//b",
        "/a",
        "a/",
        "a b",
        " a",
        "a:-x",
        "a:.x",
        "a..b",
        "a___b",
        "-a",
        "a-",
        "a_",
        "_a",
        "a._b",
        "a@",
        "a@sha256",
        "a@sha256:abc",
        "a@sha256:",
        "é",
        "$x",
        "-host.x/a",
        "host.x:/a",
        "host:p/a",
        "[::g]/a",
        "[]/a",
        "[::1]5000/a",
        "a.b/",
        "https://a",
    ];
    for input in formats {
        assert_eq!(ImageRef::parse(input), Err(format(input)), "{input}");
    }
    let upper = |name: &str| Err(ImageError::UpperCase { name: name.to_owned() });
    assert_eq!(ImageRef::parse("Alpine"), upper("library/Alpine"));
    assert_eq!(ImageRef::parse("me/App:x"), upper("me/App"));
    assert_eq!(ImageRef::parse("ghcr.io/Me/app"), upper("Me/app"));
    assert_eq!(ImageRef::parse(""), Err(ImageError::Empty));
    let identifier = "0123456789abcdef".repeat(4);
    let error = Err(ImageError::Identifier { reference: identifier.clone() });
    assert_eq!(ImageRef::parse(&identifier), error);
}

#[test]
fn lengths_are_limited() {
    let long = |length: usize| format!("a.b/{}", "x".repeat(length));
    assert!(ImageRef::parse(&long(255)).is_ok());
    assert_eq!(ImageRef::parse(&long(256)), Err(ImageError::TooLong { length: 256 }));
    let tagged = |length: usize| format!("a:{}", "x".repeat(length));
    assert!(ImageRef::parse(&tagged(128)).is_ok());
    assert!(matches!(ImageRef::parse(&tagged(129)), Err(ImageError::Format { .. })));
}

#[test]
fn digests_are_checked_against_their_algorithm() {
    let hex = |length: usize| "ab".repeat(length / 2);
    for (algorithm, length) in [("sha256", 64), ("sha384", 96), ("sha512", 128)] {
        assert!(ImageRef::parse(&format!("a@{algorithm}:{}", hex(length))).is_ok());
        let short = ImageRef::parse(&format!("a@{algorithm}:{}", hex(length - 2)));
        assert!(matches!(short, Err(ImageError::InvalidDigest { .. })), "{algorithm}");
    }
    let upper = ImageRef::parse(&format!("a@sha256:{}", "AB".repeat(32)));
    assert!(matches!(upper, Err(ImageError::InvalidDigest { .. })));
    let unknown = ImageRef::parse(&format!("a@md5:{}", hex(32)));
    assert!(matches!(unknown, Err(ImageError::UnknownDigestAlgorithm { .. })));
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in "[a-cA:@/._\\[\\]0-9é -]{0,24}") {
        if let Ok(image) = ImageRef::parse(&text) {
            prop_assert_eq!(image.tag.as_deref(), image.tag_range.map(|range| &text[range]));
            prop_assert_eq!(image.digest.as_deref(), image.digest_range.map(|range| &text[range]));
        }
    }

    #[test]
    fn the_canonical_form_is_canonical(text in "([a-c]{1,3}(\\.[a-c])?(:[0-9]{1,2})?/)?[a-c]{1,3}(/[a-c]{1,3}){0,2}(:[a-zA-Z0-9]{1,4})?") {
        let image = ImageRef::parse(&text).unwrap();
        let again = ImageRef::parse(&image.to_string()).unwrap();
        prop_assert_eq!(again.to_string(), image.to_string());
        prop_assert_eq!(again.familiar_name(), image.familiar_name());
    }
}
