"""Example programs for asynchronous copies, one in each file: the groups, barriers and pipelines of CUDA C++ in PTX.

Each has an equivalent in CUDA C++ (`corpus/seeds/src`) with the same results, and is short enough to be read in a
minute.

It imports `build` and the cases of `kernels`.
"""

from ptxkit.kernels.seeds.barrier_copy import barrier_copy
from ptxkit.kernels.seeds.barrier_life import barrier_life
from ptxkit.kernels.seeds.bulk_both_ways import bulk_both_ways
from ptxkit.kernels.seeds.cluster_write import cluster_write
from ptxkit.kernels.seeds.dropping_out import dropping_out
from ptxkit.kernels.seeds.group_copy import group_copy
from ptxkit.kernels.seeds.launch_sized import launch_sized
from ptxkit.kernels.seeds.multicast import multicast
from ptxkit.kernels.seeds.pipeline_one_stage import pipeline_one_stage
from ptxkit.kernels.seeds.pipeline_roles import pipeline_roles
from ptxkit.kernels.seeds.pipeline_two_stages import pipeline_two_stages
from ptxkit.kernels.seeds.plain_staging import plain_staging
from ptxkit.kernels.seeds.producer_consumer import producer_consumer
from ptxkit.kernels.seeds.split_barrier import split_barrier
from ptxkit.kernels.seeds.tensor_tile import tensor_tile

__all__ = [
    "barrier_copy",
    "barrier_life",
    "bulk_both_ways",
    "cluster_write",
    "dropping_out",
    "group_copy",
    "launch_sized",
    "multicast",
    "pipeline_one_stage",
    "pipeline_roles",
    "pipeline_two_stages",
    "plain_staging",
    "producer_consumer",
    "split_barrier",
    "tensor_tile",
]
