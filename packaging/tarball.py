"""The archive for people and for `cargo binstall`: program, completions, manual pages, licenses."""

from archive import Entry, tar_gz
from program import Program, papers


def pack(program: Program, manual: dict[str, bytes], sbom: bytes, moment: int) -> dict[str, bytes]:
    name = f"probity-{program.version}-{program.target}"
    entries = {f"{name}/probity": Entry(program.bytes, executable=True)}
    for shell, text in program.completions().items():
        entries[f"{name}/completions/probity.{shell}"] = Entry(text)
    for page, text in manual.items():
        entries[f"{name}/man/man1/{page}"] = Entry(text)
    for paper, text in papers().items():
        entries[f"{name}/{paper}"] = Entry(text)
    entries[f"{name}/probity.cdx.json"] = Entry(sbom)
    return {f"{name}.tar.gz": tar_gz(entries, moment)}
