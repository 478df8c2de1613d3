"""Limits of the resident process and of its calls."""

from __future__ import annotations

IDLE_SECONDS = 3600.0
"""The seconds without a call after which the server ends."""

MAX_CALLS = 256
"""The number of calls that run at the same time. Further clients do their work themselves."""

MAX_IDLE_WORKERS = 8
"""The number of processes that are kept for later calls."""

MAX_RETAINED_MEMORY = 256 * 1024 * 1024
"""The bytes of memory after which a process answers no other call."""

MAX_WAITING_CLIENTS = 128
"""The number of clients that wait for their connection to be accepted."""

ACCEPT_SECONDS = 5.0
"""The seconds in which a call must begin: after it the client does the work itself, and the server forgets the call."""

START_SECONDS = 60.0
"""The seconds in which a new server must be ready, and a stopped one must have ended."""

MAX_MESSAGE_BYTES = 1 << 30
"""The bytes of one message. The largest holds the texts of one call of ptxas."""
