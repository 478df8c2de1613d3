"""How much of a container file is read and unpacked: its headers may state anything."""

from __future__ import annotations

MAX_LZ4_RATIO = 255
"""Bytes that one byte of LZ4 stands for. Source: LZ4 Block Format Description, "Sequence"."""

MAX_ZSTD_WINDOW = 1 << 27
"""Bytes of the window of zstd: a frame may ask for gigabytes of memory."""

MAX_ENTRY_NAME_BYTES = 4096
"""Bytes of the name of an entry of a fat binary; a longer one is left out."""

MAX_UNSUSPICIOUS_BYTES = 1 << 20
"""Bytes below which no ratio is suspicious: a file of zeros packs well."""

MAX_MEMBERS = 100_000
"""Members of one archive. Large wheels have some ten thousand."""

MAX_LISTING_BYTES = 32 << 20
"""Bytes of the table of members, which `zipfile` reads whole into memory."""

MAX_EMBEDDED_BYTES = 128 * 1024 * 1024
"""Bytes of one PTX text inside another file, unpacked."""

MAX_UNPACKED_BYTES = 8 * 1024 * 1024 * 1024
"""Bytes that the members of one archive unpack to, taken together; one member at a time is kept, on disk."""

MAX_UNPACKED_RATIO = 200
"""Bytes that one byte of an archive may unpack to. Libraries full of machine code reach 20."""
