//! A path in a record: as text, or as its bytes where it is not text.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes(Vec<u8>),
}

pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    let form = match path.to_str() {
        Some(text) => Form::Text(text.to_owned()),
        None => Form::Bytes(path.as_os_str().as_bytes().to_owned()),
    };
    form.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    Ok(match Form::deserialize(from)? {
        Form::Text(text) => PathBuf::from(text),
        Form::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    })
}
