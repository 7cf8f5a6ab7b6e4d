//! A real registry with TLS and a password, and images for it: OCI layouts that skopeo pushes.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

pub(crate) const USER: &str = "tester";
pub(crate) const PASSWORD: &str = "pass word:1";

/// bcrypt of the password, as `htpasswd -B` writes it.
const HTPASSWD: &str = "tester:$2a$05$abcdefghijklmnopqrstuusWsnA3PCG6MJhsuMdaZgkE21cQMslZi\n";

/// A running `docker-registry`; it ends with the value.
pub(crate) struct Registry {
    directory: TempDir,
    child: Child,
    /// `127.0.0.1:PORT`.
    pub(crate) host: String,
}

impl Registry {
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        certificates(path);
        fs::write(path.join("htpasswd"), HTPASSWD).unwrap();
        let at = path.display();
        let config = format!(
            "version: 0.1\nlog:\n  level: info\nstorage:\n  filesystem:\n    rootdirectory: {at}/data\n\
             http:\n  addr: 127.0.0.1:0\n  tls:\n    certificate: {at}/server.pem\n    key: {at}/server.key\n\
             auth:\n  htpasswd:\n    realm: test\n    path: {at}/htpasswd\n"
        );
        fs::write(path.join("config.yml"), config).unwrap();
        let mut child = Command::new(tool("docker-registry"))
            .args(["serve", "config.yml"])
            .current_dir(path)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, listening) = mpsc::channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // The log is read to its end, so that the registry never waits for us.
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, rest)) = line.split_once("listening on ") {
                    let host: String =
                        rest.chars().take_while(|&char| char != ',' && char != '"').collect();
                    drop(sender.send(host));
                }
            }
        });
        let host = listening.recv_timeout(Duration::from_secs(60)).unwrap();
        Self { directory, child, host }
    }

    /// The certificate of the authority that vouches for the registry.
    pub(crate) fn authority(&self) -> PathBuf {
        self.directory.path().join("certs/ca.crt")
    }

    /// Pushes an image with one manifest for each platform, and returns the digest of its index; one
    /// platform makes no index.
    pub(crate) fn push(&self, name: &str, images: &[(&str, Value)]) -> String {
        let layout = tempfile::tempdir().unwrap();
        let digest = write_layout(layout.path(), images);
        let output = Command::new(tool("skopeo"))
            .args(["copy", "--all", "--preserve-digests", "--insecure-policy", "--quiet"])
            .arg(format!("--dest-creds={USER}:{PASSWORD}"))
            .arg(format!("--dest-cert-dir={}", self.directory.path().join("certs").display()))
            .arg(format!("oci:{}:it", layout.path().display()))
            .arg(format!("docker://{}/{name}", self.host))
            .env("HOME", layout.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        digest
    }
}

impl Registry {
    /// From now on nobody answers there.
    pub(crate) fn stop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.stop();
    }
}

fn tool(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("target/registry/usr/bin").join(name);
    assert!(path.is_file(), "{} is missing: run script/tools", path.display());
    path
}

/// An authority and a server that it vouches for: an authority's own certificate is no server's.
fn certificates(directory: &Path) {
    let make = |words: &str| {
        let output =
            Command::new("openssl").current_dir(directory).args(words.split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {words}: {said}");
    };
    fs::create_dir(directory.join("certs")).unwrap();
    let curve = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    make(&format!(
        "req -x509 {curve} -keyout ca.key -out certs/ca.crt -subj /CN=authority \
         -addext basicConstraints=critical,CA:TRUE"
    ));
    make(&format!(
        "req -x509 {curve} -keyout server.key -out server.pem -subj /CN=server \
         -addext subjectAltName=IP:127.0.0.1,DNS:localhost \
         -addext basicConstraints=critical,CA:FALSE -CA certs/ca.crt -CAkey ca.key"
    ));
}

/// Images without layers, each with a configuration, as a directory that skopeo reads.
fn write_layout(directory: &Path, images: &[(&str, Value)]) -> String {
    let blobs = directory.join("blobs/sha256");
    fs::create_dir_all(&blobs).unwrap();
    let keep = |value: &Value| -> (String, usize) {
        let bytes = value.to_string().into_bytes();
        let hex: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        fs::write(blobs.join(&hex), &bytes).unwrap();
        (format!("sha256:{hex}"), bytes.len())
    };
    let mut manifests = Vec::new();
    for (platform, config) in images {
        let mut parts = platform.split('/');
        let (os, architecture) = (parts.next().unwrap(), parts.next().unwrap());
        let blob = json!({
            "os": os, "architecture": architecture, "config": config,
            "rootfs": {"type": "layers", "diff_ids": []},
        });
        let (digest, size) = keep(&blob);
        let (digest, size) = keep(&json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": {
                "mediaType": "application/vnd.oci.image.config.v1+json",
                "digest": digest, "size": size,
            },
            "layers": [],
        }));
        manifests.push(json!({
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": digest, "size": size,
            "platform": {"os": os, "architecture": architecture},
        }));
    }
    let mut top = manifests.first().unwrap().clone();
    if manifests.len() > 1 {
        let kind = "application/vnd.oci.image.index.v1+json";
        let index = json!({"schemaVersion": 2, "mediaType": kind, "manifests": manifests});
        let (digest, size) = keep(&index);
        top = json!({"mediaType": kind, "digest": digest, "size": size});
    }
    top["annotations"] = json!({"org.opencontainers.image.ref.name": "it"});
    let index = json!({"schemaVersion": 2, "manifests": [top]});
    fs::write(directory.join("index.json"), index.to_string()).unwrap();
    fs::write(directory.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    top["digest"].as_str().unwrap().to_owned()
}
