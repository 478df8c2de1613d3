"""Checks many texts in parallel: in separate processes or on a cluster, or reads their results from a cache.

`job.run_job` checks one text, in this process (`in_process`), in supervised processes (`local_pool`,
`supervised_checker`, `worker`) or by the workers of a cluster (`dask_pool`). `result_cache` stores the results of
earlier runs. All of them return the same results, in the order of the inputs.

Input: texts and settings. Output: a result for each. It imports `linter`, `fixes`, `settings`, `isa` and
`processes`.
"""

from __future__ import annotations
