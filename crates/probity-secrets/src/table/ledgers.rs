//! Keys of wallets, and of services that read a ledger.

use crate::{check, rule::Rule};

pub(super) const RULES: &[Rule] = &[
    // The network and thirty-two characters.
    Rule::token(
        "blockfrost-project-id",
        "Blockfrost project id",
        &["mainnet", "preprod", "preview", "testnet", "ipfs"],
        "[A-Za-z0-9]{32}",
    ),
    // Private keys in bech32, plain and extended, of wallets and of stake pools.
    Rule::token(
        "cardano-signing-key",
        "Cardano signing key",
        &[
            "ed25519_sk1",
            "ed25519e_sk1",
            "ed25519bip32_sk1",
            "xprv1",
            "root_xsk1",
            "root_sk1",
            "acct_xsk1",
            "acct_sk1",
            "addr_xsk1",
            "addr_sk1",
            "stake_xsk1",
            "stake_sk1",
            "pool_sk1",
            "drep_sk1",
            "drep_xsk1",
            "cc_cold_sk1",
            "cc_cold_xsk1",
            "cc_hot_sk1",
            "cc_hot_xsk1",
            "kes_sk1",
            "vrf_sk1",
        ],
        "[02-9ac-hj-np-z]{40,1200}",
    ),
    // The envelope of a signing key, in which the same words name a public key too.
    Rule::after(
        "cardano-signing-key",
        "Cardano signing key",
        &["SigningKey"],
        r#"[A-Za-z0-9_]{0,60}["'][^{}]{0,400}?["']cborHex["']\s{0,8}:\s{0,8}["']([0-9a-fA-F]{64,1400})"#,
    )
    .checked(check::hexadecimal),
    // Only an extended private key is as long as this.
    Rule::after(
        "cardano-signing-key",
        "Cardano signing key",
        &["cborHex"],
        r#"["']?\s{0,8}[:=]\s{0,8}["'](5880[0-9a-fA-F]{256})"#,
    )
    .checked(check::hexadecimal),
    // Words of BIP-39, behind a word that says what they are.
    Rule::after(
        "wallet-mnemonic",
        "words of a wallet",
        &["mnemonic", "seed", "phrase", "wallet", "words"],
        r#"[A-Za-z0-9_]{0,24}["'\s]{0,3}[:=(\[]{1,3}[\s"'\[&]{0,8}((?:[a-z]{3,8}["',\s]{1,8}){11,23}[a-z]{3,8})"#,
    )
    .checked(check::mnemonic),
];
