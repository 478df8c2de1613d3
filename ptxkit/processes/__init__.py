"""Supervised child processes: a hang or a crash is reported to the caller, who starts another process.

`supervised_process` is the caller's side and `child_process` is the child's. They exchange pickled messages through
pipes (`messages`), and time limits are in time that the child has used (`cpu_time`).

Input: a function, and messages for it. Output: its replies, or how it ended. It imports only plain data.
"""
