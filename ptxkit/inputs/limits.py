"""Limits of reading and unpacking container files, whose headers may state anything."""

from __future__ import annotations

MAX_LZ4_RATIO = 255
"""The number of bytes that one byte of LZ4 can represent. Source: LZ4 Block Format Description, "Sequence"."""

MAX_ZSTD_WINDOW = 1 << 27
"""The bytes of the window of zstd: a frame may request gigabytes of memory."""

MAX_ENTRY_NAME_BYTES = 4096
"""The bytes of the name of an entry of a fat binary; a longer one is omitted."""

MAX_UNSUSPICIOUS_BYTES = 1 << 20
"""The number of bytes below which no compression ratio is suspicious: a file of zeros is compressed well."""

MAX_MEMBERS = 100_000
"""The number of members of one archive. Large wheels have some ten thousand."""

MAX_LISTING_BYTES = 32 << 20
"""The bytes of the table of members, which `zipfile` reads into memory."""

MAX_EMBEDDED_BYTES = 128 * 1024 * 1024
"""Bytes of one PTX text inside another file, unpacked."""

MAX_UNPACKED_BYTES = 8 * 1024 * 1024 * 1024
"""The total unpacked size of the members of one archive in bytes; one member at a time is stored, on disk."""

MAX_UNPACKED_RATIO = 200
"""The number of bytes to which one byte of an archive may be unpacked. Libraries of machine code reach 20."""
