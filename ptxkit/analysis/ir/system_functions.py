"""Functions that the system links to kernels, with the known properties of their calls.

None of them orders what threads do in shared memory, accesses shared memory, starts or awaits an asynchronous operation
of the caller, or uses its barriers and mbarriers. Their results, and what they write through pointers to memory of the
thread, are unknown.

Source: CUDA Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation and Operations",
"CUDA Dynamic Parallelism" (the device runtime, and its interface from PTX); PTX Writer's Guide to Interoperability,
"System Calls".
"""

from __future__ import annotations

_LIBRARY = frozenset({"vprintf", "malloc", "free"})

#: The functions of the device runtime, without those of cooperative groups, which wait for other threads.
_DEVICE_RUNTIME = frozenset(
    {
        "cudaDeviceGetAttribute",
        "cudaDeviceGetCacheConfig",
        "cudaDeviceGetLimit",
        "cudaDeviceGetSharedMemConfig",
        "cudaDeviceSynchronize",
        "cudaEventCreateWithFlags",
        "cudaEventDestroy",
        "cudaEventRecord",
        "cudaEventRecordWithFlags",
        "cudaFree",
        "cudaFuncGetAttributes",
        "cudaGetDevice",
        "cudaGetDeviceCount",
        "cudaGetErrorName",
        "cudaGetErrorString",
        "cudaGetLastError",
        "cudaGetParameterBuffer",
        "cudaGetParameterBufferV2",
        "cudaLaunchDevice",
        "cudaLaunchDeviceV2",
        "cudaMalloc",
        "cudaMemcpy2DAsync",
        "cudaMemcpy3DAsync",
        "cudaMemcpyAsync",
        "cudaMemset2DAsync",
        "cudaMemset3DAsync",
        "cudaMemsetAsync",
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
        "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        "cudaPeekAtLastError",
        "cudaRuntimeGetVersion",
        "cudaStreamCreateWithFlags",
        "cudaStreamDestroy",
        "cudaStreamWaitEvent",
    }
)

#: The functions that end the launch.
_LAUNCH_ENDING = frozenset({"__assertfail"})

#: The prefix of functions in the second version of the device runtime, and the suffix where each thread has a stream.
_SECOND_VERSION, _OF_THREAD_STREAM = "__cudaCDP2", "_ptsz"


def is_system_function(name: str) -> bool:
    """Returns whether a function returns to its caller and orders nothing."""
    if name.startswith(_SECOND_VERSION):
        name = f"cuda{name.removeprefix(_SECOND_VERSION)}"
    return name in _LIBRARY or name.removesuffix(_OF_THREAD_STREAM) in _DEVICE_RUNTIME


def ends_the_launch(name: str) -> bool:
    """Returns whether a function does not return: the launch fails as at a `trap`."""
    return name in _LAUNCH_ENDING
