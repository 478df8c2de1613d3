"""`FunctionBuilder`: the methods that kernels and device functions have in common.

The class has no separate code for them. Each subject is a module of functions whose first parameter is the builder,
and the class assigns those functions to the names of its methods: `k.if_(p)` is `control_flow.if_(k, p)`. A module
imports the modules whose functions it calls, and no module needs the whole builder.

Source: PTX ISA, "Kernel and Function Directives".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.build import (
    async_memcpy,
    barriers_and_fences,
    calls,
    control_flow,
    cp_async,
    debug_output,
    inline_ptx,
    math_functions,
    memory_declarations,
    mma,
    packing,
    reductions,
    shared_matrix,
    special_registers,
    target_explanation,
    tcgen05,
    thread_groups,
    warp_exchange,
    warp_roles,
    wgmma,
)
from ptxkit.build import pipeline as pipelines
from ptxkit.build.build_warnings import warn_when_unused
from ptxkit.build.form_selection import save_selections
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.module_assembly import assemble_module
from ptxkit.build.registers import Register
from ptxkit.build.special_registers import Dim3Register
from ptxkit.diagnostics import Verdict
from ptxkit.kernel_model.scalar_types import u32
from ptxkit.kernel_model.source_lines import Assembled
from ptxkit.kernel_model.verification import verify_assembled
from ptxkit.syntax import tree
from ptxkit.syntax.nested_instructions import iterate_instructions


class FunctionBuilder(InstructionBuilder):
    """A kernel or a device function under construction. With `debug`, `.loc` and `.file` name the user's lines."""

    is_kernel = False

    def __init__(self, name: str, *, target: str | None, debug: bool) -> None:
        super().__init__(name, target=target, debug=debug)
        warn_when_unused(self)

    # control flow
    if_ = control_flow.if_
    elif_ = control_flow.elif_
    else_ = control_flow.else_
    predicated = control_flow.predicated
    thread_is = control_flow.thread_is
    elect_one = control_flow.elect_one
    loop = control_flow.loop
    while_ = control_flow.while_
    for_range = control_flow.for_range
    for_ = control_flow.for_range
    unroll = control_flow.unroll
    pragma = control_flow.pragma
    variable = control_flow.variable
    printf = debug_output.printf
    assert_ = debug_output.assert_
    asm = inline_ptx.asm
    external = calls.external

    # numbers
    exp2 = math_functions.exp2
    exp = math_functions.exp
    log2 = math_functions.log2
    log = math_functions.log
    sqrt = math_functions.sqrt
    rsqrt = math_functions.rsqrt
    tanh = math_functions.tanh
    fma = math_functions.fma
    clamp = math_functions.clamp
    where = math_functions.where
    pack = packing.pack
    unpack = packing.unpack
    pack_convert = packing.pack_convert

    # exchanges between the lanes of a warp
    shuffle_xor = warp_exchange.shuffle_xor
    shuffle_up = warp_exchange.shuffle_up
    shuffle_down = warp_exchange.shuffle_down
    shuffle_idx = warp_exchange.shuffle_idx
    ballot = warp_exchange.ballot
    any = warp_exchange.any_
    all = warp_exchange.all_
    match_any = warp_exchange.match_any
    warp_reduce = reductions.warp_reduce
    warp_scan = reductions.warp_scan
    block_reduce = reductions.block_reduce

    # memory
    shared = memory_declarations.shared
    mbarrier = memory_declarations.mbarrier
    dynamic_shared = memory_declarations.dynamic_shared
    local = memory_declarations.local
    constant = memory_declarations.constant
    pointer = memory_declarations.pointer

    # threads by their position in the CTA
    role = warp_roles.role
    uniform = warp_roles.uniform
    this_thread = thread_groups.this_thread
    this_warp = thread_groups.this_warp
    this_cta = thread_groups.this_cta
    these_warps = thread_groups.these_warps
    these_threads = thread_groups.these_threads

    # barriers, fences and clusters
    cta_sync = barriers_and_fences.cta_sync
    cta_arrive = barriers_and_fences.cta_arrive
    cta_sync_count = barriers_and_fences.cta_sync_count
    cta_sync_and = barriers_and_fences.cta_sync_and
    cta_sync_or = barriers_and_fences.cta_sync_or
    warp_sync = barriers_and_fences.warp_sync
    cluster_arrive = barriers_and_fences.cluster_arrive
    cluster_wait = barriers_and_fences.cluster_wait
    cluster_sync = barriers_and_fences.cluster_sync
    map_shared_rank = barriers_and_fences.map_shared_rank
    query_shared_rank = barriers_and_fences.query_shared_rank
    thread_fence = barriers_and_fences.thread_fence
    fence_barrier_init = barriers_and_fences.fence_barrier_init
    fence_view_async = barriers_and_fences.fence_view_async
    tma_store_arrive = barriers_and_fences.tma_store_arrive
    tma_store_wait = barriers_and_fences.tma_store_wait

    # copies and pipelines
    copy_async = cp_async.copy_async
    memcpy_async = async_memcpy.memcpy_async
    pipeline = pipelines.pipeline
    thread_pipeline = pipelines.thread_pipeline

    # matrices
    matrix = wgmma.matrix
    accumulator = wgmma.accumulator
    rows = shared_matrix.rows
    tensor_memory = tcgen05.tensor_memory
    tensor_matrix = tcgen05.tensor_matrix
    mma_tile = mma.mma_tile
    mma_a = mma.mma_a
    mma_b = mma.mma_b

    # special registers
    special = special_registers.special
    constant_register = special_registers.constant_register

    @property
    def tid(self) -> Dim3Register:
        """The index of the thread in its CTA: `%tid`."""
        return Dim3Register(self, "%tid")

    @property
    def ntid(self) -> Dim3Register:
        """The shape of the CTA in threads: `%ntid`."""
        return Dim3Register(self, "%ntid")

    @property
    def ctaid(self) -> Dim3Register:
        """The index of the CTA in the grid: `%ctaid`."""
        return Dim3Register(self, "%ctaid")

    @property
    def nctaid(self) -> Dim3Register:
        """The shape of the grid in CTAs: `%nctaid`."""
        return Dim3Register(self, "%nctaid")

    @property
    def clusterid(self) -> Dim3Register:
        """The index of the cluster in the grid: `%clusterid`."""
        return Dim3Register(self, "%clusterid")

    @property
    def cluster_ctaid(self) -> Dim3Register:
        """The index of the CTA in its cluster: `%cluster_ctaid`."""
        return Dim3Register(self, "%cluster_ctaid")

    @property
    def cluster_ctarank(self) -> Register[u32]:
        """The rank of the CTA in its cluster: `%cluster_ctarank`."""
        return special_registers.read_special(self, "%cluster_ctarank")

    @property
    def cluster_nctarank(self) -> Register[u32]:
        """The number of CTAs in the cluster: `%cluster_nctarank`."""
        return special_registers.read_special(self, "%cluster_nctarank")

    @property
    def laneid(self) -> Register[u32]:
        """The number of the thread's lane in its warp: `%laneid`."""
        return special_registers.read_special(self, "%laneid")

    @property
    def dynamic_smem_size(self) -> Register[u32]:
        """The launch-sized shared memory that the launch requested, in bytes: `%dynamic_smem_size`."""
        return special_registers.read_special(self, "%dynamic_smem_size")

    @property
    def thread_rank(self) -> Register[u32]:
        """The number of the thread in its CTA, counted along x first."""
        return warp_roles.thread_rank(self)

    @property
    def warp(self) -> Register[u32]:
        """The number of the thread's warp in the CTA."""
        return warp_roles.warp(self)

    # ---------------------------------------------------------------------------------------- the result

    explain_target = target_explanation.explain_target

    def assemble(self) -> Assembled:
        """Returns the tree, and the user's line of each statement."""
        self.recorder.usage.was_used = True
        return assemble_module(self)

    def module(self) -> tree.Module:
        """Returns the syntax tree of a module with this kernel, as the parser would produce it. It is not verified.

        Raises `BuildError` if the kernel is incomplete, for example because of a label that is never placed.
        """
        self.recorder.usage.was_used = True
        return assemble_module(self).module

    def verify(self) -> Verdict:
        """Verifies the kernel and returns the verdict. Raises `VerificationError` with the user's lines if there are
        errors.
        """
        return verify_assembled(self.assemble(), self.name)

    def iterate_instructions(self) -> Iterator[tree.Instruction]:
        """Yields the instructions so far, with those of the prologue first and those of raw PTX included."""
        return iterate_instructions(entry.statement for entry in self.recorder.entries())

    def store_selections(self) -> None:
        """Saves the forms that were selected in this process for later processes."""
        save_selections()

    def __str__(self) -> str:
        return str(self.module())
