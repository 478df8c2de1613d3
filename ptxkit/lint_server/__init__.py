"""A resident process that runs `lint` for other processes of the same user, so that they need not load it.

`server` accepts connections, and gives each to a process that it has forked (`call_worker`, `served_call`). This one
has all modules and the instruction table, gets the working directory, the environment, the standard streams and the
limits of its client (`process_context`), and answers one call at a time: a crash ends one call only. `client` makes a
call, `kept_input` lets it read standard input again, `socket_place` finds the socket, `messages` are what is sent over
it, and `control` starts and stops the server.

The programs that can be called are those that the server is started with (`ptxkit.resident_process`). Where no server
answers, or a process is lost, the client does the work itself. It needs Linux. It imports nothing of the packages that
check texts.
"""

from __future__ import annotations
