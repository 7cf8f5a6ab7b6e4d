//! Secrets in what is sent away and in what is kept.

use probity_secrets::{Confidence, Detector, DetectorError, Options, mask_same_length};

#[derive(Debug)]
pub struct Secrets {
    detector: Detector,
}

impl Secrets {
    pub fn new() -> Result<Self, DetectorError> {
        Ok(Self { detector: Detector::new(&Options::default())? })
    }

    /// Without what has the form of a secret, and without what is called a password. Another name that
    /// promises a secret is not enough: contracts are full of hashes and tokens, and a model that is
    /// not shown those cannot judge anything.
    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        let mut secrets = self.detector.find(text);
        secrets.retain(|secret| {
            secret.confidence != Confidence::Low || secret.kind == "generic-password"
        });
        mask_same_length(text, &secrets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text, and the secret in it, if there is one.
    const CASES: &[(&str, &str)] = &[
        (
            "let id = \"mainnetK7fQ2mXw9Lr4Tz8Bn1Vd6Yc3Hs5Jg0Pu\"",
            "mainnetK7fQ2mXw9Lr4Tz8Bn1Vd6Yc3Hs5Jg0Pu",
        ),
        (
            "project_id: preprodA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6",
            "preprodA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6",
        ),
        (
            "const key = 'ed25519_sk1h3nlrlqwm7dyfv2k8x9szcgpwtu0a5rj4e6qlm3nyp8cv7ztk2sq9rw4xf'",
            "ed25519_sk1h3nlrlqwm7dyfv2k8x9szcgpwtu0a5rj4e6qlm3nyp8cv7ztk2sq9rw4xf",
        ),
        (
            "{\"type\": \"PaymentSigningKeyShelley_ed25519\", \"description\": \"\", \"cborHex\": \"58204c1f8e7a92b35d60e1f7a4c89b2d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f\"}",
            "58204c1f8e7a92b35d60e1f7a4c89b2d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f",
        ),
        (
            "mnemonic = \"ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic\"",
            "ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic",
        ),
        ("wallet_password = \"Tr4vel-light7\"", "Tr4vel-light7"),
        // A public key, a hash, a policy, prose and code are what a model has to see.
        (
            "{\"type\": \"PaymentVerificationKeyShelley_ed25519\", \"cborHex\": \"58204c1f8e7a92b35d60e1f7a4c89b2d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f\"}",
            "",
        ),
        ("const policy = #\"4c1f8e7a92b35d60e1f7a4c89b2d3e5f60718293a4b5c6d7e8f90a1b\"", ""),
        ("// the wallet: every output that leaves this script must carry the same datum here", ""),
        ("let seed = list.foldl(inputs, fn(input) { input.output_reference })", ""),
        ("when network is { Mainnet -> mainnet_parameters Preview -> preview_parameters }", ""),
    ];

    #[test]
    fn keys_of_wallets_are_starred_out_and_code_is_not() {
        let secrets = Secrets::new().unwrap();
        for (text, secret) in CASES {
            let masked = secrets.mask(text);
            if secret.is_empty() {
                assert_eq!(masked, *text);
            } else {
                let stars = "*".repeat(secret.len());
                assert_eq!(masked, text.replace(secret, &stars));
            }
        }
    }
}
