"""Bytes that need not be in memory."""

from __future__ import annotations

import mmap
from typing import TypeAlias

Bytes: TypeAlias = bytes | mmap.mmap
"""A file's contents; a part of a large file is in memory only while it is read."""
