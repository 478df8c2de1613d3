"""Functions that the system links to kernels, by name: what is known of a call of one that has no body in the module.

None of them orders what threads do in shared memory, touches shared memory, starts or awaits an asynchronous operation
of the caller, or uses its barriers and mbarriers. What they return, and what they write through pointers to memory of
the thread's own, is not known.

Source: CUDA Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation and Operations",
"CUDA Dynamic Parallelism" (the device runtime, and its interface from PTX); PTX Writer's Guide to Interoperability,
"System Calls".
"""

from __future__ import annotations

_LIBRARY = frozenset({"vprintf", "malloc", "free"})

#: Of the device runtime; without those of cooperative groups, which wait for other threads.
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

#: They end the launch.
_LAUNCH_ENDING = frozenset({"__assertfail"})

#: How the second version of the device runtime names its functions, and what is added where each thread has a stream.
_SECOND_VERSION, _OF_THREAD_STREAM = "__cudaCDP2", "_ptsz"


def is_system_function(name: str) -> bool:
    """Whether a function returns to its caller, having ordered nothing."""
    if name.startswith(_SECOND_VERSION):
        name = f"cuda{name.removeprefix(_SECOND_VERSION)}"
    return name in _LIBRARY or name.removesuffix(_OF_THREAD_STREAM) in _DEVICE_RUNTIME


def ends_the_launch(name: str) -> bool:
    """Whether a function does not return: the launch fails as at a `trap`."""
    return name in _LAUNCH_ENDING
