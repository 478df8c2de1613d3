from ptxkit.build import Global, Kernel, f32

TILE = 1024
THREADS = 256


def make_scale(*, fence: bool = True) -> Kernel:
    k = Kernel("scale", threads=THREADS, target="sm_90")
    source = k.param(Global[f32], "source", align=16)
    target = k.param(Global[f32], "target", align=16)
    factor = k.param(f32, "factor")
    tile = k.shared(f32, TILE, align=128, name="tile")
    full = k.mbarrier("full")
    first = k.ctaid.x * TILE

    with k.thread_is(0):
        full.init(1)
    k.cta_sync()

    with k.thread_is(0):  # global memory -> tile
        full.arrive_expect_tx(TILE * 4)
        k.cp_async_bulk(tile, source[first], TILE * 4, full)
    full.wait(parity=0)

    for part in range(0, TILE, THREADS):
        place = tile[k.tid.x + part]
        place.store(place.load() * factor)
    if fence:
        k.fence_proxy_async_shared_cta()
    k.cta_sync()

    with k.thread_is(0):  # tile -> global memory
        k.cp_async_bulk(target[first], tile, TILE * 4)
        k.cp_async_bulk_commit_group()
        k.cp_async_bulk_wait_group_read(0)
    return k


scale = make_scale()
