"""A compiled copy of the instruction table in the user's cache folder, so that a command need not parse it again.

The file is named after everything it depends on: the texts of the `.isa` files, the code that compiles them and the
Python version. It is written whole and renamed into place, so that two processes may race; a folder that cannot be
written, or that others could write to, means no cache and nothing worse.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import stat
import sys
import tempfile
from pathlib import Path

from ptxkit.isa.forms import Instructions
from ptxkit.isa.sources import isa_files
from ptxkit.resources import grammars

_DIGEST_BYTES = 32


def load_cached() -> Instructions:
    """The project's table, from the cache where there is a sound copy, else from the `.isa` files."""
    folder = _folder()
    path = folder / f"table-{_key()}.pickle" if folder is not None else None
    found = _read(path) if path is not None else None
    if found is not None:
        return found
    # Only here: the notation's parser need not be loaded where the copy is sound.
    from ptxkit.isa.loader import load

    found = load()
    if path is not None:
        _write(path, found)
    return found


def _key() -> str:
    digest = hashlib.sha256(sys.version.encode())
    code = sorted(Path(__file__).parent.glob("*.py"))
    for path in (grammars() / "isa.lark", *isa_files(), *code):
        digest.update(path.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()[:24]


def _folder() -> Path | None:
    """The cache folder, made if need be; None where it is not ours alone (a pickle runs code)."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(base) / "ptxkit"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return None
    return folder


def _read(path: Path) -> Instructions | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, body = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        return None
    found: Instructions = pickle.loads(body)
    return found


def _write(path: Path, instructions: Instructions) -> None:
    body = pickle.dumps(instructions, protocol=pickle.HIGHEST_PROTOCOL)
    # A full disk or a read-only folder costs the next command some time, and that is all.
    with contextlib.suppress(OSError):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".table-")
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(body).digest() + body)
        Path(temporary).replace(path)
