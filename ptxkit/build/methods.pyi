"""Generated from the instruction table by scripts/stubs: not to be edited.

Operands are in the order of PTX, without results, which are returned. Keywords name the form's modifiers; `into` names
registers that receive results, `guard` and `unless` make the instruction conditional.
"""
# ruff: noqa
# mypy: ignore-errors

from collections.abc import Sequence
from typing import Any, Literal, overload

from ptxkit.build.addresses import Address, Const, Generic, Global, Local, Param, Shared, SharedCluster
from ptxkit.build.recorder import Label
from ptxkit.kernel_model.scalar_types import *
from ptxkit.build.registers import Register

Value = Register[Any] | int | float
Into = Register[Any] | Sequence[Register[Any]] | None
Guard = Register[pred] | None

class Methods:
    def abs(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Returns the absolute value.
        PTX ISA, 'Floating Point Instructions: abs'
            abs{.ftz}.f32 d:.f32, a:.f32/#
        Returns the absolute value of half precision values.
        PTX ISA, 'Half Precision Floating Point Instructions: abs'
            abs{.ftz}.<t> d:t, a:t
                needs PTX 6.5 and sm_53
            abs.<t> d:t, a:t
                needs PTX 7.0 and sm_80
        Returns the absolute value of an integer.
        PTX ISA, 'Integer Arithmetic Instructions: abs'
        effect d = abs(bits(t), a)
            abs.<t> d:t, a:t/#
        """
    def abs_f64(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[f64]:
        """Returns the absolute value.
        PTX ISA, 'Floating Point Instructions: abs'
            abs.f64 d:.f64, a:.f64/#
        """
    def activemask(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[Any]:
        """Returns the mask of the lanes that execute the instruction.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: activemask'
        needs PTX 6.2 and sm_30
            activemask.<t> d:.b32
        """
    @overload
    def add(self, a: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4', 'e2m1p4x4', 'ue8m0x4', 'f16', 'bf16', 'f16x2', 'bf16x2'] | bool = ..., dt: Literal['e4m3x4', 'e5m2x4', 'f16x2', 'bf16x2'] | bool = ..., ftz: Literal['ftz'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'u16x2', 's16x2', 'u8x4', 's8x4'] | bool = ...) -> Any:
        """Adds narrow floats to floats of 8 bits.
        PTX ISA, 'Alternate Floating Point Instructions: add'
        needs PTX 9.4 and sm_100a or sm_103a
            add{.<rnd>}{.satfinite}.<dt>.<at> d:dt, a:at/own, c:dt/own
        Adds two floating-point values, or two pairs.
        PTX ISA, 'Floating Point Instructions: add'
            add{.<rnd>}{.ftz}{.sat}.f32 d:.f32, a:.f32/#, b:.f32/#
            add{.<rnd>}{.ftz}.f32x2 d:.f32x2, a:.f32x2, b:.f32x2
                needs PTX 8.6 and sm_100
            add{.<rnd>}.f64 d:.f64, a:.f64/#, b:.f64/#
        Adds half precision values.
        PTX ISA, 'Half Precision Floating Point Instructions: add'
            add{.<rnd>}{.ftz}{.sat}.<t> d:t, a:t, b:t
                needs PTX 4.2 and sm_53
            add{.<rnd>}.<t> d:t, a:t, b:t
                needs PTX 7.8 and sm_90
        Adds two integers, or the parts of two registers.
        PTX ISA, 'Integer Arithmetic Instructions: add'
            add{.sat}.<t> d:t, a:t/#, b:t/#
                needs PTX 9.2 and sm_107f or sm_120f, for sat and t == .u32
                effect d = add(bits(t), a, b) when not sat
            add{.sat}.<t> d:t, a:t, b:t
                needs PTX 8.0 and sm_90; PTX 9.2 and sm_107f or sm_120f, for sat or t in .u8x4 .s8x4
        Adds two integers and writes the carry flag.
        PTX ISA, 'Extended-Precision Arithmetic Instructions: add.cc'
        needs PTX 1.2; PTX 4.3 and sm_20, for bits(t) == 64
        effect d = add(bits(t), a, b)
            add.<flag>.<t> d:t, a:t/#, b:t/#
        Adds values of which one is converted first, or whose sum is converted.
        PTX ISA, 'Mixed Precision Floating Point Instructions: add'
            add{.<rnd>}{.sat}.f32.<at> d:.f32, a:at, c:.f32/#
                needs PTX 8.6 and sm_100
            add{.<rnd>}.f32x2.<at>.f32x2 d:.f32x2, a:at, c:.f32x2
                needs PTX 9.4 and sm_107f
            add{.<rnd>}{.ftz}.<dt>.f32x2.f32x2 d:dt, a:.f32x2, c:.f32x2
                needs PTX 9.4 and sm_107f
        """
    @overload
    def add(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4', 'e2m1p4x4', 'ue8m0x4', 'f16', 'bf16', 'f16x2', 'bf16x2'] | bool = ..., dt: Literal['e4m3x4', 'e5m2x4', 'f16x2', 'bf16x2'] | bool = ..., ftz: Literal['ftz'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'u16x2', 's16x2', 'u8x4', 's8x4'] | bool = ...) -> Any: ...
    def addc(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cc: Literal['cc'] | bool = ..., sat: Literal['sat'] | bool = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Adds two integers and the carry flag.
        PTX ISA, 'Extended-Precision Arithmetic Instructions: addc'
        needs PTX 1.2; PTX 4.3 and sm_20, for bits(t) == 64
            addc{.cc}{.sat}.<t> d:t, a:t/#, b:t/#
        """
    @overload
    def alloca(self, size: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u32', 'u64'] | bool = ...) -> Any:
        """Allocates local memory on the stack.
        PTX ISA, 'Stack Manipulation Instructions: alloca'
        needs PTX 7.3 and sm_52
            alloca.<t> d:t, size:t/#{, alignment:#{1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576 2097152 4194304 8388608}}
        """
    @overload
    def alloca(self, size: Value, alignment: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u32', 'u64'] | bool = ...) -> Any: ...
    def and_(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b16', 'b32', 'b64'] | bool = ...) -> Register[Any]:
        """Computes the bitwise and; for predicates, the logical and.
        PTX ISA, 'Logic and Shift Instructions: and'
        effect d = and(bits(t), a, b)
            and.<t> d:t, a:t/#, b:t/#
        """
    def and_pred(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[pred]:
        """Computes the bitwise and; for predicates, the logical and.
        PTX ISA, 'Logic and Shift Instructions: and'
        effect d = and(1, a, b)
            and.pred d:.pred, a:.pred/#/!, b:.pred/#/!
        """
    def applypriority(self, a: Generic[Any] | Global[Any], n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ss: Literal['global'] | bool = ...) -> None:
        """Sets the eviction priority of a cache line.
        PTX ISA, 'Data Movement and Conversion Instructions: applypriority'
        needs PTX 7.4 and sm_80
            applypriority{.<ss>}.L2::evict_normal [a in ss align 128], n:#128
        """
    def applypriority_async_bulk(self, a: Generic[Any] | Global[Any], n: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., src: Literal['global'] | bool = ...) -> None:
        """Sets the eviction priority of a range of bytes in the L2 cache; a bulk group tracks its completion.
        PTX ISA, 'Data Movement and Conversion Instructions: applypriority.async.bulk'
        needs PTX 9.4 and sm_107f
            applypriority.async.bulk{.<src>}.<cm>.<ep> [a in src align 128], n:.u32/integer/#0..1048560 step 16
        """
    @overload
    def applypriority_async_bulk_tensor(self, map: tuple[object, ...], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., src: Literal['global'] | bool = ...) -> None:
        """Sets the eviction priority of a tile of a tensor in the L2 cache; a bulk group tracks its completion.
        PTX ISA, 'Data Movement and Conversion Instructions: applypriority.async.bulk.tensor'
        needs PTX 9.4 and sm_107f; PTX 9.4 and sm_107f, for .override::global_address
        effect read(.generic, map, 128, proxy=.tensormap, completion=.bulk)
            applypriority.async.bulk.tensor.<dim>{.<src>}.<cm>{.<mode>}.<ep>{.<oga>}{.<oa>} [map in .generic of src as tensormap, base:.b64/integer/scalar ?oga, {sizes:.b16/#/narrower/integer * number(dim)} ?oa, {lower:.b32 * (number(dim) - 1)} ?(oa == .override::global_dim_stride), upper:.b16/integer/scalar ?(oa == .override::global_dim_stride), {c:.s32/#/integer/vector * coordinates} ?(not oa), {zeros:.s32/#0/integer * coordinates} ?oa], {o:.u16/#/vector * offsets} ?(mode in .im2col .im2col::w .im2col::w::128)
        """
    @overload
    def applypriority_async_bulk_tensor(self, map: tuple[object, ...], o: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., src: Literal['global'] | bool = ...) -> None: ...
    @overload
    def atom(self, a: Generic[Any] | Global[Any] | SharedCluster[Any] | Shared[Any], b: Sequence[Value] | Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., gl: Literal['global'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., noftz: Literal['noftz'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max', 'exch'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['relaxed', 'acquire', 'release', 'acq_rel'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta', 'shared::cluster'] | bool = ..., t: Literal['b32', 'b64', 'b128', 'u32', 'u64', 's32', 's64', 'f32', 'f64', 'b16', 'f16', 'f16x2', 'bf16', 'bf16x2'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> Any:
        """Updates a location atomically and returns the old value.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: atom'
        effect update(ss, a, n * bytes(t), order=sem or .relaxed, scope=sc or .gpu)
            atom{.<sem>}{.<sc>}{.<ss>}.<op>{.<lch>}.<t> d:t/_, [a in ss align bytes(t)], b:t/#, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 8.3 and sm_90, for t == .b128; PTX 8.4 and sm_90, for t == .b128 and sc == .sys; PTX 5.0 and sm_60, for t == .f64; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            atom{.<sem>}{.<sc>}{.<ss>}.cas.<t> d:t/_, [a in ss align bytes(t)], b:t/#, c:t/#
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 6.3 and sm_70, for t == .b16; PTX 8.3 and sm_90, for t == .b128; PTX 8.4 and sm_90, for t == .b128 and sc == .sys; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster
            atom{.<sem>}{.<sc>}{.<ss>}.<op>.noftz{.<lch>}.<t> d:t/_, [a in ss align bytes(t)], b:t, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 6.2 and sm_60, for t == .f16x2; PTX 6.3 and sm_70, for t == .f16; PTX 7.8 and sm_90, for t in .bf16 .bf16x2; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            atom{.<sem>}{.<sc>}{.<ss>}.<op>.noftz{.<lch>}.<t> d:t/_, [a in ss align bytes(t)], b:t/#, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 9.4 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            atom{.<sem>}{.<sc>}{.<gl>}.<op>{.noftz}{.<lch>}.<vec>.<t> d:t/_ * n, [a in gl align n * bytes(t)], b:t/# * n, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 8.1 and sm_90; PTX 9.4 and sm_90, for noftz; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            atom{.<sem>}{.<sc>}{.<gl>}.<op>{.noftz}{.<lch>}.<vec>.<t> d:sink, [a in gl align n * bytes(t)], b:t/# * n, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 8.1 and sm_90; PTX 9.4 and sm_90, for noftz; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            atom{.<sem>}{.<sc>}{.<gl>}.<op>.noftz{.<lch>}.<vec>.<t> d:t/_/exact(t in .bf16 .f16x2 .bf16x2) * n, [a in gl align n * bytes(t)], b:t/#/exact(t in .bf16 .f16x2 .bf16x2) * n, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 8.1 and sm_90; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            atom{.<sem>}{.<sc>}{.<gl>}.<op>.noftz{.<lch>}.<vec>.<t> d:sink, [a in gl align n * bytes(t)], b:t/#/exact(t in .bf16 .f16x2 .bf16x2) * n, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 8.1 and sm_90; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
        """
    @overload
    def atom(self, a: Generic[Any] | Global[Any], b: Sequence[Value] | Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., gl: Literal['global'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., noftz: Literal['noftz'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max', 'exch'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['relaxed', 'acquire', 'release', 'acq_rel'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta', 'shared::cluster'] | bool = ..., t: Literal['b32', 'b64', 'b128', 'u32', 'u64', 's32', 's64', 'f32', 'f64', 'b16', 'f16', 'f16x2', 'bf16', 'bf16x2'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> Any: ...
    @overload
    def atom(self, a: Generic[Any] | Global[Any] | SharedCluster[Any] | Shared[Any], b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., gl: Literal['global'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., noftz: Literal['noftz'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max', 'exch'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['relaxed', 'acquire', 'release', 'acq_rel'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta', 'shared::cluster'] | bool = ..., t: Literal['b32', 'b64', 'b128', 'u32', 'u64', 's32', 's64', 'f32', 'f64', 'b16', 'f16', 'f16x2', 'bf16', 'bf16x2'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> Register[Any]: ...
    @overload
    def bar(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        effect barrier(.cta, .sync, a, b, aligned=true)
            bar.<op> a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}
        """
    @overload
    def bar(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None: ...
    def bar_arrive(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        effect barrier(.cta, .arrive, a, b, order=.release, aligned=true)
            bar.arrive a:.b32/#0..15/integer/cut, b:.b32/#32.. step 32/integer/cut
        """
    @overload
    def bar_cta(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        needs PTX 7.8
        effect barrier(.cta, .sync, a, b, aligned=true)
            bar.cta.<op> a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}
        """
    @overload
    def bar_cta(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None: ...
    def bar_cta_arrive(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        needs PTX 7.8
        effect barrier(.cta, .arrive, a, b, order=.release, aligned=true)
            bar.cta.arrive a:.b32/#0..15/integer/cut, b:.b32/#32.. step 32/integer/cut
        """
    @overload
    def bar_cta_red(self, a: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., op: Literal['and', 'or'] | bool = ...) -> Any:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        needs PTX 7.8
        effect barrier(.cta, .sync, a, b, aligned=true)
            bar.cta.red.<op>.<t> d:.u32, a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}, c:.pred/!/#
            bar.cta.red.<op>.<t> d:t, a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}, c:.pred/!/#
        """
    @overload
    def bar_cta_red(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., op: Literal['and', 'or'] | bool = ...) -> Any: ...
    @overload
    def bar_red(self, a: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., op: Literal['and', 'or'] | bool = ...) -> Any:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        effect barrier(.cta, .sync, a, b, aligned=true)
            bar.red.<op>.<t> d:.u32, a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}, c:.pred/!/#
            bar.red.<op>.<t> d:t, a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}, c:.pred/!/#
        """
    @overload
    def bar_red(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., op: Literal['and', 'or'] | bool = ...) -> Any: ...
    def bar_warp(self, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Synchronizes the lanes of a warp that the member mask names.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar.warp.sync'
        needs PTX 6.0 and sm_30
        effect barrier(.warp, .sync, mask)
            bar.warp.<op> mask:.b32/#/integer
        """
    @overload
    def barrier(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ...) -> None:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        needs PTX 6.0 and sm_30
        effect barrier(.cta, .sync, a, b, aligned=aligned)
            barrier.<op>{.aligned} a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}
        """
    @overload
    def barrier(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ...) -> None: ...
    def barrier_arrive(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ...) -> None:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        needs PTX 6.0 and sm_30
        effect barrier(.cta, .arrive, a, b, order=.release, aligned=aligned)
            barrier.arrive{.aligned} a:.b32/#0..15/integer/cut, b:.b32/#32.. step 32/integer/cut
        """
    def barrier_cluster_arrive(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ...) -> None:
        """Arrives at the barrier of the cluster, or waits for it.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: barrier.cluster'
        needs PTX 7.8 and sm_90; PTX 8.0, for sem; PTX 7.8 and sm_90, for .cluster
        effect barrier(.cluster, .arrive, order=sem or .release, aligned=aligned)
            barrier.cluster.arrive{.<sem>}{.aligned}
        """
    def barrier_cluster_wait(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., acquire: Literal['acquire'] | bool = ..., aligned: Literal['aligned'] | bool = ...) -> None:
        """Arrives at the barrier of the cluster, or waits for it.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: barrier.cluster'
        needs PTX 7.8 and sm_90; PTX 8.0, for acquire; PTX 7.8 and sm_90, for .cluster
        effect barrier(.cluster, .wait, order=.acquire, aligned=aligned)
            barrier.cluster.wait{.acquire}{.aligned}
        """
    @overload
    def barrier_cta(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ...) -> None:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        needs PTX 7.8 and sm_30
        effect barrier(.cta, .sync, a, b, aligned=aligned)
            barrier.cta.<op>{.aligned} a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}
        """
    @overload
    def barrier_cta(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ...) -> None: ...
    def barrier_cta_arrive(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ...) -> None:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        needs PTX 7.8 and sm_30
        effect barrier(.cta, .arrive, a, b, order=.release, aligned=aligned)
            barrier.cta.arrive{.aligned} a:.b32/#0..15/integer/cut, b:.b32/#32.. step 32/integer/cut
        """
    @overload
    def barrier_cta_red(self, a: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., op: Literal['and', 'or'] | bool = ...) -> Any:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        needs PTX 7.8 and sm_30
        effect barrier(.cta, .sync, a, b, aligned=aligned)
            barrier.cta.red.<op>{.aligned}.<t> d:.u32, a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}, c:.pred/!/#
            barrier.cta.red.<op>{.aligned}.<t> d:t, a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}, c:.pred/!/#
        """
    @overload
    def barrier_cta_red(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., op: Literal['and', 'or'] | bool = ...) -> Any: ...
    @overload
    def barrier_red(self, a: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., op: Literal['and', 'or'] | bool = ...) -> Any:
        """Synchronizes threads of a CTA at a barrier.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: bar, barrier'
        needs PTX 6.0 and sm_30
        effect barrier(.cta, .sync, a, b, aligned=aligned)
            barrier.red.<op>{.aligned}.<t> d:.u32, a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}, c:.pred/!/#
            barrier.red.<op>{.aligned}.<t> d:t, a:.b32/#0..15/integer/cut{, b:.b32/#0.. step 32/integer/cut}, c:.pred/!/#
        """
    @overload
    def barrier_red(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., op: Literal['and', 'or'] | bool = ...) -> Any: ...
    def bfe(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u32', 's32', 'u64', 's64'] | bool = ...) -> Any:
        """Extracts a bit field with a position and a length, extended by zeros or by its sign.
        PTX ISA, 'Integer Arithmetic Instructions: bfe'
        needs PTX 2.0 and sm_20
        effect d = bfe(bits(t), kind(t) == .s, a, b, c)
            bfe.<t> d:t, a:t/#, b:.u32/integer/#0..255, c:.u32/integer/#0..255
        """
    def bfi(self, a: Value, b: Value, c: Value, e: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b32', 'b64'] | bool = ...) -> Register[Any]:
        """Inserts the low bits of one register into a bit field of another, with a position and a length.
        PTX ISA, 'Integer Arithmetic Instructions: bfi'
        needs PTX 2.0 and sm_20
        effect d = bfi(bits(t), a, b, c, e)
            bfi.<t> d:t, a:t/#, b:t/#, c:.u32/integer/#0..255, e:.u32/integer/#0..255
        """
    def bfind(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., shiftamt: Literal['shiftamt'] | bool = ..., t: Literal['u32', 's32', 'u64', 's64'] | bool = ...) -> Register[u32]:
        """Finds the most significant bit that is not a sign bit; returns all ones if none exists.
        PTX ISA, 'Integer Arithmetic Instructions: bfind'
        needs PTX 2.0 and sm_20
            bfind{.shiftamt}.<t> d:.u32/integer, a:t/#
        """
    def bmsk(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mode: Literal['clamp', 'wrap'] | bool = ...) -> Register[Any]:
        """Creates a mask of ones with a position and a width.
        PTX ISA, 'Integer Arithmetic Instructions: bmsk'
        needs PTX 7.6 and sm_70
            bmsk.<mode>.b32 d:.b32/integer, a:.u32/integer/#, b:.u32/integer/#
        """
    def bra(self, target: Label, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., uni: Literal['uni'] | bool = ...) -> None:
        """Branches to a label.
        PTX ISA, 'Control Flow Instructions: bra'
        effect control(.branch, target)
            bra{.uni} target:label
        """
    def brev(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b32', 'b64'] | bool = ...) -> Register[Any]:
        """Reverses the order of the bits.
        PTX ISA, 'Integer Arithmetic Instructions: brev'
        needs PTX 2.0 and sm_20
            brev.<t> d:t, a:t/#
        """
    def brkpt(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Suspends execution for a debugger.
        PTX ISA, 'Miscellaneous Instructions: brkpt'
            brkpt
        """
    def brx_idx(self, index: Value, targets: Label, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., uni: Literal['uni'] | bool = ...) -> None:
        """Branches to one of the labels of a list.
        PTX ISA, 'Control Flow Instructions: brx.idx'
        needs PTX 6.0 and sm_30
        effect control(.branch_indexed, targets)
            brx.idx{.uni} index:.u32/#, targets:label
        """
    @overload
    def call(self, results: Value, f: Value, parameters: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., uni: Literal['uni'] | bool = ...) -> None:
        """Calls a function, by its name or through a register.
        PTX ISA, 'Control Flow Instructions: call'
        effect control(.call, f)
        effect results = unknown
            call{.uni} results:arguments, f:function, parameters:arguments
            call{.uni} f:function, parameters:arguments
            call{.uni} f:function
            call{.uni} results:arguments, f:function, parameters:arguments, list:label
            call{.uni} f:function, parameters:arguments, list:label
            call{.uni} f:function, list:label
        """
    @overload
    def call(self, f: Value, parameters: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., uni: Literal['uni'] | bool = ...) -> None: ...
    @overload
    def call(self, f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., uni: Literal['uni'] | bool = ...) -> None: ...
    @overload
    def call(self, results: Value, f: Value, parameters: Value, list: Label, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., uni: Literal['uni'] | bool = ...) -> None: ...
    @overload
    def call(self, f: Value, parameters: Value, list: Label, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., uni: Literal['uni'] | bool = ...) -> None: ...
    @overload
    def call(self, f: Value, list: Label, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., uni: Literal['uni'] | bool = ...) -> None: ...
    def clmad_hi(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u64', 's64'] | bool = ...) -> Any:
        """Multiplies and adds without carries: arithmetic on polynomials over GF(2).
        PTX ISA, 'Integer Arithmetic Instructions: clmad'
        needs PTX 9.3 and sm_80
            clmad.hi.<t> d:t, a:t/integer/#/nameless, b:t/integer/#/nameless, c:t/integer/#/nameless
        """
    def clmad_lo(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u64', 's64'] | bool = ...) -> Any:
        """Multiplies and adds without carries: arithmetic on polynomials over GF(2).
        PTX ISA, 'Integer Arithmetic Instructions: clmad'
        needs PTX 9.3 and sm_80
            clmad.lo.<t> d:t, a:t/integer/#/nameless, b:t/integer/#/nameless, c:t/integer/#/nameless
        """
    def clusterlaunchcontrol_query_cancel(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., which: Literal['get_first_ctaid::x', 'get_first_ctaid::y', 'get_first_ctaid::z'] | bool = ...) -> Any:
        """Decodes the response of a try_cancel.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: clusterlaunchcontrol.query_cancel'
        needs PTX 8.6 and sm_100
            clusterlaunchcontrol.query_cancel.<which>.pred.b128 d:.pred/typed, a:.b128/#
                effect d = is_canceled(a)
                effect cancellation(.query, is_canceled(a))
            clusterlaunchcontrol.query_cancel.<which>.<vec>.b32.b128 d:.b32/_ * number(vec), a:.b128/#
                effect d = unknown
                effect cancellation(.decode, is_canceled(a))
            clusterlaunchcontrol.query_cancel.<which>.b32.b128 d:.b32, a:.b128/#
                effect d = unknown
                effect cancellation(.decode, is_canceled(a))
        """
    def clusterlaunchcontrol_try_cancel_async(self, a: Generic[Any] | Shared[Any], bar: Generic[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::all'] | bool = ..., ss: Literal['shared::cta'] | bool = ...) -> None:
        """Requests the cancellation of a cluster that has not started; an mbarrier signals the response.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: clusterlaunchcontrol.try_cancel'
        needs PTX 8.6 and sm_100; PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f, for mc; PTX 7.8 and sm_30, for .shared::cta
        effect write(ss, a, 16, proxy=.async, completion=.mbarrier, barrier=bar) when not mc
        effect mbarrier_complete(bar, 16, space=ss) when not mc
        effect write(ss, a, 16, proxy=.async, completion=.mbarrier, barrier=bar, multicast="all") when mc
        effect mbarrier_complete(bar, 16, space=ss, multicast="all") when mc
        effect cancellation(.request)
            clusterlaunchcontrol.try_cancel.async{.<ss>}.<cm>{.<mc>}.b128 [a in ss align 16], [bar in ss as mbarrier]
        """
    def clz(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b32', 'b64'] | bool = ...) -> Register[u32]:
        """Counts the leading zeros.
        PTX ISA, 'Integer Arithmetic Instructions: clz'
        needs PTX 2.0 and sm_20
        effect d = clz(bits(t), a)
            clz.<t> d:.u32/integer, a:t/#
        """
    def cnot(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b16', 'b32', 'b64'] | bool = ...) -> Register[Any]:
        """Returns one if the register is zero, else zero.
        PTX ISA, 'Logic and Shift Instructions: cnot'
        effect d = select(bits(t), 1, 0, compare(.eq, t, a, 0))
            cnot.<t> d:t, a:t/#
        """
    def copysign(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['f32', 'f64'] | bool = ...) -> Any:
        """Returns the second value with the sign of the first.
        PTX ISA, 'Floating Point Instructions: copysign'
        needs PTX 2.0 and sm_20
            copysign.<t> d:t, a:t/#, b:t/#
        """
    def cos(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ...) -> Register[f32]:
        """Approximates the cosine.
        PTX ISA, 'Floating Point Instructions: cos'
            cos.<mode>{.ftz}.f32 d:.f32, a:.f32/#
        """
    @overload
    def cp_async_bulk(self, d: SharedCluster[Any] | Shared[Any], s: Global[Any], n: Value, bar: SharedCluster[Any] | Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., oob: Literal['ignore_oob'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None:
        """Copies a range of bytes between state spaces; an mbarrier or a bulk group tracks its completion.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async.bulk'
            cp.async.bulk{.<sem>}{.<sc>}.<dst>.<src>.<cm>{.<rm>}{.<lch>}{.<oob>}{.<t>} [d in dst align 16], [s in .global align 16], n:.u32/integer/#0..1048560 step 16, left:.u32/#0..15/integer ?oob, right:.u32/#0..15/integer ?oob, [bar in dst as mbarrier not 16(not (oob or lch))], policy:.b64/#/integer/nameless ?lch
                needs PTX 8.0 and sm_90; PTX 8.6, for dst == .shared::cta; PTX 9.3, for sem; PTX 9.4 and sm_107f, for rm; PTX 9.2 and sm_90, for oob; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
                effect read(.global, s, n, proxy=.async, completion=.mbarrier, barrier=bar, order=sem or .weak, scope=sc)
                effect write(dst, d, n, proxy=.async, completion=.mbarrier, barrier=bar, order=sem or .weak, scope=sc)
                effect mbarrier_complete(bar, n, space=dst)
            cp.async.bulk{.<sem>}{.<sc>}.<dst>.<src>.<cm>{.<rm>}{.<mc>}{.<lch>}{.<t>} [d in dst align 16], [s in .global align 16], n:.u32/integer/#0..1048560 step 16, [bar in dst as mbarrier not 16(not (mc or lch))], mask:mask_type/integer/nameless(mask_type == .b16)/#0..4294967295 ?mc, policy:.b64/#/integer/nameless ?lch
                needs PTX 8.0 and sm_90; PTX 9.3, for sem; PTX 9.4 and sm_107f, for rm; sm_90a or sm_100f or sm_110f, for sem == .relaxed; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 9.4, for .multicast::cluster::16b; PTX 9.4 and sm_107f, for .multicast::cluster::32b
                effect read(.global, s, n, proxy=.async, completion=.mbarrier, barrier=bar, order=sem or .weak, scope=sc)
                effect write(dst, d, n, proxy=.async, completion=.mbarrier, barrier=bar, order=sem or .weak, scope=sc, multicast=mask)
                effect mbarrier_complete(bar, n, space=dst, multicast=mask)
                effect home(bar, .same, d)
            cp.async.bulk{.<sem>}{.<sc>}.<dst>.<src>.<cm>{.<t>} [d in dst align 16], [s in .shared::cta align 16], n:.u32/integer/#0..1048560 step 16, [bar in dst as mbarrier not 16]
                needs PTX 8.0 and sm_90; PTX 9.3, for sem; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster
                effect read(.shared::cta, s, n, proxy=.async, completion=.mbarrier, barrier=bar, order=sem or .weak, scope=sc)
                effect write(dst, d, n, proxy=.async, completion=.mbarrier, barrier=bar, order=sem or .weak, scope=sc)
                effect mbarrier_complete(bar, n, space=dst)
                effect home(d, .other)
                effect home(bar, .same, d)
            cp.async.bulk{.<sem>}{.<sc>}.<dst>.<src>.<cm>{.<lch>}{.<bm>}{.<t>} [d in dst align 16], [s in .shared::cta align 16], n:.u32/integer/#0..1048560 step 16, policy:.b64/#/integer/nameless ?lch, bytes_mask:.b16/#/integer/nameless ?bm
                needs PTX 8.0 and sm_90; PTX 9.3, for sem; PTX 8.6 and sm_100, for bm; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
                effect read(.shared::cta, s, n, proxy=.async, completion=.bulk, order=sem or .weak, scope=sc)
                effect write(dst, d, n, proxy=.async, completion=.bulk, order=sem or .weak, scope=sc)
        """
    @overload
    def cp_async_bulk(self, d: Shared[Any], s: Global[Any], n: Value, left: Value, right: Value, bar: Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., oob: Literal['ignore_oob'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk(self, d: SharedCluster[Any] | Shared[Any], s: Global[Any] | Shared[Any], n: Value, bar: SharedCluster[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., oob: Literal['ignore_oob'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk(self, d: Shared[Any], s: Global[Any], n: Value, left: Value, right: Value, bar: Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., oob: Literal['ignore_oob'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk(self, d: SharedCluster[Any] | Shared[Any], s: Global[Any], n: Value, bar: SharedCluster[Any] | Shared[Any], mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., oob: Literal['ignore_oob'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk(self, d: SharedCluster[Any] | Shared[Any], s: Global[Any], n: Value, bar: SharedCluster[Any] | Shared[Any], mask: Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., oob: Literal['ignore_oob'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk(self, d: Global[Any], s: Shared[Any], n: Value, policy: Value, bytes_mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., oob: Literal['ignore_oob'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk(self, d: Global[Any], s: Shared[Any], n: Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., oob: Literal['ignore_oob'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk(self, d: Global[Any], s: Shared[Any], n: Value, bytes_mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., oob: Literal['ignore_oob'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk(self, d: Global[Any], s: Shared[Any], n: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., oob: Literal['ignore_oob'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None: ...
    def cp_async_bulk_commit_group(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Commits the thread's earlier bulk copies to a group.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async.bulk.commit_group'
        needs PTX 8.0 and sm_90
        effect commit_group(.bulk)
            cp.async.bulk.commit_group
        """
    @overload
    def cp_async_bulk_prefetch(self, s: Global[Any], n: Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., lch: Literal['L2::cache_hint'] | bool = ...) -> None:
        """Prefetches a range of bytes into the L2 cache; nothing signals its completion.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async.bulk.prefetch'
        effect prefetch(level, src, s, n, proxy=.async)
            cp.async.bulk.prefetch.<level>.<src>{.<lch>} [s in .global align 16], n:.u32/integer/#0..1048560 step 16, policy:.b64/#/integer/nameless ?lch
                needs PTX 8.0 and sm_90; PTX 7.4 and sm_80, for .L2::cache_hint
            cp.async.bulk.prefetch.<level>.<src>.<ep> [s in .global align 16], n:.u32/integer/#0..1048560 step 16
                needs PTX 8.0 and sm_90; PTX 9.4 and sm_107f
        """
    @overload
    def cp_async_bulk_prefetch(self, s: Global[Any], n: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., lch: Literal['L2::cache_hint'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_prefetch_tensor(self, map: tuple[object, ...], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ...) -> None:
        """Prefetches a tile of a tensor into the L2 cache; nothing signals its completion.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async.bulk.prefetch.tensor'
        effect read(.generic, map, 128, proxy=.tensormap)
        effect prefetch(level, .global, map, proxy=.async, via=.tensormap)
            cp.async.bulk.prefetch.tensor.<dim>.<level>.<src>{.<mode>}{.<lch>}{.<oga>}{.<oa>} [map in .generic of .global as tensormap, base:.b64/integer/scalar ?oga, {sizes:.b16/#/narrower/integer * number(dim)} ?oa, {lower:.b32 * (number(dim) - 1)} ?(oa == .override::global_dim_stride), upper:.b16/integer/scalar ?(oa == .override::global_dim_stride), {c:.s32/#/integer/vector * coordinates} ?(not oa), {zeros:.s32/#0/integer * coordinates} ?oa], {o:.u16/#/vector * offsets} ?starts(mode, .im2col), policy:.b64/#/integer/nameless ?lch
                needs PTX 8.0 and sm_90; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f, for mode in .tile::gather4 .im2col::w .im2col::w::128; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 9.4 and sm_107f, for .override::global_address
            cp.async.bulk.prefetch.tensor.<dim>.<level>.<src>{.<mode>}.<ep>{.<oga>}{.<oa>} [map in .generic of .global as tensormap, base:.b64/integer/scalar ?oga, {sizes:.b16/#/narrower/integer * number(dim)} ?oa, {lower:.b32 * (number(dim) - 1)} ?(oa == .override::global_dim_stride), upper:.b16/integer/scalar ?(oa == .override::global_dim_stride), {c:.s32/#/integer/vector * coordinates} ?(not oa), {zeros:.s32/#0/integer * coordinates} ?oa], {o:.u16/#/vector * offsets} ?starts(mode, .im2col)
                needs PTX 8.0 and sm_90; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f, for mode in .tile::gather4 .im2col::w .im2col::w::128; PTX 9.4 and sm_107f; PTX 9.4 and sm_107f, for .override::global_address
        """
    @overload
    def cp_async_bulk_prefetch_tensor(self, map: tuple[object, ...], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_prefetch_tensor(self, map: tuple[object, ...], o: Sequence[Value], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_prefetch_tensor(self, map: tuple[object, ...], o: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_tensor(self, d: SharedCluster[Any] | Shared[Any], map: tuple[object, ...], bar: SharedCluster[Any] | Shared[Any], o: Sequence[Value], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128', 'tile::scatter4', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ...) -> None:
        """Copies a tile of a tensor, which a tensor map describes, between global and shared memory.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async.bulk.tensor'
            cp.async.bulk.tensor.<dim>.<dst>.<src>{.<mode>}.<cm>{.<rm>}{.<cg>}{.<lch>}{.<oga>}{.<oa>} [d in dst align 128 bare], [map in .generic of .global as tensormap, base:.b64/integer/scalar ?oga, {sizes:.b16/#/narrower/integer * number(dim)} ?oa, {lower:.b32 * (number(dim) - 1)} ?(oa == .override::global_dim_stride), upper:.b16/integer/scalar ?(oa == .override::global_dim_stride), {c:.s32/#/integer/vector * coordinates} ?(not oa), {zeros:.s32/#0/integer * coordinates} ?oa], [bar in dst as mbarrier bare], {o:.u16/#/vector * offsets} ?starts(mode, .im2col), policy:.b64/#/integer/nameless ?lch
                needs PTX 8.0 and sm_90; PTX 8.6 and sm_90, for dst == .shared::cta; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f, for cg; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f, for mode in .im2col::w::128 .tile::scatter4; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f, for mode in .tile::gather4 .im2col::w and dst == .shared::cluster; PTX 8.6 and sm_100, for mode in .tile::gather4 .im2col::w and dst == .shared::cta; PTX 9.4 and sm_107f, for rm; PTX 7.8 and sm_30, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 9.4 and sm_107f, for .override::global_address
                effect read(.generic, map, 128, proxy=.tensormap, completion=.mbarrier, barrier=bar)
                effect read(.global, map, proxy=.async, completion=.mbarrier, barrier=bar, via=.tensormap)
                effect write(dst, d, proxy=.async, completion=.mbarrier, barrier=bar)
                effect mbarrier_complete(bar, unknown, space=dst)
            cp.async.bulk.tensor.<dim>.<dst>.<src>{.<mode>}.<cm>{.<rm>}{.<mc>}{.<cg>}{.<lch>}{.<oga>}{.<oa>} [d in dst align 128 bare], [map in .generic of .global as tensormap, base:.b64/integer/scalar ?oga, {sizes:.b16/#/narrower/integer * number(dim)} ?oa, {lower:.b32 * (number(dim) - 1)} ?(oa == .override::global_dim_stride), upper:.b16/integer/scalar ?(oa == .override::global_dim_stride), {c:.s32/#/integer/vector * coordinates} ?(not oa), {zeros:.s32/#0/integer * coordinates} ?oa], [bar in dst as mbarrier bare], {o:.u16/#/vector * offsets} ?starts(mode, .im2col), mask:mask_type/integer/nameless(mask_type == .b16)/#0..4294967295 ?mc, policy:.b64/#/integer/nameless ?lch
                needs PTX 8.0 and sm_90; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f, for cg; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f, for mode in .im2col::w::128 .tile::scatter4; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f, for mode in .tile::gather4 .im2col::w and dst == .shared::cluster; PTX 8.6 and sm_100, for mode in .tile::gather4 .im2col::w and dst == .shared::cta; PTX 9.4 and sm_107f, for rm; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 9.4, for .multicast::cluster::16b; PTX 9.4 and sm_107f, for .multicast::cluster::32b; PTX 9.4 and sm_107f, for .override::global_address
                effect read(.generic, map, 128, proxy=.tensormap, completion=.mbarrier, barrier=bar)
                effect read(.global, map, proxy=.async, completion=.mbarrier, barrier=bar, via=.tensormap)
                effect write(dst, d, proxy=.async, completion=.mbarrier, barrier=bar, multicast=mask)
                effect mbarrier_complete(bar, unknown, space=dst, multicast=mask, paired=cg == .cta_group::2)
                effect home(bar, .same, d) when cg != .cta_group::2
            cp.async.bulk.tensor.<dim>.<dst>.<src>{.<mode>}.<cm>{.<lch>}{.<oga>}{.<oa>} [map in .generic of .global as tensormap, base:.b64/integer/scalar ?oga, {sizes:.b16/#/narrower/integer * number(dim)} ?oa, {lower:.b32 * (number(dim) - 1)} ?(oa == .override::global_dim_stride), upper:.b16/integer/scalar ?(oa == .override::global_dim_stride), {c:.s32/#/integer/vector * coordinates} ?(not oa), {zeros:.s32/#0/integer * coordinates} ?oa], [s in .shared::cta align 128 bare], policy:.b64/#/integer/nameless ?lch
                needs PTX 8.0 and sm_90; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f, for mode in .im2col::w::128 .tile::scatter4; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f, for mode in .tile::gather4 .im2col::w and dst == .shared::cluster; PTX 8.6 and sm_100, for mode in .tile::gather4 .im2col::w and dst == .shared::cta; PTX 7.8 and sm_30, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 9.4 and sm_107f, for .override::global_address; PTX 9.4 and sm_107f, for .im2col_no_offs::w
                effect read(.generic, map, 128, proxy=.tensormap, completion=.bulk)
                effect read(.shared::cta, s, proxy=.async, completion=.bulk)
                effect write(.global, map, proxy=.async, completion=.bulk, via=.tensormap)
        """
    @overload
    def cp_async_bulk_tensor(self, d: SharedCluster[Any] | Shared[Any], map: tuple[object, ...], bar: SharedCluster[Any] | Shared[Any], o: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128', 'tile::scatter4', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_tensor(self, d: SharedCluster[Any] | Shared[Any], map: tuple[object, ...], bar: SharedCluster[Any] | Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128', 'tile::scatter4', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_tensor(self, d: SharedCluster[Any] | Shared[Any], map: tuple[object, ...], bar: SharedCluster[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128', 'tile::scatter4', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_tensor(self, d: SharedCluster[Any] | Shared[Any], map: tuple[object, ...], bar: SharedCluster[Any] | Shared[Any], o: Sequence[Value], mask: Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128', 'tile::scatter4', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_tensor(self, d: SharedCluster[Any] | Shared[Any], map: tuple[object, ...], bar: SharedCluster[Any] | Shared[Any], mask: Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128', 'tile::scatter4', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_tensor(self, d: SharedCluster[Any] | Shared[Any], map: tuple[object, ...], bar: SharedCluster[Any] | Shared[Any], mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128', 'tile::scatter4', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_tensor(self, d: SharedCluster[Any] | Shared[Any], map: tuple[object, ...], bar: SharedCluster[Any] | Shared[Any], o: Sequence[Value], mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128', 'tile::scatter4', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_tensor(self, map: tuple[object, ...], s: Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128', 'tile::scatter4', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ...) -> None: ...
    @overload
    def cp_async_bulk_tensor(self, map: tuple[object, ...], s: Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., mode: Literal['tile', 'tile::gather4', 'im2col', 'im2col::w', 'im2col::w::128', 'tile::scatter4', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., rm: Literal['mbarrier::report::disabled', 'mbarrier::report::validity::per_element::ff', 'mbarrier::report::validity::per_16bytes::80000000', 'mbarrier::report::validity::per_16bytes::8000', 'mbarrier::report::validity::per_16bytes::80', 'mbarrier::report::validity::per_16bytes::8'] | bool = ...) -> None: ...
    def cp_async_bulk_wait_group(self, n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., read: Literal['read'] | bool = ...) -> None:
        """Waits until the thread's older groups of bulk copies are complete, or have read their sources.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async.bulk.wait_group'
        needs PTX 8.0 and sm_90
        effect wait_group(.bulk, n, read_only=read)
            cp.async.bulk.wait_group{.read} n:#0../cut
        """
    @overload
    def cp_async_ca(self, d: Shared[Any], s: Global[Any], n: int, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None:
        """Copies 4, 8 or 16 bytes from global to shared memory, asynchronously; its group or an mbarrier tracks its completion.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async'
        effect read(.global, s, default(z, n), completion="cp.async", unless=skip)
        effect write(dst, d, n, completion="cp.async")
            cp.async.ca.<dst>.<src>{.<lch>}{.<pf>} [d in dst align n], [s in .global align n], n:#{4 8 16}{, z:.u32/integer/#0..16}, policy:.b64/#/integer/nameless ?lch
                needs PTX 7.0 and sm_80; PTX 7.0, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 7.4 and sm_75, for .L2::64B; PTX 7.4 and sm_75, for .L2::128B; PTX 7.4 and sm_80, for .L2::256B
            cp.async.ca.<dst>.<src>{.<lch>}{.<pf>} [d in dst align n], [s in .global align n], n:#{4 8 16}, skip:.pred/!, policy:.b64/#/integer/nameless ?lch
                needs PTX 7.0 and sm_80; PTX 7.0, for .shared::cta; PTX 7.5; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 7.4 and sm_75, for .L2::64B; PTX 7.4 and sm_75, for .L2::128B; PTX 7.4 and sm_80, for .L2::256B
        """
    @overload
    def cp_async_ca(self, d: Shared[Any], s: Global[Any], n: int, z: Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None: ...
    @overload
    def cp_async_ca(self, d: Shared[Any], s: Global[Any], n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None: ...
    @overload
    def cp_async_ca(self, d: Shared[Any], s: Global[Any], n: int, z: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None: ...
    @overload
    def cp_async_ca(self, d: Shared[Any], s: Global[Any], n: int, skip: Register[pred], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None: ...
    @overload
    def cp_async_ca(self, d: Shared[Any], s: Global[Any], n: int, skip: Register[pred], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None: ...
    @overload
    def cp_async_cg(self, d: Shared[Any], s: Global[Any], n: int, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None:
        """Copies 4, 8 or 16 bytes from global to shared memory, asynchronously; its group or an mbarrier tracks its completion.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async'
        effect read(.global, s, default(z, n), completion="cp.async", unless=skip)
        effect write(dst, d, n, completion="cp.async")
            cp.async.cg.<dst>.<src>{.<lch>}{.<pf>} [d in dst align n], [s in .global align n], n:#16{, z:.u32/integer/#0..16}, policy:.b64/#/integer/nameless ?lch
                needs PTX 7.0 and sm_80; PTX 7.0, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 7.4 and sm_75, for .L2::64B; PTX 7.4 and sm_75, for .L2::128B; PTX 7.4 and sm_80, for .L2::256B
            cp.async.cg.<dst>.<src>{.<lch>}{.<pf>} [d in dst align n], [s in .global align n], n:#16, skip:.pred/!, policy:.b64/#/integer/nameless ?lch
                needs PTX 7.0 and sm_80; PTX 7.0, for .shared::cta; PTX 7.5; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 7.4 and sm_75, for .L2::64B; PTX 7.4 and sm_75, for .L2::128B; PTX 7.4 and sm_80, for .L2::256B
        """
    @overload
    def cp_async_cg(self, d: Shared[Any], s: Global[Any], n: int, z: Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None: ...
    @overload
    def cp_async_cg(self, d: Shared[Any], s: Global[Any], n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None: ...
    @overload
    def cp_async_cg(self, d: Shared[Any], s: Global[Any], n: int, z: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None: ...
    @overload
    def cp_async_cg(self, d: Shared[Any], s: Global[Any], n: int, skip: Register[pred], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None: ...
    @overload
    def cp_async_cg(self, d: Shared[Any], s: Global[Any], n: int, skip: Register[pred], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dst: Literal['shared', 'shared::cta'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ...) -> None: ...
    def cp_async_commit_group(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Commits the thread's earlier cp.async copies to a group.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async.commit_group'
        needs PTX 7.0 and sm_80
        effect commit_group("cp.async")
            cp.async.commit_group
        """
    def cp_async_mbarrier_arrive(self, bar: Generic[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['noinc'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> None:
        """Arrives at an mbarrier when the thread's earlier cp.async copies are complete.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: cp.async.mbarrier.arrive'
        needs PTX 7.0 and sm_80; PTX 7.8 and sm_30, for .shared::cta
        effect mbarrier_track(bar, counted)
            cp.async.mbarrier.arrive{.<counted>}{.<ss>}.b64 [bar in ss as mbarrier wide(not ss)]
        """
    def cp_async_wait_all(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Waits until the thread's older groups of cp.async copies are complete.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async.wait_group / cp.async.wait_all'
        needs PTX 7.0 and sm_80
        effect wait_group("cp.async", 0, commits=true)
            cp.async.wait_all
        """
    def cp_async_wait_group(self, n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Waits until the thread's older groups of cp.async copies are complete.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.async.wait_group / cp.async.wait_all'
        needs PTX 7.0 and sm_80
        effect wait_group("cp.async", n)
            cp.async.wait_group n:#0../cut
        """
    @overload
    def cp_reduce_async_bulk(self, d: SharedCluster[Any] | Shared[Any], s: Shared[Any], n: Value, bar: SharedCluster[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['noftz'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['relaxed'] | bool = ..., t: Literal['b32', 'u32', 's32', 'u64', 'f16', 'bf16', 'b64', 's64', 'f32', 'f64'] | bool = ...) -> None:
        """Reduces a range of bytes into memory, element by element.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.reduce.async.bulk'
            cp.reduce.async.bulk{.<sem>}{.<sc>}.<dst>.<src>.<cm>.<op>.<t> [d in dst align 16], [s in .shared::cta align 16], n:.u32/integer/#0..1048560 step 16, [bar in dst as mbarrier]
                needs PTX 8.0 and sm_90; PTX 9.3, for sem; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster
                effect read(.shared::cta, s, n, proxy=.async, completion=.mbarrier, barrier=bar)
                effect update(dst, d, n, proxy=.async, completion=.mbarrier, barrier=bar, order=.relaxed, scope=sc or .gpu)
                effect mbarrier_complete(bar, n, space=dst)
                effect home(bar, .same, d)
            cp.reduce.async.bulk{.<sem>}{.<sc>}.<dst>.<src>.<cm>{.<lch>}.<op>{.<ftz>}.<t> [d in dst align 16], [s in .shared::cta align 16], n:.u32/integer/#0..1048560 step 16, policy:.b64/#/integer/nameless ?lch
                needs PTX 8.0 and sm_90; PTX 9.3, for sem; PTX 9.4, for ftz and t == .f32; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
                effect read(.shared::cta, s, n, proxy=.async, completion=.bulk)
                effect update(dst, d, n, proxy=.async, completion=.bulk, order=.relaxed, scope=sc or .gpu)
        """
    @overload
    def cp_reduce_async_bulk(self, d: Global[Any], s: Shared[Any], n: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['noftz'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['relaxed'] | bool = ..., t: Literal['b32', 'u32', 's32', 'u64', 'f16', 'bf16', 'b64', 's64', 'f32', 'f64'] | bool = ...) -> None: ...
    @overload
    def cp_reduce_async_bulk(self, d: Global[Any], s: Shared[Any], n: Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['noftz'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['relaxed'] | bool = ..., t: Literal['b32', 'u32', 's32', 'u64', 'f16', 'bf16', 'b64', 's64', 'f32', 'f64'] | bool = ...) -> None: ...
    @overload
    def cp_reduce_async_bulk_tensor(self, map: tuple[object, ...], s: Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., op: Literal['add', 'min', 'max', 'inc', 'dec', 'and', 'or', 'xor'] | bool = ...) -> None:
        """Reduces a tile in shared memory into a tensor, element by element.
        PTX ISA, 'Data Movement and Conversion Instructions: cp.reduce.async.bulk.tensor'
        needs PTX 8.0 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 9.4 and sm_107f, for .override::global_address; PTX 9.4 and sm_107f, for .im2col_no_offs::w
        effect read(.generic, map, 128, proxy=.tensormap, completion=.bulk)
        effect read(.shared::cta, s, proxy=.async, completion=.bulk)
        effect update(.global, map, proxy=.async, completion=.bulk, via=.tensormap, order=.relaxed, scope=.gpu)
            cp.reduce.async.bulk.tensor.<dim>.<dst>.<src>.<op>{.<mode>}.<cm>{.<lch>}{.<oga>}{.<oa>} [map in .generic of .global as tensormap, base:.b64/integer/scalar ?oga, {sizes:.b16/#/narrower/integer * number(dim)} ?oa, {lower:.b32 * (number(dim) - 1)} ?(oa == .override::global_dim_stride), upper:.b16/integer/scalar ?(oa == .override::global_dim_stride), {c:.s32/#/integer/vector * coordinates} ?(not oa), {zeros:.s32/#0/integer * coordinates} ?oa], [s in .shared::cta align 128 bare], policy:.b64/#/integer/nameless ?lch
        """
    @overload
    def cp_reduce_async_bulk_tensor(self, map: tuple[object, ...], s: Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile', 'im2col_no_offs', 'im2col_no_offs::w'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., oga: Literal['override::global_address'] | bool = ..., op: Literal['add', 'min', 'max', 'inc', 'dec', 'and', 'or', 'xor'] | bool = ...) -> None: ...
    def createpolicy_cvt(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[Any]:
        """Creates a cache eviction policy for memory instructions.
        PTX ISA, 'Data Movement and Conversion Instructions: createpolicy'
        needs PTX 7.4 and sm_80
            createpolicy.cvt.<level>.b64 d:.b64/integer, a:.b64/#/integer/nameless
        """
    @overload
    def createpolicy_fractional(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., primary: Literal['L2::evict_last', 'L2::evict_normal', 'L2::evict_first', 'L2::evict_unchanged'] | bool = ..., second: Literal['L2::evict_first', 'L2::evict_unchanged'] | bool = ...) -> Register[Any]:
        """Creates a cache eviction policy for memory instructions.
        PTX ISA, 'Data Movement and Conversion Instructions: createpolicy'
        needs PTX 7.4 and sm_80
            createpolicy.fractional.<primary>{.<second>}.b64 d:.b64/integer{, fraction:.f32/#}
        """
    @overload
    def createpolicy_fractional(self, fraction: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., primary: Literal['L2::evict_last', 'L2::evict_normal', 'L2::evict_first', 'L2::evict_unchanged'] | bool = ..., second: Literal['L2::evict_first', 'L2::evict_unchanged'] | bool = ...) -> Register[Any]: ...
    def createpolicy_range(self, a: Generic[Any] | Global[Any], size: Value, total: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., primary: Literal['L2::evict_last', 'L2::evict_normal', 'L2::evict_first', 'L2::evict_unchanged'] | bool = ..., second: Literal['L2::evict_first', 'L2::evict_unchanged'] | bool = ..., ss: Literal['global'] | bool = ...) -> Register[Any]:
        """Creates a cache eviction policy for memory instructions.
        PTX ISA, 'Data Movement and Conversion Instructions: createpolicy'
        needs PTX 7.4 and sm_80
            createpolicy.range{.<ss>}.<primary>{.<second>}.b64 d:.b64/integer, [a in ss wide], size:.b32/#/integer, total:.b32/#/integer
        """
    @overload
    def cvt(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'bf16', 'f16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2'] | bool = ..., dt: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f16', 'f32', 'f64', 'bf16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2', 'e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4'] | bool = ..., ftz: Literal['ftz'] | bool = ..., pzo: Literal['pzo'] | bool = ..., relu: Literal['relu'] | bool = ..., rnd: Literal['rni', 'rzi', 'rmi', 'rpi', 'rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., scaled: Literal['scaled::n1::ue8m0', 'scaled::n2::ue8m0'] | bool = ..., t: Literal['f32', 'f64'] | bool = ...) -> Any:
        """Converts an integer to another integer type: truncated, extended, or saturated.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
        effect d = convert(at, dt, a) when not sat
            cvt{.sat}.<dt>.<at> d:dt/wider, a:at/#/wider/special
        Converts a floating-point value to an integer; values out of range become the nearest integer of the type.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
            cvt.<rnd>{.ftz}{.sat}.<dt>.<at> d:dt/wider/upto64(split), a:at/#/wider/upto64(split)
            cvt.<rnd>{.sat}.<dt>.<at> d:dt/wider, a:at/wider
            cvt.<rnd>.<dt>.<at> d:dt, a:at
                needs PTX 7.8 and sm_90
        Converts an integer to a floating-point value.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
            cvt.<rnd>{.ftz}{.sat}.<dt>.<at> d:dt/wider, a:at/#/wider
            cvt.<rnd>.<dt>.<at> d:dt, a:at/#
                needs PTX 7.8 and sm_90
        Converts a floating-point value to another type, or rounds it to an integer of the same type.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
            cvt{.<rnd>}{.ftz}{.sat}.<dt>.<at> d:dt/wider(not (split and (dt == .f64 or rnd != .rn)))/upto64(split), a:at/#/wider(not (split and at == .f64))/upto64(split)
            cvt{.ftz}{.sat}.<dt>.<at> d:dt/wider, a:at/wider
            cvt.<rnd>{.ftz}{.sat}.<t>.<t> d:t/wider, a:t/#/wider
            cvt.<rnd>{.sat}.<t>.<t> d:t/wider, a:t/wider
            cvt.<rnd>{.ftz}.<dt>.f32 d:dt, a:.f32/#
                needs PTX 7.0 and sm_80
            cvt{.<rnd>}{.ftz}.f32.<at> d:.f32, a:at
                needs PTX 7.1 and sm_80; PTX 7.8 and sm_90, for ftz
            cvt{.<rnd>}.<dt>.<at> d:dt, a:at/#
                needs PTX 7.8 and sm_90
            cvt.<rnd>.<t>.<t> d:t, a:t
                needs PTX 7.8 and sm_90
        Converts single precision to half, with negative values made zero or infinities made finite.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
        needs PTX 7.0 and sm_80, for relu or dt == .bf16; PTX 8.1, for satfinite; PTX 9.4 and sm_107f, for pzo
            cvt.<rnd>{.relu}{.satfinite}{.pzo}.<dt>.f32 d:dt/wider(dt == .f16), a:.f32/#/wider(dt == .f16)
        Converts two single precision values to half and packs them, the first one in the upper half.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
            cvt.<rnd>{.relu}{.satfinite}{.pzo}.<dt>.f32 d:dt/wider(dt == .f16x2), a:.f32/#/wider(dt == .f16x2), b:.f32/#/wider(dt == .f16x2)
                needs PTX 7.0 and sm_80; PTX 8.1 and sm_80, for satfinite; PTX 9.4 and sm_107f, for pzo
            cvt.<rnd>{.relu}{.satfinite}.<dt>.f32 d:dt/wider(dt == .f16x2), a:.f32/#/wider(dt == .f16x2), b:.f32/#/wider(dt == .f16x2), rbits:.b32/exact
                needs PTX 8.7 and sm_100a or sm_103a or sm_107a
        Rounds single precision to the 19 bits of tf32.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
            cvt.<rnd>{.satfinite}.tf32.f32 d:.b32/exact, a:.f32/#/single
                needs PTX 7.0 and sm_80; PTX 8.1 and sm_80, for satfinite
            cvt.<rnd>{.satfinite}{.relu}{.pzo}.tf32.f32 d:.b32/exact, a:.f32/#
                needs PTX 7.8 and sm_90; PTX 8.6 and sm_100, for satfinite; PTX 9.4 and sm_107f, for pzo
        Converts pairs to packed floats of 8, 6 or 4 bits, the first one in the upper half.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
            cvt.<rnd>.satfinite{.relu}{.pzo}{.<scaled>}.<dt>.f32 d:(as_bits(dt))/exact, a:.f32/#, b:.f32/#, scale:.b8/exact ?scaled
                needs PTX 9.4 and sm_107f, for rnd == .rz or pzo or scaled; PTX 7.8 and sm_90, or PTX 8.1 and sm_89, for dt in eight_bit_floats; PTX 8.6 and sm_100a or sm_101a or sm_110a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f, for dt not in eight_bit_floats
            cvt.<rnd>.satfinite{.relu}{.pzo}{.<scaled>}.<dt>.<at> d:(as_bits(dt))/exact, a:at, scale:.b8/exact ?scaled
                needs PTX 9.4 and sm_107f, for rnd == .rz or pzo or scaled; PTX 7.8 and sm_90, or PTX 8.1 and sm_89, for dt in eight_bit_floats and at == .f16x2; PTX 9.1 and sm_100f or sm_110f or sm_120f, for not (dt in eight_bit_floats and at == .f16x2)
            cvt.<rnd>.satfinite{.relu}{.pzo}{.<scaled>}.<dt>.<at> d:(as_bits(dt))/exact, a:.b32/loose/vector/typed, scale:.b8/exact ?scaled
                needs PTX 9.4 and sm_107f, for rnd == .rz or pzo or scaled; PTX 9.1 and sm_100f or sm_110f or sm_120f
        Converts packed floats of 8, 6 or 4 bits to pairs of half precision, times a scale.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
            cvt.<rnd>{.relu}.f16x2.<at> d:.f16x2, a:(as_bits(at))/exact/own
                needs PTX 7.8 and sm_90, or PTX 8.1 and sm_89, for at in eight_bit_floats; PTX 8.6 and sm_100a or sm_101a or sm_110a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f, for at not in eight_bit_floats
            cvt.<rnd>{.relu}{.satfinite}{.<scaled>}.bf16x2.<at> d:.bf16x2, a:(as_bits(at))/exact/typed/nameless/own(at == .e2m1x2), scale:.b16/exact ?scaled
                needs PTX 9.2 and sm_100f or sm_110f or sm_120f
        Converts four single precision values to narrow floats with stochastic rounding, the first one in the most significant bits.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
        needs PTX 8.7 and sm_100a or sm_103a or sm_107a
            cvt.<rnd>{.relu}.satfinite.<dt>.f32 d:(as_bits(dt))/exact, {a:.f32/#/exact * 4}, rbits:.b32/exact
        Converts to and from scale factors, which are floats with an exponent only.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
        needs PTX 8.6 and sm_100a or sm_101a or sm_110a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f
            cvt.<rnd>{.satfinite}.ue8m0x2.f32 d:.b16/exact, a:.f32/#, b:.f32/#
            cvt.<rnd>{.satfinite}.ue8m0x2.bf16x2 d:.b16/exact, a:.bf16x2
            cvt.<rnd>.bf16x2.<at> d:.bf16x2, a:(as_bits(at))/exact/typed/nameless
        Converts to and from fixed-point values of two integer and six fraction bits, with a scale.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
            cvt.<rnd>.satfinite.s2f6x2.f32 d:.b16 * one.., a:.f32/#, b:.f32/#
                needs PTX 9.1 and sm_100a or sm_103a or sm_107a or sm_110a or sm_120a or sm_121a; PTX 9.4 and sm_107f, for rnd == .rz
            cvt.<rnd>.satfinite.relu.s2f6x2.f32 d:.b16 * one.., a:.f32/#, b:.f32/#
                needs PTX 9.1 and sm_100a or sm_103a or sm_107a or sm_110a or sm_120a or sm_121a; PTX 9.4 and sm_107f, for rnd == .rz
            cvt.<rnd>.satfinite{.relu}.<scaled>.s2f6x2.f32 d:.b16, a:.f32/#, b:.f32/#, scale:.b16/exact
                needs PTX 9.1 and sm_100a or sm_103a or sm_107a or sm_110a or sm_120a or sm_121a; PTX 9.4 and sm_107f, for rnd == .rz
            cvt.<rnd>.satfinite{.relu}{.<scaled>}.s2f6x2.bf16x2 d:.b16, a:.bf16x2, scale:.b16/exact ?scaled
                needs PTX 9.1 and sm_100a or sm_103a or sm_107a or sm_110a or sm_120a or sm_121a; PTX 9.4 and sm_107f, for rnd == .rz
            cvt.<rnd>{.satfinite}{.relu}{.<scaled>}.bf16x2.s2f6x2 d:.bf16x2, a:.b16/exact, scale:.b16/exact ?scaled
                needs PTX 9.1 and sm_100a or sm_103a or sm_107a or sm_110a or sm_120a or sm_121a
        Converts to and from unsigned floats of five exponent and three fraction bits, with a scale.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt'
        needs PTX 9.4 and sm_107f
            cvt.<rnd>{.satfinite}.ue5m3x2.f32 d:.b16/exact, a:.f32/#, b:.f32/#
            cvt.<rnd>{.satfinite}.<scaled>.ue5m3x2.f32 d:.b16/exact, a:.f32/#, b:.f32/#, scale:.b8/exact
            cvt.<rnd>{.satfinite}.ue5m3x2.<at> d:.b16/exact, a:at
            cvt.<rnd>{.satfinite}.<scaled>.ue5m3x2.<at> d:.b16/exact, a:(if at == .bf16x2 then .b32 else at)/loose(at == .bf16x2)/own(at == .bf16x2)/vector, scale:.b8/exact
            cvt.<rnd>.f16x2.ue5m3x2 d:.f16x2, a:.b16/exact
            cvt.<rnd>{.satfinite}{.<scaled>}.bf16x2.ue5m3x2 d:.bf16x2, a:word/exact/typed, scale:.b16/exact ?scaled
        """
    @overload
    def cvt(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'bf16', 'f16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2'] | bool = ..., dt: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f16', 'f32', 'f64', 'bf16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2', 'e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4'] | bool = ..., ftz: Literal['ftz'] | bool = ..., pzo: Literal['pzo'] | bool = ..., relu: Literal['relu'] | bool = ..., rnd: Literal['rni', 'rzi', 'rmi', 'rpi', 'rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., scaled: Literal['scaled::n1::ue8m0', 'scaled::n2::ue8m0'] | bool = ..., t: Literal['f32', 'f64'] | bool = ...) -> Any: ...
    @overload
    def cvt(self, a: Value, b: Value, rbits: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'bf16', 'f16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2'] | bool = ..., dt: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f16', 'f32', 'f64', 'bf16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2', 'e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4'] | bool = ..., ftz: Literal['ftz'] | bool = ..., pzo: Literal['pzo'] | bool = ..., relu: Literal['relu'] | bool = ..., rnd: Literal['rni', 'rzi', 'rmi', 'rpi', 'rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., scaled: Literal['scaled::n1::ue8m0', 'scaled::n2::ue8m0'] | bool = ..., t: Literal['f32', 'f64'] | bool = ...) -> Any: ...
    @overload
    def cvt(self, a: Value, b: Value, scale: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'bf16', 'f16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2'] | bool = ..., dt: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f16', 'f32', 'f64', 'bf16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2', 'e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4'] | bool = ..., ftz: Literal['ftz'] | bool = ..., pzo: Literal['pzo'] | bool = ..., relu: Literal['relu'] | bool = ..., rnd: Literal['rni', 'rzi', 'rmi', 'rpi', 'rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., scaled: Literal['scaled::n1::ue8m0', 'scaled::n2::ue8m0'] | bool = ..., t: Literal['f32', 'f64'] | bool = ...) -> Register[Any]: ...
    @overload
    def cvt(self, a: Value, scale: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'bf16', 'f16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2'] | bool = ..., dt: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f16', 'f32', 'f64', 'bf16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2', 'e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4'] | bool = ..., ftz: Literal['ftz'] | bool = ..., pzo: Literal['pzo'] | bool = ..., relu: Literal['relu'] | bool = ..., rnd: Literal['rni', 'rzi', 'rmi', 'rpi', 'rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., scaled: Literal['scaled::n1::ue8m0', 'scaled::n2::ue8m0'] | bool = ..., t: Literal['f32', 'f64'] | bool = ...) -> Register[Any]: ...
    @overload
    def cvt(self, a: Sequence[Value], rbits: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'bf16', 'f16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2'] | bool = ..., dt: Literal['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f16', 'f32', 'f64', 'bf16', 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2', 'e2m3x2', 'e3m2x2', 'e2m1x2', 'e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4'] | bool = ..., ftz: Literal['ftz'] | bool = ..., pzo: Literal['pzo'] | bool = ..., relu: Literal['relu'] | bool = ..., rnd: Literal['rni', 'rzi', 'rmi', 'rpi', 'rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., scaled: Literal['scaled::n1::ue8m0', 'scaled::n2::ue8m0'] | bool = ..., t: Literal['f32', 'f64'] | bool = ...) -> Register[Any]: ...
    @overload
    def cvt_pack(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['u16', 's16', 'u2', 's2', 'u4', 's4', 'u8', 's8'] | bool = ...) -> Register[u32]:
        """Converts two integers with saturation and packs them; bits of a third one fill the upper half.
        PTX ISA, 'Data Movement and Conversion Instructions: cvt.pack'
            cvt.pack.<limit>.<ct>.<at> d:.u32/wider, a:at/#/wider, b:at/#/wider
                needs PTX 6.5 and sm_72
            cvt.pack.<limit>.<ct>.<at>.b32 d:.u32/wider, a:at/#/wider, b:at/#/wider, c:.b32/#/wider
                needs PTX 6.5 and sm_72; PTX 6.5 and sm_75, for ct in .u2 .s2 .u4 .s4; PTX 6.5, for .s2; PTX 6.5, for .u2
        """
    @overload
    def cvt_pack(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['u16', 's16', 'u2', 's2', 'u4', 's4', 'u8', 's8'] | bool = ...) -> Register[u32]: ...
    def cvta(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ss: Literal['const', 'global', 'local', 'shared', 'shared::cta', 'shared::cluster', 'param', 'param::entry'] | bool = ..., t: Literal['u32', 'u64'] | bool = ...) -> Any:
        """Converts an address of a state space to a generic address, or back.
        PTX ISA, 'Data Movement and Conversion Instructions: cvta'
        needs PTX 7.7 and sm_70, for space(ss) == .param; PTX 3.1, for ss == .const; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 8.3, for .param::entry
        effect d = to_generic(space(ss), a)
            cvta.<ss>.<t> d:t, a:t/&/#/space(ss)
        """
    def cvta_to(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ss: Literal['const', 'global', 'local', 'shared', 'shared::cta', 'shared::cluster', 'param', 'param::entry'] | bool = ..., t: Literal['u32', 'u64'] | bool = ...) -> Any:
        """Converts an address of a state space to a generic address, or back.
        PTX ISA, 'Data Movement and Conversion Instructions: cvta'
        needs PTX 7.7 and sm_70, for space(ss) == .param; PTX 3.1, for ss == .const; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 8.3, for .param::entry
        effect d = from_generic(space(ss), a)
            cvta.to.<ss>.<t> d:t, a:t/#
        """
    def discard(self, a: Generic[Any] | Global[Any], n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ss: Literal['global'] | bool = ...) -> None:
        """Discards the data of a cache line, which is undefined afterwards.
        PTX ISA, 'Data Movement and Conversion Instructions: discard'
        needs PTX 7.4 and sm_80
        effect write(.global, a, n)
            discard{.<ss>}.L2 [a in ss align 128], n:#128
        """
    def div(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Divides: approximately, approximately over the full range, or rounded as IEEE 754 specifies.
        PTX ISA, 'Floating Point Instructions: div'
            div.<mode>{.ftz}.f32 d:.f32, a:.f32/#, b:.f32/#
            div.<rnd>{.ftz}.f32 d:.f32, a:.f32/#/typed(rnd != .rn), b:.f32/#/typed(rnd != .rn)
            div.<rnd>.f64 d:.f64, a:.f64/#/typed(rnd != .rn), b:.f64/#/typed(rnd != .rn)
        Divides two integers; the quotient is rounded toward zero.
        PTX ISA, 'Integer Arithmetic Instructions: div'
        effect d = div(bits(t), kind(t) == .s, a, b)
            div.<t> d:t, a:t/#/typed(bits(t) == 64), b:t/#/typed(bits(t) == 64)
        """
    def div_full(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ...) -> Register[f32]:
        """Divides: approximately, approximately over the full range, or rounded as IEEE 754 specifies.
        PTX ISA, 'Floating Point Instructions: div'
            div.full{.ftz}.f32 d:.f32, a:.f32/#, b:.f32/#
        """
    def dp2a_hi(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ...) -> Any:
        """Adds the products of two pairs of a half word and a byte to a register.
        PTX ISA, 'Integer Arithmetic Instructions: dp2a'
        needs PTX 5.0 and sm_61
            dp2a.hi.<at>.<bt> d:sum/integer, a:at/#, b:bt/#, c:sum/integer/#
        """
    def dp2a_lo(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ...) -> Any:
        """Adds the products of two pairs of a half word and a byte to a register.
        PTX ISA, 'Integer Arithmetic Instructions: dp2a'
        needs PTX 5.0 and sm_61
            dp2a.lo.<at>.<bt> d:sum/integer, a:at/#, b:bt/#, c:sum/integer/#
        """
    def dp4a(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ...) -> Any:
        """Adds the products of four pairs of bytes to a register.
        PTX ISA, 'Integer Arithmetic Instructions: dp4a'
        needs PTX 5.0 and sm_61
            dp4a.<at>.<bt> d:sum/integer, a:at/#, b:bt/#, c:sum/integer/#
        """
    def elect_sync(self, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> tuple[Register[Any], Register[pred]]:
        """Elects one lane of the warp.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: elect.sync'
        needs PTX 8.0 and sm_90
        effect p = elected()
        effect barrier(.warp, .sync, mask, order=.relaxed)
            elect.sync d:.b32/_/integer|p:.pred, mask:.b32/#/integer
        """
    def ex2(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2'] | bool = ...) -> Any:
        """Approximates the power of 2.
        PTX ISA, 'Floating Point Instructions: ex2'
            ex2.<mode>{.ftz}.f32 d:.f32, a:.f32/#
        Approximates 2 to the power of half precision values.
        PTX ISA, 'Half Precision Floating Point Instructions: ex2'
            ex2.<mode>.<t> d:t, a:t
                needs PTX 7.0 and sm_75
            ex2.<mode>.ftz.<t> d:t, a:t
                needs PTX 7.8 and sm_90
        """
    def exit(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Exits the thread.
        PTX ISA, 'Control Flow Instructions: exit'
        effect control(.exit)
            exit
        """
    def fabric_submit(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., restrict: Literal['op_restrict::fetching'] | bool = ...) -> None:
        """Submits the thread's earlier fabric operations, which complete only after that.
        PTX ISA, 'Fabric Instructions: fabric.submit'
        needs PTX 9.3 and sm_100
            fabric.submit{.<restrict>}
        """
    def fabric_submit_commit_group(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Submits the thread's earlier fabric operations, which complete only after that.
        PTX ISA, 'Fabric Instructions: fabric.submit'
        needs PTX 9.3 and sm_100; PTX 9.5 and sm_100
            fabric.submit.commit_group
        """
    @overload
    def fabric_try_atom_async(self, le: tuple[object, ...], d: Shared[Any], s: Shared[Any], bar: Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., lch: Literal['L2::cache_hint'] | bool = ..., op: Literal['and', 'or', 'xor', 'exch', 'cas', 'min', 'max', 'add'] | bool = ..., t: Literal['b32', 'b64', 'b128', 'u32', 's32', 'u64', 's64', 'f16x2', 'bf16x2', 'f32', 'f64'] | bool = ...) -> None:
        """Combines 16 bytes of shared memory with those that a fabric handle denotes, and returns the old value.
        PTX ISA, 'Fabric Instructions: fabric.try_atom'
        needs PTX 9.4 and sm_100; PTX 7.8 and sm_30, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint
        effect read(src, s, (if op == .cas then 32 else 16), proxy=.async, completion=.mbarrier, barrier=bar)
        effect write(src, d, 16, proxy=.async, completion=.mbarrier, barrier=bar)
        effect mbarrier_complete(bar, 1, space=src)
            fabric.try_atom.async.<src>.<cm>.<rm>{.<lch>}.<sem>.<sc>.<op>.<t> [le in .fabric, off:.b64/integer/scalar], [d in src wide bare align 16], [s in src wide bare align 16], [bar in src of .shared as mbarrier], policy:.b64/#/integer/nameless ?lch
        """
    @overload
    def fabric_try_atom_async(self, le: tuple[object, ...], d: Shared[Any], s: Shared[Any], bar: Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., lch: Literal['L2::cache_hint'] | bool = ..., op: Literal['and', 'or', 'xor', 'exch', 'cas', 'min', 'max', 'add'] | bool = ..., t: Literal['b32', 'b64', 'b128', 'u32', 's32', 'u64', 's64', 'f16x2', 'bf16x2', 'f32', 'f64'] | bool = ...) -> None: ...
    @overload
    def fabric_try_get_async(self, d: Shared[Any], le: tuple[object, ...], n: Value, bar: Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., lch: Literal['L2::cache_hint'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None:
        """Copies bytes that a fabric handle denotes to shared memory.
        PTX ISA, 'Fabric Instructions: fabric.try_get'
        needs PTX 9.3 and sm_100; PTX 7.8 and sm_30, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint
        effect write(dst, d, n, proxy=.async, completion=.mbarrier, barrier=bar)
        effect mbarrier_complete(bar, n, space=dst)
            fabric.try_get.async.<dst>.<cm>.<rm>{.<lch>}{.<sem>}{.<sc>}.b128 [d in dst wide bare align 16], [le in .fabric, off:.b64/integer/scalar], n:.b32/#/integer, [bar in dst as mbarrier wide bare], policy:.b64/#/integer/nameless ?lch
        """
    @overload
    def fabric_try_get_async(self, d: Shared[Any], le: tuple[object, ...], n: Value, bar: Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., lch: Literal['L2::cache_hint'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None: ...
    @overload
    def fabric_try_get_async_tensor(self, d: Shared[Any], map: tuple[object, ...], bar: Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None:
        """Copies a tile of the tensor that a fabric handle denotes to shared memory.
        PTX ISA, 'Fabric Instructions: fabric.try_get.async.tensor'
        needs PTX 7.8 and sm_30, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 9.4 and sm_107f, for .override::global_address
        effect read(.generic, map, 128, proxy=.tensormap, completion=.mbarrier, barrier=bar)
        effect write(dst, d, proxy=.async, completion=.mbarrier, barrier=bar)
        effect mbarrier_complete(bar, unknown, space=dst)
            fabric.try_get.async.tensor.<dim>.<dst>{.<mode>}.<cm>.<rm>{.<lch>}.<oga>{.<oa>}{.<sem>}{.<sc>}.b128 [d in dst wide bare align 128], [map in .generic of .shared as tensormap long, le:.b32/integer/scalar, off:.b64/integer/scalar, {sizes:.b16/#/narrower/integer * number(dim)} ?oa, {lower:.b32 * (number(dim) - 1)} ?(oa == .override::global_dim_stride), upper:.b16/integer/scalar ?(oa == .override::global_dim_stride), {c:.s32/#/integer * number(dim)} ?(not oa), {zeros:.s32/#0/lax/integer * number(dim)} ?oa], [bar in dst as mbarrier wide bare], policy:.b64/#/integer/nameless ?lch
        """
    @overload
    def fabric_try_get_async_tensor(self, d: Shared[Any], map: tuple[object, ...], bar: Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None: ...
    def fabric_try_pullred_async(self, d: Shared[Any], le: tuple[object, ...], n: Value, bar: Shared[Any], lanes: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., acc: Literal['acc::f16', 'acc::f32'] | bool = ..., op: Literal['and', 'or', 'xor', 'min', 'max', 'add'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ..., t: Literal['b32', 'b64', 'u32', 's32', 'u64', 's64', 'f16', 'bf16', 'f32', 'e4m3', 'e5m2'] | bool = ...) -> None:
        """Reduces the data of all members of a multicast handle into shared memory; all lanes of a warp execute it.
        PTX ISA, 'Fabric Instructions: fabric.try_pullred'
        needs PTX 9.3 and sm_100; PTX 9.3 and sm_100f or sm_110f or sm_120f, for acc or t in .e4m3 .e5m2; PTX 7.8 and sm_30, for .shared::cta
        effect write(dst, d, n, proxy=.async, completion=.mbarrier, barrier=bar)
        effect mbarrier_complete(bar, n, space=dst)
            fabric.try_pullred.async.<mm>.<dst>.<cm>.<rm>{.<sem>}{.<sc>}.<op>{.<acc>}.<t>.<sync> [d in dst wide bare align 16], [le in .fabric, off:.b64/integer/scalar], n:.b32/#/integer, [bar in dst of .shared as mbarrier], lanes:#{0xffffffff -1}
        """
    @overload
    def fabric_try_put_async(self, le: tuple[object, ...], s: Shared[Any], n: Value, bar: Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['counted::bytes'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., multimem: Literal['multimem'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None:
        """Copies bytes of shared memory to the memory that a fabric handle denotes.
        PTX ISA, 'Fabric Instructions: fabric.try_put'
        needs PTX 9.3 and sm_100; PTX 7.8 and sm_30, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint
        effect read(src, s, n, proxy=.async, completion=.mbarrier, barrier=bar)
        effect mbarrier_complete(bar, n / 16, space=src)
            fabric.try_put.async{.multimem}.<src>.<cm>.<rm>{.<counted>}{.<lch>}{.<sem>}{.<sc>}.b128 [le in .fabric, off:.b64/integer/scalar, counter:.b64/integer/scalar ?counted], [s in src wide bare align 16], n:.b32/#/integer, [bar in src as mbarrier wide bare], policy:.b64/#/integer/nameless ?lch
            fabric.try_put.async{.multimem}.<src>.<cm>.<rm>{.<lch>}.<bm>{.<sem>}{.<sc>}.b128 [le in .fabric, off:.b64/integer/scalar], [s in src wide bare align 16], n:.b32/#/integer, [bar in src as mbarrier wide bare], bytes_mask:.b16/#/integer/nameless * 1, policy:.b64/#/integer/nameless ?lch
        """
    @overload
    def fabric_try_put_async(self, le: tuple[object, ...], s: Shared[Any], n: Value, bar: Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['counted::bytes'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., multimem: Literal['multimem'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None: ...
    @overload
    def fabric_try_put_async(self, le: tuple[object, ...], s: Shared[Any], n: Value, bar: Shared[Any], bytes_mask: Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['counted::bytes'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., multimem: Literal['multimem'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None: ...
    @overload
    def fabric_try_put_async(self, le: tuple[object, ...], s: Shared[Any], n: Value, bar: Shared[Any], bytes_mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['counted::bytes'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., multimem: Literal['multimem'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None: ...
    @overload
    def fabric_try_put_async_tensor(self, map: tuple[object, ...], s: Shared[Any], n: Value, bar: Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['counted::bytes'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile'] | bool = ..., multimem: Literal['multimem'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None:
        """Copies a tile of shared memory to the tensor that a fabric handle denotes, or reduces it into that tensor.
        PTX ISA, 'Fabric Instructions: fabric.try_put.async.tensor'
        needs PTX 7.8 and sm_30, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 9.4 and sm_107f, for .override::global_address
        effect read(.generic, map, 128, proxy=.tensormap, completion=.mbarrier, barrier=bar)
        effect read(src, s, n, proxy=.async, completion=.mbarrier, barrier=bar)
        effect mbarrier_complete(bar, n / 16, space=src)
            fabric.try_put.async.tensor{.multimem}.<dim>.<src>{.<mode>}.<cm>.<rm>{.<counted>}{.<lch>}.<oga>{.<oa>}{.<sem>}{.<sc>}.b128 [map in .generic of .shared as tensormap long, le:.b32/integer/scalar, off:.b64/integer/scalar, counter:.b64/integer/scalar ?counted, {sizes:.b16/#/narrower/integer * number(dim)} ?oa, {lower:.b32 * (number(dim) - 1)} ?(oa == .override::global_dim_stride), upper:.b16/integer/scalar ?(oa == .override::global_dim_stride), {c:.s32/#/integer * number(dim)} ?(not oa), {zeros:.s32/#0/lax/integer * number(dim)} ?oa], [s in src wide bare align 128], n:.b32/#/integer, [bar in src of .shared as mbarrier wide], policy:.b64/#/integer/nameless ?lch
        """
    @overload
    def fabric_try_put_async_tensor(self, map: tuple[object, ...], s: Shared[Any], n: Value, bar: Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['counted::bytes'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile'] | bool = ..., multimem: Literal['multimem'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None: ...
    @overload
    def fabric_try_red_async(self, le: tuple[object, ...], s: Shared[Any], n: Value, bar: Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['counted::bytes'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., multimem: Literal['multimem'] | bool = ..., op: Literal['and', 'or', 'xor', 'min', 'max', 'add'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ..., t: Literal['b32', 'b64', 'u32', 's32', 'u64', 's64', 'f16', 'bf16', 'f32', 'f64'] | bool = ...) -> None:
        """Reduces bytes of shared memory into the memory that a fabric handle denotes, element by element.
        PTX ISA, 'Fabric Instructions: fabric.try_red'
        needs PTX 9.3 and sm_100; PTX 7.8 and sm_30, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint
        effect read(src, s, n, proxy=.async, completion=.mbarrier, barrier=bar)
        effect mbarrier_complete(bar, n / 16, space=src)
            fabric.try_red.async{.multimem}.<src>.<cm>.<rm>{.<counted>}{.<lch>}{.<sem>}{.<sc>}.<op>.<t> [le in .fabric, off:.b64/integer/scalar, counter:.b64/integer/scalar ?counted], [s in src wide bare align 16], n:.b32/#/integer, [bar in src as mbarrier wide bare], policy:.b64/#/integer/nameless ?lch
        """
    @overload
    def fabric_try_red_async(self, le: tuple[object, ...], s: Shared[Any], n: Value, bar: Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['counted::bytes'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., multimem: Literal['multimem'] | bool = ..., op: Literal['and', 'or', 'xor', 'min', 'max', 'add'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ..., t: Literal['b32', 'b64', 'u32', 's32', 'u64', 's64', 'f16', 'bf16', 'f32', 'f64'] | bool = ...) -> None: ...
    @overload
    def fabric_try_red_async_tensor(self, map: tuple[object, ...], s: Shared[Any], n: Value, bar: Shared[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['counted::bytes'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile'] | bool = ..., multimem: Literal['multimem'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., op: Literal['and', 'or', 'xor', 'min', 'max', 'add'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None:
        """Copies a tile of shared memory to the tensor that a fabric handle denotes, or reduces it into that tensor.
        PTX ISA, 'Fabric Instructions: fabric.try_put.async.tensor'
        needs PTX 7.8 and sm_30, for .shared::cta; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 9.4 and sm_107f, for .override::global_address
        effect read(.generic, map, 128, proxy=.tensormap, completion=.mbarrier, barrier=bar)
        effect read(src, s, n, proxy=.async, completion=.mbarrier, barrier=bar)
        effect mbarrier_complete(bar, n / 16, space=src)
            fabric.try_red.async.tensor{.multimem}.<dim>.<src>{.<mode>}.<cm>.<rm>{.<counted>}{.<lch>}.<oga>{.<oa>}{.<sem>}{.<sc>}.<op> [map in .generic of .shared as tensormap long, le:.b32/integer/scalar, off:.b64/integer/scalar, counter:.b64/integer/scalar ?counted, {sizes:.b16/#/narrower/integer * number(dim)} ?oa, {lower:.b32 * (number(dim) - 1)} ?(oa == .override::global_dim_stride), upper:.b16/integer/scalar ?(oa == .override::global_dim_stride), {c:.s32/#/integer * number(dim)} ?(not oa), {zeros:.s32/#0/lax/integer * number(dim)} ?oa], [s in src wide bare align 128], n:.b32/#/integer, [bar in src of .shared as mbarrier wide], policy:.b64/#/integer/nameless ?lch
        """
    @overload
    def fabric_try_red_async_tensor(self, map: tuple[object, ...], s: Shared[Any], n: Value, bar: Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., counted: Literal['counted::bytes'] | bool = ..., dim: Literal['1d', '2d', '3d', '4d', '5d'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., mode: Literal['tile'] | bool = ..., multimem: Literal['multimem'] | bool = ..., oa: Literal['override::global_dim', 'override::global_dim_stride'] | bool = ..., op: Literal['and', 'or', 'xor', 'min', 'max', 'add'] | bool = ..., sc: Literal['sys'] | bool = ..., sem: Literal['relaxed'] | bool = ...) -> None: ...
    @overload
    def fabric_wait(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Waits until submitted fabric operations have read their shared memory.
        PTX ISA, 'Fabric Instructions: fabric.wait'
            fabric.wait.<restrict>
                needs PTX 9.3 and sm_100
            fabric.wait.<restrict> n:#
                needs PTX 9.5 and sm_100
        """
    @overload
    def fabric_wait(self, n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None: ...
    def fence(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., restrict: Literal['sync_restrict::shared::cluster', 'sync_restrict::shared::cta'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['sc', 'acq_rel', 'acquire', 'release'] | bool = ...) -> None:
        """Orders the thread's earlier memory accesses before its later ones.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: membar / fence'
            fence{.<sem>}.<sc>
                needs PTX 6.0 and sm_70; PTX 8.6 and sm_90, for sem in .acquire .release; PTX 7.8 and sm_90, for .cluster
                effect memory_fence(sem or .acq_rel, sc)
            fence.<sem>.<restrict>.<sc>
                needs PTX 8.6 and sm_90; PTX 7.8 and sm_90, for .cluster; PTX 8.6 and sm_90, for .sync_restrict::shared::cluster; PTX 8.6 and sm_90, for .sync_restrict::shared::cta
                effect memory_fence(sem, .cluster, only=restrict)
            fence.<op>.<sem>.<sc>
                needs PTX 8.0 and sm_90; PTX 7.8 and sm_90, for .cluster
                effect memory_fence(.release, .cluster, only="mbarrier.init")
            fence.<kind>.<restrict>.<sem>.<sc>
                needs PTX 9.5 and sm_90
        """
    @overload
    def fence_proxy(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., kind: Literal['generic::fabric', 'fabric::generic', 'fabric::fabric'] | bool = ..., restrict: Literal['sync_restrict::shared::cluster', 'sync_restrict::shared::cta'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['acquire', 'release'] | bool = ..., ss: Literal['global', 'shared::cta', 'shared::cluster'] | bool = ...) -> None:
        """Orders accesses to the same memory through different proxies.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: membar / fence'
            fence.proxy.<kind>
                needs PTX 8.0 and sm_90
                effect proxy_fence(.async)
            fence.proxy.<kind>.<sem>.<sc>
                needs PTX 8.3 and sm_90; PTX 7.8 and sm_90, for .cluster
                effect proxy_fence(.tensormap, direction=.release, scope=sc)
            fence.proxy.<kind>.<ss>
                needs PTX 8.0 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster
                effect proxy_fence(.async, ss)
            fence.proxy.<kind>.<sem>.<restrict>.<sc>
                needs PTX 9.4 and sm_90; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_90, for .sync_restrict::shared::cluster::read
            fence.proxy.<kind>.<sem>.<sc> [a in .generic of .any as tensormap], n:#128
                needs PTX 8.3 and sm_90; PTX 7.8 and sm_90, for .cluster
                effect proxy_fence(.tensormap, direction=.acquire, scope=sc, address=a)
            fence.proxy.<kind>.<alias>.<sem>.<sc>
                needs PTX 9.3 and sm_100
                effect proxy_fence(.fabric, direction=sem, scope=.sys)
        """
    @overload
    def fence_proxy(self, a: Generic[Any], n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., kind: Literal['generic::fabric', 'fabric::generic', 'fabric::fabric'] | bool = ..., restrict: Literal['sync_restrict::shared::cluster', 'sync_restrict::shared::cta'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['acquire', 'release'] | bool = ..., ss: Literal['global', 'shared::cta', 'shared::cluster'] | bool = ...) -> None: ...
    def fns_b32(self, mask: Value, base: Value, offset: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[Any]:
        """Finds the n-th set bit of a mask, starting at a given bit.
        PTX ISA, 'Integer Arithmetic Instructions: fns'
        needs PTX 6.0 and sm_30
            fns.b32 d:.b32, mask:.b32/#, base:.b32/#, offset:.b32/#
        """
    def getctarank(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ss: Literal['shared::cluster'] | bool = ..., t: Literal['u32', 'u64'] | bool = ...) -> Register[Any]:
        """Returns the rank of the CTA that a shared memory address belongs to.
        PTX ISA, 'Data Movement and Conversion Instructions: getctarank'
        needs PTX 7.8 and sm_90; PTX 7.8 and sm_90, for .shared::cluster
        effect d = rank_of(space(ss), a)
            getctarank{.<ss>}.<t> d:.b32/integer, a:t/&/#/space(.shared)/lax
        """
    def griddepcontrol(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., action: Literal['launch_dependents', 'wait'] | bool = ...) -> None:
        """Starts the dependent grids early, or waits for the grids that this one depends on.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: griddepcontrol'
        needs PTX 7.8 and sm_90
        effect grid(action)
            griddepcontrol.<action>
        """
    def isspacep(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ss: Literal['const', 'global', 'local', 'shared', 'shared::cta', 'shared::cluster', 'param', 'param::entry'] | bool = ...) -> Register[pred]:
        """Tests whether a generic address is in a state space.
        PTX ISA, 'Data Movement and Conversion Instructions: isspacep'
        needs PTX 7.7 and sm_70, for space(ss) == .param; PTX 3.1, for ss == .const; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 8.3, for .param::entry
        effect d = is_space(space(ss), a)
            isspacep.<ss> d:.pred, a:.b64/#/integer
            isspacep.<ss> d:.pred, a:.b32/#/integer
        """
    def istypep(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., object: Literal['texref', 'samplerref', 'surfref'] | bool = ...) -> Register[pred]:
        """Tests whether a register refers to a texture, a sampler or a surface.
        PTX ISA, 'Texture Instructions: istypep'
        needs PTX 4.0 and sm_30
        effect p = unknown
            istypep.<object> p:.pred, a:.u64/integer
        """
    @overload
    def ld(self, a: Generic[Any] | Global[Any] | Local[Any] | Param[Any] | SharedCluster[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cop: Literal['ca', 'cg', 'cs', 'lu', 'cv'] | bool = ..., l1: Literal['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] | bool = ..., l2: Literal['L2::evict_normal', 'L2::evict_first', 'L2::evict_last'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed', 'acquire'] | bool = ..., ss: Literal['const', 'global', 'local', 'param', 'param::entry', 'param::func', 'shared', 'shared::cta', 'shared::cluster'] | bool = ..., t: Literal['b8', 'b16', 'b32', 'b64', 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'b128'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> Any:
        """Loads one register or a vector of them from memory.
        PTX ISA, 'Data Movement and Conversion Instructions: ld'
        effect read(ss, a, n * bytes(t), order=case(sem, .weak, .weak, .volatile, .volatile, .mmio, .mmio, sem or .weak), scope=sc)
        effect d = load(space(ss), a, bits(t))
            ld{.<sem>}{.<ss>}{.<cop>}{.<l2>}{.<lch>}{.<pf>}{.<vec>}.<t> d:t/wider/_ * n, [a in ss align n * bytes(t) element data], policy:.b64/#/integer/nameless ?lch
                needs PTX 8.3 and sm_70, for t == .b128; PTX 8.4 and sm_70, for t == .b128 and sc == .sys; PTX 8.8 and sm_100, for n * bits(t) == 256; PTX 8.8 and sm_100, for l2; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 8.3, for .param::entry; PTX 8.3, for .param::func; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 7.4 and sm_75, for .L2::64B; PTX 7.4 and sm_75, for .L2::128B; PTX 7.4 and sm_80, for .L2::256B
            ld{.<sem>}{.<ss>}{.<l1>}{.<l2>}{.<lch>}{.<pf>}{.<vec>}.<t> d:t/wider/_ * n, [a in ss align n * bytes(t) element data], policy:.b64/#/integer/nameless ?lch
                needs PTX 8.3 and sm_70, for t == .b128; PTX 8.4 and sm_70, for t == .b128 and sc == .sys; PTX 8.8 and sm_100, for n * bits(t) == 256; PTX 8.8 and sm_100, for l2; PTX 7.4 and sm_70, for l1; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 7.4 and sm_75, for .L2::64B; PTX 7.4 and sm_75, for .L2::128B; PTX 7.4 and sm_80, for .L2::256B
            ld.<sem>{.<ss>}{.<l2>}{.<pf>}{.<vec>}.<t> d:t/wider/_ * n, [a in ss align n * bytes(t) element data]
                needs PTX 8.3 and sm_70, for t == .b128; PTX 8.4 and sm_70, for t == .b128 and sc == .sys; PTX 8.8 and sm_100, for n * bits(t) == 256; PTX 8.8 and sm_100, for l2; PTX 9.1, for ss == .local; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.4 and sm_75, for .L2::64B; PTX 7.4 and sm_75, for .L2::128B; PTX 7.4 and sm_80, for .L2::256B
            ld.<sem>.<sc>{.<ss>}{.<l1>}{.<l2>}{.<lch>}{.<pf>}{.<vec>}.<t> d:t/wider/_ * n, [a in ss align n * bytes(t) element data], policy:.b64/#/integer/nameless ?lch
                needs PTX 8.3 and sm_70, for t == .b128; PTX 8.4 and sm_70, for t == .b128 and sc == .sys; PTX 8.8 and sm_100, for n * bits(t) == 256; PTX 8.8 and sm_100, for l2; PTX 7.4 and sm_70, for l1; PTX 6.0 and sm_70; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 7.4 and sm_75, for .L2::64B; PTX 7.4 and sm_75, for .L2::128B; PTX 7.4 and sm_80, for .L2::256B
            ld.<mm>.<sem>.<sc>{.<ss>}.<t> d:t/wider * one, [a in ss align bytes(t) element data]
                needs PTX 8.3 and sm_70, for t == .b128; PTX 8.4 and sm_70, for t == .b128 and sc == .sys; PTX 8.8 and sm_100, for n * bits(t) == 256; PTX 8.2 and sm_70; PTX 9.3 and sm_75, for sem == .acquire
        Loads one register through the read-only proxy: the data must not change while the kernel runs.
        PTX ISA, 'Data Movement and Conversion Instructions: ld'
        needs PTX 9.4 and sm_90
        effect read(ss, a, bytes(t), coherent=false)
        effect d = load(space(ss), a, bits(t))
            ld{.<ss>}.<t>.proxy::readonly d:t/wider * one, [a in ss align bytes(t) element data]
        Loads through the non-coherent cache: the data must not change while the kernel runs.
        PTX ISA, 'Data Movement and Conversion Instructions: ld.global.nc'
        effect read(.global, a, n * bytes(t), coherent=false)
        effect d = load(.global, a, bits(t))
            ld.<gl>{.<cop>}{.<l2>}.nc{.<lch>}{.<pf>}{.<vec>}.<t> d:t/wider/_ * n, [a in .global align n * bytes(t) element data], policy:.b64/#/integer/nameless ?lch
                needs PTX 3.1 and sm_32; PTX 8.3 and sm_70, for t == .b128; PTX 8.8 and sm_100, for l2 or n * bits(t) == 256; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 7.4 and sm_75, for .L2::64B; PTX 7.4 and sm_75, for .L2::128B; PTX 7.4 and sm_80, for .L2::256B
            ld.<gl>.nc{.<l1>}{.<l2>}{.<lch>}{.<pf>}{.<vec>}.<t> d:t/wider/_ * n, [a in .global align n * bytes(t) element data], policy:.b64/#/integer/nameless ?lch
                needs PTX 3.1 and sm_32; PTX 8.3 and sm_70, for t == .b128; PTX 8.8 and sm_100, for l2 or n * bits(t) == 256; PTX 7.4 and sm_70, for l1; PTX 7.4 and sm_80, for .L2::cache_hint; PTX 7.4 and sm_75, for .L2::64B; PTX 7.4 and sm_75, for .L2::128B; PTX 7.4 and sm_80, for .L2::256B
        """
    @overload
    def ld(self, a: Generic[Any] | Global[Any], policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cop: Literal['ca', 'cg', 'cs', 'lu', 'cv'] | bool = ..., l1: Literal['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] | bool = ..., l2: Literal['L2::evict_normal', 'L2::evict_first', 'L2::evict_last'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., pf: Literal['L2::64B', 'L2::128B', 'L2::256B'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed', 'acquire'] | bool = ..., ss: Literal['const', 'global', 'local', 'param', 'param::entry', 'param::func', 'shared', 'shared::cta', 'shared::cluster'] | bool = ..., t: Literal['b8', 'b16', 'b32', 'b64', 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'b128'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> Any: ...
    def ldmatrix_sync_aligned(self, a: Generic[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., num: Literal['x1', 'x2', 'x4'] | bool = ..., src: Literal['b6x16_p32', 'b4x16_p64'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ..., trans: Literal['trans'] | bool = ...) -> tuple[Register[Any], ...]:
        """Loads 8x8 matrices of shared memory into the warp's registers, one row of 16 bytes for each address.
        PTX ISA, 'Warp-level matrix load instruction: ldmatrix'
        effect read(ss, a, 16, lanes=rows * n) when ss
        effect read(.generic, a, 16, lanes=rows * n) when not ss
            ldmatrix.sync.aligned.<shape>.<num>{.trans}{.<ss>}.b16 {d:.b32/_/loose/vector * n}, [a in ss align 16 wide(not ss)]
                needs PTX 6.5 and sm_75; PTX 7.8 and sm_30, for .shared::cta
            ldmatrix.sync.aligned.<shape>.<num>{.<ss>}.b8x16.<src> {d:.b32/_/loose/vector * n}, [a in ss align 16 wide(not ss)]
                needs PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
            ldmatrix.sync.aligned.<shape>.<num>{.<ss>}.s8.s4 {d:.b32/_/loose/vector * n}, [a in ss align 16 wide(not ss)]
                needs PTX 9.4 and sm_90a or sm_100f or sm_107f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
            ldmatrix.sync.aligned.<shape>.<num>.trans{.<ss>}.b8 {d:.b32/_/loose/vector * (2 * n)}, [a in ss align 16 wide(not ss)]
                needs PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
            ldmatrix.sync.aligned.<shape>.<num>.trans{.<ss>}.b8x16.<src> {d:.b32/_/loose/vector * (2 * n)}, [a in ss align 16 wide(not ss)]
                needs PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
        """
    def ldu(self, a: Generic[Any] | Global[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ss: Literal['global'] | bool = ..., t: Literal['b8', 'b16', 'b32', 'b64', 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'b128'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any:
        """Loads from an address that all threads of the warp share.
        PTX ISA, 'Data Movement and Conversion Instructions: ldu'
        needs PTX 8.3 and sm_70, for t == .b128
        effect read(ss, a, n * bytes(t))
            ldu{.<ss>}{.<vec>}.<t> d:t/wider/_ * n, [a in ss align n * bytes(t) element data]
        """
    def lg2(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ...) -> Register[f32]:
        """Approximates the logarithm to the base 2.
        PTX ISA, 'Floating Point Instructions: lg2'
            lg2.<mode>{.ftz}.f32 d:.f32, a:.f32/#
        """
    def lop3(self, a: Value, b: Value, c: Value, table: int, q: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., op: Literal['or', 'and'] | bool = ...) -> tuple[Register[Any], Register[pred]]:
        """Computes a bitwise function of three registers, given by its truth table of eight bits.
        PTX ISA, 'Logic and Shift Instructions: lop3'
        needs PTX 4.3 and sm_50; PTX 8.2 and sm_70
        effect d = lop3(a, b, c, table)
        effect p = combine(op, compare(.ne, .b32, lop3(a, b, c, table), 0), q)
            lop3.<op>.b32 d:.b32/_|p:.pred, a:.b32/#, b:.b32/#, c:.b32/#, table:#0..255/lax, q:.pred/#/!
        """
    def lop3_b32(self, a: Value, b: Value, c: Value, table: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[Any]:
        """Computes a bitwise function of three registers, given by its truth table of eight bits.
        PTX ISA, 'Logic and Shift Instructions: lop3'
        needs PTX 4.3 and sm_50
        effect d = lop3(a, b, c, table)
            lop3.b32 d:.b32/_, a:.b32/#, b:.b32/#, c:.b32/#, table:#0..255/lax
        """
    def mad(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Multiplies and adds; since sm_20, the same as fma.
        PTX ISA, 'Floating Point Instructions: mad'
            mad.<rnd>{.ftz}{.sat}.f32 d:.f32, a:.f32/#, b:.f32/#, c:.f32/#
            mad.<rnd>.f64 d:.f64, a:.f64/#, b:.f64/#, c:.f64/#
        """
    def mad24_hi(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., sat: Literal['sat'] | bool = ..., t: Literal['u32', 's32'] | bool = ...) -> Any:
        """Multiplies the low 24 bits of two registers and adds a third to the low 32 bits of the 48, or the high 32.
        PTX ISA, 'Integer Arithmetic Instructions: mad24'
            mad24.hi{.sat}.<t> d:t, a:t/#, b:t/#, c:t/#
        """
    def mad24_lo(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u32', 's32'] | bool = ...) -> Any:
        """Multiplies the low 24 bits of two registers and adds a third to the low 32 bits of the 48, or the high 32.
        PTX ISA, 'Integer Arithmetic Instructions: mad24'
            mad24.lo.<t> d:t, a:t/#, b:t/#, c:t/#
        """
    def mad_hi(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., sat: Literal['sat'] | bool = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Multiplies two integers and adds a third to a half of the product, or to all of it.
        PTX ISA, 'Integer Arithmetic Instructions: mad'
        effect d = add(bits(t), mul_hi(bits(t), kind(t) == .s, a, b), c) when not sat
            mad.hi{.sat}.<t> d:t, a:t/#, b:t/#, c:t/#
        Multiplies two integers, adds a third to a half of the product, and writes the carry flag.
        PTX ISA, 'Extended-Precision Arithmetic Instructions: mad.cc'
        needs PTX 3.0 and sm_20; PTX 4.3, for bits(t) == 64
        effect d = add(bits(t), mul_hi(bits(t), kind(t) == .s, a, b), c)
            mad.hi.<flag>.<t> d:t, a:t/#, b:t/#, c:t/#
        """
    def mad_lo(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Multiplies two integers and adds a third to a half of the product, or to all of it.
        PTX ISA, 'Integer Arithmetic Instructions: mad'
        effect d = add(bits(t), mul(bits(t), a, b), c)
            mad.lo.<t> d:t, a:t/#, b:t/#, c:t/#
        Multiplies two integers, adds a third to a half of the product, and writes the carry flag.
        PTX ISA, 'Extended-Precision Arithmetic Instructions: mad.cc'
        needs PTX 3.0 and sm_20; PTX 4.3, for bits(t) == 64
        effect d = add(bits(t), mul(bits(t), a, b), c)
            mad.lo.<flag>.<t> d:t, a:t/#, b:t/#, c:t/#
        """
    def mad_wide(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Multiplies two integers and adds a third to a half of the product, or to all of it.
        PTX ISA, 'Integer Arithmetic Instructions: mad'
        effect d = add(2 * bits(t), mul_wide(bits(t), kind(t) == .s, a, b), c)
            mad.wide.<t> d:(wide(t)), a:t/#, b:t/#, c:(wide(t))/#
        """
    def madc_hi(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cc: Literal['cc'] | bool = ..., sat: Literal['sat'] | bool = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Multiplies two integers and adds a third and the carry flag to a half of the product.
        PTX ISA, 'Extended-Precision Arithmetic Instructions: madc'
        needs PTX 3.0 and sm_20; PTX 4.3, for bits(t) == 64
            madc.hi{.cc}{.sat}.<t> d:t, a:t/#, b:t/#, c:t/#
        """
    def madc_lo(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cc: Literal['cc'] | bool = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Multiplies two integers and adds a third and the carry flag to a half of the product.
        PTX ISA, 'Extended-Precision Arithmetic Instructions: madc'
        needs PTX 3.0 and sm_20; PTX 4.3, for bits(t) == 64
            madc.lo{.cc}.<t> d:t, a:t/#, b:t/#, c:t/#
        """
    def mapa(self, a: Value, rank: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ss: Literal['shared::cluster'] | bool = ..., t: Literal['u32', 'u64'] | bool = ...) -> Any:
        """Maps a shared memory address to the same offset in another CTA of the cluster.
        PTX ISA, 'Data Movement and Conversion Instructions: mapa'
        needs PTX 7.8 and sm_90; PTX 7.8 and sm_90, for .shared::cluster
        effect d = map_rank(space(ss), a, rank)
            mapa{.<ss>}.<t> d:t, a:t/&/#/space(.shared)/lax, rank:.b32/#/integer
        """
    def match(self, a: Value, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b32', 'b64'] | bool = ...) -> Any:
        """Finds the lanes that hold the same value.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: match.sync'
        needs PTX 6.0 and sm_70
        effect barrier(.warp, .sync, mask, order=.relaxed)
            match.<mode>.sync.<t> d:.b32/integer, a:t/#, mask:.b32/#/integer
            match.<mode>.sync.<t> d:.b32/_/integer{|p:.pred/_}, a:t/#, mask:.b32/#/integer
                effect p = unknown
        """
    @overload
    def max(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., NaN: Literal['NaN'] | bool = ..., abs: Literal['abs'] | bool = ..., ftz: Literal['ftz'] | bool = ..., relu: Literal['relu'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'u16x2', 's16x2', 'u8x4', 's8x4'] | bool = ...) -> Any:
        """Returns the greatest of two or three values; NaN inputs are ignored without `.NaN`.
        PTX ISA, 'Floating Point Instructions: max'
            max{.ftz}{.NaN}.f32 d:.f32, a:.f32/#, b:.f32/#
                needs PTX 7.0 and sm_80, for NaN
            max{.ftz}{.NaN}.xorsign.abs.f32 d:.f32, a:.f32/#, b:.f32/#
                needs PTX 7.0 and sm_80, for NaN; PTX 7.2 and sm_86, for xorsign
            max{.ftz}{.NaN}{.abs}.f32 d:.f32, a:.f32/#, b:.f32/#, c:.f32/#
                needs PTX 7.0 and sm_80, for NaN; PTX 8.8 and sm_100
        Returns the greater of half precision values.
        PTX ISA, 'Half Precision Floating Point Instructions: max'
            max{.ftz}{.NaN}.<t> d:t, a:t, b:t
                needs PTX 7.0 and sm_80
            max{.ftz}{.NaN}.xorsign.abs.<t> d:t, a:t, b:t
                needs PTX 7.0 and sm_80; PTX 7.2 and sm_86, for xorsign
            max{.NaN}.<t> d:t, a:t, b:t
                needs PTX 7.0 and sm_80
            max{.NaN}.xorsign.abs.<t> d:t, a:t, b:t
                needs PTX 7.0 and sm_80; PTX 7.2 and sm_86, for xorsign
        Returns the greater of two integers, or of each pair of parts.
        PTX ISA, 'Integer Arithmetic Instructions: max'
            max{.relu}.<t> d:t, a:t/#, b:t/#
                needs PTX 8.0 and sm_90, for relu
                effect d = max(bits(t), kind(t) == .s, a, b) when not relu
                effect d = max(32, true, max(32, true, a, b), 0) when relu
            max{.relu}.<t> d:t, a:t, b:t
                needs PTX 8.0 and sm_90, for t in .u16x2 .s16x2; PTX 9.2 and sm_107f or sm_120f, for t in .u8x4 .s8x4
        """
    @overload
    def max(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., NaN: Literal['NaN'] | bool = ..., abs: Literal['abs'] | bool = ..., ftz: Literal['ftz'] | bool = ..., relu: Literal['relu'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'u16x2', 's16x2', 'u8x4', 's8x4'] | bool = ...) -> Register[f32]: ...
    def max_f64(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[f64]:
        """Returns the greatest of two or three values; NaN inputs are ignored without `.NaN`.
        PTX ISA, 'Floating Point Instructions: max'
            max.f64 d:.f64, a:.f64/#, b:.f64/#
        """
    @overload
    def mbarrier_arrive(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any:
        """Arrives at an mbarrier, optionally after increasing the expected bytes.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.arrive'
            mbarrier.arrive{.<sem>}{.<sc>}{.<ss>}.b64 state:.b64/integer, [bar in ss of .shared as mbarrier]
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect mbarrier_arrive(bar, 1, order=sem or .release, scope=sc or .cta, space=ss, state=state)
            mbarrier.arrive{.<sem>}{.<sc>}{.<ss>}.b64 state:sink, [bar in ss of .shared as mbarrier]
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 7.1 and sm_80; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect mbarrier_arrive(bar, 1, order=sem or .release, scope=sc or .cta, space=ss)
            mbarrier.arrive{.<sem>}{.<sc>}{.<ss>}.b64 state:.b64/_/integer, [bar in ss of .shared as mbarrier], count:.b32/#1..1048575/integer/lax
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 7.8 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect mbarrier_arrive(bar, count, order=sem or .release, scope=sc or .cta, space=ss, state=state)
            mbarrier.arrive{.<sem>}{.<sc>}.<ss>{.<mc>}.b64 state:sink, [bar in ss of .shared as mbarrier]{, count:.b32/#1..1048575/integer/lax}, mask:.b32/#0..4294967295/integer ?mc
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 8.0 and sm_90, for ss == .shared::cluster; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_107f, for .multicast::cluster::32b
                effect mbarrier_arrive(bar, default(count, 1), order=sem or .release, scope=sc or .cta, space=ss, multicast=mask)
            mbarrier.arrive{.<sem>}{.<sc>}.<mc>.b64 state:.b64/_/integer, [bar in .generic of .shared as mbarrier]{, count:.b32/#1..1048575/integer/lax}, mask:.b32/#0..4294967295/integer
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_107f, for .multicast::cluster::32b
                effect mbarrier_arrive(bar, default(count, 1), order=sem or .release, scope=sc or .cta, space=.shared::cluster, state=state, multicast=mask)
            mbarrier.arrive.<nc>{.<sem>}{.<sc>}{.<ss>}.b64 state:.b64/integer, [bar in ss of .shared as mbarrier], count:.b32/#1..1048575/integer/lax
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 7.8 and sm_30, for .shared::cta
                effect mbarrier_arrive(bar, count, completes=false, order=.release, scope=.cta, space=ss, state=state)
            mbarrier.arrive.<nc>{.<sem>}{.<sc>}{.<ss>}.b64 state:sink, [bar in ss of .shared as mbarrier], count:.b32/#1..1048575/integer/lax
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 7.1 and sm_80; PTX 7.8 and sm_30, for .shared::cta
                effect mbarrier_arrive(bar, count, completes=false, order=.release, scope=.cta, space=ss)
        """
    @overload
    def mbarrier_arrive(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], count: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any: ...
    @overload
    def mbarrier_arrive(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any: ...
    @overload
    def mbarrier_arrive(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], count: Value, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any: ...
    @overload
    def mbarrier_arrive_drop(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any:
        """Arrives at an mbarrier, and decreases the expected arrivals of later phases.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.arrive_drop'
            mbarrier.arrive_drop{.<sem>}{.<sc>}{.<ss>}.b64 state:.b64/integer, [bar in ss of .shared as mbarrier]
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect mbarrier_arrive(bar, 1, drop=true, order=sem or .release, scope=sc or .cta, space=ss, state=state)
            mbarrier.arrive_drop{.<sem>}{.<sc>}{.<ss>}.b64 state:sink, [bar in ss of .shared as mbarrier]
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 7.1 and sm_80; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect mbarrier_arrive(bar, 1, drop=true, order=sem or .release, scope=sc or .cta, space=ss)
            mbarrier.arrive_drop{.<sem>}{.<sc>}{.<ss>}.b64 state:.b64/_/integer, [bar in ss of .shared as mbarrier], count:.b32/#1..1048575/integer/lax
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 7.8 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect mbarrier_arrive(bar, count, drop=true, order=sem or .release, scope=sc or .cta, space=ss, state=state)
            mbarrier.arrive_drop{.<sem>}{.<sc>}.<ss>{.<mc>}.b64 state:sink, [bar in ss of .shared as mbarrier]{, count:.b32/#1..1048575/integer/lax}, mask:.b32/#0..4294967295/integer ?mc
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 8.0 and sm_90, for ss == .shared::cluster; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_107f, for .multicast::cluster::32b
                effect mbarrier_arrive(bar, default(count, 1), drop=true, order=sem or .release, scope=sc or .cta, space=ss, multicast=mask)
            mbarrier.arrive_drop{.<sem>}{.<sc>}.<mc>.b64 state:.b64/_/integer, [bar in .generic of .shared as mbarrier]{, count:.b32/#1..1048575/integer/lax}, mask:.b32/#0..4294967295/integer
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_107f, for .multicast::cluster::32b
                effect mbarrier_arrive(bar, default(count, 1), drop=true, order=sem or .release, scope=sc or .cta, space=.shared::cluster, state=state, multicast=mask)
            mbarrier.arrive_drop.<nc>{.<sem>}{.<sc>}{.<ss>}.b64 state:.b64/integer, [bar in ss of .shared as mbarrier], count:.b32/#1..1048575/integer/lax
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 7.8 and sm_30, for .shared::cta
                effect mbarrier_arrive(bar, count, drop=true, completes=false, order=.release, scope=.cta, space=ss, state=state)
            mbarrier.arrive_drop.<nc>{.<sem>}{.<sc>}{.<ss>}.b64 state:sink, [bar in ss of .shared as mbarrier], count:.b32/#1..1048575/integer/lax
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 7.1 and sm_80; PTX 7.8 and sm_30, for .shared::cta
                effect mbarrier_arrive(bar, count, drop=true, completes=false, order=.release, scope=.cta, space=ss)
        """
    @overload
    def mbarrier_arrive_drop(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], count: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any: ...
    @overload
    def mbarrier_arrive_drop(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any: ...
    @overload
    def mbarrier_arrive_drop(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], count: Value, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any: ...
    @overload
    def mbarrier_arrive_drop_expect_tx(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], tx: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any:
        """Arrives at an mbarrier, and decreases the expected arrivals of later phases.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.arrive_drop'
            mbarrier.arrive_drop.expect_tx{.<sem>}{.<sc>}{.<ss>}.b64 state:.b64/_/integer, [bar in ss of .shared as mbarrier], tx:.b32/#/integer
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 8.0 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect mbarrier_arrive(bar, 1, tx, drop=true, order=sem or .release, scope=sc or .cta, space=ss, state=state)
            mbarrier.arrive_drop.expect_tx{.<sem>}{.<sc>}.<ss>{.<mc>}.b64 state:sink, [bar in ss of .shared as mbarrier], tx:.b32/#/integer, mask:.b32/#0..4294967295/integer ?mc
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 8.0 and sm_90, for ss == .shared::cluster; PTX 8.0 and sm_90; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_107f, for .multicast::cluster::32b
                effect mbarrier_arrive(bar, 1, tx, drop=true, order=sem or .release, scope=sc or .cta, space=ss, multicast=mask)
            mbarrier.arrive_drop.expect_tx{.<sem>}{.<sc>}.<mc>.b64 state:.b64/_/integer, [bar in .generic of .shared as mbarrier], tx:.b32/#/integer, mask:.b32/#0..4294967295/integer
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_107f, for .multicast::cluster::32b
                effect mbarrier_arrive(bar, 1, tx, drop=true, order=sem or .release, scope=sc or .cta, space=.shared::cluster, state=state, multicast=mask)
        """
    @overload
    def mbarrier_arrive_drop_expect_tx(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], tx: Value, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any: ...
    @overload
    def mbarrier_arrive_expect_tx(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], tx: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any:
        """Arrives at an mbarrier, optionally after increasing the expected bytes.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.arrive'
            mbarrier.arrive.expect_tx{.<sem>}{.<sc>}{.<ss>}.b64 state:.b64/_/integer, [bar in ss of .shared as mbarrier], tx:.b32/#/integer
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 8.0 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect mbarrier_arrive(bar, 1, tx, order=sem or .release, scope=sc or .cta, space=ss, state=state)
            mbarrier.arrive.expect_tx{.<sem>}{.<sc>}.<ss>{.<mc>}.b64 state:sink, [bar in ss of .shared as mbarrier], tx:.b32/#/integer, mask:.b32/#0..4294967295/integer ?mc
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 8.0 and sm_90, for ss == .shared::cluster; PTX 8.0 and sm_90; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_107f, for .multicast::cluster::32b
                effect mbarrier_arrive(bar, 1, tx, order=sem or .release, scope=sc or .cta, space=ss, multicast=mask)
            mbarrier.arrive.expect_tx{.<sem>}{.<sc>}.<mc>.b64 state:.b64/_/integer, [bar in .generic of .shared as mbarrier], tx:.b32/#/integer, mask:.b32/#0..4294967295/integer
                needs PTX 7.0 and sm_80; PTX 8.0 and sm_80, for sem; PTX 8.6 and sm_90, for sem == .relaxed; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_107f, for .multicast::cluster::32b
                effect mbarrier_arrive(bar, 1, tx, order=sem or .release, scope=sc or .cta, space=.shared::cluster, state=state, multicast=mask)
        """
    @overload
    def mbarrier_arrive_expect_tx(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], tx: Value, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['release', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any: ...
    def mbarrier_check_layout(self, bar: Generic[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., layout: Literal['layout::v0', 'layout::v1'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Register[pred]:
        """Tests whether an mbarrier object has the given layout.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.check_layout'
        needs PTX 9.3 and sm_90; PTX 7.8 and sm_30, for .shared::cta
            mbarrier.check_layout.<layout>{.<ss>}.b64 d:.pred, [bar in ss as mbarrier]
        """
    @overload
    def mbarrier_complete_tx(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], tx: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta', 'shared::cluster'] | bool = ...) -> None:
        """Completes bytes of the current phase without a copy.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.complete_tx'
        needs PTX 8.0 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_107f, for .multicast::cluster::32b
        effect mbarrier_complete(bar, tx, asynchronous=false, space=ss, multicast=mask)
            mbarrier.complete_tx{.<sem>}{.<sc>}{.<ss>}{.<mc>}.b64 [bar in ss of .shared as mbarrier], tx:.b32/#/integer, mask:.b32/#0..4294967295/integer ?mc
        """
    @overload
    def mbarrier_complete_tx(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], tx: Value, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta', 'shared::cluster'] | bool = ...) -> None: ...
    @overload
    def mbarrier_expect_tx(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], tx: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta', 'shared::cluster'] | bool = ...) -> None:
        """Increases the bytes that the current phase expects, without an arrival.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.expect_tx'
        needs PTX 8.0 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 9.4 and sm_107f, for .multicast::cluster::32b
        effect mbarrier_expect(bar, tx, space=ss, multicast=mask)
            mbarrier.expect_tx{.<sem>}{.<sc>}{.<ss>}{.<mc>}.b64 [bar in ss of .shared as mbarrier], tx:.b32/#/integer, mask:.b32/#0..4294967295/integer ?mc
        """
    @overload
    def mbarrier_expect_tx(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], tx: Value, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mc: Literal['multicast::cluster::32b'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta', 'shared::cluster'] | bool = ...) -> None: ...
    def mbarrier_init(self, bar: Generic[Any] | Shared[Any], count: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., layout: Literal['layout::v0', 'layout::v1'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> None:
        """Initializes an mbarrier object with the expected number of arrivals of a phase.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.init'
        needs PTX 7.0 and sm_80; PTX 9.3 and sm_90, for layout; PTX 7.8 and sm_30, for .shared::cta
        effect mbarrier_init(bar, count)
            mbarrier.init{.<layout>}{.<ss>}.b64 [bar in ss of .shared as mbarrier], count:.b32/#1..1048575/integer
        """
    def mbarrier_inval(self, bar: Generic[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> None:
        """Invalidates an mbarrier object, so that its memory can be used for other data.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.inval'
        needs PTX 7.0 and sm_80; PTX 7.8 and sm_30, for .shared::cta
        effect mbarrier_invalidate(bar)
            mbarrier.inval{.<ss>}.b64 [bar in ss of .shared as mbarrier]
        """
    def mbarrier_pending_count(self, state: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., layout: Literal['layout::v0'] | bool = ...) -> Register[Any]:
        """Returns the number of pending arrivals of a state token.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.pending_count'
        needs PTX 7.0 and sm_80; PTX 9.3 and sm_90, for layout
            mbarrier.pending_count{.<layout>}.b64 d:.b32/integer, state:.b64/#/integer/nameless
        """
    def mbarrier_test_wait(self, bar: Generic[Any] | Shared[Any], state: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ph: Literal['phase_type::primary'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['acquire', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any:
        """Tests whether a phase of an mbarrier is complete; try_wait may suspend the thread for a limited time.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.test_wait / mbarrier.try_wait'
        effect mbarrier_wait(bar, state, .state, d, false, order=sem or .acquire, scope=sc or .cta)
            mbarrier.test_wait{.<ph>}{.<sem>}{.<sc>}{.<ss>}.b64 d:.pred, [bar in ss of .shared as mbarrier], state:.b64/#/integer/nameless
                needs PTX 8.0 and sm_80, for sem; PTX 8.0 and sm_90, for sc == .cluster; PTX 8.6 and sm_90, for sem == .relaxed; PTX 9.3 and sm_90, for ph; PTX 7.0 and sm_80; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
            mbarrier.test_wait.<ph>{.<sem>}{.<sc>}{.<ss>}.b64 d:.pred{|report:.pred/_}{, value:.b8/#/integer/nameless}, [bar in ss of .shared as mbarrier], state:.b64/#/integer/nameless
                needs PTX 8.0 and sm_80, for sem; PTX 8.0 and sm_90, for sc == .cluster; PTX 8.6 and sm_90, for sem == .relaxed; PTX 9.3 and sm_90, for ph; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect report = unknown
                effect value = unknown
        """
    def mbarrier_test_wait_parity(self, bar: Generic[Any] | Shared[Any], phase: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ph: Literal['phase_type::primary', 'phase_type::conditional'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['acquire', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any:
        """Tests whether a phase of an mbarrier is complete; try_wait may suspend the thread for a limited time.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.test_wait / mbarrier.try_wait'
        effect mbarrier_wait(bar, phase, .parity, d, false, order=sem or .acquire, scope=sc or .cta)
            mbarrier.test_wait.parity{.<ph>}{.<sem>}{.<sc>}{.<ss>}.b64 d:.pred, [bar in ss of .shared as mbarrier], phase:.b32/#0..1/integer
                needs PTX 8.0 and sm_80, for sem; PTX 8.0 and sm_90, for sc == .cluster; PTX 8.6 and sm_90, for sem == .relaxed; PTX 9.3 and sm_90, for ph; PTX 7.1 and sm_80; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
            mbarrier.test_wait.parity.<ph>{.<sem>}{.<sc>}{.<ss>}.b64 d:.pred|report:.pred/_, [bar in ss of .shared as mbarrier], phase:.b32/#0..1/integer
                needs PTX 8.0 and sm_80, for sem; PTX 8.0 and sm_90, for sc == .cluster; PTX 8.6 and sm_90, for sem == .relaxed; PTX 9.3 and sm_90, for ph; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect report = unknown
            mbarrier.test_wait.parity.<ph>{.<sem>}{.<sc>}{.<ss>}.b64 d:.pred{|report:.pred/_}, value:.b8/#/integer/nameless, [bar in ss of .shared as mbarrier], phase:.b32/#0..1/integer/lax
                needs PTX 8.0 and sm_80, for sem; PTX 8.0 and sm_90, for sc == .cluster; PTX 8.6 and sm_90, for sem == .relaxed; PTX 9.3 and sm_90, for ph; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect report = unknown
                effect value = unknown
        """
    @overload
    def mbarrier_try_wait(self, bar: Generic[Any] | Shared[Any], state: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ph: Literal['phase_type::primary'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['acquire', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any:
        """Tests whether a phase of an mbarrier is complete; try_wait may suspend the thread for a limited time.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.test_wait / mbarrier.try_wait'
        effect mbarrier_wait(bar, state, .state, d, true, order=sem or .acquire, scope=sc or .cta)
            mbarrier.try_wait{.<ph>}{.<sem>}{.<sc>}{.<ss>}.b64 d:.pred, [bar in ss of .shared as mbarrier], state:.b64/#/integer/nameless{, hint:.b32/#/integer}
                needs PTX 8.0 and sm_80, for sem; PTX 8.0 and sm_90, for sc == .cluster; PTX 8.6 and sm_90, for sem == .relaxed; PTX 9.3 and sm_90, for ph; PTX 7.8 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
            mbarrier.try_wait.<ph>{.<sem>}{.<sc>}{.<ss>}.b64 d:.pred{|report:.pred/_}{, value:.b8/#/integer/nameless}, [bar in ss of .shared as mbarrier], state:.b64/#/integer/nameless{, hint:.b32/#/integer}
                needs PTX 8.0 and sm_80, for sem; PTX 8.0 and sm_90, for sc == .cluster; PTX 8.6 and sm_90, for sem == .relaxed; PTX 9.3 and sm_90, for ph; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect report = unknown
                effect value = unknown
        """
    @overload
    def mbarrier_try_wait(self, bar: Generic[Any] | Shared[Any], state: Value, hint: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ph: Literal['phase_type::primary'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['acquire', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any: ...
    @overload
    def mbarrier_try_wait_parity(self, bar: Generic[Any] | Shared[Any], phase: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ph: Literal['phase_type::primary', 'phase_type::conditional'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['acquire', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any:
        """Tests whether a phase of an mbarrier is complete; try_wait may suspend the thread for a limited time.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: mbarrier.test_wait / mbarrier.try_wait'
        effect mbarrier_wait(bar, phase, .parity, d, true, order=sem or .acquire, scope=sc or .cta)
            mbarrier.try_wait.parity{.<ph>}{.<sem>}{.<sc>}{.<ss>}.b64 d:.pred, [bar in ss of .shared as mbarrier], phase:.b32/#0..1/integer{, hint:.b32/#/integer}
                needs PTX 8.0 and sm_80, for sem; PTX 8.0 and sm_90, for sc == .cluster; PTX 8.6 and sm_90, for sem == .relaxed; PTX 9.3 and sm_90, for ph; PTX 7.8 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
            mbarrier.try_wait.parity.<ph>{.<sem>}{.<sc>}{.<ss>}.b64 d:.pred|report:.pred/_, [bar in ss of .shared as mbarrier], phase:.b32/#0..1/integer{, hint:.b32/#/integer}
                needs PTX 8.0 and sm_80, for sem; PTX 8.0 and sm_90, for sc == .cluster; PTX 8.6 and sm_90, for sem == .relaxed; PTX 9.3 and sm_90, for ph; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect report = unknown
            mbarrier.try_wait.parity.<ph>{.<sem>}{.<sc>}{.<ss>}.b64 d:.pred{|report:.pred/_}, value:.b8/#/integer/nameless, [bar in ss of .shared as mbarrier], phase:.b32/#0..1/integer/lax{, hint:.b32/#/integer}
                needs PTX 8.0 and sm_80, for sem; PTX 8.0 and sm_90, for sc == .cluster; PTX 8.6 and sm_90, for sem == .relaxed; PTX 9.3 and sm_90, for ph; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
                effect report = unknown
                effect value = unknown
        """
    @overload
    def mbarrier_try_wait_parity(self, bar: Generic[Any] | Shared[Any], phase: Value, hint: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ph: Literal['phase_type::primary', 'phase_type::conditional'] | bool = ..., sc: Literal['cta', 'cluster'] | bool = ..., sem: Literal['acquire', 'relaxed'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ...) -> Any: ...
    def membar(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., level: Literal['cta', 'gl', 'sys'] | bool = ...) -> None:
        """Orders the thread's earlier memory accesses before its later ones.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: membar / fence'
        effect memory_fence(.sc, case(level, .gl, .gpu, level))
            membar.<level>
        """
    def membar_proxy(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Orders accesses to the same memory through different proxies.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: membar / fence'
        needs PTX 8.0 and sm_90
        effect proxy_fence(.async)
            membar.proxy.<kind>
        """
    @overload
    def min(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., NaN: Literal['NaN'] | bool = ..., abs: Literal['abs'] | bool = ..., ftz: Literal['ftz'] | bool = ..., relu: Literal['relu'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'u16x2', 's16x2', 'u8x4', 's8x4'] | bool = ...) -> Any:
        """Returns the smallest of two or three values; NaN inputs are ignored without `.NaN`.
        PTX ISA, 'Floating Point Instructions: min'
            min{.ftz}{.NaN}.f32 d:.f32, a:.f32/#, b:.f32/#
                needs PTX 7.0 and sm_80, for NaN
            min{.ftz}{.NaN}.xorsign.abs.f32 d:.f32, a:.f32/#, b:.f32/#
                needs PTX 7.0 and sm_80, for NaN; PTX 7.2 and sm_86, for xorsign
            min{.ftz}{.NaN}{.abs}.f32 d:.f32, a:.f32/#, b:.f32/#, c:.f32/#
                needs PTX 7.0 and sm_80, for NaN; PTX 8.8 and sm_100
        Returns the smaller of half precision values.
        PTX ISA, 'Half Precision Floating Point Instructions: min'
            min{.ftz}{.NaN}.<t> d:t, a:t, b:t
                needs PTX 7.0 and sm_80
            min{.ftz}{.NaN}.xorsign.abs.<t> d:t, a:t, b:t
                needs PTX 7.0 and sm_80; PTX 7.2 and sm_86, for xorsign
            min{.NaN}.<t> d:t, a:t, b:t
                needs PTX 7.0 and sm_80
            min{.NaN}.xorsign.abs.<t> d:t, a:t, b:t
                needs PTX 7.0 and sm_80; PTX 7.2 and sm_86, for xorsign
        Returns the smaller of two integers, or of each pair of parts.
        PTX ISA, 'Integer Arithmetic Instructions: min'
            min{.relu}.<t> d:t, a:t/#, b:t/#
                needs PTX 8.0 and sm_90, for relu
                effect d = min(bits(t), kind(t) == .s, a, b) when not relu
                effect d = max(32, true, min(32, true, a, b), 0) when relu
            min{.relu}.<t> d:t, a:t, b:t
                needs PTX 8.0 and sm_90, for t in .u16x2 .s16x2; PTX 9.2 and sm_107f or sm_120f, for t in .u8x4 .s8x4
        """
    @overload
    def min(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., NaN: Literal['NaN'] | bool = ..., abs: Literal['abs'] | bool = ..., ftz: Literal['ftz'] | bool = ..., relu: Literal['relu'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'u16x2', 's16x2', 'u8x4', 's8x4'] | bool = ...) -> Register[f32]: ...
    def min_f64(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[f64]:
        """Returns the smallest of two or three values; NaN inputs are ignored without `.NaN`.
        PTX ISA, 'Floating Point Instructions: min'
            min.f64 d:.f64, a:.f64/#, b:.f64/#
        """
    @overload
    def mma(self, a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], e: Value, f: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['bf16', 'tf32', 'e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1', 'u8', 's8', 'u4', 's4'] | bool = ..., bt: Literal['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1', 'u8', 's8', 'u4', 's4'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., kind: Literal['kind::mxf4', 'kind::mxf4nvf4', 'kind::mxf8f6f4'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: Literal['m16n8k16', 'm16n8k32', 'm16n8k8', 'm16n8k64', 'm16n8k128'] | bool = ..., size: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X'] | bool = ..., sp: Literal['sp', 'sp::ordered_metadata'] | bool = ..., st: Literal['ue8m0', 'ue4m3'] | bool = ...) -> Any:
        """Multiplies a sparse and a dense matrix and adds a third: half of the elements of the first are stored, with their indices.
        PTX ISA, 'Multiply-and-Accumulate Instruction: mma.sp / mma.sp::ordered_metadata'
            mma.<sp>.sync.aligned.<shape>.row.col.<dt>.f16.f16.<dt> {d:dw/halves(dt == .f16)/_/loose/vector * dn}, {a:.b32/halves/loose/vector * (m * k * 8 / 1024)}, {b:.b32/halves/loose/vector * (n * k * 16 / 1024)}, {c:dw/halves(dt == .f16)/loose/vector * dn}, e:.b32/integer/loose/vector/eight, f:#0..3
                needs PTX 7.1 and sm_80; PTX 8.5, for sp == .sp::ordered_metadata
            mma.<sp>.sync.aligned.<shape>.row.col.f32.<at>.<at>.f32 {d:.f32/_/loose/vector * 4}, {a:.b32/loose/vector * (m * k * bits(at) / 2048)}, {b:.b32/loose/vector * (n * k * bits(at) / 1024)}, {c:.f32/loose/vector * 4}, e:.b32/integer/loose/vector/eight, f:#0..3
                needs PTX 7.1 and sm_80; PTX 8.5, for sp == .sp::ordered_metadata
            mma.<sp>.sync.aligned.<shape>.row.col.<dt>.<at>.<bt>.<dt> {d:dw/halves(dt == .f16)/exact(dt == .f32)/_/loose/vector * dn}, {a:.b32/loose/vector * (m * k * 8 / 2048)}, {b:.b32/loose/vector * (n * k * 8 / 1024)}, {c:dw/halves(dt == .f16)/exact(dt == .f32)/loose/vector * dn}, e:.b32/integer/loose/vector/eight, f:#0
                needs PTX 7.1 and sm_80; PTX 8.5, for sp == .sp::ordered_metadata; PTX 8.4 and sm_89; PTX 8.7 and sm_120a, or PTX 8.8 and sm_120f, for dt == .f16
            mma.<sp>.sync.aligned.<shape>.row.col.<kind>.<dt>.<at>.<bt>.<dt> {d:dw/halves(dt == .f16)/exact(dt == .f32)/_/loose/vector * dn}, {a:.b32/loose/vector * 4}, {b:.b32/loose/vector * 4}, {c:dw/halves(dt == .f16)/exact(dt == .f32)/loose/vector * dn}, e:.b32/integer/loose/vector/eight, f:#0
                needs PTX 7.1 and sm_80; PTX 8.5, for sp == .sp::ordered_metadata; PTX 8.6 and sm_100a or sm_101a or sm_110a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 8.7 and sm_120a, or PTX 8.8 and sm_120f, for dt == .f16 or at not in float8 or bt not in float8
            mma.<sp>.sync.aligned.<shape>.row.col.<kind>.block_scale{.<size>}.f32.<at>.<bt>.f32.<st> {d:.f32/exact/_/loose/vector * 4}, {a:.b32/exact/loose/vector * 4}, {b:.b32/exact/loose/vector * 4}, {c:.f32/exact/loose/vector * 4}, e:.b32/integer/loose/vector/eight, f:#0, scale_a:.b32/integer/loose/vector/eight * 1, {byte_a:.b16/#0..3/integer, thread_a:.b16/#0..1/integer}, scale_b:.b32/integer/loose/vector/eight * 1, {byte_b:.b16/#0..3/integer, thread_b:.b16/#0..3/integer}
                needs PTX 7.1 and sm_80; PTX 8.5, for sp == .sp::ordered_metadata; PTX 8.7 and sm_120a or sm_121a, or PTX 8.8 and sm_120f, for kind == .kind::mxf8f6f4; PTX 8.7 and sm_120a or sm_121a, for kind != .kind::mxf8f6f4; PTX 9.1, for size == .scale_vec::4X and st == .ue8m0
            mma.<sp>.sync.aligned.<shape>.row.col{.satfinite}.s32.<at>.<bt>.s32 {d:.s32/integer/_/loose/vector * (m * n / 32)}, {a:.b32/loose/vector * (m * k * bits(at) / 2048)}, {b:.b32/loose/vector * (n * k * bits(bt) / 1024)}, {c:.s32/integer/loose/vector * (m * n / 32)}, e:.b32/integer/loose/vector/eight, f:#0..3
                needs PTX 7.1 and sm_80; PTX 8.5, for sp == .sp::ordered_metadata
        """
    @overload
    def mma(self, a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], e: Value, f: int, scale_a: Value, byte_a: Value, scale_b: Value, byte_b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['bf16', 'tf32', 'e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1', 'u8', 's8', 'u4', 's4'] | bool = ..., bt: Literal['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1', 'u8', 's8', 'u4', 's4'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., kind: Literal['kind::mxf4', 'kind::mxf4nvf4', 'kind::mxf8f6f4'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: Literal['m16n8k16', 'm16n8k32', 'm16n8k8', 'm16n8k64', 'm16n8k128'] | bool = ..., size: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X'] | bool = ..., sp: Literal['sp', 'sp::ordered_metadata'] | bool = ..., st: Literal['ue8m0', 'ue4m3'] | bool = ...) -> tuple[Register[f32], ...]: ...
    @overload
    def mma_sync_aligned(self, a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., al: Literal['row', 'col'] | bool = ..., at: Literal['bf16', 'tf32', 'e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1', 'u8', 's8', 'u4', 's4'] | bool = ..., bl: Literal['row', 'col'] | bool = ..., bt: Literal['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1', 'u8', 's8', 'u4', 's4'] | bool = ..., ct: Literal['f16', 'f32'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., kind: Literal['kind::mxf4', 'kind::mxf4nvf4', 'kind::mxf8f6f4'] | bool = ..., op: Literal['xor', 'and'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: Literal['m16n8k8', 'm16n8k16', 'm16n8k4', 'm16n8k32', 'm16n8k64', 'm8n8k4', 'm8n8k16', 'm8n8k32', 'm8n8k128', 'm16n8k128', 'm16n8k256'] | bool = ..., size: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X'] | bool = ..., st: Literal['ue8m0', 'ue4m3'] | bool = ...) -> Any:
        """Multiplies two matrices in the registers of a warp and adds a third.
        PTX ISA, 'Multiply-and-Accumulate Instruction: mma'
            mma.sync.aligned.<shape>.<al>.<bl>.<dt>.f16.f16.<ct> {d:dw/halves(dt == .f16)/exact(dt == .f32)/_/loose/vector * (if dt == .f16 then 4 else 8)}, {a:.b32/halves/loose/vector * 2}, {b:.b32/halves/loose/vector * 2}, {c:(if ct == .f16 then .b32 else .f32)/halves(ct == .f16)/exact(ct == .f32)/loose/vector * (if ct == .f16 then 4 else 8)}
                needs PTX 6.4 and sm_70
            mma.sync.aligned.<shape>.row.col.<dt>.f16.f16.<dt> {d:dw/halves(dt == .f16)/exact(dt == .f32)/_/loose/vector * dn}, {a:.b32/halves/loose/vector * (m * k * 16 / 1024)}, {b:.b32/halves/loose/vector * (n * k * 16 / 1024)}, {c:dw/halves(dt == .f16)/exact(dt == .f32)/loose/vector * dn}
                needs PTX 6.5 and sm_75; PTX 7.0 and sm_80, for shape == .m16n8k16
            mma.sync.aligned.<shape>.row.col.f32.<at>.<at>.f32 {d:.f32/exact/_/loose/vector * 4}, {a:.b32/exact/loose/vector * (m * k * bits(at) / 1024)}, {b:.b32/exact/loose/vector * (n * k * bits(at) / 1024)}, {c:.f32/exact/loose/vector * 4}
                needs PTX 7.0 and sm_80
            mma.sync.aligned.<shape>.row.col.<dt>.<at>.<bt>.<dt> {d:dw/halves(dt == .f16)/exact(dt == .f32)/_/loose/vector * dn}, {a:.b32/loose/vector * (m * k * 8 / 1024)}, {b:.b32/loose/vector * (n * k * 8 / 1024)}, {c:dw/halves(dt == .f16)/exact(dt == .f32)/loose/vector * dn}
                needs PTX 8.4 and sm_89; PTX 8.7, for shape == .m16n8k16 or dt == .f16
            mma.sync.aligned.<shape>.row.col.<kind>.<dt>.<at>.<bt>.<dt> {d:dw/halves(dt == .f16)/exact(dt == .f32)/_/loose/vector * dn}, {a:.b32/loose/vector * 4}, {b:.b32/loose/vector * 2}, {c:dw/halves(dt == .f16)/exact(dt == .f32)/loose/vector * dn}
                needs PTX 8.6 and sm_100a or sm_101a or sm_110a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 8.7, for dt == .f16; PTX 8.7 and sm_120a, or PTX 8.8 and sm_120f, for at not in float8 or bt not in float8
            mma.sync.aligned.<shape>.row.col.<kind>.block_scale{.<size>}.f32.<at>.<bt>.f32.<st> {d:.f32/exact/_/loose/vector * 4}, {a:.b32/exact/loose/vector * 4}, {b:.b32/exact/loose/vector * 2}, {c:.f32/exact/loose/vector * 4}, scale_a:.b32/integer/loose/vector/eight * 1, {byte_a:.b16/#0..3/integer, thread_a:.b16/#0..1/integer}, scale_b:.b32/integer/loose/vector/eight * 1, {byte_b:.b16/#0..3/integer, thread_b:.b16/#0..3/integer}
                needs PTX 8.7 and sm_120a, or PTX 8.8 and sm_120f; PTX 9.1, for size == .scale_vec::4X and st == .ue8m0
            mma.sync.aligned.<shape>.row.col{.<rnd>}.f64.f64.f64.f64 {d:.f64/_/loose/vector * (m * n / 32)}, {a:.f64/loose/vector * (m * k / 32)}, {b:.f64/loose/vector * (n * k / 32)}, {c:.f64/loose/vector * (m * n / 32)}
                needs PTX 7.0 and sm_80; PTX 7.8 and sm_90, for shape != .m8n8k4
            mma.sync.aligned.<shape>.row.col{.satfinite}.s32.<at>.<bt>.s32 {d:.s32/integer/_/loose/vector * (m * n / 32)}, {a:.b32/integer(shape == .m8n8k16)/loose/vector * (m * k * bits(at) / 1024)}, {b:.b32/integer(shape == .m8n8k16)/loose/vector * (n * k * bits(bt) / 1024)}, {c:.s32/integer/loose/vector * (m * n / 32)}
                needs PTX 6.5 and sm_75; PTX 7.0 and sm_80, for m == 16
            mma.sync.aligned.<shape>.row.col.s32.b1.b1.s32.<op>.popc {d:.s32/integer/_/loose/vector * (m * n / 32)}, {a:.b32/loose/vector * (m * k / 1024)}, {b:.b32/loose/vector * (n * k / 1024)}, {c:.s32/integer/loose/vector * (m * n / 32)}
                needs PTX 7.0 and sm_75; PTX 7.0 and sm_80, for m == 16; PTX 7.1 and sm_80, for op == .and
        """
    @overload
    def mma_sync_aligned(self, a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], scale_a: Value, byte_a: Value, scale_b: Value, byte_b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., al: Literal['row', 'col'] | bool = ..., at: Literal['bf16', 'tf32', 'e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1', 'u8', 's8', 'u4', 's4'] | bool = ..., bl: Literal['row', 'col'] | bool = ..., bt: Literal['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1', 'u8', 's8', 'u4', 's4'] | bool = ..., ct: Literal['f16', 'f32'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., kind: Literal['kind::mxf4', 'kind::mxf4nvf4', 'kind::mxf8f6f4'] | bool = ..., op: Literal['xor', 'and'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: Literal['m16n8k8', 'm16n8k16', 'm16n8k4', 'm16n8k32', 'm16n8k64', 'm8n8k4', 'm8n8k16', 'm8n8k32', 'm8n8k128', 'm16n8k128', 'm16n8k256'] | bool = ..., size: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X'] | bool = ..., st: Literal['ue8m0', 'ue4m3'] | bool = ...) -> tuple[Register[f32], ...]: ...
    def mov(self, a: Sequence[Value] | Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64', 'b128'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any:
        """Sets a register from a register, a constant, a special register or the address of a variable.
        PTX ISA, 'Data Movement and Conversion Instructions: mov'
        effect d = copy(bits(t), a)
            mov.<t> d:t, a:t/#/&/special
            mov.<vec>.<t> d:t/_ * number(vec), a:t/#/special(kind(t) != .f) * number(vec)
        Packs registers into a wider one, or unpacks it.
        PTX ISA, 'Data Movement and Conversion Instructions: mov'
        needs PTX 8.3 and sm_70, for t == .b128
            mov.<t> d:t, a:(word(.b, bits(t) / 2))/# * 2
                effect d = pack(bits(t) / 2, a)
            mov.<t> d:t, a:(word(.b, bits(t) / 4))/#/special(t == .b128) * 4
                effect d = pack(bits(t) / 4, a)
            mov.<t> d:(word(.b, bits(t) / 2))/_ * 2, a:t/#/&/special
                effect d = unpack(bits(t) / 2, a)
            mov.<t> d:(word(.b, bits(t) / 4))/_ * 4, a:t/#/&/special
                effect d = unpack(bits(t) / 4, a)
        """
    def mov_b128(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[Any]:
        """Sets a register from a register, a constant, a special register or the address of a variable.
        PTX ISA, 'Data Movement and Conversion Instructions: mov'
        needs PTX 8.3 and sm_70
        effect d = copy(128, a)
            mov.b128 d:.b128, a:.b128/#/&
        """
    def mov_pred(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[pred]:
        """Sets a register from a register, a constant, a special register or the address of a variable.
        PTX ISA, 'Data Movement and Conversion Instructions: mov'
        effect d = copy(1, a)
            mov.pred d:.pred, a:.pred/#/!/special
        """
    def movmatrix_sync_aligned(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[Any]:
        """Transposes an 8x8 matrix in one register of each thread of a warp.
        PTX ISA, 'Warp-level matrix transpose instruction: movmatrix'
        needs PTX 7.8 and sm_75
            movmatrix.sync.aligned.<shape>.trans.b16 d:.b32/loose, a:.b32/loose
        """
    @overload
    def mul(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4', 'e2m1p4x4', 'ue8m0x4', 'f16x2', 'bf16x2'] | bool = ..., bt: Literal['e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4', 'e2m1p4x4', 'ue8m0x4'] | bool = ..., ct: Literal['f16x2', 'bf16x2'] | bool = ..., dt: Literal['e4m3x4', 'e5m2x4', 'f16x2', 'bf16x2'] | bool = ..., ftz: Literal['ftz'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2'] | bool = ...) -> Any:
        """Multiplies narrow floats.
        PTX ISA, 'Alternate Floating Point Instructions: mul'
        needs PTX 9.4 and sm_100a or sm_103a
            mul{.<rnd>}{.satfinite}.<dt>.<at>.<bt> d:dt, a:at/own, b:bt/own
        Multiplies two floating-point values, or two pairs.
        PTX ISA, 'Floating Point Instructions: mul'
            mul{.<rnd>}{.ftz}{.sat}.f32 d:.f32, a:.f32/#, b:.f32/#
            mul{.<rnd>}{.ftz}.f32x2 d:.f32x2, a:.f32x2, b:.f32x2
                needs PTX 8.6 and sm_100
            mul{.<rnd>}.f64 d:.f64, a:.f64/#, b:.f64/#
        Multiplies half precision values.
        PTX ISA, 'Half Precision Floating Point Instructions: mul'
            mul{.<rnd>}{.ftz}{.sat}.<t> d:t, a:t, b:t
                needs PTX 4.2 and sm_53
            mul{.<rnd>}.<t> d:t, a:t, b:t
                needs PTX 7.8 and sm_90
        Multiplies values of which one is converted first, or whose product is converted.
        PTX ISA, 'Mixed Precision Floating Point Instructions: mul'
        needs PTX 9.4 and sm_107f
            mul.<rnd>{.ftz}.<dt>.f32x2.f32x2 d:dt, a:.f32x2, c:.f32x2
            mul.<at>.<at>.<ct> d:at, a:at, c:ct
        """
    @overload
    def mul(self, a: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4', 'e2m1p4x4', 'ue8m0x4', 'f16x2', 'bf16x2'] | bool = ..., bt: Literal['e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4', 'e2m1p4x4', 'ue8m0x4'] | bool = ..., ct: Literal['f16x2', 'bf16x2'] | bool = ..., dt: Literal['e4m3x4', 'e5m2x4', 'f16x2', 'bf16x2'] | bool = ..., ftz: Literal['ftz'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2'] | bool = ...) -> Any: ...
    def mul24_hi(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u32', 's32'] | bool = ...) -> Any:
        """Multiplies the low 24 bits of two registers: returns the low 32 bits of the 48, or the high 32.
        PTX ISA, 'Integer Arithmetic Instructions: mul24'
            mul24.hi.<t> d:t, a:t/#, b:t/#
        """
    def mul24_lo(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u32', 's32'] | bool = ...) -> Any:
        """Multiplies the low 24 bits of two registers: returns the low 32 bits of the 48, or the high 32.
        PTX ISA, 'Integer Arithmetic Instructions: mul24'
            mul24.lo.<t> d:t, a:t/#, b:t/#
        """
    def mul_hi(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Multiplies two integers: returns the low half of the product, the high half, or all of it.
        PTX ISA, 'Integer Arithmetic Instructions: mul'
        effect d = mul_hi(bits(t), kind(t) == .s, a, b)
            mul.hi.<t> d:t, a:t/#, b:t/#
        """
    def mul_lo(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Multiplies two integers: returns the low half of the product, the high half, or all of it.
        PTX ISA, 'Integer Arithmetic Instructions: mul'
        effect d = mul(bits(t), a, b)
            mul.lo.<t> d:t, a:t/#, b:t/#
        """
    def mul_wide(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Multiplies two integers: returns the low half of the product, the high half, or all of it.
        PTX ISA, 'Integer Arithmetic Instructions: mul'
        effect d = mul_wide(bits(t), kind(t) == .s, a, b)
            mul.wide.<t> d:(wide(t)), a:t/#, b:t/#
        """
    @overload
    def multimem_cp_async_bulk(self, d: Global[Any], s: Shared[Any], n: Value, bytes_mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None:
        """Copies a range of bytes of shared memory to all the locations that a multimem address denotes.
        PTX ISA, 'Data Movement and Conversion Instructions: multimem.cp.async.bulk'
        needs PTX 9.1 and sm_90; PTX 9.3, for sem; PTX 9.1 and sm_100, for bm; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
        effect read(.shared::cta, s, n, proxy=.async, completion=.bulk)
        effect write(.global, d, n, proxy=.async, completion=.bulk, via=.multimem, order=sem or .weak, scope=sc)
            multimem.cp.async.bulk{.<sem>}{.<sc>}.<dst>.<src>.<cm>{.<bm>}{.<t>} [d in .global align 16], [s in .shared::cta align 16], n:.u32/integer/#0..1048560 step 16, bytes_mask:.b16/#/integer/nameless ?bm
        """
    @overload
    def multimem_cp_async_bulk(self, d: Global[Any], s: Shared[Any], n: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., bm: Literal['cp_mask'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed'] | bool = ..., t: Literal['b128'] | bool = ...) -> None: ...
    def multimem_cp_reduce_async_bulk(self, d: Global[Any], s: Shared[Any], n: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['noftz'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['relaxed'] | bool = ..., t: Literal['f16', 'bf16', 'b32', 'u32', 's32', 'b64', 'u64', 's64', 'f32', 'f64'] | bool = ...) -> None:
        """Reduces a range of bytes of shared memory into all the locations that a multimem address denotes.
        PTX ISA, 'Data Movement and Conversion Instructions: multimem.cp.reduce.async.bulk'
        needs PTX 9.1 and sm_90; PTX 9.3, for sem; PTX 9.4, for ftz and t == .f32; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
        effect read(.shared::cta, s, n, proxy=.async, completion=.bulk)
        effect update(.global, d, n, proxy=.async, completion=.bulk, via=.multimem, order=.relaxed, scope=sc or .sys)
            multimem.cp.reduce.async.bulk{.<sem>}{.<sc>}.<dst>.<src>.<cm>.<op>{.<ftz>}.<t> [d in .global align 16], [s in .shared::cta align 16], n:.u32/integer/#0..1048560 step 16
        """
    def multimem_ld_reduce(self, a: Generic[Any] | Global[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., acc: Literal['acc::f32', 'acc::f16'] | bool = ..., op: Literal['min', 'max', 'add', 'and', 'or', 'xor'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed', 'acquire'] | bool = ..., ss: Literal['global'] | bool = ..., t: Literal['b32', 'b64', 'u32', 'u64', 's32', 's64', 'f16x2', 'bf16x2', 'f32', 'f64', 'e5m2x4', 'e4m3x4', 'f16', 'bf16', 'e5m2', 'e5m2x2', 'e4m3', 'e4m3x2'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> Any:
        """Loads, stores or reduces all the locations that a multimem address denotes.
        PTX ISA, 'Data Movement and Conversion Instructions: multimem.ld_reduce, multimem.st, multimem.red'
        needs PTX 8.1 and sm_90; PTX 7.8 and sm_90, for .cluster
        effect read(.global, a, bytes(t), via=.multimem, order=sem or .weak, scope=sc)
            multimem.ld_reduce{.<sem>}{.<sc>}{.<ss>}.<op>.<t> d:t, [a in ss align bytes(t) element]
        Loads, stores or reduces floating-point values at a multimem address; narrow ones fill at least 32 bits.
        PTX ISA, 'Data Movement and Conversion Instructions: multimem.ld_reduce, multimem.st, multimem.red'
        needs PTX 8.1 and sm_90; PTX 8.2 and sm_90, for acc == .acc::f32; PTX 8.6 and sm_100a or sm_101a or sm_103a or sm_120a or sm_121a, or PTX 8.8 and sm_100f or sm_110f, for starts(t, "e"); PTX 7.8 and sm_90, for .cluster
            multimem.ld_reduce{.<sem>}{.<sc>}{.<ss>}.<op>{.<acc>}.<t> d:held/loose(starts(t, "e")) * one, [a in ss align bytes(t) element]
                effect read(.global, a, bytes(t), via=.multimem, order=sem or .weak, scope=sc)
            multimem.ld_reduce{.<sem>}{.<sc>}{.<ss>}.<op>{.<acc>}.<vec>.<t> {d:held/_/loose(starts(t, "e"))/exact(t in .bf16 .f16x2 .bf16x2) * n}, [a in ss align n * bytes(t) element]
                effect read(.global, a, n * bytes(t), via=.multimem, order=sem or .weak, scope=sc)
        """
    def multimem_red(self, a: Generic[Any] | Global[Any], b: Sequence[Value] | Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., op: Literal['min', 'max', 'add', 'and', 'or', 'xor'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['relaxed', 'release'] | bool = ..., ss: Literal['global'] | bool = ..., t: Literal['b32', 'b64', 'u32', 'u64', 's32', 's64', 'f16x2', 'bf16x2', 'f32', 'f64', 'f16', 'bf16'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> None:
        """Loads, stores or reduces all the locations that a multimem address denotes.
        PTX ISA, 'Data Movement and Conversion Instructions: multimem.ld_reduce, multimem.st, multimem.red'
        needs PTX 8.1 and sm_90; PTX 7.8 and sm_90, for .cluster
        effect update(.global, a, bytes(t), via=.multimem, order=sem or .relaxed, scope=sc or .gpu)
            multimem.red{.<sem>}{.<sc>}{.<ss>}.<op>.<t> [a in ss align bytes(t) element long], b:t/#
        Loads, stores or reduces floating-point values at a multimem address; narrow ones fill at least 32 bits.
        PTX ISA, 'Data Movement and Conversion Instructions: multimem.ld_reduce, multimem.st, multimem.red'
        needs PTX 8.1 and sm_90; PTX 8.6 and sm_100a or sm_101a or sm_103a or sm_120a or sm_121a, or PTX 8.8 and sm_100f or sm_110f, for starts(t, "e"); PTX 7.8 and sm_90, for .cluster
            multimem.red{.<sem>}{.<sc>}{.<ss>}.<op>.<t> [a in ss align bytes(t) element long], b:t/#
                effect update(.global, a, bytes(t), via=.multimem, order=sem or .relaxed, scope=sc or .gpu)
            multimem.red{.<sem>}{.<sc>}{.<ss>}.<op>.<vec>.<t> [a in ss align n * bytes(t) element long], {b:t/#/exact(t in .bf16 .f16x2 .bf16x2) * n}
                effect update(.global, a, n * bytes(t), via=.multimem, order=sem or .relaxed, scope=sc or .gpu)
        """
    def multimem_red_async(self, a: Generic[Any] | Global[Any], b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., sc: Literal['gpu', 'sys'] | bool = ..., ss: Literal['global'] | bool = ..., t: Literal['u32', 's32', 'u64'] | bool = ...) -> None:
        """Adds to all the locations that a multimem address denotes, asynchronously.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: multimem.red.async'
        needs PTX 9.3 and sm_100
        effect update(.global, a, bytes(t), via=.multimem, order=sem, scope=sc)
            multimem.red.async.<sem>.<sc>{.<ss>}.<op>.<t> [a in ss align bytes(t) wide], b:t/#/typed
        """
    def multimem_st(self, a: Generic[Any] | Global[Any], b: Sequence[Value] | Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed', 'release'] | bool = ..., ss: Literal['global'] | bool = ..., t: Literal['b32', 'b64', 'u32', 'u64', 's32', 's64', 'f16x2', 'bf16x2', 'f32', 'f64', 'e5m2x4', 'e4m3x4', 'f16', 'bf16', 'e5m2', 'e5m2x2', 'e4m3', 'e4m3x2'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> None:
        """Loads, stores or reduces all the locations that a multimem address denotes.
        PTX ISA, 'Data Movement and Conversion Instructions: multimem.ld_reduce, multimem.st, multimem.red'
        needs PTX 8.1 and sm_90; PTX 7.8 and sm_90, for .cluster
        effect write(.global, a, bytes(t), via=.multimem, order=sem or .weak, scope=sc)
            multimem.st{.<sem>}{.<sc>}{.<ss>}.<t> [a in ss align bytes(t) element data], b:t/#
        Loads, stores or reduces floating-point values at a multimem address; narrow ones fill at least 32 bits.
        PTX ISA, 'Data Movement and Conversion Instructions: multimem.ld_reduce, multimem.st, multimem.red'
        needs PTX 8.1 and sm_90; PTX 8.6 and sm_100a or sm_101a or sm_103a or sm_120a or sm_121a, or PTX 8.8 and sm_100f or sm_110f, for starts(t, "e"); PTX 7.8 and sm_90, for .cluster
            multimem.st{.<sem>}{.<sc>}{.<ss>}.<t> [a in ss align bytes(t) element data], b:held/#
                effect write(.global, a, bytes(t), via=.multimem, order=sem or .weak, scope=sc)
            multimem.st{.<sem>}{.<sc>}{.<ss>}.<t> [a in ss align bytes(t) element data], {b:held/#/own/exact(t in .f16x2 .bf16x2) * one}
                effect write(.global, a, bytes(t), via=.multimem, order=sem or .weak, scope=sc)
            multimem.st{.<sem>}{.<sc>}{.<ss>}.<vec>.<t> [a in ss align n * bytes(t) element data], {b:held/#/own(t != .f16)/exact(t in .bf16 .f16x2 .bf16x2) * n}
                effect write(.global, a, n * bytes(t), via=.multimem, order=sem or .weak, scope=sc)
        """
    def multimem_st_async(self, a: Generic[Any] | Global[Any], b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., sc: Literal['gpu', 'sys'] | bool = ..., ss: Literal['global'] | bool = ..., t: Literal['b8', 'b16', 'b32', 'b64', 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64'] | bool = ...) -> None:
        """Stores to all the locations that a multimem address denotes, asynchronously.
        PTX ISA, 'Data Movement and Conversion Instructions: multimem.st.async'
        needs PTX 9.3 and sm_100
        effect write(.global, a, bytes(t), via=.multimem, order=sem, scope=sc)
            multimem.st.async.<sem>.<sc>{.<ss>}.<t> [a in ss align bytes(t) wide], b:t/#/typed/single(t == .f32)/wider(kind(t) != .f)/upto64
        """
    def nanosleep(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Suspends the thread for approximately the given time.
        PTX ISA, 'Miscellaneous Instructions: nanosleep'
        needs PTX 6.3 and sm_70
            nanosleep.<t> a:.u32/integer/#
        """
    def neg(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Negates a value.
        PTX ISA, 'Floating Point Instructions: neg'
            neg{.ftz}.f32 d:.f32, a:.f32/#
        Negates half precision values.
        PTX ISA, 'Half Precision Floating Point Instructions: neg'
            neg{.ftz}.<t> d:t, a:t
                needs PTX 6.0 and sm_53
            neg.<t> d:t, a:t
                needs PTX 7.0 and sm_80
        Negates an integer, or each part of a register.
        PTX ISA, 'Integer Arithmetic Instructions: neg'
        effect d = neg(bits(t), a)
            neg.<t> d:t, a:t/#
        """
    def neg_f64(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[f64]:
        """Negates a value.
        PTX ISA, 'Floating Point Instructions: neg'
            neg.f64 d:.f64, a:.f64/#
        """
    def neg_s8x4(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[Any]:
        """Negates an integer, or each part of a register.
        PTX ISA, 'Integer Arithmetic Instructions: neg'
        needs PTX 9.2 and sm_107f or sm_120f
            neg.s8x4 d:.s8x4, a:.s8x4
        """
    def not_(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b16', 'b32', 'b64'] | bool = ...) -> Register[Any]:
        """Inverts every bit; negates a predicate.
        PTX ISA, 'Logic and Shift Instructions: not'
        effect d = invert(bits(t), a)
            not.<t> d:t, a:t/#
        """
    def not_pred(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[pred]:
        """Inverts every bit; negates a predicate.
        PTX ISA, 'Logic and Shift Instructions: not'
        effect d = invert(1, a)
            not.pred d:.pred, a:.pred/#/!
        """
    def or_(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b16', 'b32', 'b64'] | bool = ...) -> Register[Any]:
        """Computes the bitwise or; for predicates, the logical or.
        PTX ISA, 'Logic and Shift Instructions: or'
        effect d = or(bits(t), a, b)
            or.<t> d:t, a:t/#, b:t/#
        """
    def or_pred(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[pred]:
        """Computes the bitwise or; for predicates, the logical or.
        PTX ISA, 'Logic and Shift Instructions: or'
        effect d = or(1, a, b)
            or.pred d:.pred, a:.pred/#/!, b:.pred/#/!
        """
    def pmevent(self, a: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Triggers performance monitor events.
        PTX ISA, 'Miscellaneous Instructions: pmevent'
            pmevent a:#0..15
        """
    def pmevent_mask(self, a: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Triggers performance monitor events.
        PTX ISA, 'Miscellaneous Instructions: pmevent'
        needs PTX 3.0 and sm_20
            pmevent.mask a:#0..0xffff
        """
    def popc(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b32', 'b64'] | bool = ...) -> Register[u32]:
        """Counts the set bits.
        PTX ISA, 'Integer Arithmetic Instructions: popc'
        needs PTX 2.0 and sm_20
        effect d = popc(bits(t), a)
            popc.<t> d:.u32/integer, a:t/#
        """
    def prefetch(self, a: Const[Any] | Generic[Any] | Global[Any] | Local[Any] | Param[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., level: Literal['L1', 'L2', 'L2::evict_last', 'L2::evict_normal', 'tensormap'] | bool = ..., ss: Literal['global', 'local', 'const', 'param'] | bool = ...) -> None:
        """Prefetches a cache line or a tensor map.
        PTX ISA, 'Data Movement and Conversion Instructions: prefetch, prefetchu'
            prefetch{.<ss>}.<level> [a in ss]
                needs PTX 7.4 and sm_80
            prefetch{.<ss>}.<size>.valid_addr{.<level>} [a in ss wide(level == .tensormap)]
                needs PTX 9.4 and sm_90
            prefetch{.<ss>}.tensormap [a in ss as tensormap wide]
                needs PTX 8.0 and sm_90
        """
    def prefetchu(self, a: Global[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Prefetches a cache line or a tensor map.
        PTX ISA, 'Data Movement and Conversion Instructions: prefetch, prefetchu'
            prefetchu.<level> [a in .global of .global]
        """
    def prmt(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mode: Literal['f4e', 'b4e', 'rc8', 'ecl', 'ecr', 'rc16'] | bool = ...) -> Register[Any]:
        """Selects four of the eight bytes of two registers.
        PTX ISA, 'Data Movement and Conversion Instructions: prmt'
        needs PTX 2.0 and sm_20
        effect d = prmt(a, b, c, mode)
            prmt.<t>{.<mode>} d:t, a:t/#, b:t/#, c:t/#
        """
    def rcp(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ...) -> Any:
        """Computes the reciprocal.
        PTX ISA, 'Floating Point Instructions: rcp'
            rcp.<mode>{.ftz}.f32 d:.f32, a:.f32/#
            rcp.<rnd>{.ftz}.f32 d:.f32, a:.f32/#
            rcp.<rnd>{.ftz}.f64 d:.f64, a:.f64/#/typed(rnd != .rn)
            rcp.<mode>.ftz.f64 d:.f64, a:.f64/#
                needs PTX 2.1 and sm_20
        """
    @overload
    def red(self, a: Generic[Any] | Global[Any] | SharedCluster[Any] | Shared[Any], b: Sequence[Value] | Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., gl: Literal['global'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., noftz: Literal['noftz'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['relaxed', 'release'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta', 'shared::cluster'] | bool = ..., t: Literal['b32', 'b64', 'u32', 'u64', 's32', 's64', 'f32', 'f64', 'f16', 'f16x2', 'bf16', 'bf16x2'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> None:
        """Updates a location atomically.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: red'
        effect update(ss, a, n * bytes(t), order=sem or .relaxed, scope=sc or .gpu)
            red{.<sem>}{.<sc>}{.<ss>}.<op>{.<lch>}.<t> [a in ss align bytes(t) sink], b:t/#, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 5.0 and sm_60, for t == .f64; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            red{.<sem>}{.<sc>}{.<ss>}.<op>.noftz{.<lch>}.<t> [a in ss align bytes(t) sink], b:t, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 6.2 and sm_60, for t == .f16x2; PTX 6.3 and sm_70, for t == .f16; PTX 7.8 and sm_90, for t in .bf16 .bf16x2; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            red{.<sem>}{.<sc>}{.<ss>}.<op>.noftz{.<lch>}.<t> [a in ss align bytes(t) sink], b:t/#, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 9.4 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            red{.<sem>}{.<sc>}{.<gl>}.<op>{.noftz}{.<lch>}.<vec>.<t> [a in gl align n * bytes(t) sink], b:t/# * n, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 8.1 and sm_90; PTX 9.4 and sm_90, for noftz; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            red{.<sem>}{.<sc>}{.<gl>}.<op>.noftz{.<lch>}.<vec>.<t> [a in gl align n * bytes(t) sink], b:t/#/exact(t in .bf16 .f16x2 .bf16x2) * n, policy:.b64/#/integer/nameless ?lch
                needs PTX 5.0 and sm_60, for sc; PTX 6.0 and sm_70, for sem; PTX 8.1 and sm_90; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
        """
    @overload
    def red(self, a: Generic[Any] | Global[Any], b: Sequence[Value] | Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., gl: Literal['global'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., noftz: Literal['noftz'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['relaxed', 'release'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta', 'shared::cluster'] | bool = ..., t: Literal['b32', 'b64', 'u32', 'u64', 's32', 's64', 'f32', 'f64', 'f16', 'f16x2', 'bf16', 'bf16x2'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> None: ...
    @overload
    def red_async(self, a: Generic[Any] | SharedCluster[Any] | Shared[Any], b: Value, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mmio: Literal['mmio'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'] | bool = ..., sc: Literal['gpu', 'sys'] | bool = ..., ss: Literal['shared::cluster', 'global'] | bool = ..., t: Literal['u32', 's32', 'u64', 'b32', 's64'] | bool = ...) -> None:
        """Reduces a value into the shared memory of another CTA, asynchronously; the mbarrier there tracks its completion.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: red.async'
            red.async.<sem>.<sc>{.<ss>}.mbarrier::complete_tx::bytes.<op>.<t> [a in ss wide align bytes(t)], b:t/#, [bar in ss as mbarrier wide(not ss)]
                needs PTX 8.1 and sm_90; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster
                effect update(ss, a, bytes(t), completion=.mbarrier, barrier=bar, order=sem, scope=sc)
                effect mbarrier_complete(bar, bytes(t), space=ss)
                effect home(a, .other)
                effect home(bar, .same, a)
            red.async{.mmio}.<sem>.<sc>{.<ss>}.<op>.<t> [a in ss wide align bytes(t)], b:t/#/typed
                needs PTX 8.7 and sm_100
                effect update(ss, a, bytes(t), completion=.nothing, order=sem, scope=sc)
        """
    @overload
    def red_async(self, a: Generic[Any] | Global[Any], b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mmio: Literal['mmio'] | bool = ..., op: Literal['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'] | bool = ..., sc: Literal['gpu', 'sys'] | bool = ..., ss: Literal['shared::cluster', 'global'] | bool = ..., t: Literal['u32', 's32', 'u64', 'b32', 's64'] | bool = ...) -> None: ...
    def redux_sync(self, a: Value, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., NaN: Literal['NaN'] | bool = ..., abs: Literal['abs'] | bool = ..., op: Literal['add', 'min', 'max', 'and', 'or', 'xor'] | bool = ..., t: Literal['u32', 's32'] | bool = ...) -> Any:
        """Reduces a value over the lanes of a warp.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: redux.sync'
        effect barrier(.warp, .sync, mask, order=.relaxed)
            redux.sync.<op>.<t> d:t/integer, a:t/#/integer, mask:.b32/#/integer
                needs PTX 7.0 and sm_80
                effect d = redux(op, t, a, mask)
            redux.sync.<op>{.abs}{.NaN}.<t> d:t, a:t/#, mask:.b32/#/integer
                needs PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f
        """
    def rem(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Computes the remainder of a division, with the sign of the dividend.
        PTX ISA, 'Integer Arithmetic Instructions: rem'
        effect d = rem(bits(t), kind(t) == .s, a, b)
            rem.<t> d:t, a:t/#/typed(bits(t) == 64), b:t/#/typed(bits(t) == 64)
        """
    def ret(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., uni: Literal['uni'] | bool = ...) -> None:
        """Returns from a function, or exits the thread in a kernel.
        PTX ISA, 'Control Flow Instructions: ret'
        effect control(.return)
            ret{.uni}
        """
    def sad(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Adds the absolute difference of two integers to a third.
        PTX ISA, 'Integer Arithmetic Instructions: sad'
        effect d = add(bits(t), c, sub(bits(t), max(bits(t), kind(t) == .s, a, b), min(bits(t), kind(t) == .s, a, b)))
            sad.<t> d:t, a:t/#, b:t/#, c:t/#
        """
    def selp(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64'] | bool = ...) -> Any:
        """Selects one of two values by a predicate.
        PTX ISA, 'Comparison and Selection Instructions: selp'
        effect d = select(bits(t), a, b, c)
            selp.<t> d:t, a:t/#, b:t/#, c:.pred/#/!
        """
    @overload
    def set(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cmp: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'lo', 'ls', 'hi', 'hs', 'equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan'] | bool = ..., dt: Literal['u32', 's32', 'f32', 'f16', 'f16x2', 'u16', 's16', 'bf16', 'bf16x2'] | bool = ..., ftz: Literal['ftz'] | bool = ..., op: Literal['and', 'or', 'xor'] | bool = ..., st: Literal['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64', 'f16', 'f16x2', 'bf16', 'bf16x2'] | bool = ..., t: Literal['u8x4', 's8x4', 'u16x2', 's16x2'] | bool = ...) -> Any:
        """Compares two values; the result is all ones or 1.0 if the comparison holds, else zero.
        PTX ISA, 'Comparison and Selection Instructions: set'
            set.<cmp>{.<op>}{.ftz}.<dt>.<st> d:dt, a:st/#, b:st/#, c:.pred/#/! ?op
                effect d = neg(32, if op then combine(op, test, c) else test) when kind(dt) != .f
            set.<cmp>.<t> d:t, a:t, b:t
                needs PTX 9.4 and sm_107f
        Compares half precision values, or returns the result as one: all ones or 1.0 if the comparison holds.
        PTX ISA, 'Half Precision Comparison Instructions: set'
        needs PTX 4.2 and sm_53; PTX 6.5, for kind(dt) != .f; PTX 7.8 and sm_90, for dt in .bf16 .bf16x2 or st in .bf16 .bf16x2
            set.<cmp>{.<op>}{.ftz}.<dt>.<st> d:dt, a:st/#, b:st/#, c:.pred/#/! ?op
            set.<cmp>{.<op>}.<dt>.<st> d:dt, a:st/#, b:st/#, c:.pred/! ?op
            set.<cmp>{.<op>}{.ftz}.<dt>.<st> d:dt, a:st, b:st, c:.pred/#/! ?op
                effect d = neg(bits(dt), if op then combine(op, test, c) else test) when kind(dt) != .f and bits(st) == 16
            set.<cmp>{.<op>}.<dt>.<st> d:dt, a:st, b:st, c:.pred/! ?op
                effect d = neg(bits(dt), if op then combine(op, test, c) else test) when kind(dt) != .f and bits(st) == 16
        """
    @overload
    def set(self, a: Value, b: Value, c: Register[pred] | Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cmp: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'lo', 'ls', 'hi', 'hs', 'equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan'] | bool = ..., dt: Literal['u32', 's32', 'f32', 'f16', 'f16x2', 'u16', 's16', 'bf16', 'bf16x2'] | bool = ..., ftz: Literal['ftz'] | bool = ..., op: Literal['and', 'or', 'xor'] | bool = ..., st: Literal['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64', 'f16', 'f16x2', 'bf16', 'bf16x2'] | bool = ..., t: Literal['u8x4', 's8x4', 'u16x2', 's16x2'] | bool = ...) -> Any: ...
    def setmaxnreg_dec_sync_aligned(self, n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u32', 's32'] | bool = ...) -> None:
        """Releases registers to the pool of the CTA, or requests more.
        PTX ISA, 'Miscellaneous Instructions: setmaxnreg'
        needs PTX 8.0 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f
        effect register_count(.decrease, n)
            setmaxnreg.dec.sync.aligned.<t> n:#24..256 step 8
        """
    def setmaxnreg_inc_sync_aligned(self, n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u32', 's32'] | bool = ...) -> None:
        """Releases registers to the pool of the CTA, or requests more.
        PTX ISA, 'Miscellaneous Instructions: setmaxnreg'
        needs PTX 8.0 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f
        effect register_count(.increase, n)
            setmaxnreg.inc.sync.aligned.<t> n:#24..256 step 8
        """
    @overload
    def setp(self, a: Value, b: Value, c: Register[pred] | Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cmp: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'lo', 'ls', 'hi', 'hs', 'equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan'] | bool = ..., ftz: Literal['ftz'] | bool = ..., op: Literal['and', 'or', 'xor'] | bool = ..., t: Literal['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64'] | bool = ...) -> Any:
        """Compares two values; a second predicate receives the negated result. Both may be combined with a third.
        PTX ISA, 'Comparison and Selection Instructions: setp'
        effect p = if op then combine(op, test, c) else test
        effect q = if op then combine(op, invert(1, test), c) else invert(1, test)
            setp.<cmp>{.<op>}{.ftz}.<t> p:.pred/_{|q:.pred/_}, a:t/#, b:t/#, c:.pred/#/! ?op
        Compares half precision values, one pair or two.
        PTX ISA, 'Half Precision Comparison Instructions: setp'
            setp.<cmp>{.<op>}{.ftz}.<t> p:.pred/_, a:t, b:t, c:.pred/#/! ?op
                needs PTX 4.2 and sm_53
                effect p = if op then combine(op, test, c) else test
            setp.<cmp>{.<op>}.<t> p:.pred/_, a:t, b:t, c:.pred/! ?op
                needs PTX 4.2 and sm_53; PTX 7.8 and sm_90, for t in .bf16 .bf16x2
                effect p = if op then combine(op, test, c) else test
            setp.<cmp>{.<op>}{.ftz}.<t> p:.pred/_|q:.pred/_, a:t, b:t, c:.pred/#/! ?op
                needs PTX 4.2 and sm_53
                effect p = unknown
                effect q = unknown
            setp.<cmp>{.<op>}.<t> p:.pred/_|q:.pred/_, a:t, b:t, c:.pred/! ?op
                needs PTX 4.2 and sm_53; PTX 7.8 and sm_90, for t in .bf16 .bf16x2
                effect p = unknown
                effect q = unknown
        """
    @overload
    def setp(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cmp: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'lo', 'ls', 'hi', 'hs', 'equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan'] | bool = ..., ftz: Literal['ftz'] | bool = ..., op: Literal['and', 'or', 'xor'] | bool = ..., t: Literal['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64'] | bool = ...) -> Any: ...
    def shf_l(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mode: Literal['clamp', 'wrap'] | bool = ...) -> Register[Any]:
        """Shifts two registers as one of 64 bits, and returns the high half (left) or the low half (right).
        PTX ISA, 'Logic and Shift Instructions: shf'
        needs PTX 3.1 and sm_32
        effect d = funnel(.l, mode, a, b, c)
            shf.l.<mode>.b32 d:.b32, a:.b32/#, b:.b32/#, c:.u32/integer/#
        """
    def shf_r(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mode: Literal['clamp', 'wrap'] | bool = ...) -> Register[Any]:
        """Shifts two registers as one of 64 bits, and returns the high half (left) or the low half (right).
        PTX ISA, 'Logic and Shift Instructions: shf'
        needs PTX 3.1 and sm_32
        effect d = funnel(.r, mode, a, b, c)
            shf.r.<mode>.b32 d:.b32, a:.b32/#, b:.b32/#, c:.u32/integer/#
        """
    def shfl(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mode: Literal['up', 'down', 'bfly', 'idx'] | bool = ...) -> Any:
        """Exchanges register values between the lanes of a warp.
        PTX ISA, 'Data Movement and Conversion Instructions: shfl.sync'
        needs PTX 3.0 and sm_30; a version before 6.4, or a target before sm_70
        effect p = unknown
        effect d = shuffle(mode, a, b, c)
            shfl.<mode>.b32 d:.b32{|p:.pred/_}, a:.b32/#, b:.b32/#, c:.b32/#
        """
    def shfl_sync(self, a: Value, b: Value, c: Value, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mode: Literal['up', 'down', 'bfly', 'idx'] | bool = ...) -> Any:
        """Exchanges register values between the lanes of a warp.
        PTX ISA, 'Data Movement and Conversion Instructions: shfl.sync'
        needs PTX 6.0 and sm_30
        effect p = unknown
        effect d = shuffle(mode, a, b, c)
        effect barrier(.warp, .sync, mask, order=.relaxed)
            shfl.sync.<mode>.b32 d:.b32{|p:.pred/_}, a:.b32/#, b:.b32/#, c:.b32/#, mask:.b32/#/integer
        """
    def shl(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b16', 'b32', 'b64'] | bool = ...) -> Register[Any]:
        """Shifts bits left; a shift by the width or more returns zero.
        PTX ISA, 'Logic and Shift Instructions: shl'
        effect d = shl(bits(t), a, b)
            shl.<t> d:t, a:t/#, b:.u32/integer/#
        """
    def shr(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Shifts bits right, filling with zeros or the sign.
        PTX ISA, 'Logic and Shift Instructions: shr'
        effect d = shr(bits(t), kind(t) == .s, a, b)
            shr.<t> d:t, a:t/#, b:.u32/integer/#
        """
    def sin(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ...) -> Register[f32]:
        """Approximates the sine.
        PTX ISA, 'Floating Point Instructions: sin'
            sin.<mode>{.ftz}.f32 d:.f32, a:.f32/#
        """
    def slct(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ftz: Literal['ftz'] | bool = ..., t: Literal['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64'] | bool = ...) -> Any:
        """Selects one of two values by the sign of a third: the first one if it is not negative.
        PTX ISA, 'Comparison and Selection Instructions: slct'
            slct.<t>.s32 d:t, a:t/#, b:t/#, c:.s32/#
                effect d = select(bits(t), a, b, compare(.ge, .s32, c, 0))
            slct{.ftz}.<t>.f32 d:t, a:t/#, b:t/#, c:.f32/#
        """
    def spcompress(self, a: Sequence[Value], descriptor: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., elem: Literal['b8', 'b16'] | bool = ..., idx: Literal['b2', 'b4'] | bool = ..., num: Literal['x1', 'x2', 'x4', 'x8', 'x16', 'x32', 'x64'] | bool = ...) -> tuple[tuple[Register[Any], ...], tuple[Register[Any], ...]]:
        """Selects two of each four elements of a dense vector, and writes their indices.
        PTX ISA, 'Data Movement and Conversion Instructions: spcompress'
        needs PTX 9.4 and sm_107a
        effect m = unknown
        effect c = unknown
            spcompress.<elem>.<idx>.<factor>.<num> {m:.b32 * metadata}, {c:.b32 * n}, {a:.b32/# * (2 * n)}, descriptor:.b32
        """
    def spdecompress(self, m: Sequence[Value], c: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., elem: Literal['b8', 'b16'] | bool = ..., factor: Literal['sp::1:2', 'sp::1:4', 'sp::1:8', 'sp::1:16', 'sp::2:4', 'sp::2:8', 'sp::2:16', 'sp::4:8', 'sp::4:16'] | bool = ..., idx: Literal['b2', 'b4'] | bool = ..., num: Literal['x1', 'x2', 'x4', 'x8', 'x16', 'x32', 'x64'] | bool = ...) -> tuple[Register[Any], ...]:
        """Expands a compressed vector by its metadata, with zeros for the other elements.
        PTX ISA, 'Data Movement and Conversion Instructions: spdecompress'
        needs PTX 9.4 and sm_107a
            spdecompress.<elem>.<idx>.<factor>.<num> {d:.b32 * dense}, {m:.b32/# * metadata}, {c:.b32/# * compressed}
        """
    @overload
    def st(self, a: Generic[Any] | Global[Any] | Local[Any] | Param[Any] | SharedCluster[Any] | Shared[Any], b: Sequence[Value] | Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cop: Literal['wb', 'cg', 'cs', 'wt'] | bool = ..., l1: Literal['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] | bool = ..., l2: Literal['L2::evict_normal', 'L2::evict_first', 'L2::evict_last'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed', 'release'] | bool = ..., ss: Literal['global', 'local', 'param', 'param::func', 'shared', 'shared::cta', 'shared::cluster'] | bool = ..., t: Literal['b8', 'b16', 'b32', 'b64', 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'b128'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> None:
        """Stores one register or a vector of them to memory.
        PTX ISA, 'Data Movement and Conversion Instructions: st'
        effect write(ss, a, n * bytes(t), order=sem or .weak, scope=sc)
            st{.<sem>}{.<ss>}{.<cop>}{.<l2>}{.<lch>}{.<vec>}.<t> [a in ss align n * bytes(t) element data], b:t/#/wider/sink(n * bits(t) == 256) * n, policy:.b64/#/integer/nameless ?lch
                needs PTX 8.3 and sm_70, for t == .b128; PTX 8.4 and sm_70, for t == .b128 and sc == .sys; PTX 8.8 and sm_100, for n * bits(t) == 256; PTX 8.8 and sm_100, for l2; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 8.3, for .param::func; PTX 7.4 and sm_80, for .L2::cache_hint
            st{.<sem>}{.<ss>}{.<l1>}{.<l2>}{.<lch>}{.<vec>}.<t> [a in ss align n * bytes(t) element data], b:t/#/wider/sink(n * bits(t) == 256) * n, policy:.b64/#/integer/nameless ?lch
                needs PTX 8.3 and sm_70, for t == .b128; PTX 8.4 and sm_70, for t == .b128 and sc == .sys; PTX 8.8 and sm_100, for n * bits(t) == 256; PTX 8.8 and sm_100, for l2; PTX 7.4 and sm_70, for l1; PTX 7.4 and sm_80, for .L2::cache_hint
            st.<sem>{.<ss>}{.<l2>}{.<vec>}.<t> [a in ss align n * bytes(t) element data], b:t/#/wider/sink(n * bits(t) == 256) * n
                needs PTX 8.3 and sm_70, for t == .b128; PTX 8.4 and sm_70, for t == .b128 and sc == .sys; PTX 8.8 and sm_100, for n * bits(t) == 256; PTX 8.8 and sm_100, for l2; PTX 9.1, for ss == .local; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster
            st.<sem>.<sc>{.<ss>}{.<l1>}{.<l2>}{.<lch>}{.<vec>}.<t> [a in ss align n * bytes(t) element data], b:t/#/wider/sink(n * bits(t) == 256) * n, policy:.b64/#/integer/nameless ?lch
                needs PTX 8.3 and sm_70, for t == .b128; PTX 8.4 and sm_70, for t == .b128 and sc == .sys; PTX 8.8 and sm_100, for n * bits(t) == 256; PTX 8.8 and sm_100, for l2; PTX 7.4 and sm_70, for l1; PTX 6.0 and sm_70; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .shared::cluster; PTX 7.8 and sm_90, for .cluster; PTX 7.4 and sm_80, for .L2::cache_hint
            st.<mm>.<sem>.<sc>{.<ss>}.<t> [a in ss align bytes(t) element data], b:t/#/wider * one
                needs PTX 8.3 and sm_70, for t == .b128; PTX 8.4 and sm_70, for t == .b128 and sc == .sys; PTX 8.8 and sm_100, for n * bits(t) == 256; PTX 8.2 and sm_70; PTX 9.3 and sm_75, for sem == .release
        """
    @overload
    def st(self, a: Generic[Any] | Global[Any], b: Sequence[Value] | Value, policy: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cop: Literal['wb', 'cg', 'cs', 'wt'] | bool = ..., l1: Literal['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] | bool = ..., l2: Literal['L2::evict_normal', 'L2::evict_first', 'L2::evict_last'] | bool = ..., lch: Literal['L2::cache_hint'] | bool = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ..., sem: Literal['weak', 'relaxed', 'release'] | bool = ..., ss: Literal['global', 'local', 'param', 'param::func', 'shared', 'shared::cta', 'shared::cluster'] | bool = ..., t: Literal['b8', 'b16', 'b32', 'b64', 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64', 'b128'] | bool = ..., vec: Literal['v2', 'v4', 'v8'] | bool = ...) -> None: ...
    @overload
    def st_async(self, a: Generic[Any] | SharedCluster[Any] | Shared[Any], b: Sequence[Value] | Value, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mmio: Literal['mmio'] | bool = ..., sc: Literal['gpu', 'sys'] | bool = ..., sem: Literal['release'] | bool = ..., ss: Literal['shared::cluster', 'global'] | bool = ..., t: Literal['b32', 'b64', 'b128', 'u32', 'u64', 's32', 's64', 'f32', 'f64', 'b8', 'b16', 'u8', 'u16', 's8', 's16'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ..., weak: Literal['weak'] | bool = ...) -> None:
        """Stores to the shared memory of another CTA, asynchronously; the mbarrier there tracks its completion.
        PTX ISA, 'Data Movement and Conversion Instructions: st.async'
            st.async{.weak}{.<ss>}.mbarrier::complete_tx::bytes{.<vec>}.<t> [a in ss wide align n * bytes(t)], b:t/# * n, [bar in ss as mbarrier wide(not ss)]
                needs PTX 8.1 and sm_90; PTX 9.2, for t == .b128; PTX 7.8 and sm_90, for .shared::cluster
                effect write(ss, a, n * bytes(t), completion=.mbarrier, barrier=bar)
                effect mbarrier_complete(bar, n * bytes(t), space=ss)
                effect home(bar, .same, a)
            st.async{.weak}{.mmio}{.<sem>}{.<sc>}{.<ss>}.<t> [a in ss wide align bytes(t)], b:t/#/typed(if sem then bits(t) != 16 else bits(t) >= 32)
                needs PTX 8.1 and sm_90; PTX 8.7 and sm_100, for sem or ss
                effect write(ss, a, bytes(t), completion=.nothing, order=sem, scope=sc)
        """
    @overload
    def st_async(self, a: Generic[Any] | Global[Any], b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mmio: Literal['mmio'] | bool = ..., sc: Literal['gpu', 'sys'] | bool = ..., sem: Literal['release'] | bool = ..., ss: Literal['shared::cluster', 'global'] | bool = ..., t: Literal['b32', 'b64', 'b128', 'u32', 'u64', 's32', 's64', 'f32', 'f64', 'b8', 'b16', 'u8', 'u16', 's8', 's16'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ..., weak: Literal['weak'] | bool = ...) -> None: ...
    def st_bulk(self, a: Generic[Any] | Shared[Any], n: Value, value: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ss: Literal['shared::cta'] | bool = ..., weak: Literal['weak'] | bool = ...) -> None:
        """Fills a range of the CTA's shared memory with zeros.
        PTX ISA, 'Data Movement and Conversion Instructions: st.bulk'
        effect write(ss, a, n)
            st.bulk{.weak}{.<ss>} [a in ss align 8 wide register(ss)], n:.b64/#0..16777216 step 8/integer/nameless, value:#0
                needs PTX 8.6 and sm_100; PTX 7.8 and sm_30, for .shared::cta
            st.bulk{.weak}{.<ss>} [a in ss align 8 wide register(ss)], n:.b32/integer/scalar/#0..16777216 step 8, value:#0
                needs PTX 8.6 and sm_100; PTX 9.0; PTX 7.8 and sm_30, for .shared::cta
        """
    def stackrestore(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u32', 'u64'] | bool = ...) -> None:
        """Restores the stack pointer.
        PTX ISA, 'Stack Manipulation Instructions: stackrestore'
        needs PTX 7.3 and sm_52
            stackrestore.<t> a:t/own/nameless
        """
    def stacksave(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['u32', 'u64'] | bool = ...) -> Any:
        """Saves the stack pointer.
        PTX ISA, 'Stack Manipulation Instructions: stacksave'
        needs PTX 7.3 and sm_52
            stacksave.<t> d:t
        """
    def stmatrix_sync_aligned(self, a: Generic[Any] | Shared[Any], b: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., num: Literal['x1', 'x2', 'x4'] | bool = ..., ss: Literal['shared', 'shared::cta'] | bool = ..., trans: Literal['trans'] | bool = ...) -> None:
        """Stores 8x8 matrices of the warp's registers to shared memory, one row of 16 bytes for each address.
        PTX ISA, 'Warp-level matrix store instruction: stmatrix'
        effect write(ss, a, 16, lanes=8 * n) when ss
        effect write(.generic, a, 16, lanes=8 * n) when not ss
            stmatrix.sync.aligned.<shape>.<num>{.trans}{.<ss>}.b16 [a in ss align 16 wide(not ss)], {b:.b32/loose/vector * n}
                needs PTX 7.8 and sm_90; PTX 7.8 and sm_30, for .shared::cta
            stmatrix.sync.aligned.<shape>.<num>.trans{.<ss>}.b8 [a in ss align 16 wide(not ss)], {b:.b32/loose/vector * n}
                needs PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
        """
    @overload
    def sub(self, a: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4', 'e2m1p4x4', 'ue8m0x4', 'f16', 'bf16', 'f16x2', 'bf16x2'] | bool = ..., dt: Literal['e4m3x4', 'e5m2x4', 'f16x2', 'bf16x2'] | bool = ..., ftz: Literal['ftz'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'u8x4', 's8x4'] | bool = ...) -> Any:
        """Subtracts floats of 8 bits from narrow ones.
        PTX ISA, 'Alternate Floating Point Instructions: sub'
        needs PTX 9.4 and sm_100a or sm_103a
            sub{.<rnd>}{.satfinite}.<dt>.<at> d:dt, a:at/own, c:dt/own
        Subtracts two floating-point values, or two pairs.
        PTX ISA, 'Floating Point Instructions: sub'
            sub{.<rnd>}{.ftz}{.sat}.f32 d:.f32, a:.f32/#, b:.f32/#
            sub{.<rnd>}{.ftz}.f32x2 d:.f32x2, a:.f32x2, b:.f32x2
                needs PTX 8.6 and sm_100
            sub{.<rnd>}.f64 d:.f64, a:.f64/#, b:.f64/#
        Subtracts half precision values.
        PTX ISA, 'Half Precision Floating Point Instructions: sub'
            sub{.<rnd>}{.ftz}{.sat}.<t> d:t, a:t, b:t
                needs PTX 4.2 and sm_53
            sub{.<rnd>}.<t> d:t, a:t, b:t
                needs PTX 7.8 and sm_90
        Subtracts two integers, or the parts of two registers.
        PTX ISA, 'Integer Arithmetic Instructions: sub'
            sub{.sat}.<t> d:t, a:t/#, b:t/#
                effect d = sub(bits(t), a, b) when not sat
            sub{.sat}.<t> d:t, a:t, b:t
                needs PTX 9.2 and sm_107f or sm_120f
        Subtracts two integers and writes the borrow.
        PTX ISA, 'Extended-Precision Arithmetic Instructions: sub.cc'
        needs PTX 1.2; PTX 4.3 and sm_20, for bits(t) == 64
        effect d = sub(bits(t), a, b)
            sub.<flag>.<t> d:t, a:t/#, b:t/#
        Subtracts values of which the first is converted first, or whose difference is converted.
        PTX ISA, 'Mixed Precision Floating Point Instructions: sub'
            sub{.<rnd>}{.sat}.f32.<at> d:.f32, a:at, c:.f32/#
                needs PTX 8.6 and sm_100
            sub{.<rnd>}.f32x2.<at>.f32x2 d:.f32x2, a:at, c:.f32x2
                needs PTX 9.4 and sm_107f
            sub{.<rnd>}{.ftz}.<dt>.f32x2.f32x2 d:dt, a:.f32x2, c:.f32x2
                needs PTX 9.4 and sm_107f
        """
    @overload
    def sub(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4', 'e2m1x4', 'e2m1p4x4', 'ue8m0x4', 'f16', 'bf16', 'f16x2', 'bf16x2'] | bool = ..., dt: Literal['e4m3x4', 'e5m2x4', 'f16x2', 'bf16x2'] | bool = ..., ftz: Literal['ftz'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., sat: Literal['sat'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., t: Literal['f16', 'f16x2', 'bf16', 'bf16x2', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'u8x4', 's8x4'] | bool = ...) -> Any: ...
    def subc(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cc: Literal['cc'] | bool = ..., sat: Literal['sat'] | bool = ..., t: Literal['u16', 'u32', 'u64', 's16', 's32', 's64'] | bool = ...) -> Any:
        """Subtracts two integers and the borrow.
        PTX ISA, 'Extended-Precision Arithmetic Instructions: subc'
        needs PTX 1.2; PTX 4.3 and sm_20, for bits(t) == 64
            subc{.cc}{.sat}.<t> d:t, a:t/#, b:t/#
        """
    def suld_b(self, a: tuple[object, ...], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., clamp: Literal['trap', 'clamp', 'zero'] | bool = ..., cop: Literal['ca', 'cg', 'cs', 'cv'] | bool = ..., dt: Literal['b8', 'b16', 'b32', 'b64'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any:
        """Loads from a surface without conversion; the first coordinate of an array is the index.
        PTX ISA, 'Surface Instructions: suld'
        needs PTX 1.5; PTX 3.0 and sm_20, for geom in .3d .a1d .a2d
            suld.b.<geom>{.<cop>}{.<vec>}.<dt>.<clamp> d:dt/wider/_ * n, [a as surface, c:.s32/integer * wide..]
        """
    def suq(self, a: Generic[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., query: Literal['width', 'height', 'depth', 'channel_data_type', 'channel_order', 'array_size', 'memory_layout'] | bool = ...) -> Register[Any]:
        """Queries a property of a surface.
        PTX ISA, 'Surface Instructions: suq'
        needs PTX 1.5; PTX 2.1, for query in .channel_data_type .channel_order; PTX 4.1, for query == .array_size; PTX 4.2, for query == .memory_layout
            suq.<query>.b32 d:.b32, [a as surface]
        """
    def sured_b(self, a: tuple[object, ...], data: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., clamp: Literal['trap', 'clamp', 'zero'] | bool = ..., ct: Literal['u32', 'u64', 's32', 'b32', 's64'] | bool = ..., geom: Literal['1d', '2d', '3d'] | bool = ..., op: Literal['add', 'min', 'max', 'and', 'or'] | bool = ...) -> None:
        """Combines a register with an element of a surface, atomically.
        PTX ISA, 'Surface Instructions: sured'
        needs PTX 2.0 and sm_20; PTX 8.1 and sm_50, for bits(ct) == 64 and op != .add
            sured.b.<op>.<geom>.<ct>.<clamp> [a as surface, c:.s32/integer * wide..], data:ct/#/wider
        """
    def sured_p(self, a: tuple[object, ...], data: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., clamp: Literal['trap', 'clamp', 'zero'] | bool = ..., ct: Literal['b32', 'b64'] | bool = ..., geom: Literal['1d', '2d', '3d'] | bool = ..., op: Literal['add', 'min', 'max', 'and', 'or'] | bool = ...) -> None:
        """Combines a register with an element of a surface, atomically.
        PTX ISA, 'Surface Instructions: sured'
        needs PTX 2.0 and sm_20; PTX 8.1 and sm_50, for bits(ct) == 64
            sured.p.<op>.<geom>.<ct>.<clamp> [a as surface, c:.s32/integer * wide..], data:ct/#/wider
        """
    def sust_b(self, a: tuple[object, ...], data: Sequence[Value] | Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., clamp: Literal['trap', 'clamp', 'zero'] | bool = ..., cop: Literal['wb', 'cg', 'cs', 'wt'] | bool = ..., ct: Literal['b8', 'b16', 'b32', 'b64'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> None:
        """Stores to a surface, without conversion or converted to its format.
        PTX ISA, 'Surface Instructions: sust'
        needs PTX 1.5; PTX 3.0 and sm_20, for geom in .3d .a1d .a2d
            sust.b.<geom>{.<cop>}{.<vec>}.<ct>.<clamp> [a as surface, c:.s32/integer * wide..], data:ct/#/wider * n
        """
    def sust_p(self, a: tuple[object, ...], data: Sequence[Value] | Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., clamp: Literal['trap', 'clamp', 'zero'] | bool = ..., cop: Literal['wb', 'cg', 'cs', 'wt'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> None:
        """Stores to a surface, without conversion or converted to its format.
        PTX ISA, 'Surface Instructions: sust'
        needs PTX 1.5; PTX 3.0 and sm_20, for geom in .3d .a1d .a2d
            sust.p.<geom>{.<cop>}{.<vec>}.b32.<clamp> [a as surface, c:.s32/integer * wide..], data:.b32/#/wider * n
        """
    def szext(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mode: Literal['clamp', 'wrap'] | bool = ..., t: Literal['u32', 's32'] | bool = ...) -> Any:
        """Extends the low bits of a register by zeros or by their sign.
        PTX ISA, 'Integer Arithmetic Instructions: szext'
        needs PTX 7.6 and sm_70
            szext.<mode>.<t> d:t, a:t/#, b:.u32/integer/#
        """
    def tcgen05_alloc(self, a: Generic[Any] | Shared[Any], n: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., ss: Literal['shared::cta'] | bool = ...) -> None:
        """Allocates columns of Tensor Memory, and deallocates them.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit'
        effect cta_group(if cg == .cta_group::2 then 2 else 1)
        effect write(ss, a, 4)
        effect tensor_memory(.allocate, a, n)
            tcgen05.alloc.<cg>.sync.aligned{.<ss>}.b32 [a in ss wide align 4], n:.b32/#{32 64 128 256 512}/cut/integer
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 7.8 and sm_30, for .shared::cta
            tcgen05.alloc.<ex>.<cg>.sync.aligned{.<ss>}.b32 [a in ss wide align 4], n:.b32/#32..4294967264 step 32/cut/integer
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_100f or sm_110f, for ex; PTX 7.8 and sm_30, for .shared::cta
        """
    @overload
    def tcgen05_commit(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., restrict: Literal['sync_restrict::shared::read::mma::a'] | bool = ..., ss: Literal['shared::cluster'] | bool = ...) -> None:
        """Makes an mbarrier track the thread's earlier asynchronous tcgen05 operations.
        PTX ISA, 'TensorCore 5th Generation Instructions: tcgen05.commit'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for restrict; PTX 7.8 and sm_90, for .shared::cluster; PTX 9.4, for .multicast::cluster::16b; PTX 9.4 and sm_107f, for .multicast::cluster::32b
        effect cta_group(if cg == .cta_group::2 then 2 else 1)
        effect mbarrier_arrive(bar, 1, scope=.cluster, space=ss, asynchronous=true, multicast=mask)
            tcgen05.commit.<cg>.<cm>{.<restrict>}{.<ss>}{.<mc>}.b64 [bar in ss as mbarrier wide], mask:mask_type/integer/nameless(mask_type == .b16)/#0..4294967295 ?mc
        """
    @overload
    def tcgen05_commit(self, bar: Generic[Any] | SharedCluster[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., mc: Literal['multicast::cluster', 'multicast::cluster::16b', 'multicast::cluster::32b'] | bool = ..., restrict: Literal['sync_restrict::shared::read::mma::a'] | bool = ..., ss: Literal['shared::cluster'] | bool = ...) -> None: ...
    def tcgen05_cp(self, d: Address[Any], sdesc: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., df: Literal['b8x16'] | bool = ..., mc: Literal['warpx2::02_13', 'warpx2::01_23', 'warpx4'] | bool = ..., sf: Literal['b6x16_p32', 'b4x16_p64'] | bool = ..., shape: Literal['128x256b', '4x256b', '128x128b', '64x128b', '32x128b'] | bool = ...) -> None:
        """Copies shared memory to Tensor Memory; tcgen05.commit tracks its completion.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.cp'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f
        effect cta_group(if cg == .cta_group::2 then 2 else 1)
        effect read(.shared::cta, sdesc, via=.descriptor, proxy=.async, completion=.tcgen05)
        effect write(.tensor, d, case(shape, .128x256b, 4096, .4x256b, 128, .128x128b, 2048, .64x128b, 1024, 512), completion=.tcgen05)
            tcgen05.cp.<cg>.<shape>{.<mc>}{.<df>}{.<sf>} [d in .tensor loose], sdesc:.b64/#/integer/nameless
        """
    def tcgen05_dealloc(self, a: Value, n: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ...) -> None:
        """Allocates columns of Tensor Memory, and deallocates them.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit'
        effect cta_group(if cg == .cta_group::2 then 2 else 1)
        effect tensor_memory(.deallocate, a, n)
            tcgen05.dealloc.<cg>.sync.aligned.b32 a:.b32/#/integer, n:.b32/#{32 64 128 256 512}/cut/integer
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f
            tcgen05.dealloc.<ex>.<cg>.sync.aligned.b32 a:.b32/#/integer, n:.b32/#32..4294967264 step 32/cut/integer
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_100f or sm_110f, for ex
        """
    def tcgen05_fence_after_thread_sync(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Orders asynchronous tcgen05 operations around a synchronization of threads.
        PTX ISA, 'TensorCore 5th Generation Instructions: tcgen05.fence'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f
        effect tensor_fence(.after)
            tcgen05.fence::after_thread_sync
        """
    def tcgen05_fence_before_thread_sync(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Orders asynchronous tcgen05 operations around a synchronization of threads.
        PTX ISA, 'TensorCore 5th Generation Instructions: tcgen05.fence'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f
        effect tensor_fence(.before)
            tcgen05.fence::before_thread_sync
        """
    def tcgen05_ld_red_spcompress_sync_aligned(self, meta: Sequence[Value], d: Sequence[Value], reduced: Value, a: Address[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., NaN: Literal['NaN'] | bool = ..., abs: Literal['abs'] | bool = ..., num: Literal['x4', 'x8', 'x16', 'x32', 'x64', 'x128'] | bool = ..., op: Literal['min', 'max'] | bool = ...) -> None:
        """Loads Tensor Memory into the warp's registers, asynchronously; tcgen05.wait::ld waits for it.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.ld'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107a
        effect read(.tensor, a, 128 * count, completion="tcgen05.ld")
        effect async_registers(.write, d, "tcgen05.ld")
        effect async_registers(.write, meta, "tcgen05.ld")
        effect async_registers(.write, reduced, "tcgen05.ld")
            tcgen05.ld.red.spcompress.sync.aligned.<shape>.<num>.<op>.<factor>{.abs}{.NaN}.<t>.<index> {meta:.b32}, {d:.b32 * (number(num) / 2)}, reduced:.b32 * 1, [a in .tensor]
            tcgen05.ld.red.spcompress.sync.aligned.<shape>.<num>.<op>.<factor>{.abs}{.NaN}.<t>.<index> {meta:.b32 * (number(num) / 32)}, {d:.b32 * (number(num) / 2)}, reduced:.b32 * 1, [a in .tensor]
        """
    @overload
    def tcgen05_ld_red_sync_aligned(self, d: Sequence[Value], reduced: Value, a: Address[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., NaN: Literal['NaN'] | bool = ..., abs: Literal['abs'] | bool = ..., num: Literal['x2', 'x4', 'x8', 'x16', 'x32', 'x64', 'x128'] | bool = ..., op: Literal['min', 'max'] | bool = ..., t: Literal['f32', 'u32', 's32'] | bool = ...) -> None:
        """Loads Tensor Memory into the warp's registers, asynchronously; tcgen05.wait::ld waits for it.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.ld'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 8.8 and sm_101a, or PTX 8.8 and sm_103f or sm_110f
        effect read(.tensor, a, 128 * count, completion="tcgen05.ld")
        effect async_registers(.write, d, "tcgen05.ld")
        effect async_registers(.write, reduced, "tcgen05.ld")
            tcgen05.ld.red.sync.aligned.<shape>.<num>.<op>{.abs}{.NaN}.<t> {d:.b32 * count}, reduced:.b32 * 1, [a in .tensor]
            tcgen05.ld.red.sync.aligned.<shape>.<num>.<op>{.abs}{.NaN}.<t> {d:.b32 * count}, reduced:.b32 * 1, [a in .tensor], offset:#
        """
    @overload
    def tcgen05_ld_red_sync_aligned(self, d: Sequence[Value], reduced: Value, a: Address[Any], offset: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., NaN: Literal['NaN'] | bool = ..., abs: Literal['abs'] | bool = ..., num: Literal['x2', 'x4', 'x8', 'x16', 'x32', 'x64', 'x128'] | bool = ..., op: Literal['min', 'max'] | bool = ..., t: Literal['f32', 'u32', 's32'] | bool = ...) -> None: ...
    def tcgen05_ld_spcompress_sync_aligned(self, meta: Sequence[Value], d: Sequence[Value], a: Address[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., abs: Literal['abs'] | bool = ..., num: Literal['x4', 'x8', 'x16', 'x32', 'x64', 'x128'] | bool = ..., op: Literal['min', 'max'] | bool = ...) -> None:
        """Loads Tensor Memory into the warp's registers, asynchronously; tcgen05.wait::ld waits for it.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.ld'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107a
        effect read(.tensor, a, 128 * count, completion="tcgen05.ld")
        effect async_registers(.write, d, "tcgen05.ld")
        effect async_registers(.write, meta, "tcgen05.ld")
            tcgen05.ld.spcompress.sync.aligned.<shape>.<num>.<op>.<factor>{.abs}.<t>.<index> {meta:.b32}, {d:.b32 * (number(num) / 2)}, [a in .tensor]
            tcgen05.ld.spcompress.sync.aligned.<shape>.<num>.<op>.<factor>{.abs}.<t>.<index> {meta:.b32 * (number(num) / 32)}, {d:.b32 * (number(num) / 2)}, [a in .tensor]
        """
    @overload
    def tcgen05_ld_sync_aligned(self, d: Sequence[Value], a: Address[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., num: Literal['x1', 'x2', 'x4', 'x8', 'x16', 'x32', 'x64', 'x128'] | bool = ..., shape: Literal['16x64b', '16x128b', '16x256b', '32x32b'] | bool = ...) -> None:
        """Loads Tensor Memory into the warp's registers, asynchronously; tcgen05.wait::ld waits for it.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.ld'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f
        effect read(.tensor, a, 128 * count, completion="tcgen05.ld")
        effect async_registers(.write, d, "tcgen05.ld")
            tcgen05.ld.sync.aligned.<shape>.<num>{.pack::16b}.b32 {d:.b32 * count}, [a in .tensor]
            tcgen05.ld.sync.aligned.<shape>.<num>{.pack::16b}.b32 {d:.b32 * count}, [a in .tensor], offset:#
        """
    @overload
    def tcgen05_ld_sync_aligned(self, d: Sequence[Value], a: Address[Any], offset: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., num: Literal['x1', 'x2', 'x4', 'x8', 'x16', 'x32', 'x64', 'x128'] | bool = ..., shape: Literal['16x64b', '16x128b', '16x256b', '32x32b'] | bool = ...) -> None: ...
    def tcgen05_mma(self, *operands: object, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'block32', 'scale_vec::2X', 'scale_vec::4X', 'block16'] | bool = ...) -> None:
        """Multiplies matrices of shared or Tensor Memory and adds to D in Tensor Memory; tcgen05.commit tracks its completion.
        PTX ISA, 'TensorCore 5th Generation Instructions: tcgen05.mma'
        effect cta_group(if cg == .cta_group::2 then 2 else 1)
        effect read(.shared::cta, adesc, via=.descriptor, proxy=.async, completion=.tcgen05, rows=shl(32, bfe(32, false, idesc, 24, 5), 4 - halved), width=bytes_of, transposed=bfe(32, false, idesc, 15, 1)) when plain
        effect read(.shared::cta, adesc, via=.descriptor, proxy=.async, completion=.tcgen05) when not plain
        effect read(.tensor, a, completion=.tcgen05)
        effect read(.shared::cta, bdesc, via=.descriptor, proxy=.async, completion=.tcgen05, rows=shl(32, bfe(32, false, idesc, 17, 6), 3 - halved), width=bytes_of, transposed=bfe(32, false, idesc, 16, 1)) when plain
        effect read(.shared::cta, bdesc, via=.descriptor, proxy=.async, completion=.tcgen05) when not plain
        effect read(.tensor, table, completion=.tcgen05)
        effect read(.tensor, meta, completion=.tcgen05)
        effect read(.tensor, scale_a, completion=.tcgen05)
        effect read(.tensor, scale_b, completion=.tcgen05)
        effect update(.tensor, d, completion=.tcgen05)
            tcgen05.mma.<cg>.<kind>{.<ca>}{.<cb>} [d in .tensor untyped], adesc:.b64/#/integer/nameless, bdesc:.b64/#/integer/nameless, idesc:.b32/#/integer/scalar{, {lanes:.b32/# * lane_words}}, enable:.pred/#/!{, scale:#0..15/cut}
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
            tcgen05.mma.<cg>.<kind>{.ashift}{.<ca>}{.<cb>} [d in .tensor untyped], [a in .tensor untyped], bdesc:.b64/#/integer/nameless, idesc:.b32/#/integer/scalar{, {lanes:.b32/# * lane_words}}, enable:.pred/#/!{, scale:#0..15/cut}
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
            tcgen05.mma.<cg>.<kind>{.<ca>}{.<cb>} [d in .tensor untyped], adesc:.b64/#/integer/nameless, bdesc:.b64/#/integer/nameless, idesc:.b32/#/integer/scalar{, {lanes:.b32/# * lane_words}}, enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4; PTX 8.6 and sm_100a or sm_101a, or PTX 9.0 and sm_110a, for kind == .kind::i8
            tcgen05.mma.<cg>.<kind>{.ashift}{.<ca>}{.<cb>} [d in .tensor untyped], [a in .tensor untyped], bdesc:.b64/#/integer/nameless, idesc:.b32/#/integer/scalar{, {lanes:.b32/# * lane_words}}, enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4; PTX 8.6 and sm_100a or sm_101a, or PTX 9.0 and sm_110a, for kind == .kind::i8
            tcgen05.mma.<cg>.<kind>.<lut>{.<ca>}{.<cb>} [d in .tensor untyped], adesc:.b64/#/integer/nameless, bdesc:.b64/#/integer/nameless, [table in .tensor untyped], idesc:.b32/#/integer{, {lanes:.b32/# * lane_words}}, enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
            tcgen05.mma.<cg>.<kind>.<lut>{.<ca>}{.<cb>} [d in .tensor untyped], [a in .tensor untyped], bdesc:.b64/#/integer/nameless, [table in .tensor untyped], idesc:.b32/#/integer{, {lanes:.b32/# * lane_words}}, enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
            tcgen05.mma.<cg>.<kind>.block_scale.<lut>{.<sv>}{.<ca>}{.<cb>} [d in .tensor untyped], adesc:.b64/#/integer/nameless, bdesc:.b64/#/integer/nameless, [table in .tensor untyped], idesc:.b32/#/integer, [scale_a in .tensor untyped], [scale_b in .tensor untyped], enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.8, for sv in .block16 .block32; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
            tcgen05.mma.<cg>.<kind>.block_scale.<lut>{.<sv>}{.<ca>}{.<cb>} [d in .tensor untyped], [a in .tensor untyped], bdesc:.b64/#/integer/nameless, [table in .tensor untyped], idesc:.b32/#/integer, [scale_a in .tensor untyped], [scale_b in .tensor untyped], enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.8, for sv in .block16 .block32; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
            tcgen05.mma.<cg>.<kind>.block_scale{.<sv>}{.<ca>}{.<cb>} [d in .tensor untyped], adesc:.b64/#/integer/nameless, bdesc:.b64/#/integer/nameless, idesc:.b32/#/integer/scalar, [scale_a in .tensor untyped], [scale_b in .tensor untyped], enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.8, for sv in .block16 .block32; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.7, for kind == .kind::mxf4nvf4; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
            tcgen05.mma.<cg>.<kind>.block_scale{.<sv>}{.<ca>}{.<cb>} [d in .tensor untyped], [a in .tensor untyped], bdesc:.b64/#/integer/nameless, idesc:.b32/#/integer/scalar, [scale_a in .tensor untyped], [scale_b in .tensor untyped], enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.8, for sv in .block16 .block32; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.7, for kind == .kind::mxf4nvf4; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
        """
    @overload
    def tcgen05_mma_sp(self, d: Address[Any], adesc: Value, bdesc: Value, meta: Address[Any], idesc: Value, enable: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] | bool = ...) -> None:
        """Multiplies matrices of shared or Tensor Memory and adds to D in Tensor Memory; tcgen05.commit tracks its completion.
        PTX ISA, 'TensorCore 5th Generation Instructions: tcgen05.mma'
        effect cta_group(if cg == .cta_group::2 then 2 else 1)
        effect read(.shared::cta, adesc, via=.descriptor, proxy=.async, completion=.tcgen05, rows=shl(32, bfe(32, false, idesc, 24, 5), 4 - halved), width=bytes_of, transposed=bfe(32, false, idesc, 15, 1)) when plain
        effect read(.shared::cta, adesc, via=.descriptor, proxy=.async, completion=.tcgen05) when not plain
        effect read(.tensor, a, completion=.tcgen05)
        effect read(.shared::cta, bdesc, via=.descriptor, proxy=.async, completion=.tcgen05, rows=shl(32, bfe(32, false, idesc, 17, 6), 3 - halved), width=bytes_of, transposed=bfe(32, false, idesc, 16, 1)) when plain
        effect read(.shared::cta, bdesc, via=.descriptor, proxy=.async, completion=.tcgen05) when not plain
        effect read(.tensor, table, completion=.tcgen05)
        effect read(.tensor, meta, completion=.tcgen05)
        effect read(.tensor, scale_a, completion=.tcgen05)
        effect read(.tensor, scale_b, completion=.tcgen05)
        effect update(.tensor, d, completion=.tcgen05)
            tcgen05.mma.sp.<cg>.<kind>{.<ca>}{.<cb>} [d in .tensor untyped], adesc:.b64/#/integer/nameless, bdesc:.b64/#/integer/nameless, [meta in .tensor untyped], idesc:.b32/#/integer{, {lanes:.b32/# * lane_words}}, enable:.pred/#/!{, scale:#0..15/cut}
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
            tcgen05.mma.sp.<cg>.<kind>{.ashift}{.<ca>}{.<cb>} [d in .tensor untyped], [a in .tensor untyped], bdesc:.b64/#/integer/nameless, [meta in .tensor untyped], idesc:.b32/#/integer{, {lanes:.b32/# * lane_words}}, enable:.pred/#/!{, scale:#0..15/cut}
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
            tcgen05.mma.sp.<cg>.<kind>{.<ca>}{.<cb>} [d in .tensor untyped], adesc:.b64/#/integer/nameless, bdesc:.b64/#/integer/nameless, [meta in .tensor untyped], idesc:.b32/#/integer{, {lanes:.b32/# * lane_words}}, enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4; PTX 8.6 and sm_100a or sm_101a, or PTX 9.0 and sm_110a, for kind == .kind::i8
            tcgen05.mma.sp.<cg>.<kind>{.ashift}{.<ca>}{.<cb>} [d in .tensor untyped], [a in .tensor untyped], bdesc:.b64/#/integer/nameless, [meta in .tensor untyped], idesc:.b32/#/integer{, {lanes:.b32/# * lane_words}}, enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4; PTX 8.6 and sm_100a or sm_101a, or PTX 9.0 and sm_110a, for kind == .kind::i8
            tcgen05.mma.sp.<cg>.<kind>.block_scale{.<sv>}{.<ca>}{.<cb>} [d in .tensor untyped], adesc:.b64/#/integer/nameless, bdesc:.b64/#/integer/nameless, [meta in .tensor untyped], idesc:.b32/#/integer, [scale_a in .tensor untyped], [scale_b in .tensor untyped], enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.8, for sv in .block16 .block32; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.7, for kind == .kind::mxf4nvf4; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
            tcgen05.mma.sp.<cg>.<kind>.block_scale{.<sv>}{.<ca>}{.<cb>} [d in .tensor untyped], [a in .tensor untyped], bdesc:.b64/#/integer/nameless, [meta in .tensor untyped], idesc:.b32/#/integer, [scale_a in .tensor untyped], [scale_b in .tensor untyped], enable:.pred/#/!
                needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 9.4 and sm_107f, for cb or lut or kind == .kind::ti16; PTX 8.8, for sv in .block16 .block32; PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for present(scale); PTX 8.7, for kind == .kind::mxf4nvf4; PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for starts(sv, .scale_vec); PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a, for present(meta) and kind in .kind::mxf4 .kind::mxf4nvf4
        """
    @overload
    def tcgen05_mma_sp(self, d: Address[Any], adesc: Value, bdesc: Value, meta: Address[Any], idesc: Value, enable: Value, scale: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_sp(self, d: Address[Any], adesc: Value, bdesc: Value, meta: Address[Any], idesc: Value, lanes: Sequence[Value], enable: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_sp(self, d: Address[Any], adesc: Value, bdesc: Value, meta: Address[Any], idesc: Value, lanes: Sequence[Value], enable: Value, scale: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_sp(self, d: Address[Any], a: Address[Any], bdesc: Value, meta: Address[Any], idesc: Value, enable: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_sp(self, d: Address[Any], a: Address[Any], bdesc: Value, meta: Address[Any], idesc: Value, enable: Value, scale: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_sp(self, d: Address[Any], a: Address[Any], bdesc: Value, meta: Address[Any], idesc: Value, lanes: Sequence[Value], enable: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_sp(self, d: Address[Any], a: Address[Any], bdesc: Value, meta: Address[Any], idesc: Value, lanes: Sequence[Value], enable: Value, scale: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_sp(self, d: Address[Any], adesc: Value, bdesc: Value, meta: Address[Any], idesc: Value, scale_a: Address[Any], scale_b: Address[Any], enable: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_sp(self, d: Address[Any], a: Address[Any], bdesc: Value, meta: Address[Any], idesc: Value, scale_a: Address[Any], scale_b: Address[Any], enable: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ashift: Literal['ashift'] | bool = ..., ca: Literal['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] | bool = ..., cb: Literal['collector::b::fill', 'collector::b::use', 'collector::b::lastuse', 'collector::b::discard'] | bool = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16', 'kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] | bool = ..., sv: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_ws(self, d: Address[Any], adesc: Value, bdesc: Value, idesc: Value, enable: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., collector: Literal['collector::b0::fill', 'collector::b0::use', 'collector::b0::lastuse', 'collector::b0::discard', 'collector::b1::fill', 'collector::b1::use', 'collector::b1::lastuse', 'collector::b1::discard', 'collector::b2::fill', 'collector::b2::use', 'collector::b2::lastuse', 'collector::b2::discard', 'collector::b3::fill', 'collector::b3::use', 'collector::b3::lastuse', 'collector::b3::discard'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16'] | bool = ...) -> None:
        """Multiplies with the B matrix kept in the collector buffer; tcgen05.commit tracks its completion.
        PTX ISA, 'TensorCore 5th Generation Instructions: tcgen05.mma.ws'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 8.6 and sm_100a or sm_101a, or PTX 9.0 and sm_110a, for kind == .kind::i8; PTX 9.4 and sm_107f, for kind == .kind::ti16
        effect cta_group(1)
        effect read(.shared::cta, adesc, via=.descriptor, proxy=.async, completion=.tcgen05, rows=shl(32, bfe(32, false, idesc, 24, 5), 4 - halved), width=bytes_of, transposed=bfe(32, false, idesc, 15, 1)) when plain
        effect read(.shared::cta, adesc, via=.descriptor, proxy=.async, completion=.tcgen05) when not plain
        effect read(.tensor, a, completion=.tcgen05)
        effect read(.shared::cta, bdesc, via=.descriptor, proxy=.async, completion=.tcgen05, rows=shl(32, bfe(32, false, idesc, 17, 6), 3 - halved), width=bytes_of, transposed=bfe(32, false, idesc, 16, 1)) when plain
        effect read(.shared::cta, bdesc, via=.descriptor, proxy=.async, completion=.tcgen05) when not plain
        effect read(.tensor, meta, completion=.tcgen05)
        effect update(.tensor, d, completion=.tcgen05)
            tcgen05.mma.ws.<cg>.<kind>{.<collector>} [d in .tensor untyped], adesc:.b64/#/integer/nameless, bdesc:.b64/#/integer/nameless, idesc:.b32/#/integer/scalar, enable:.pred/#/!{, zero_mask:.b64/#/integer/nameless}
            tcgen05.mma.ws.<cg>.<kind>{.<collector>} [d in .tensor untyped], [a in .tensor untyped], bdesc:.b64/#/integer/nameless, idesc:.b32/#/integer/scalar, enable:.pred/#/!{, zero_mask:.b64/#/integer/nameless}
        """
    @overload
    def tcgen05_mma_ws(self, d: Address[Any], adesc: Value, bdesc: Value, idesc: Value, enable: Value, zero_mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., collector: Literal['collector::b0::fill', 'collector::b0::use', 'collector::b0::lastuse', 'collector::b0::discard', 'collector::b1::fill', 'collector::b1::use', 'collector::b1::lastuse', 'collector::b1::discard', 'collector::b2::fill', 'collector::b2::use', 'collector::b2::lastuse', 'collector::b2::discard', 'collector::b3::fill', 'collector::b3::use', 'collector::b3::lastuse', 'collector::b3::discard'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_ws(self, d: Address[Any], a: Address[Any], bdesc: Value, idesc: Value, enable: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., collector: Literal['collector::b0::fill', 'collector::b0::use', 'collector::b0::lastuse', 'collector::b0::discard', 'collector::b1::fill', 'collector::b1::use', 'collector::b1::lastuse', 'collector::b1::discard', 'collector::b2::fill', 'collector::b2::use', 'collector::b2::lastuse', 'collector::b2::discard', 'collector::b3::fill', 'collector::b3::use', 'collector::b3::lastuse', 'collector::b3::discard'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_ws(self, d: Address[Any], a: Address[Any], bdesc: Value, idesc: Value, enable: Value, zero_mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., collector: Literal['collector::b0::fill', 'collector::b0::use', 'collector::b0::lastuse', 'collector::b0::discard', 'collector::b1::fill', 'collector::b1::use', 'collector::b1::lastuse', 'collector::b1::discard', 'collector::b2::fill', 'collector::b2::use', 'collector::b2::lastuse', 'collector::b2::discard', 'collector::b3::fill', 'collector::b3::use', 'collector::b3::lastuse', 'collector::b3::discard'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_ws_sp(self, d: Address[Any], adesc: Value, bdesc: Value, meta: Address[Any], idesc: Value, enable: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., collector: Literal['collector::b0::fill', 'collector::b0::use', 'collector::b0::lastuse', 'collector::b0::discard', 'collector::b1::fill', 'collector::b1::use', 'collector::b1::lastuse', 'collector::b1::discard', 'collector::b2::fill', 'collector::b2::use', 'collector::b2::lastuse', 'collector::b2::discard', 'collector::b3::fill', 'collector::b3::use', 'collector::b3::lastuse', 'collector::b3::discard'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16'] | bool = ...) -> None:
        """Multiplies with the B matrix kept in the collector buffer; tcgen05.commit tracks its completion.
        PTX ISA, 'TensorCore 5th Generation Instructions: tcgen05.mma.ws'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f; PTX 8.6 and sm_100a or sm_101a, or PTX 9.0 and sm_110a, for kind == .kind::i8; PTX 9.4 and sm_107f, for kind == .kind::ti16
        effect cta_group(1)
        effect read(.shared::cta, adesc, via=.descriptor, proxy=.async, completion=.tcgen05, rows=shl(32, bfe(32, false, idesc, 24, 5), 4 - halved), width=bytes_of, transposed=bfe(32, false, idesc, 15, 1)) when plain
        effect read(.shared::cta, adesc, via=.descriptor, proxy=.async, completion=.tcgen05) when not plain
        effect read(.tensor, a, completion=.tcgen05)
        effect read(.shared::cta, bdesc, via=.descriptor, proxy=.async, completion=.tcgen05, rows=shl(32, bfe(32, false, idesc, 17, 6), 3 - halved), width=bytes_of, transposed=bfe(32, false, idesc, 16, 1)) when plain
        effect read(.shared::cta, bdesc, via=.descriptor, proxy=.async, completion=.tcgen05) when not plain
        effect read(.tensor, meta, completion=.tcgen05)
        effect update(.tensor, d, completion=.tcgen05)
            tcgen05.mma.ws.sp.<cg>.<kind>{.<collector>} [d in .tensor untyped], adesc:.b64/#/integer/nameless, bdesc:.b64/#/integer/nameless, [meta in .tensor untyped], idesc:.b32/#/integer, enable:.pred/#/!{, zero_mask:.b64/#/integer/nameless}
            tcgen05.mma.ws.sp.<cg>.<kind>{.<collector>} [d in .tensor untyped], [a in .tensor untyped], bdesc:.b64/#/integer/nameless, [meta in .tensor untyped], idesc:.b32/#/integer, enable:.pred/#/!{, zero_mask:.b64/#/integer/nameless}
        """
    @overload
    def tcgen05_mma_ws_sp(self, d: Address[Any], adesc: Value, bdesc: Value, meta: Address[Any], idesc: Value, enable: Value, zero_mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., collector: Literal['collector::b0::fill', 'collector::b0::use', 'collector::b0::lastuse', 'collector::b0::discard', 'collector::b1::fill', 'collector::b1::use', 'collector::b1::lastuse', 'collector::b1::discard', 'collector::b2::fill', 'collector::b2::use', 'collector::b2::lastuse', 'collector::b2::discard', 'collector::b3::fill', 'collector::b3::use', 'collector::b3::lastuse', 'collector::b3::discard'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_ws_sp(self, d: Address[Any], a: Address[Any], bdesc: Value, meta: Address[Any], idesc: Value, enable: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., collector: Literal['collector::b0::fill', 'collector::b0::use', 'collector::b0::lastuse', 'collector::b0::discard', 'collector::b1::fill', 'collector::b1::use', 'collector::b1::lastuse', 'collector::b1::discard', 'collector::b2::fill', 'collector::b2::use', 'collector::b2::lastuse', 'collector::b2::discard', 'collector::b3::fill', 'collector::b3::use', 'collector::b3::lastuse', 'collector::b3::discard'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16'] | bool = ...) -> None: ...
    @overload
    def tcgen05_mma_ws_sp(self, d: Address[Any], a: Address[Any], bdesc: Value, meta: Address[Any], idesc: Value, enable: Value, zero_mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., collector: Literal['collector::b0::fill', 'collector::b0::use', 'collector::b0::lastuse', 'collector::b0::discard', 'collector::b1::fill', 'collector::b1::use', 'collector::b1::lastuse', 'collector::b1::discard', 'collector::b2::fill', 'collector::b2::use', 'collector::b2::lastuse', 'collector::b2::discard', 'collector::b3::fill', 'collector::b3::use', 'collector::b3::lastuse', 'collector::b3::discard'] | bool = ..., kind: Literal['kind::f16', 'kind::tf32', 'kind::f8f6f4', 'kind::i8', 'kind::ti16'] | bool = ...) -> None: ...
    def tcgen05_relinquish_alloc_permit(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ...) -> None:
        """Allocates columns of Tensor Memory, and deallocates them.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f
        effect cta_group(if cg == .cta_group::2 then 2 else 1)
        effect tensor_memory(.relinquish)
            tcgen05.relinquish_alloc_permit.<cg>.sync.aligned
        """
    def tcgen05_shift(self, d: Address[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., cg: Literal['cta_group::1', 'cta_group::2'] | bool = ...) -> None:
        """Shifts rows of Tensor Memory down by one; tcgen05.commit tracks its completion.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.shift'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_103a, or PTX 9.0 and sm_110a, or PTX 9.4 and sm_107a
        effect cta_group(if cg == .cta_group::2 then 2 else 1)
        effect update(.tensor, d, completion=.tcgen05)
            tcgen05.shift.<cg>.<way> [d in .tensor loose]
        """
    @overload
    def tcgen05_st_sync_aligned(self, a: Address[Any], b: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., num: Literal['x1', 'x2', 'x4', 'x8', 'x16', 'x32', 'x64', 'x128'] | bool = ..., shape: Literal['16x64b', '16x128b', '16x256b', '32x32b'] | bool = ...) -> None:
        """Stores the warp's registers to Tensor Memory, asynchronously; tcgen05.wait::st waits for it.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.st'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f
        effect write(.tensor, a, 128 * count, completion="tcgen05.st")
        effect async_registers(.read, b, "tcgen05.st")
            tcgen05.st.sync.aligned.<shape>.<num>{.unpack::16b}.b32 [a in .tensor], {b:.b32/loose * count}
            tcgen05.st.sync.aligned.<shape>.<num>{.unpack::16b}.b32 [a in .tensor], offset:#, {b:.b32/loose * count}
        """
    @overload
    def tcgen05_st_sync_aligned(self, a: Address[Any], offset: int, b: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., num: Literal['x1', 'x2', 'x4', 'x8', 'x16', 'x32', 'x64', 'x128'] | bool = ..., shape: Literal['16x64b', '16x128b', '16x256b', '32x32b'] | bool = ...) -> None: ...
    def tcgen05_wait_ld_sync_aligned(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Waits until the thread's earlier tcgen05.ld or tcgen05.st are complete.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.wait'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f
        effect wait_group("tcgen05.ld", 0, commits=true)
            tcgen05.wait::ld.sync.aligned
        """
    def tcgen05_wait_st_sync_aligned(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Waits until the thread's earlier tcgen05.ld or tcgen05.st are complete.
        PTX ISA, 'Tensorcore 5th Generation Instructions: tcgen05.wait'
        needs PTX 8.6 and sm_100a or sm_101a, or PTX 8.8 and sm_100f or sm_110f
        effect wait_group("tcgen05.st", 0, commits=true)
            tcgen05.wait::st.sync.aligned
        """
    def tensormap_cp_fenceproxy(self, d: Global[Any], s: Shared[Any], n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., sc: Literal['cta', 'cluster', 'gpu', 'sys'] | bool = ...) -> None:
        """Copies a tensor map from shared to global memory and orders it before later tensormap reads.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: tensormap.cp_fenceproxy'
        needs PTX 8.3 and sm_90; PTX 7.8 and sm_30, for .shared::cta; PTX 7.8 and sm_90, for .cluster
        effect read(.shared::cta, s, n)
        effect write(.global, d, n)
        effect proxy_fence(.tensormap, direction=.release, scope=sc, address=d)
            tensormap.cp_fenceproxy.<dst>.<src>.<kind>.<sem>.<sc>.sync.aligned [d in .global align 128], [s in .shared::cta align 128], n:#128
        """
    @overload
    def tensormap_replace(self, a: Generic[Any] | Global[Any] | Shared[Any], value: Value | int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., field: Literal['global_address', 'rank', 'box_dim', 'global_dim', 'element_stride', 'swizzle_mode', 'swizzle_atomicity'] | bool = ..., ss: Literal['global', 'shared::cta'] | bool = ..., t: Literal['b32', 'b64'] | bool = ...) -> None:
        """Replaces one field of a tensor map in memory, through the generic proxy.
        PTX ISA, 'Data Movement and Conversion Instructions: tensormap.replace'
        effect update(ss, a, 128)
            tensormap.replace.<mode>.<field>{.<ss>}.<size>.<t> [a in ss as tensormap wide opaque], value:t/#
                needs PTX 8.3 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
            tensormap.replace.<mode>.<field>{.<ss>}.<size>.<t> [a in ss as tensormap wide opaque], ord:#0..4, value:number/#
                needs PTX 8.3 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
            tensormap.replace.<mode>.<field>{.<ss>}.<size>.<t> [a in ss as tensormap wide opaque], ord:#0..4, value:t/#
                needs PTX 8.3 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
            tensormap.replace.<mode>.<field>{.<ss>}.<size>.<t> [a in ss as tensormap wide opaque], value:#0..12
                needs PTX 8.3 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
            tensormap.replace.<mode>.<field>{.<ss>}.<size>.<t> [a in ss as tensormap wide opaque], value:#13..15
                needs PTX 8.3 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 8.7 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
            tensormap.replace.<mode>.<field>{.<ss>}.<size>.<t> [a in ss as tensormap wide opaque], value:#0..3
                needs PTX 8.3 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f, for field == .swizzle_atomicity; PTX 7.8 and sm_30, for .shared::cta
            tensormap.replace.<mode>.<field>{.<ss>}.<size>.<t> [a in ss as tensormap wide opaque], value:#4
                needs PTX 8.3 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 8.8 and sm_103a, or PTX 9.4 and sm_107a; PTX 7.8 and sm_30, for .shared::cta
            tensormap.replace.<mode>.<field>{.<ss>}.<size>.<t> [a in ss as tensormap wide opaque], value:#0..2
                needs PTX 8.3 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
            tensormap.replace.<mode>.<field>{.<ss>}.<size>.<t> [a in ss as tensormap wide opaque], value:#0..1
                needs PTX 8.3 and sm_90a, or PTX 8.6 and sm_100a or sm_101a or sm_120a, or PTX 8.8 and sm_100f or sm_110f or sm_120f; PTX 7.8 and sm_30, for .shared::cta
        """
    @overload
    def tensormap_replace(self, a: Generic[Any] | Global[Any] | Shared[Any], ord: int, value: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., field: Literal['global_address', 'rank', 'box_dim', 'global_dim', 'element_stride', 'swizzle_mode', 'swizzle_atomicity'] | bool = ..., ss: Literal['global', 'shared::cta'] | bool = ..., t: Literal['b32', 'b64'] | bool = ...) -> None: ...
    def testp(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., op: Literal['finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal'] | bool = ..., t: Literal['f32', 'f64'] | bool = ...) -> Register[pred]:
        """Tests the class of a floating-point value: finite, infinite, NaN, normal or subnormal.
        PTX ISA, 'Floating Point Instructions: testp'
        needs PTX 2.0 and sm_20
        effect p = unknown
            testp{.<op>}.<t> p:.pred, a:t/#
        """
    @overload
    def tex(self, a: tuple[object, ...], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any:
        """Reads a texture at the given coordinates, with the filter of its sampler; the first coordinate of an array is the index.
        PTX ISA, 'Texture Instructions: tex'
        needs PTX 2.3, for geom in .a1d .a2d; PTX 3.0 and sm_20, for geom in .cube .acube; PTX 3.2 and sm_30, for geom in .2dms .a2dms; PTX 4.2 and sm_53, for dt in .f16 .f16x2; PTX 7.1, for present(p); texmode_unified, for not present(b); texmode_independent, for present(b)
        effect p = unknown
            tex.<geom>.<vec>.<dt>.<ct> d:dt/sink(dt != .f16x2) * n{|p:.pred}, [a as texture, c:ct * wide.. ?(not array), {i:.u32/#/integer, x:exact/#} ?(geom == .a1d), {j:.u32/#/integer, u:.b32/#, v:.b32/#, w:.b32/#} ?(array and geom not in .a1d .a2dms), {s:.b32/#, l:.u32/#/integer, y:.b32/#, z:.b32/#} ?(geom == .a2dms)]{, e:.s32/#/integer/definite(geom == .3d) * shifts.. ?shifted}{, g:.s32/#/integer ?(not shifted)}{, f:.f32/# ?compared}
            tex.<geom>.<vec>.<dt>.<ct> d:dt/sink(dt != .f16x2) * n{|p:.pred}, [a as texture, b:sampler, c:ct * wide.. ?(not array), {i:.u32/#/integer, x:exact/#} ?(geom == .a1d), {j:.u32/#/integer, u:.b32/#, v:.b32/#, w:.b32/#} ?(array and geom not in .a1d .a2dms), {s:.b32/#, l:.u32/#/integer, y:.b32/#, z:.b32/#} ?(geom == .a2dms)]{, e:.s32/#/integer/definite(geom == .3d) * shifts.. ?shifted}{, g:.s32/#/integer ?(not shifted)}{, f:.f32/# ?compared}
        """
    @overload
    def tex(self, a: tuple[object, ...], e: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex(self, a: tuple[object, ...], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex(self, a: tuple[object, ...], e: Sequence[Value], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex(self, a: tuple[object, ...], g: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex(self, a: tuple[object, ...], g: Value, f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_base(self, a: tuple[object, ...], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any:
        """Reads a texture at the given coordinates, with the filter of its sampler; the first coordinate of an array is the index.
        PTX ISA, 'Texture Instructions: tex'
        needs PTX 2.3, for geom in .a1d .a2d; PTX 3.0 and sm_20, for geom in .cube .acube; PTX 3.2 and sm_30, for geom in .2dms .a2dms; PTX 4.2 and sm_53, for dt in .f16 .f16x2; PTX 7.1, for present(p); texmode_unified, for not present(b); texmode_independent, for present(b); PTX 3.1 and sm_20
        effect p = unknown
            tex.base.<geom>.<vec>.<dt>.<ct> d:dt/sink(dt != .f16x2) * n{|p:.pred}, [a as texture, c:ct * wide.. ?(not array), {i:.u32/#/integer, x:exact/#} ?(geom == .a1d), {j:.u32/#/integer, u:.b32/#, v:.b32/#, w:.b32/#} ?(array and geom not in .a1d .a2dms), {s:.b32/#, l:.u32/#/integer, y:.b32/#, z:.b32/#} ?(geom == .a2dms)]{, e:.s32/#/integer/definite(geom == .3d) * shifts.. ?shifted}{, g:.s32/#/integer ?(not shifted)}{, f:.f32/# ?compared}
            tex.base.<geom>.<vec>.<dt>.<ct> d:dt/sink(dt != .f16x2) * n{|p:.pred}, [a as texture, b:sampler, c:ct * wide.. ?(not array), {i:.u32/#/integer, x:exact/#} ?(geom == .a1d), {j:.u32/#/integer, u:.b32/#, v:.b32/#, w:.b32/#} ?(array and geom not in .a1d .a2dms), {s:.b32/#, l:.u32/#/integer, y:.b32/#, z:.b32/#} ?(geom == .a2dms)]{, e:.s32/#/integer/definite(geom == .3d) * shifts.. ?shifted}{, g:.s32/#/integer ?(not shifted)}{, f:.f32/# ?compared}
        """
    @overload
    def tex_base(self, a: tuple[object, ...], e: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_base(self, a: tuple[object, ...], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_base(self, a: tuple[object, ...], e: Sequence[Value], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_base(self, a: tuple[object, ...], g: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_base(self, a: tuple[object, ...], g: Value, f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_grad(self, a: tuple[object, ...], dx: Sequence[Value], dy: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any:
        """Reads a texture at the given coordinates, with the filter of its sampler; the first coordinate of an array is the index.
        PTX ISA, 'Texture Instructions: tex'
        needs PTX 2.3, for geom in .a1d .a2d; PTX 3.0 and sm_20, for geom in .cube .acube; PTX 3.2 and sm_30, for geom in .2dms .a2dms; PTX 4.2 and sm_53, for dt in .f16 .f16x2; PTX 7.1, for present(p); texmode_unified, for not present(b); texmode_independent, for present(b); PTX 3.1 and sm_20; a target before sm_90, for present(g) and present(f) and dt != .f16x2; a target before sm_90, for present(e) and present(f) and dt != .f16x2
        effect p = unknown
            tex.grad.<geom>.<vec>.<dt>.<ct> d:dt/sink(dt != .f16x2) * n{|p:.pred}, [a as texture, c:ct * wide.. ?(not array), {i:.u32/#/integer, x:exact/#/exact(computed)} ?(geom == .a1d), {j:.u32/#/integer, u:exact/#/exact(computed), v:exact/#/exact(computed), w:exact/#/exact(computed)} ?(array and geom != .a1d)], {dx:.f32/#/exact/vector * slopes}, {dy:.f32/#/exact/vector * slopes}{, e:.s32/#/integer/definite(geom == .3d) * shifts.. ?shifted}{, h:.s32/integer * shifts.. ?(shifted and compared)}{, g:.s32/#/integer ?(not shifted)}{, k:.b32/exact ?(not shifted and present(f))}{, f:.f32/# ?compared}
            tex.grad.<geom>.<vec>.<dt>.<ct> d:dt/sink(dt != .f16x2) * n{|p:.pred}, [a as texture, b:sampler, c:ct * wide.. ?(not array), {i:.u32/#/integer, x:exact/#/exact(computed)} ?(geom == .a1d), {j:.u32/#/integer, u:exact/#/exact(computed), v:exact/#/exact(computed), w:exact/#/exact(computed)} ?(array and geom != .a1d)], {dx:.f32/#/exact/vector * slopes}, {dy:.f32/#/exact/vector * slopes}{, e:.s32/#/integer/definite(geom == .3d) * shifts.. ?shifted}{, h:.s32/integer * shifts.. ?(shifted and compared)}{, g:.s32/#/integer ?(not shifted)}{, k:.b32/exact ?(not shifted and present(f))}{, f:.f32/# ?compared}
        """
    @overload
    def tex_grad(self, a: tuple[object, ...], dx: Sequence[Value], dy: Sequence[Value], e: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_grad(self, a: tuple[object, ...], dx: Sequence[Value], dy: Sequence[Value], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_grad(self, a: tuple[object, ...], dx: Sequence[Value], dy: Sequence[Value], h: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_grad(self, a: tuple[object, ...], dx: Sequence[Value], dy: Sequence[Value], h: Sequence[Value], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_grad(self, a: tuple[object, ...], dx: Sequence[Value], dy: Sequence[Value], e: Sequence[Value], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_grad(self, a: tuple[object, ...], dx: Sequence[Value], dy: Sequence[Value], k: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_grad(self, a: tuple[object, ...], dx: Sequence[Value], dy: Sequence[Value], k: Value, f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_grad(self, a: tuple[object, ...], dx: Sequence[Value], dy: Sequence[Value], g: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_grad(self, a: tuple[object, ...], dx: Sequence[Value], dy: Sequence[Value], g: Value, f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_level(self, a: tuple[object, ...], lod: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any:
        """Reads a texture at the given coordinates, with the filter of its sampler; the first coordinate of an array is the index.
        PTX ISA, 'Texture Instructions: tex'
        needs PTX 2.3, for geom in .a1d .a2d; PTX 3.0 and sm_20, for geom in .cube .acube; PTX 3.2 and sm_30, for geom in .2dms .a2dms; PTX 4.2 and sm_53, for dt in .f16 .f16x2; PTX 7.1, for present(p); texmode_unified, for not present(b); texmode_independent, for present(b); PTX 3.1 and sm_20
        effect p = unknown
            tex.level.<geom>.<vec>.<dt>.<ct> d:dt/sink(dt != .f16x2) * n{|p:.pred}, [a as texture, c:ct * wide.. ?(not array), {i:.u32/#/integer, x:exact/#} ?(geom == .a1d), {j:.u32/#/integer, u:.b32/#, v:.b32/#, w:.b32/#} ?(array and geom not in .a1d .a2dms), {s:.b32/#, l:.u32/#/integer, y:.b32/#, z:.b32/#} ?(geom == .a2dms)], lod:ct/# * one..{, e:.s32/#/integer/definite(geom == .3d) * shifts.. ?shifted}{, g:.s32/#/integer ?(not shifted)}{, f:.f32/# ?compared}
            tex.level.<geom>.<vec>.<dt>.<ct> d:dt/sink(dt != .f16x2) * n{|p:.pred}, [a as texture, b:sampler, c:ct * wide.. ?(not array), {i:.u32/#/integer, x:exact/#} ?(geom == .a1d), {j:.u32/#/integer, u:.b32/#, v:.b32/#, w:.b32/#} ?(array and geom not in .a1d .a2dms), {s:.b32/#, l:.u32/#/integer, y:.b32/#, z:.b32/#} ?(geom == .a2dms)], lod:ct/# * one..{, e:.s32/#/integer/definite(geom == .3d) * shifts.. ?shifted}{, g:.s32/#/integer ?(not shifted)}{, f:.f32/# ?compared}
        """
    @overload
    def tex_level(self, a: tuple[object, ...], lod: Sequence[Value], e: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_level(self, a: tuple[object, ...], lod: Sequence[Value], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_level(self, a: tuple[object, ...], lod: Sequence[Value], e: Sequence[Value], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_level(self, a: tuple[object, ...], lod: Sequence[Value], g: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tex_level(self, a: tuple[object, ...], lod: Sequence[Value], g: Value, f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., ct: Literal['s32', 'f32'] | bool = ..., dt: Literal['u32', 's32', 'f16', 'f32', 'f16x2'] | bool = ..., geom: Literal['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube', '2dms', 'a2dms'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def tld4(self, a: tuple[object, ...], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., comp: Literal['r', 'g', 'b', 'a'] | bool = ..., dt: Literal['u32', 's32', 'f32'] | bool = ..., geom: Literal['2d', 'a2d', 'cube', 'acube'] | bool = ...) -> Any:
        """Reads one component of the four texels that a bilinear filter would use.
        PTX ISA, 'Texture Instructions: tld4'
        needs PTX 2.2 and sm_20; PTX 4.3 and sm_30, for geom != .2d; PTX 7.1, for present(p); texmode_unified, for not present(b); texmode_independent, for present(b)
        effect p = unknown
            tld4.<comp>.<geom>.v4.<dt>.f32 d:dt/_ * 4{|p:.pred}, [a as texture, c:.f32 * wide.. ?(not array), {j:.u32/#/integer, u:.b32/#, v:.b32/#, w:.b32/#} ?array]{, e:.s32/#/integer * 2.. ?shifted}{, g:.s32/#/integer ?(not shifted)}{, f:.f32/#/own}
            tld4.<comp>.<geom>.v4.<dt>.f32 d:dt/_ * 4{|p:.pred}, [a as texture, b:sampler, c:.f32 * wide.. ?(not array), {j:.u32/#/integer, u:.b32/#, v:.b32/#, w:.b32/#} ?array]{, e:.s32/#/integer * 2.. ?shifted}{, g:.s32/#/integer ?(not shifted)}{, f:.f32/#/own}
        """
    @overload
    def tld4(self, a: tuple[object, ...], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., comp: Literal['r', 'g', 'b', 'a'] | bool = ..., dt: Literal['u32', 's32', 'f32'] | bool = ..., geom: Literal['2d', 'a2d', 'cube', 'acube'] | bool = ...) -> Any: ...
    @overload
    def tld4(self, a: tuple[object, ...], e: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., comp: Literal['r', 'g', 'b', 'a'] | bool = ..., dt: Literal['u32', 's32', 'f32'] | bool = ..., geom: Literal['2d', 'a2d', 'cube', 'acube'] | bool = ...) -> Any: ...
    @overload
    def tld4(self, a: tuple[object, ...], e: Sequence[Value], f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., comp: Literal['r', 'g', 'b', 'a'] | bool = ..., dt: Literal['u32', 's32', 'f32'] | bool = ..., geom: Literal['2d', 'a2d', 'cube', 'acube'] | bool = ...) -> Any: ...
    @overload
    def tld4(self, a: tuple[object, ...], g: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., comp: Literal['r', 'g', 'b', 'a'] | bool = ..., dt: Literal['u32', 's32', 'f32'] | bool = ..., geom: Literal['2d', 'a2d', 'cube', 'acube'] | bool = ...) -> Any: ...
    @overload
    def tld4(self, a: tuple[object, ...], g: Value, f: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., comp: Literal['r', 'g', 'b', 'a'] | bool = ..., dt: Literal['u32', 's32', 'f32'] | bool = ..., geom: Literal['2d', 'a2d', 'cube', 'acube'] | bool = ...) -> Any: ...
    def trap(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> None:
        """Aborts the grid and interrupts the host.
        PTX ISA, 'Miscellaneous Instructions: trap'
        effect control(.trap)
            trap
        """
    def txq(self, a: Generic[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., query: Literal['width', 'height', 'depth', 'channel_data_type', 'channel_order', 'normalized_coords', 'array_size', 'num_mipmap_levels', 'num_samples', 'memory_layout', 'filter_mode', 'addr_mode_0', 'addr_mode_1', 'addr_mode_2', 'force_unnormalized_coords'] | bool = ...) -> Register[Any]:
        """Queries a property of a texture or a sampler.
        PTX ISA, 'Texture Instructions: txq'
            txq.<query>.b32 d:.b32, [a as texture]
                needs texmode_unified
            txq.<query>.b32 d:.b32, [a as sampler]
                needs PTX 2.2, for query == .force_unnormalized_coords
        """
    def txq_level(self, a: Generic[Any], lod: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., query: Literal['width', 'height', 'depth'] | bool = ...) -> Register[Any]:
        """Queries a property of a texture or a sampler.
        PTX ISA, 'Texture Instructions: txq'
        needs PTX 4.3 and sm_30
            txq.level.<query>.b32 d:.b32, [a as texture], lod:.b32/#/integer * one..
        """
    @overload
    def vabsdiff(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on one part of each register.
        PTX ISA, 'Scalar Video Instructions: vadd, vsub, vabsdiff, vmin, vmax'
        needs PTX 2.0 and sm_20
            vabsdiff.<dt>.<at>.<bt>{.sat} d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#
            vabsdiff.<dt>.<at>.<bt>{.sat} d.<dsel>:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
            vabsdiff.<dt>.<at>.<bt>{.sat}.<op> d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
        """
    @overload
    def vabsdiff(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any: ...
    def vabsdiff2(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on pairs of half words, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2'
        needs PTX 3.0 and sm_30
            vabsdiff2.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    def vabsdiff4(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on quads of bytes, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4'
        needs PTX 3.0 and sm_30
            vabsdiff4.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    @overload
    def vadd(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on one part of each register.
        PTX ISA, 'Scalar Video Instructions: vadd, vsub, vabsdiff, vmin, vmax'
        needs PTX 2.0 and sm_20
            vadd.<dt>.<at>.<bt>{.sat} d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#
            vadd.<dt>.<at>.<bt>{.sat} d.<dsel>:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
            vadd.<dt>.<at>.<bt>{.sat}.<op> d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
        """
    @overload
    def vadd(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any: ...
    def vadd2(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on pairs of half words, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2'
        needs PTX 3.0 and sm_30
            vadd2.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    def vadd4(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on quads of bytes, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4'
        needs PTX 3.0 and sm_30
            vadd4.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    def vavrg2(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on pairs of half words, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2'
        needs PTX 3.0 and sm_30
            vavrg2.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    def vavrg4(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on quads of bytes, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4'
        needs PTX 3.0 and sm_30
            vavrg4.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    def vmad(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ..., scale: Literal['shr7', 'shr15'] | bool = ...) -> Any:
        """Multiplies parts of two registers and adds a third, scaled and saturated; the product or the third may be negated, and two negations of the product cancel.
        PTX ISA, 'Scalar Video Instructions: vmad'
        needs PTX 2.0 and sm_20
            vmad.<dt>.<at>.<bt>{.sat}{.<scale>} d:dt/lax, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#/minus
            vmad.<dt>.<at>.<bt>{.sat}{.<scale>} d:dt/lax, a{.<asel>}:at/scalar/#/minus, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
            vmad.<dt>.<at>.<bt>{.sat}{.<scale>} d:dt/lax, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#/minus, c:dt/scalar/#
            vmad.<dt>.<at>.<bt>{.sat}{.<scale>} d:dt/lax, a{.<asel>}:at/scalar/#/minus/negative, b{.<bsel>}:bt/scalar/#/minus/negative, c:dt/scalar/#/minus
            vmad.<dt>.<at>.<bt>.po{.sat}{.<scale>} d:dt/lax, a{.<asel>}:at/scalar/#/minus/negative, b{.<bsel>}:bt/scalar/#/minus/negative, c:dt/scalar/#
            vmad.<dt>.<at>.<bt>.po{.sat}{.<scale>} d:dt/lax, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
        """
    @overload
    def vmax(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on one part of each register.
        PTX ISA, 'Scalar Video Instructions: vadd, vsub, vabsdiff, vmin, vmax'
        needs PTX 2.0 and sm_20
            vmax.<dt>.<at>.<bt>{.sat} d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#
            vmax.<dt>.<at>.<bt>{.sat} d.<dsel>:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
            vmax.<dt>.<at>.<bt>{.sat}.<op> d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
        """
    @overload
    def vmax(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any: ...
    def vmax2(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on pairs of half words, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2'
        needs PTX 3.0 and sm_30
            vmax2.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    def vmax4(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on quads of bytes, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4'
        needs PTX 3.0 and sm_30
            vmax4.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    @overload
    def vmin(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on one part of each register.
        PTX ISA, 'Scalar Video Instructions: vadd, vsub, vabsdiff, vmin, vmax'
        needs PTX 2.0 and sm_20
            vmin.<dt>.<at>.<bt>{.sat} d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#
            vmin.<dt>.<at>.<bt>{.sat} d.<dsel>:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
            vmin.<dt>.<at>.<bt>{.sat}.<op> d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
        """
    @overload
    def vmin(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any: ...
    def vmin2(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on pairs of half words, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2'
        needs PTX 3.0 and sm_30
            vmin2.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    def vmin4(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on quads of bytes, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4'
        needs PTX 3.0 and sm_30
            vmin4.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    def vote(self, a: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mode: Literal['all', 'any', 'uni'] | bool = ...) -> Any:
        """Combines a predicate over the lanes of a warp.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: vote.sync'
        needs a version before 6.4, or a target before sm_70
            vote.<mode>.pred d:.pred/typed, a:.pred/!/#/typed/nameless
                effect d = vote(mode, a)
            vote.<mode>.b32 d:.b32, a:.pred/!/#
                effect d = ballot(a)
        """
    def vote_sync(self, a: Value, mask: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., mode: Literal['all', 'any', 'uni'] | bool = ...) -> Any:
        """Combines a predicate over the lanes of a warp.
        PTX ISA, 'Parallel Synchronization and Communication Instructions: vote.sync'
        needs PTX 6.0 and sm_30
        effect barrier(.warp, .sync, mask, order=.relaxed)
            vote.sync.<mode>.pred d:.pred/typed, a:.pred/!/#/typed/nameless, mask:.b32/#/integer
                effect d = vote(mode, a)
            vote.sync.<mode>.b32 d:.b32, a:.pred/!/#, mask:.b32/#/integer
                effect d = ballot(a)
        """
    @overload
    def vset(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., cmp: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ...) -> Register[u32]:
        """Compares parts of two registers.
        PTX ISA, 'Scalar Video Instructions: vset'
        needs PTX 2.0 and sm_20
            vset.<at>.<bt>.<cmp> d:.u32/scalar/integer, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#
            vset.<at>.<bt>.<cmp> d.<dsel>:.u32/scalar/integer, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:.u32/scalar/integer/#
            vset.<at>.<bt>.<cmp>.<op> d:.u32/scalar/integer, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:.u32/scalar/integer/#
        """
    @overload
    def vset(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., cmp: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ...) -> Register[u32]: ...
    def vset2(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., cmp: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | bool = ...) -> Register[u32]:
        """Compares pairs of half words.
        PTX ISA, 'SIMD Video Instructions: vset2'
        needs PTX 3.0 and sm_30
            vset2.<at>.<bt>.<cmp>{.add} d{.<mask>}:.u32/scalar/integer, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:.u32/scalar/integer
        """
    def vset4(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., cmp: Literal['eq', 'ne', 'lt', 'le', 'gt', 'ge'] | bool = ...) -> Register[u32]:
        """Compares quads of bytes.
        PTX ISA, 'SIMD Video Instructions: vset4'
        needs PTX 3.0 and sm_30
            vset4.<at>.<bt>.<cmp>{.add} d{.<mask>}:.u32/scalar/integer, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:.u32/scalar/integer
        """
    @overload
    def vshl(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., mode: Literal['clamp', 'wrap'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Shifts one part of a register by a part of another.
        PTX ISA, 'Scalar Video Instructions: vshl, vshr'
        needs PTX 2.0 and sm_20
            vshl.<dt>.<at>.u32{.sat}.<mode> d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:.u32/scalar/#
            vshl.<dt>.<at>.u32{.sat}.<mode> d.<dsel>:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:.u32/scalar/#, c:dt/scalar/#
            vshl.<dt>.<at>.u32{.sat}.<mode>.<op> d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:.u32/scalar/#, c:dt/scalar/#
        """
    @overload
    def vshl(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., mode: Literal['clamp', 'wrap'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any: ...
    @overload
    def vshr(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., mode: Literal['clamp', 'wrap'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Shifts one part of a register by a part of another.
        PTX ISA, 'Scalar Video Instructions: vshl, vshr'
        needs PTX 2.0 and sm_20
            vshr.<dt>.<at>.u32{.sat}.<mode> d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:.u32/scalar/#
            vshr.<dt>.<at>.u32{.sat}.<mode> d.<dsel>:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:.u32/scalar/#, c:dt/scalar/#
            vshr.<dt>.<at>.u32{.sat}.<mode>.<op> d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:.u32/scalar/#, c:dt/scalar/#
        """
    @overload
    def vshr(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., mode: Literal['clamp', 'wrap'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any: ...
    @overload
    def vsub(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on one part of each register.
        PTX ISA, 'Scalar Video Instructions: vadd, vsub, vabsdiff, vmin, vmax'
        needs PTX 2.0 and sm_20
            vsub.<dt>.<at>.<bt>{.sat} d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#
            vsub.<dt>.<at>.<bt>{.sat} d.<dsel>:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
            vsub.<dt>.<at>.<bt>{.sat}.<op> d:dt/scalar, a{.<asel>}:at/scalar/#, b{.<bsel>}:bt/scalar/#, c:dt/scalar/#
        """
    @overload
    def vsub(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., op: Literal['add', 'min', 'max'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any: ...
    def vsub2(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on pairs of half words, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2'
        needs PTX 3.0 and sm_30
            vsub2.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    def vsub4(self, a: Value, b: Value, c: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., add: Literal['add'] | bool = ..., at: Literal['u32', 's32'] | bool = ..., bt: Literal['u32', 's32'] | bool = ..., dt: Literal['u32', 's32'] | bool = ..., sat: Literal['sat'] | bool = ...) -> Any:
        """Arithmetic on quads of bytes, which selectors choose from both registers.
        PTX ISA, 'SIMD Video Instructions: vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4'
        needs PTX 3.0 and sm_30
            vsub4.<dt>.<at>.<bt>{.sat}{.add} d{.<mask>}:dt/scalar, a{.<asel>}:at/scalar, b{.<bsel>}:bt/scalar, c:dt/scalar
        """
    def wgmma_commit_group_sync(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ...) -> None:
        """Commits the earlier asynchronous multiplications to a group.
        PTX ISA, 'Asynchronous Multiply-and-Accumulate Instruction: wgmma.commit_group'
        needs PTX 8.0 and sm_90a
        effect commit_group(.wgmma)
            wgmma.commit_group.sync{.aligned}
        """
    def wgmma_fence_sync(self, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ...) -> None:
        """Orders the warpgroup's register accesses before its asynchronous multiplications.
        PTX ISA, 'Asynchronous Multiply-and-Accumulate Instruction: wgmma.fence'
        needs PTX 8.0 and sm_90a
        effect register_fence(.wgmma)
            wgmma.fence.sync{.aligned}
        """
    @overload
    def wgmma_mma_async_sp_sync(self, d: Sequence[Value], adesc: Value, bdesc: Value, meta: Value, selector: int, scale: Value, scale_a: int, scale_b: int, trans_a: int, trans_b: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None:
        """Multiplies a sparse A with a dense B and adds to D, asynchronously; wgmma.wait_group waits for its group.
        PTX ISA, 'Asynchronous Multiply-and-Accumulate Instruction: wgmma.mma_async.sp'
        effect async_registers(.update, d, .wgmma)
        effect async_registers(.read, a, .wgmma)
        effect read(.shared::cta, adesc, via=.descriptor, proxy=.async, completion=.wgmma, rows=64, width=2, transposed=trans_a)
        effect read(.shared::cta, bdesc, via=.descriptor, proxy=.async, completion=.wgmma, rows=n, width=2, transposed=trans_b)
            wgmma.mma_async.sp.sync{.aligned}.<shape>.<dt>.<t>.<t> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, adesc:.b64/integer/#/nameless, bdesc:.b64/integer/#/nameless, meta:.b32/integer/loose/vector/many, selector:#0..1, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}, trans_a:#0..1, trans_b:#0..1
                needs PTX 8.2 and sm_90a
            wgmma.mma_async.sp.sync{.aligned}.<shape>.<dt>.<t>.<t> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, {a:.b32/halves/loose/vector * 4}, bdesc:.b64/integer/#/nameless, meta:.b32/integer/loose/vector/many, selector:#0..1, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}, trans_b:#0..1
                needs PTX 8.2 and sm_90a
            wgmma.mma_async.sp.sync{.aligned}.<shape>.<dt>.<t>.<t> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, adesc:.b64/integer/#/nameless, bdesc:.b64/integer/#/nameless, meta:.b32/integer/loose/vector/many, selector:#0..1, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}
                needs PTX 8.2 and sm_90a
            wgmma.mma_async.sp.sync{.aligned}.<shape>.<dt>.<t>.<t> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, {a:.b32/halves/loose/vector * 4}, bdesc:.b64/integer/#/nameless, meta:.b32/integer/loose/vector/many, selector:#0..1, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}
                needs PTX 8.2 and sm_90a
            wgmma.mma_async.sp.sync{.aligned}.<shape>.<dt>.<ta>.<tb> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, adesc:.b64/integer/#/nameless, bdesc:.b64/integer/#/nameless, meta:.b32/integer/loose/vector/many, selector:#0, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}
                needs PTX 8.2 and sm_90a
            wgmma.mma_async.sp.sync{.aligned}.<shape>.<dt>.<ta>.<tb> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, {a:.b32/halves/loose/vector * 4}, bdesc:.b64/integer/#/nameless, meta:.b32/integer/loose/vector/many, selector:#0, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}
                needs PTX 8.2 and sm_90a
            wgmma.mma_async.sp.sync{.aligned}.<shape>{.satfinite}.<dt>.<ta>.<tb> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, adesc:.b64/integer/#/nameless, bdesc:.b64/integer/#/nameless, meta:.b32/integer/loose/vector/many, selector:#0, scale:.pred/#0..1/!
                needs PTX 8.2 and sm_90a; PTX 8.4 and sm_90a, for ta != tb
            wgmma.mma_async.sp.sync{.aligned}.<shape>{.satfinite}.<dt>.<ta>.<tb> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, {a:.b32/loose/vector * 4}, bdesc:.b64/integer/#/nameless, meta:.b32/integer/loose/vector/many, selector:#0, scale:.pred/#0..1/!
                needs PTX 8.2 and sm_90a; PTX 8.4 and sm_90a, for ta != tb
        """
    @overload
    def wgmma_mma_async_sp_sync(self, d: Sequence[Value], a: Sequence[Value], bdesc: Value, meta: Value, selector: int, scale: Value, scale_a: int, scale_b: int, trans_b: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None: ...
    @overload
    def wgmma_mma_async_sp_sync(self, d: Sequence[Value], adesc: Value, bdesc: Value, meta: Value, selector: int, scale: Value, scale_a: int, scale_b: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None: ...
    @overload
    def wgmma_mma_async_sp_sync(self, d: Sequence[Value], a: Sequence[Value], bdesc: Value, meta: Value, selector: int, scale: Value, scale_a: int, scale_b: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None: ...
    @overload
    def wgmma_mma_async_sp_sync(self, d: Sequence[Value], adesc: Value, bdesc: Value, meta: Value, selector: int, scale: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None: ...
    @overload
    def wgmma_mma_async_sp_sync(self, d: Sequence[Value], a: Sequence[Value], bdesc: Value, meta: Value, selector: int, scale: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None: ...
    @overload
    def wgmma_mma_async_sync(self, d: Sequence[Value], adesc: Value, bdesc: Value, scale: Value, scale_a: int, scale_b: int, trans_a: int, trans_b: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None:
        """Multiplies matrices in shared memory (A may be in registers) and adds to D, asynchronously; wgmma.wait_group waits for its group.
        PTX ISA, 'Asynchronous Multiply-and-Accumulate Instruction: wgmma.mma_async'
        effect async_registers(.update, d, .wgmma)
        effect async_registers(.read, a, .wgmma)
        effect read(.shared::cta, adesc, via=.descriptor, proxy=.async, completion=.wgmma, rows=64, width=2, transposed=trans_a)
        effect read(.shared::cta, bdesc, via=.descriptor, proxy=.async, completion=.wgmma, rows=n, width=2, transposed=trans_b)
            wgmma.mma_async.sync{.aligned}.<shape>.<dt>.<t>.<t> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, adesc:.b64/integer/#/nameless, bdesc:.b64/integer/#/nameless, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}, trans_a:#0..1, trans_b:#0..1
                needs PTX 8.0 and sm_90a
            wgmma.mma_async.sync{.aligned}.<shape>.<dt>.<t>.<t> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, {a:.b32/halves/loose/vector * 4}, bdesc:.b64/integer/#/nameless, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}, trans_b:#0..1
                needs PTX 8.0 and sm_90a
            wgmma.mma_async.sync{.aligned}.<shape>.<dt>.<t>.<t> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, adesc:.b64/integer/#/nameless, bdesc:.b64/integer/#/nameless, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}
                needs PTX 8.0 and sm_90a
            wgmma.mma_async.sync{.aligned}.<shape>.<dt>.<t>.<t> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, {a:.b32/halves/loose/vector * 4}, bdesc:.b64/integer/#/nameless, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}
                needs PTX 8.0 and sm_90a
            wgmma.mma_async.sync{.aligned}.<shape>.<dt>.<ta>.<tb> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, adesc:.b64/integer/#/nameless, bdesc:.b64/integer/#/nameless, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}
                needs PTX 8.0 and sm_90a
            wgmma.mma_async.sync{.aligned}.<shape>.<dt>.<ta>.<tb> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, {a:.b32/halves/loose/vector * 4}, bdesc:.b64/integer/#/nameless, scale:.pred/#0..1/!, scale_a:#{-1 1}, scale_b:#{-1 1}
                needs PTX 8.0 and sm_90a
            wgmma.mma_async.sync{.aligned}.<shape>{.satfinite}.<dt>.<ta>.<tb> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, adesc:.b64/integer/#/nameless, bdesc:.b64/integer/#/nameless, scale:.pred/#0..1/!
                needs PTX 8.0 and sm_90a; PTX 8.4 and sm_90a, for ta != tb
            wgmma.mma_async.sync{.aligned}.<shape>{.satfinite}.<dt>.<ta>.<tb> {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, {a:.b32/loose/vector * 4}, bdesc:.b64/integer/#/nameless, scale:.pred/#0..1/!
                needs PTX 8.0 and sm_90a; PTX 8.4 and sm_90a, for ta != tb
            wgmma.mma_async.sync{.aligned}.<shape>.<dt>.<t>.<t>.<op>.popc {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, adesc:.b64/integer/#/nameless, bdesc:.b64/integer/#/nameless, scale:.pred/#0..1/!
                needs PTX 8.0 and sm_90a
            wgmma.mma_async.sync{.aligned}.<shape>.<dt>.<t>.<t>.<op>.popc {d:element/integer/halves(dt == .f16)/exact(dt == .f32)/loose/vector * count}, {a:.b32/loose/vector * 4}, bdesc:.b64/integer/#/nameless, scale:.pred/#0..1/!
                needs PTX 8.0 and sm_90a
        """
    @overload
    def wgmma_mma_async_sync(self, d: Sequence[Value], a: Sequence[Value], bdesc: Value, scale: Value, scale_a: int, scale_b: int, trans_b: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None: ...
    @overload
    def wgmma_mma_async_sync(self, d: Sequence[Value], adesc: Value, bdesc: Value, scale: Value, scale_a: int, scale_b: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None: ...
    @overload
    def wgmma_mma_async_sync(self, d: Sequence[Value], a: Sequence[Value], bdesc: Value, scale: Value, scale_a: int, scale_b: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None: ...
    @overload
    def wgmma_mma_async_sync(self, d: Sequence[Value], adesc: Value, bdesc: Value, scale: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None: ...
    @overload
    def wgmma_mma_async_sync(self, d: Sequence[Value], a: Sequence[Value], bdesc: Value, scale: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: str | bool = ..., t: Literal['f16', 'bf16'] | bool = ..., ta: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ..., tb: Literal['e4m3', 'e5m2', 's8', 'u8'] | bool = ...) -> None: ...
    def wgmma_wait_group_sync(self, n: int, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ...) -> None:
        """Waits until older groups of asynchronous multiplications are complete.
        PTX ISA, 'Asynchronous Multiply-and-Accumulate Instruction: wgmma.wait_group'
        needs PTX 8.0 and sm_90a
        effect wait_group(.wgmma, n)
            wgmma.wait_group.sync{.aligned} n:#0..7
        """
    @overload
    def wmma_load_a_sync(self, p: Generic[Any] | Global[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., layout: Literal['row', 'col'] | bool = ..., shape: Literal['m16n16k16', 'm8n32k16', 'm32n8k16', 'm16n16k8', 'm8n8k4', 'm8n8k32', 'm8n8k128'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta'] | bool = ..., t: Literal['f16', 'bf16', 'tf32', 'f64', 'u8', 's8', 'u4', 's4', 'b1'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any:
        """Loads a multiplicand matrix into the fragments of a warp.
        PTX ISA, 'Warp-level Matrix Load Instruction: wmma.load'
        needs PTX 6.0 and sm_70; a version before 6.3, for not aligned; PTX 6.1, for shape in .m8n32k16 .m32n8k16; PTX 6.3 and sm_72, for t in integer8; PTX 6.3 and sm_75, for shape in .m8n8k32 .m8n8k128; PTX 7.0 and sm_80, for t in .bf16 .tf32 .f64; PTX 7.8 and sm_30, for .shared::cta
        effect read(ss, p) when ss
        effect read(.generic, p) when not ss
            wmma.load.a.sync{.aligned}.<layout>.<shape>{.<ss>}{.<vec>}.<t> {d:word/halves(t == .f16)/exact(t in .bf16 .tf32 .f64)/integer(t in integer8)/_/loose * n}, [p in ss wide]{, stride:.b32/#/integer}
        """
    @overload
    def wmma_load_a_sync(self, p: Generic[Any] | Global[Any] | Shared[Any], stride: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., layout: Literal['row', 'col'] | bool = ..., shape: Literal['m16n16k16', 'm8n32k16', 'm32n8k16', 'm16n16k8', 'm8n8k4', 'm8n8k32', 'm8n8k128'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta'] | bool = ..., t: Literal['f16', 'bf16', 'tf32', 'f64', 'u8', 's8', 'u4', 's4', 'b1'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def wmma_load_b_sync(self, p: Generic[Any] | Global[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., layout: Literal['row', 'col'] | bool = ..., shape: Literal['m16n16k16', 'm8n32k16', 'm32n8k16', 'm16n16k8', 'm8n8k4', 'm8n8k32', 'm8n8k128'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta'] | bool = ..., t: Literal['f16', 'bf16', 'tf32', 'f64', 'u8', 's8', 'u4', 's4', 'b1'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any:
        """Loads a multiplicand matrix into the fragments of a warp.
        PTX ISA, 'Warp-level Matrix Load Instruction: wmma.load'
        needs PTX 6.0 and sm_70; a version before 6.3, for not aligned; PTX 6.1, for shape in .m8n32k16 .m32n8k16; PTX 6.3 and sm_72, for t in integer8; PTX 6.3 and sm_75, for shape in .m8n8k32 .m8n8k128; PTX 7.0 and sm_80, for t in .bf16 .tf32 .f64; PTX 7.8 and sm_30, for .shared::cta
        effect read(ss, p) when ss
        effect read(.generic, p) when not ss
            wmma.load.b.sync{.aligned}.<layout>.<shape>{.<ss>}{.<vec>}.<t> {d:word/halves(t == .f16)/exact(t in .bf16 .tf32 .f64)/integer(t in integer8)/_/loose * n}, [p in ss wide]{, stride:.b32/#/integer}
        """
    @overload
    def wmma_load_b_sync(self, p: Generic[Any] | Global[Any] | Shared[Any], stride: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., layout: Literal['row', 'col'] | bool = ..., shape: Literal['m16n16k16', 'm8n32k16', 'm32n8k16', 'm16n16k8', 'm8n8k4', 'm8n8k32', 'm8n8k128'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta'] | bool = ..., t: Literal['f16', 'bf16', 'tf32', 'f64', 'u8', 's8', 'u4', 's4', 'b1'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    @overload
    def wmma_load_c_sync(self, p: Generic[Any] | Global[Any] | Shared[Any], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., layout: Literal['row', 'col'] | bool = ..., shape: Literal['m16n16k16', 'm8n32k16', 'm32n8k16', 'm16n16k8', 'm8n8k4', 'm8n8k32', 'm8n8k128'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta'] | bool = ..., t: Literal['f16', 'f32', 's32', 'f64'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any:
        """Loads an accumulator matrix into the fragments of a warp.
        PTX ISA, 'Warp-level Matrix Load Instruction: wmma.load'
        needs PTX 6.0 and sm_70; a version before 6.3, for not aligned; PTX 6.1, for shape in .m8n32k16 .m32n8k16; PTX 6.3 and sm_72, for t == .s32; PTX 6.3 and sm_75, for shape in .m8n8k32 .m8n8k128; PTX 7.0 and sm_80, for t == .f64 or shape == .m16n16k8; PTX 7.8 and sm_30, for .shared::cta
        effect read(ss, p) when ss
        effect read(.generic, p) when not ss
            wmma.load.c.sync{.aligned}.<layout>.<shape>{.<ss>}{.<vec>}.<t> {d:word/halves(t == .f16)/exact(t in .f32 .f64)/integer/_/loose * n}, [p in ss wide]{, stride:.b32/#/integer}
        """
    @overload
    def wmma_load_c_sync(self, p: Generic[Any] | Global[Any] | Shared[Any], stride: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., layout: Literal['row', 'col'] | bool = ..., shape: Literal['m16n16k16', 'm8n32k16', 'm32n8k16', 'm16n16k8', 'm8n8k4', 'm8n8k32', 'm8n8k128'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta'] | bool = ..., t: Literal['f16', 'f32', 's32', 'f64'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> Any: ...
    def wmma_mma(self, a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., op: Literal['xor', 'and'] | bool = ...) -> tuple[Register[s32], ...]:
        """Multiplies two matrices in the fragments of a warp and adds a third.
        PTX ISA, 'Warp-level Matrix Multiply-and-Accumulate Instruction: wmma.mma'
        needs PTX 6.0 and sm_70; a version before 6.3, for not aligned; PTX 6.3 and sm_75; PTX 7.1 and sm_80, for op == .and
            wmma.mma.<op>.popc.sync.aligned.row.col.<shape>.s32.b1.b1.s32 {d:.s32/integer/_/loose * 2}, {a:.b32/integer/loose * 1}, {b:.b32/integer/loose * 1}, {c:.s32/integer/loose * 2}
        """
    def wmma_mma_sync(self, a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., al: Literal['row', 'col'] | bool = ..., aligned: Literal['aligned'] | bool = ..., bl: Literal['row', 'col'] | bool = ..., ct: Literal['f16', 'f32'] | bool = ..., dt: Literal['f16', 'f32'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: Literal['m16n16k16', 'm8n32k16', 'm32n8k16'] | bool = ...) -> Any:
        """Multiplies two matrices in the fragments of a warp and adds a third.
        PTX ISA, 'Warp-level Matrix Multiply-and-Accumulate Instruction: wmma.mma'
        needs PTX 6.0 and sm_70; a version before 6.3, for not aligned; PTX 6.1, for shape in .m8n32k16 .m32n8k16; a version before 6.5, for satfinite
            wmma.mma.sync{.aligned}.<al>.<bl>.<shape>.<dt>.<ct>{.satfinite} {d:dw/halves(dt == .f16)/exact(dt == .f32)/_/loose * dn}, {a:.b32/halves/loose * 8}, {b:.b32/halves/loose * 8}, {c:cw/halves(ct == .f16)/exact(ct == .f32)/loose * cn}
        """
    def wmma_mma_sync_aligned(self, a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., al: Literal['row', 'col'] | bool = ..., at: Literal['u8', 's8', 'u4', 's4', 'bf16', 'tf32'] | bool = ..., bl: Literal['row', 'col'] | bool = ..., bt: Literal['u8', 's8', 'u4', 's4'] | bool = ..., rnd: Literal['rn', 'rz', 'rm', 'rp'] | bool = ..., satfinite: Literal['satfinite'] | bool = ..., shape: Literal['m16n16k16', 'm8n32k16', 'm32n8k16', 'm8n8k32', 'm16n16k8'] | bool = ...) -> Any:
        """Multiplies two matrices in the fragments of a warp and adds a third.
        PTX ISA, 'Warp-level Matrix Multiply-and-Accumulate Instruction: wmma.mma'
            wmma.mma.sync.aligned.<al>.<bl>.<shape>.s32.<at>.<bt>.s32{.satfinite} {d:.s32/integer/_/loose * n}, {a:.b32/integer/loose * an}, {b:.b32/integer/loose * bn}, {c:.s32/integer/loose * n}
                needs PTX 6.0 and sm_70; a version before 6.3, for not aligned; PTX 6.1, for shape in .m8n32k16 .m32n8k16; PTX 6.3 and sm_72; PTX 6.3 and sm_75, for at in integer4
            wmma.mma.sync.aligned.<al>.<bl>.<shape>.f32.<at>.<at>.f32 {d:.f32/exact/_/loose * 8}, {a:.b32/exact/loose * an}, {b:.b32/exact/loose * bn}, {c:.f32/exact/loose * 8}
                needs PTX 6.0 and sm_70; a version before 6.3, for not aligned; PTX 6.1, for shape in .m8n32k16 .m32n8k16; PTX 7.0 and sm_80
            wmma.mma.sync.aligned.<al>.<bl>.<shape>{.<rnd>}.f64.f64.f64.f64 {d:.f64/_/loose * 2}, {a:.f64/loose * 1}, {b:.f64/loose * 1}, {c:.f64/loose * 2}
                needs PTX 6.0 and sm_70; a version before 6.3, for not aligned; PTX 7.0 and sm_80
        """
    @overload
    def wmma_store_d_sync(self, p: Generic[Any] | Global[Any] | Shared[Any], r: Sequence[Value], /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., layout: Literal['row', 'col'] | bool = ..., shape: Literal['m16n16k16', 'm8n32k16', 'm32n8k16', 'm16n16k8', 'm8n8k4', 'm8n8k32', 'm8n8k128'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta'] | bool = ..., t: Literal['f16', 'f32', 's32', 'f64'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> None:
        """Stores the fragments of a warp to a matrix in memory.
        PTX ISA, 'Warp-level Matrix Store Instruction: wmma.store'
        needs a version before 6.3, for not aligned; PTX 6.0 and sm_70; PTX 6.1, for shape in .m8n32k16 .m32n8k16; PTX 6.3 and sm_72, for t == .s32; PTX 6.3 and sm_75, for shape in .m8n8k32 .m8n8k128; PTX 7.0 and sm_80, for shape in .m16n16k8 .m8n8k4; PTX 7.8 and sm_30, for .shared::cta
        effect write(ss, p) when ss
        effect write(.generic, p) when not ss
            wmma.store.d.sync{.aligned}.<layout>.<shape>{.<ss>}{.<vec>}.<t> [p in ss wide], {r:word/halves(t == .f16)/exact(t in .f32 .f64)/integer/loose * n}{, stride:.b32/#/integer}
        """
    @overload
    def wmma_store_d_sync(self, p: Generic[Any] | Global[Any] | Shared[Any], r: Sequence[Value], stride: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., aligned: Literal['aligned'] | bool = ..., layout: Literal['row', 'col'] | bool = ..., shape: Literal['m16n16k16', 'm8n32k16', 'm32n8k16', 'm16n16k8', 'm8n8k4', 'm8n8k32', 'm8n8k128'] | bool = ..., ss: Literal['global', 'shared', 'shared::cta'] | bool = ..., t: Literal['f16', 'f32', 's32', 'f64'] | bool = ..., vec: Literal['v2', 'v4'] | bool = ...) -> None: ...
    def xor(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ..., t: Literal['b16', 'b32', 'b64'] | bool = ...) -> Register[Any]:
        """Computes the bitwise exclusive or; for predicates, the logical exclusive or.
        PTX ISA, 'Logic and Shift Instructions: xor'
        effect d = xor(bits(t), a, b)
            xor.<t> d:t, a:t/#, b:t/#
        """
    def xor_pred(self, a: Value, b: Value, /, *, into: Into = ..., guard: Guard = ..., unless: Guard = ...) -> Register[pred]:
        """Computes the bitwise exclusive or; for predicates, the logical exclusive or.
        PTX ISA, 'Logic and Shift Instructions: xor'
        effect d = xor(1, a, b)
            xor.pred d:.pred, a:.pred/#/!, b:.pred/#/!
        """
