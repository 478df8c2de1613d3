"""A matrix product at the speed of the tensor cores: persistent, warp-specialized, with tensor maps for all matrices.

Algorithm. Each CTA multiplies tiles of 128 x 256. One of its threads, the *producer*, only starts copies of the next
128 bytes of K of A and B to one of four stages of shared memory. Two warpgroups of 128 threads, the *consumers*,
multiply 64 x 256 each, directly from shared memory: `wgmma` reads both matrices through descriptors, in the swizzle of
the tensor maps. Two mbarriers synchronize each stage: `full` counts the bytes that have arrived, and `empty` the
consumers that have finished. The producer releases registers, and the consumers, which hold 128 sums each, acquire them
(`setmaxnreg`).

    stage 0..3   | A: 128 rows x 128 bytes | B: 256 x 128 bytes |      a ring, 192 KB
    boxes        16 rows x 64 columns of C, two for each consumer warp, 32 KB

    producer     fill 0, 1, 2, 3    empty 0: fill 0    empty 1: fill 1 ...
    consumer     full 0: issue 0    full 1: issue 1, 0 is complete: free 0    full 2: issue 2, free 1 ...

The design keeps the tensor cores busy all the time:

* The k-blocks overlap: a warpgroup issues the next four multiplications before it waits for the last four, and only
  then releases their stage.
* The store of a finished tile overlaps with the next tile. Its sums are packed to bf16 (64 registers), and a quarter of
  them is stored during each of the next tile's first k-blocks: each warp writes its own 16 rows to a staging box with
  `stmatrix`, and stores the box with a tensor map.
* Values that are uniform in a warp are computed once for the warp: `k.uniform` makes this known to ptxas, and the
  descriptors are in the uniform registers that `wgmma` requires.
* The CTAs of a cluster process tiles below each other and need the same part of B: each copies its share of it to all
  of them (multicast), and a stage is free when the consumers of all CTAs have released it.
* A table that the host makes assigns the tiles to the CTAs: see `gemm_schedule`. It also distributes the last tiles
  over all CTAs, which exchange partial sums through global memory.

The sums of e4m3. The tensor cores of sm_90 add products of e4m3 with fewer bits than fp32 has, and truncate the rest.
Errors for 1024 x 1024 elements, measured on an H200 relative to the exact product (rounding it to bf16 once is 0.17 %):

    K                              512       2048      8192      32768
    normal data, norm of error     0.17 %    0.19 %    0.26 %    0.50 %
    data of one sign, mean error  -0.5 %    -3.1 %   -13.4 %   -40.8 %

cuBLAS has the same errors in its fast mode. If they are too large, `precise=True` sums each k-block of 128 elements
separately and adds it to the others with ordinary additions, while the other warpgroup multiplies. The two sets of sums
need as many registers as one set of a tile twice as wide, so the tile is 128 x 128, with six stages.

The rules that make the kernel correct have the code that the verifier reports if one is violated. The control flow of a
role depends on the schedule, which is data. If the verifier cannot prove that a wait is missing with any schedule, it
reports nothing; such rules have no code below, and the author is responsible for them.

* mbarriers are initialized before any thread uses them, also those of other CTAs (PTX501, PTX613): the initializing
  thread executes a fence, and a barrier of the cluster follows. No CTA exits while others may still signal its
  mbarriers: a second barrier of the cluster is at the end.
* A stage is read only after its phase is complete, and the expected bytes are those of the boxes (PTX503 for one CTA).
* Sums may be accessed only after a wait for the multiplications (PTX311), and a stage is released only then.
* `wgmma.fence` precedes the first multiplication after other instructions have accessed the sums (PTX312).
* All warps of a warpgroup release registers before the others request them (PTX605).
* The threads store to the staging boxes through the generic proxy, and the copy out reads them through the async proxy:
  each thread executes a proxy fence, the warp synchronizes, and one lane issues the copy (PTX401). It waits for all but
  its last group before the box is written again (PTX303), also if the last group is empty, and for all groups before
  the CTA exits.
* After partial sums are written and the warp has synchronized, one lane publishes them with a release; the reader waits
  with an acquire.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", "Tensors: Swizzling Modes", "Async Proxy",
"Miscellaneous Instructions: setmaxnreg", "Memory Consistency Model".
"""

from __future__ import annotations

from ptxkit.build import BuildValueError, Global, Kernel, Ring, TensorMap, b8, bf16, f32, u16, u32
from ptxkit.kernels.gemm_config import (
    A_STAGE_BYTES,
    CLUSTERS,
    CONSUMERS,
    ELEMENTS,
    K_BLOCK_BYTES,
    PRODUCERS,
    ROWS,
    STAGING_BOX_BYTES,
    STRIP_COLUMNS,
    THREADS,
    GemmConfig,
    GemmContext,
    iterate_work_items,
)
from ptxkit.kernels.gemm_consumer import emit_consumer


