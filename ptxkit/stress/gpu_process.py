"""The process with the GPU: runs trials of a job, one after the other."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from ptxkit.device import (
    ArgumentError,
    Cubin,
    DeviceArray,
    LaunchError,
    Loaded,
    NoDeviceError,
    device_target,
    to_device,
    use_device,
)
from ptxkit.device.cuda_libraries import check_status, import_driver
from ptxkit.device.geometry import make_geometry
from ptxkit.device.loaded_kernel import make_object_code
from ptxkit.device.streams import stream_handle
from ptxkit.device_runs.device_arguments import read_back, upload_parameter
from ptxkit.device_runs.device_process import DeviceReady
from ptxkit.device_runs.output_comparison import compare_arrays
from ptxkit.processes.child_process import ParentChannel
from ptxkit.stress.delay_plan import DelayPlan
from ptxkit.stress.disturbing_kernels import CONTENTION_KERNEL, FILL_KERNEL, PREFETCH_BYTES
from ptxkit.stress.gpu_backend import GpuJob
from ptxkit.stress.limits import CONTENTION_BLOCK, CONTENTION_BYTES, CONTENTION_ROUNDS, FILL_BLOCK, MAX_COUNTED_CTAS
from ptxkit.stress.stress_trial import DIFFERENT, REFUSED, SAME, StressTrial, TrialOutcome

_WORD_BYTES, _LINE_BYTES = 4, 16


def serve_stress(channel: ParentChannel) -> None:
    """The main loop of the process."""
    try:
        device = use_device()
        shared = SharedContext(device)
    except NoDeviceError as error:
        channel.send(str(error) or "no GPU")
        return
    channel.send(DeviceReady(device_target(device.compute_capability)))
    loaded: LoadedJob | None = None
    while True:
        job, trials = channel.receive()
        for trial in trials:
            try:
                if loaded is None or loaded.job.number != job.number:
                    loaded = LoadedJob(job, shared)
                answer: TrialOutcome | str = loaded.run(trial)
            except Exception as error:  # after any error of the driver, nothing can run in this context
                answer = str(error).split(". ")[0].strip()
            channel.send(answer)
            if isinstance(answer, str):
                return


class SharedContext:
    """What all jobs of a process use: streams, and the memory for which CTAs contend."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.stream, self.second_stream = device.create_stream(), device.create_stream()
        self.multiprocessors = device.properties.multiprocessor_count
        self._buffer: DeviceArray | None = None

    @property
    def buffer(self) -> DeviceArray:
        """The memory for which CTAs contend."""
        if self._buffer is None:
            self._buffer = to_device(numpy.zeros(CONTENTION_BYTES // _WORD_BYTES, numpy.uint32))
        return self._buffer


class LoadedJob:
    """The kernels and arrays of a job on the GPU."""

    def __init__(self, job: GpuJob, shared: SharedContext) -> None:
        self.job = job
        self._shared = shared
        self._handle = stream_handle(shared.stream)
        self._plain = _load(job.plain, job.launch.name, shared)[0]
        self._delayed, self._plan_address = None, 0
        if job.delayed is not None:
            self._delayed, code = _load(job.delayed, job.launch.name, shared)
            found = import_driver().cuLibraryGetGlobal(getattr(code, "handle", None) or code._handle, job.plan.encode())
            check_status(found, f"finding {job.plan}")
            self._plan_address = int(found[1])
        self._filler = _load(job.disturbers, FILL_KERNEL, shared)[0]
        self._contender = _load(job.disturbers, CONTENTION_KERNEL, shared)[0]
        self._arrays: dict[int, Any] = {}
        pairs = zip(job.launch.arguments, self._plain.signature.arguments, strict=True)
        self._arguments = [upload_parameter(value, parameter, self._arrays) for value, parameter in pairs]
        self._initial = [(each, to_device(each.to_host())) for each in self._arrays.values()]

    def run(self, trial: StressTrial) -> TrialOutcome:
        """Runs a trial. Raises the errors of the driver."""
        self._restore_arrays()
        if trial.fills:
            self._fill_shared_memory()
        kernel, launch = self._plain, self.job.launch
        try:
            if trial.plan is not None and self._delayed is not None:
                kernel = self._delayed
                self._write_plan(trial.plan)
            if trial.contends:
                self._contend()
            kernel.launch(
                self._shared.stream,
                *self._arguments,
                grid=launch.grid,
                block=launch.block,
                cluster=launch.cluster,
                shared=launch.shared or None,
            )
        except (ArgumentError, LaunchError) as error:
            which = "with delays " if kernel is self._delayed else ""
            return TrialOutcome(REFUSED, f"the kernel {which}cannot be launched: {error}")
        self._shared.stream.sync()
        return self._judge()

    def _write_plan(self, plan: DelayPlan) -> None:
        """Writes a plan into the module's variable. Raises LaunchError for a launch that is not allowed."""
        launch = self.job.launch
        geometry = make_geometry(
            self._plain.signature, launch.grid, launch.block, launch.cluster, launch.shared or None
        )
        counted = prod(geometry.block) if prod(geometry.grid) <= MAX_COUNTED_CTAS else 0
        words = plan.words(self.job.site_count, counted, launch.shared)
        copy = import_driver().cuMemcpyHtoDAsync  # in the stream, after the launches that read an earlier plan
        check_status(copy(self._plan_address, words.ctypes.data, words.nbytes, self._handle), "writing a plan")

    def _restore_arrays(self) -> None:
        copy = import_driver().cuMemcpyDtoDAsync
        for array, initial in self._initial:
            if array.nbytes:
                check_status(copy(array.address, initial.address, array.nbytes, self._handle), "restoring an array")

    def _fill_shared_memory(self) -> None:
        """Writes over the shared memory of all multiprocessors: a CTA takes all of one."""
        size = self._shared.device.properties.max_shared_memory_per_block_optin
        self._filler.launch(
            self._shared.stream,
            size // _WORD_BYTES,
            grid=2 * self._shared.multiprocessors,
            block=FILL_BLOCK,
            shared=size // _LINE_BYTES * _LINE_BYTES,
        )

    def _contend(self) -> None:
        self._shared.stream.sync()  # so that the contending CTAs and those of the kernel begin together
        self._contender.launch(
            self._shared.second_stream,
            self._shared.buffer,
            (CONTENTION_BYTES - PREFETCH_BYTES) // _LINE_BYTES,
            CONTENTION_ROUNDS,
            grid=2 * self._shared.multiprocessors,
            block=CONTENTION_BLOCK,
        )

    def _judge(self) -> TrialOutcome:
        given = enumerate(self.job.launch.arguments)
        outputs = {at: left for at, each in given if (left := read_back(each, self._arrays)) is not None}
        if self.job.expected is None:
            return TrialOutcome(SAME, outputs=outputs)
        verdict = compare_arrays(self.job.expected, outputs, self.job.allowed)
        return TrialOutcome(SAME) if verdict.is_right else TrialOutcome(DIFFERENT, verdict.description)


def _load(cubin: Cubin, name: str, shared: SharedContext) -> tuple[Loaded, Any]:
    """Returns a kernel of a cubin, and the object code that has it."""
    code = make_object_code(cubin)
    signature = cubin.kernel(name)
    return Loaded(signature, code.get_kernel(signature.name), shared.device), code
