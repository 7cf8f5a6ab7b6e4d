//! Sizes and quotas: what is too much is refused before it is read.

use std::{fs::File, path::Path};

use probity_scope::{Policy, Quota, Scope};

use crate::{Place, policy, read};

#[test]
fn a_huge_sparse_file_is_refused_by_its_size_and_its_beginning_can_be_read() {
    let place = Place::new();
    File::create(place.root().join("huge")).unwrap().set_len(1 << 40).unwrap();
    let scope = place.scope();
    assert_eq!(
        read(&scope, "huge"),
        Err("huge: 1099511627776 bytes, more than the limit of 1048576".to_owned())
    );
    let prefix = scope.read_prefix(Path::new("huge"), 16).unwrap();
    assert_eq!((prefix.bytes, prefix.total), (vec![0; 16], 1 << 40));
}

#[test]
fn the_smaller_of_the_calls_limit_and_the_policys_holds() {
    let place = Place::new();
    place.write("ten", b"0123456789");
    let scope = place.scope();
    for (limit, expected) in [(9, false), (10, true), (11, true)] {
        assert_eq!(scope.read(Path::new("ten"), limit).is_ok(), expected, "{limit}");
    }
    let small = Scope::open(&place.root(), Policy { max_file_bytes: 9, ..policy() }).unwrap();
    assert!(small.read(Path::new("ten"), u64::MAX).is_err());
}

#[test]
fn bytes_come_back_as_they_are() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..=255).collect();
    place.write("binary", &bytes);
    place.write("empty", b"");
    let scope = place.scope();
    assert_eq!(scope.read(Path::new("binary"), 1000).unwrap(), bytes);
    assert_eq!(scope.read(Path::new("empty"), 0).unwrap(), b"");
}

#[test]
fn quotas_count_over_all_calls_of_a_scope() {
    let place = Place::new();
    place.write("four", b"1234");
    let open = |bytes, files| {
        Scope::open(&place.root(), Policy { quota: Quota { bytes, files }, ..policy() }).unwrap()
    };
    let by_bytes = open(10, 100);
    let by_files = open(100, 2);
    for scope in [&by_bytes, &by_files] {
        assert!(read(scope, "four").is_ok());
        assert!(read(scope, "four").is_ok());
    }
    assert_eq!(read(&by_bytes, "four"), Err("four: the quota of 10 bytes is used up".to_owned()));
    assert_eq!(read(&by_files, "four"), Err("four: the quota of 2 files is used up".to_owned()));
    assert!(by_files.open_file(Path::new("four")).is_err());
}
