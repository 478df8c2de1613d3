"""Many texts, checked in parallel: in processes of their own, on a cluster, or not at all where the result is known.

`job.run_job` checks one text, in this process (`in_process`), in supervised processes (`local_pool`,
`supervised_checker`, `worker`) or by the workers of a cluster (`dask_pool`). `result_cache` holds the results of
earlier runs. Whatever runs them, results come in the order of the inputs, and are the same.
"""

from __future__ import annotations
