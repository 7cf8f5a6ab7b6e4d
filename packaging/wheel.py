"""The wheel for pip, uv and pipx. PyPI's `probity` is somebody else's, so it is `probity-cli`."""

import base64
import hashlib

from archive import Entry, zipped
from program import Program, papers

NAME = "probity_cli"


def pack(program: Program, sbom: bytes, moment: int) -> dict[str, bytes]:
    tag = f"py3-none-{platform(program)}"
    info = f"{NAME}-{program.version}.dist-info"
    texts = papers()
    entries = {
        # What is in `scripts` is installed into the environment's `bin` as it is.
        f"{NAME}-{program.version}.data/scripts/probity": Entry(program.bytes, executable=True),
        f"{info}/METADATA": Entry(metadata(program.version, texts["README.md"].decode()).encode()),
        f"{info}/WHEEL": Entry(f"Wheel-Version: 1.0\nGenerator: probity\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()),
        f"{info}/licenses/LICENSE-APACHE": Entry(texts["LICENSE-APACHE"]),
        f"{info}/licenses/LICENSE-MIT": Entry(texts["LICENSE-MIT"]),
        f"{info}/sboms/probity.cdx.json": Entry(sbom),
    }
    record = "".join(f"{name},{digest(entry.data)},{len(entry.data)}\n" for name, entry in entries.items())
    entries[f"{info}/RECORD"] = Entry((record + f"{info}/RECORD,,\n").encode())
    return {f"{NAME}-{program.version}-{tag}.whl": zipped(entries, moment)}


def platform(program: Program) -> str:
    """The oldest systems that the program runs on, as pip names them."""
    major, minor = max(program.glibc or (2, 17), (2, 17))
    return f"manylinux_{major}_{minor}_{program.python}"


def digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def metadata(version: str, readme: str) -> str:
    return f"""Metadata-Version: 2.4
Name: probity-cli
Version: {version}
Summary: AI agents check and fix your code, and nothing they say counts until it is proven
Keywords: dockerfile,linter,hadolint,code-review,sandbox,acp
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Software Development :: Quality Assurance
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}"""
