"""The two compressions of fat binaries, with a limit of the unpacked size."""

from __future__ import annotations

from ptxkit.inputs.entries import DAMAGED_REMEDY
from ptxkit.inputs.limits import MAX_LZ4_RATIO, MAX_ZSTD_WINDOW


class CompressionError(ValueError):
    """A payload cannot be unpacked; the text states the reason."""

    def __init__(self, message: str, remedy: str = DAMAGED_REMEDY) -> None:
        super().__init__(message)
        self.remedy = remedy


def decompress_lz4(data: bytes, size: int) -> bytes:
    """Unpacks a block of LZ4 to `size` bytes. Raises CompressionError."""
    try:
        import lz4.block as lz4
    except ImportError as error:
        raise CompressionError("it is compressed by LZ4", "install it: pip install lz4") from error
    if size > MAX_LZ4_RATIO * len(data) + 64:
        raise CompressionError(f"{len(data):,} bytes of LZ4 cannot unpack to {size:,}")
    try:
        unpacked: bytes = lz4.decompress(data, uncompressed_size=size)
    except (lz4.LZ4BlockError, ValueError, MemoryError) as error:
        raise CompressionError(f"its LZ4 data is invalid ({error})") from error
    if len(unpacked) != size:
        raise CompressionError(f"it unpacks to {len(unpacked):,} bytes, and {size:,} are expected")
    return unpacked


def decompress_zstd(data: bytes, size: int) -> bytes:
    """Unpacks a frame of zstd to `size` bytes. Raises CompressionError."""
    try:
        import zstandard
    except ImportError as error:
        raise CompressionError("it is compressed by zstd", "install it: pip install zstandard") from error
    try:
        decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW)
        with decompressor.stream_reader(data) as reader:
            unpacked = reader.read(size + 1)
    except (zstandard.ZstdError, MemoryError) as error:
        raise CompressionError(f"its zstd data is invalid ({error})") from error
    if len(unpacked) != size:
        some = f"more than {size:,}" if len(unpacked) > size else f"{len(unpacked):,}"
        raise CompressionError(f"it unpacks to {some} bytes, and {size:,} are expected")
    return unpacked
