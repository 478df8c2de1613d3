"""Child processes that are supervised: what hangs or ends one is reported to the caller, who starts another.

`supervised_process` is the caller's side and `child_process` is the child's. They exchange pickled messages through
pipes (`messages`), and time limits are in time that the child had (`cpu_time`).
"""
