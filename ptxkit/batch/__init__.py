"""Checks many texts in parallel: in separate processes or on a cluster, or reads their results from a cache.

`job.run_job` checks one text, in this process (`in_process`), in supervised processes (`local_pool`,
`supervised_checker`, `worker`) or by the workers of a cluster (`dask_pool`). `result_cache` stores the results of
earlier runs. All of them return the same results, in the order of the inputs. `single_check` checks one text at a time,
with the settings of the working directory, and `clean_texts` knows which ones need no check at all.

Input: texts and settings. Output: a result for each. It imports `linter`, `fixes`, `settings`, `baseline`,
`isa` and `processes`.
"""

from __future__ import annotations
