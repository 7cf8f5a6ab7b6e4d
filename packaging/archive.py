"""Archives whose bytes depend on their contents alone: no owner, no hour, a fixed order."""

import gzip
import io
import tarfile
import time
import zipfile
from typing import NamedTuple


class Entry(NamedTuple):
    data: bytes
    executable: bool = False

    @property
    def mode(self) -> int:
        return 0o755 if self.executable else 0o644


# 9 for what is shipped; tests lower it, since they pack the debug program.
level = 9


def tar_gz(entries: dict[str, Entry], moment: int) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, entry in sorted(entries.items()):
            item = tarfile.TarInfo(name)
            item.size, item.mode, item.mtime = len(entry.data), entry.mode, moment
            archive.addfile(item, io.BytesIO(entry.data))
    return gzip.compress(plain.getvalue(), level, mtime=0)


def zipped(entries: dict[str, Entry], moment: int) -> bytes:
    """A ZIP file in the given order: the last entry of a wheel has to be its record."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, entry in entries.items():
            item = zipfile.ZipInfo(name, time.gmtime(moment)[:6])
            item.compress_type = zipfile.ZIP_DEFLATED
            item.create_system = 3
            item.external_attr = (0o100000 | entry.mode) << 16
            archive.writestr(item, entry.data, compresslevel=level)
    return packed.getvalue()
