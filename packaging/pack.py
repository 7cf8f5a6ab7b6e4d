"""Packs one program into every kind of package, with checksums: called by script/release."""

import argparse
import hashlib
import tempfile
from pathlib import Path

import archive
import deb
import npm
import sbom
import tarball
import wheel
from program import Program, commit_time


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--binary", type=Path, required=True)
    arguments.add_argument("--to", type=Path, required=True)
    arguments.add_argument("--fast", action="store_true", help="compress as little as possible, for tests")
    chosen = arguments.parse_args()
    if chosen.fast:
        archive.level = 1
    program, moment = Program(chosen.binary.resolve()), commit_time()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        manual, bill = program.manual(work / "man"), sbom.make(program)
        packages = {
            **tarball.pack(program, manual, bill, moment),
            **wheel.pack(program, bill, moment),
            **npm.pack(program, moment),
            **deb.pack(program, manual, bill, moment, work),
            f"probity-{program.version}.cdx.json": bill,
        }
    packages["SHA256SUMS"] = "".join(
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(packages.items())
    ).encode()
    for name, data in packages.items():
        path = chosen.to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(path)


if __name__ == "__main__":
    main()
