"""Kernels that the project maintains, written with the builder: verified, run on a GPU, and documented as tutorials.

Input: sizes and types. Output: kernels of the builder, and the launches that check them. It imports `build` and
`device`.
"""

from ptxkit.kernels.async_copy import async_copy
from ptxkit.kernels.attention import attention
from ptxkit.kernels.bulk_add_one import bulk_add_one
from ptxkit.kernels.bulk_copy import bulk_copy
from ptxkit.kernels.cluster_histogram import cluster_histogram
from ptxkit.kernels.gemm import gemm
from ptxkit.kernels.halo_exchange import halo_exchange
from ptxkit.kernels.layer_norm import layer_norm
from ptxkit.kernels.prefix_sum import prefix_sum
from ptxkit.kernels.radix_histogram import radix_histogram, radix_starts
from ptxkit.kernels.radix_pass import radix_pass
from ptxkit.kernels.reduction import reduction
from ptxkit.kernels.rms_norm import rms_norm
from ptxkit.kernels.row_softmax import row_softmax
from ptxkit.kernels.saxpy import saxpy
from ptxkit.kernels.transpose import transpose

__all__ = [
    "async_copy",
    "attention",
    "bulk_add_one",
    "bulk_copy",
    "cluster_histogram",
    "gemm",
    "halo_exchange",
    "layer_norm",
    "prefix_sum",
    "radix_histogram",
    "radix_pass",
    "radix_starts",
    "reduction",
    "rms_norm",
    "row_softmax",
    "saxpy",
    "transpose",
]
