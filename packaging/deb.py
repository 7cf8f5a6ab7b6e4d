"""The Debian package, made by dpkg-deb."""

import gzip
import os
import subprocess
from pathlib import Path

import archive
from program import ROOT, Program

SUMMARY = "AI agents check and fix code, and nothing counts until proven"


def pack(program: Program, manual: dict[str, bytes], sbom: bytes, moment: int, work: Path) -> dict[str, bytes]:
    root = work / "deb"
    put(root / "usr/bin/probity", program.bytes, 0o755)
    for page, text in manual.items():
        put(root / f"usr/share/man/man1/{page}.gz", gzip.compress(text, mtime=0))
    completions = program.completions()
    put(root / "usr/share/bash-completion/completions/probity", completions["bash"])
    put(root / "usr/share/zsh/vendor-completions/_probity", completions["zsh"])
    put(root / "usr/share/fish/vendor_completions.d/probity.fish", completions["fish"])
    documents = root / "usr/share/doc/probity"
    put(documents / "copyright", copyright_file())
    put(documents / "changelog.gz", gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0))
    put(documents / "README.md", (ROOT / "README.md").read_bytes())
    put(documents / "probity.cdx.json", sbom)
    size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file()) // 1024
    put(root / "DEBIAN/control", control(program, size).encode())
    for directory in [root, *(path for path in root.rglob("*") if path.is_dir())]:
        directory.chmod(0o755)
    name = f"probity_{program.version}_{program.debian}.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", *compression(), "--build", root, work / name],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(moment)},
    )
    return {name: (work / name).read_bytes()}


def compression() -> list[str]:
    return ["-Zxz"] if archive.level == 9 else ["-Zgzip", f"-z{archive.level}"]


def control(program: Program, size: int) -> str:
    depends = f"Depends: libc6 (>= {program.glibc[0]}.{program.glibc[1]}), libgcc-s1\n" if program.glibc else ""
    return (
        "Package: probity\n"
        f"Version: {program.version}\n"
        f"Architecture: {program.debian}\n"
        "Maintainer: The probity developers <probity@localhost>\n"
        f"Installed-Size: {size}\n"
        f"{depends}"
        "Recommends: bubblewrap, git\n"
        "Suggests: docker.io | podman\n"
        "Section: devel\n"
        "Priority: optional\n"
        f"Description: {SUMMARY}\n"
        " probity lints and fixes Dockerfiles, audits smart contracts, reviews changes in\n"
        " CI and runs agents for editors in a sandbox.\n"
    )


def copyright_file() -> bytes:
    mit = (ROOT / "LICENSE-MIT").read_text()
    body = "\n".join(f" {line}" if line.strip() else " ." for line in mit.strip().splitlines())
    text = (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"
        "Files: *\nCopyright: the probity developers\nLicense: MIT or Apache-2.0\n\n"
        f"License: MIT\n{body}\n\n"
        "License: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n"
    )
    return text.encode()


def put(path: Path, data: bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
