"""The programs that asynchronous copies are taught by, one a file: CUDA C++'s groups, barriers and pipelines in PTX.

Each has a twin in CUDA C++ (`corpus/seeds/src`), does the same to its data, and is small enough to be read in a minute.
"""

from ptxkit.kernels.seeds.barrier_copy import barrier_copy
from ptxkit.kernels.seeds.barrier_life import barrier_life
from ptxkit.kernels.seeds.group_copy import group_copy
from ptxkit.kernels.seeds.plain_staging import plain_staging
from ptxkit.kernels.seeds.split_barrier import split_barrier

__all__ = ["barrier_copy", "barrier_life", "group_copy", "plain_staging", "split_barrier"]
