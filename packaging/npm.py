"""The npm packages: `probity`, which finds the program, and one package for each platform."""

import json
from pathlib import Path

from archive import Entry, tar_gz
from program import Program, papers

LAUNCHER = Path(__file__).parent / "npm" / "probity.js"
# Every platform that the launcher may ask for; npm installs the one that fits.
PLATFORMS = ["linux-x64", "linux-arm64"]

COMMON = {
    "description": "AI agents check and fix your code, and nothing they say counts until it is proven",
    "license": "MIT OR Apache-2.0",
}


def pack(program: Program, moment: int) -> dict[str, bytes]:
    platform = f"linux-{program.node}"
    texts = papers()
    licenses = {f"package/{name}": Entry(texts[name]) for name in ["LICENSE-APACHE", "LICENSE-MIT"]}
    own = {
        "name": f"probity-{platform}",
        "version": program.version,
        **COMMON,
        "os": ["linux"],
        "cpu": [program.node],
        **({"libc": ["glibc"]} if program.glibc else {}),
        "files": ["bin"],
        "preferUnplugged": True,
    }
    launcher = {
        "name": "probity",
        "version": program.version,
        **COMMON,
        "keywords": ["dockerfile", "linter", "hadolint", "code-review", "sandbox", "acp"],
        "bin": {"probity": "bin/probity.js"},
        "files": ["bin"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {f"probity-{name}": program.version for name in PLATFORMS},
    }
    return {
        f"npm/probity-{platform}-{program.version}.tgz": tar_gz(
            {
                "package/package.json": Entry(as_json(own)),
                "package/bin/probity": Entry(program.bytes, executable=True),
                **licenses,
            },
            moment,
        ),
        f"npm/probity-{program.version}.tgz": tar_gz(
            {
                "package/package.json": Entry(as_json(launcher)),
                "package/bin/probity.js": Entry(LAUNCHER.read_bytes(), executable=True),
                "package/README.md": Entry(texts["README.md"]),
                **licenses,
            },
            moment,
        ),
    }


def as_json(value: dict) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()