def gemm(
    element: str = "bf16",
    *,
    cluster: int = 2,
    by_columns: bool = False,
    precise: bool = False,
    debug: bool = False,
) -> Kernel:
    """Returns a kernel that computes `c = a @ b`, summed in fp32 and rounded to bf16 once.

    `element` is `bf16`, `e4m3` or `e5m2`; for the two types with 8 bits, the result is `c = scale_a * scale_b * (a @
    b)`. `cluster` is the number of CTAs that share a part of B, 1 or 2. With `by_columns`, B is [K, N] in row-major
    order (bf16 only); else it is [N, K], so that the rows of both matrices are along K. With `precise`, each k-block is
    summed separately and added in fp32 (only for types with 8 bits, whose sums the tensor cores keep with fewer bits).

    Parameters: a, b, c: tensor maps, swizzle 128; items: the words of the schedule; parts: memory for CTAs x CONSUMERS
    x 32 x (sums of a thread) f32; flags: CTAs x CONSUMERS words, which are zero before and after a launch; for types
    with 8 bits, scale_a and scale_b: one f32 each. Block: THREADS; grid: the workers of the schedule times `cluster`.
    `Matmul` creates all of them.
    """
    if element not in ELEMENTS:
        raise BuildValueError(f"the elements are {' or '.join(ELEMENTS)}, not {element!r}")
    if cluster not in CLUSTERS:
        raise BuildValueError(f"a cluster has {' or '.join(map(str, CLUSTERS))} CTAs, not {cluster!r}")
    if by_columns and element != "bf16":
        raise BuildValueError(f"wgmma reads {element} only along K: B is [N, K]")
    form = GemmConfig(element, cluster, by_columns, precise)
    if precise and not form.is_scaled:
        raise BuildValueError(f"{element} is summed in fp32 anyway: precise is for e4m3 and e5m2")
    shape = cluster if cluster > 1 else None
    k = Kernel("gemm", threads=THREADS, target="sm_90a", cluster=shape, registers=168, debug=debug)
    kind = ELEMENTS[element]
    a = k.tensor_map("a", kind, box=(form.k_block_elements, ROWS), swizzle=128)
    b = k.tensor_map(
        "b", kind, box=(form.k_block_elements, STRIP_COLUMNS if by_columns else form.multicast_columns), swizzle=128
    )
    c = k.tensor_map("c", bf16, box=(STRIP_COLUMNS, 16), swizzle=128)
    items = k.param(Global[u32], "items", align=16)
    parts = k.param(Global[f32], "parts", align=16)
    flags = k.param(Global[u32], "flags")
    scales = [k.param(Global[f32], f"scale_{each}") for each in "ab"] if form.is_scaled else []
    memory = k.dynamic_shared(b8, form.stages * form.stage_bytes + CONSUMERS * 2 * STAGING_BOX_BYTES, align=1024)
    full, empty = k.mbarrier("full", form.stages), k.mbarrier("empty", form.stages)
    rank = k.cluster_ctarank if cluster > 1 else 0
    self = GemmContext(k, form, rank, k.uniform(k.warp), memory, full, empty)

    with k.thread_is(0):
        for each in (a, b, c):
            each.prefetch_map()
        full.init(1)
        empty.init(CONSUMERS * cluster)
        if cluster > 1:
            k.fence_barrier_init()
    if cluster > 1:
        k.cluster_sync()
    else:
        k.cta_sync()

    with k.role(warps=range(PRODUCERS), registers=40, by=self.warp), k.if_(self.warp == 0), k.elect_one():
        _emit_producer(self, a, b, items)
    with k.role(warps=range(PRODUCERS, PRODUCERS + CONSUMERS), registers=232, by=self.warp):
        emit_consumer(self, c, items, parts, flags, scales)
    if cluster > 1:
        k.cluster_sync(aligned=False)
    return k


def _emit_producer(gemm: GemmContext, a: TensorMap, b: TensorMap, items: Global[u32]) -> None:
    """Emits the code of the producer thread: for each k-block of each row, it waits for a free stage and starts the
    copies.
    """
    k, form = gemm.k, gemm.config
    ring, depth, share = Ring(k, form.stages), form.k_block_elements, form.multicast_columns
    all_ctas = (1 << form.cluster) - 1 if form.cluster > 1 else None
    mask = None if all_ctas is None else k.constant_register(all_ctas).convert(u16)
    with iterate_work_items(gemm, items) as item:
        row = item.row(gemm)
        column = item.column(gemm) + share * gemm.rank
        left, along = k.variable(u32, item.blocks), k.variable(u32, item.first * depth)
        with k.loop() as loop:
            full = gemm.full[ring.stage]
            gemm.empty[ring.stage].wait(ring.opposite())
            full.arrive_expect_tx(form.stage_bytes)
            stage = gemm.memory[ring.stage * form.stage_bytes]
            mine = stage[A_STAGE_BYTES:][share * K_BLOCK_BYTES * gemm.rank]
            a.load(stage, (along, row), full)
            if form.by_columns:
                for number in range(share // STRIP_COLUMNS):
                    strip = mine[number * STRIP_COLUMNS * K_BLOCK_BYTES :]
                    b.load(strip, (column + number * STRIP_COLUMNS, along), full, multicast=mask)
            else:
                b.load(mine, (along, column), full, multicast=mask)
            ring.advance()
            along.set(along + depth)
            left.set(left - 1)
            loop.break_(when=left == 0)
