"""The program that is packed: its version, its platform, and the pages it writes about itself."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHELLS = ["bash", "zsh", "fish", "elvish", "powershell"]

# What package managers call a processor: Debian, Python, Node.js.
ARCHITECTURES = {
    "x86_64": ("amd64", "x86_64", "x64"),
    "aarch64": ("arm64", "aarch64", "arm64"),
}


class Program:
    def __init__(self, binary: Path):
        self.binary = binary
        self.bytes = binary.read_bytes()
        self.version = self.run("--version").split()[1]
        self.target = re.search(r"^target: *(\S+)", self.run("--version", "--verbose"), re.M)[1]
        processor, *_, system = self.target.replace("-gnu", "").replace("-musl", "").split("-")
        if system != "linux" or processor not in ARCHITECTURES:
            raise SystemExit(f"script/release: there are no packages for {self.target} yet")
        self.debian, self.python, self.node = ARCHITECTURES[processor]
        self.glibc = needed_glibc(self.bytes)

    def run(self, *args: str) -> str:
        return subprocess.run([self.binary, *args], check=True, capture_output=True, text=True).stdout

    def completions(self) -> dict[str, bytes]:
        return {shell: self.run("completions", shell).encode() for shell in SHELLS}

    def manual(self, to: Path) -> dict[str, bytes]:
        """The manual pages by file name; the program writes them into a directory."""
        to.mkdir(parents=True)
        self.run("man", "--dir", str(to))
        return {page.name: page.read_bytes() for page in sorted(to.iterdir())}


def needed_glibc(program: bytes) -> tuple[int, int] | None:
    """The oldest glibc that has every symbol version the program names; none for a static one."""
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)", program)
    return max(((int(major), int(minor)) for major, minor in versions), default=None)


def papers() -> dict[str, bytes]:
    """The files that every package carries."""
    names = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md", "SECURITY.md"]
    return {name: (ROOT / name).read_bytes() for name in names}


def commit_time() -> int:
    """The time that every packed file bears, so that two runs give the same bytes."""
    shown = subprocess.run(
        ["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True
    ).stdout.strip()
    # ZIP knows no time before 1980.
    return max(int(shown or 0), 315_532_800)
