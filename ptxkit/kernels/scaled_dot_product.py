"""Scaled dot-product attention on the device: the host's part of the kernel `attention`.

    attend(q, k, v, out, causal=True)                     # shapes (batch, sequence, heads, head)
    plan = Attention(1, 16384, 16, 128, causal=True)      # once for a shape
    plan(q, k, v, out, lse)
    plan = Attention(1, 3000, 16, 128, lengths=[(1000, 1000), (2000, 500)])       # sequences after each other

A plan has the compiled kernel and the schedule in device memory. Tensors may have any strides that tensor maps can
have, so a tensor (batch, heads, sequence, head), as in PyTorch, is passed transposed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from ptxkit.build import Kernel
from ptxkit.device import ArgumentError, DeviceArray, TensorMap, to_device, use_device
from ptxkit.device.arguments import has_element_type
from ptxkit.device.arrays import ArrayView, view_device_array
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernels.attention import attention
from ptxkit.kernels.attention_config import STRIP_ELEMENTS, AttentionConfig
from ptxkit.kernels.attention_schedule import (
    AttentionSequence,
    AttentionShape,
    AttentionTile,
    assign_tiles,
    encode_tiles,
    order_attention_tiles,
)
from ptxkit.kernels.limits import MAX_OUTPUT_ELEMENTS, MAX_SCHEDULE_COUNT

LONG_SEQUENCE = 8192
"""From so many keys on, blocks of 192 instead of 128 keys are faster with 128 elements in a head, although the last one
is not full.
"""
PROMOTION = 256
"""The least number of bytes that the L2 cache fetches."""


@dataclass(frozen=True, slots=True)
class _Elements:
    """The memory of a tensor as an array of 16-bit words, whatever its strides are."""

    view: ArrayView
    array: Any

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        count = (
            1 + sum((extent - 1) * step for extent, step in zip(self.view.shape, self.view.strides, strict=True)) // 2
        )
        return {"shape": (count,), "typestr": "<u2", "data": (self.view.address, False), "strides": None, "version": 3}


class Attention:
    """Attention of one shape: `softmax(scale * Q @ K.T) @ V` for each sequence and head.

    Q is (batch, queries, heads, head), and K and V are (batch, keys, key_heads, head), where `keys` is by default as
    `queries` and `key_heads` as `heads`; each head of K and V is shared by `heads // key_heads` heads of Q. `lengths`
    has the numbers of queries and keys of sequences that follow each other in tensors with a batch of 1. `scale` is
    positive, and by default `head ** -0.5`.

    With `causal`, query i of a sequence sees the keys up to `i + keys - queries`, so that the last one sees all; with
    `top_left`, those up to i. A query that sees no key has the output 0 and the logarithm -infinity. Values after the
    end of a sequence are multiplied by 0, so a NaN or an infinity in the next sequence of `lengths` may reach the
    output of the one before it.
    """

    def __init__(  # noqa: PLR0913  (all but the shape are by name, and have defaults)
        self,
        batch: int,
        queries: int,
        heads: int,
        head: int,
        *,
        keys: int | None = None,
        key_heads: int | None = None,
        lengths: Sequence[tuple[int, int]] | None = None,
        element: str = "bf16",
        causal: bool = False,
        top_left: bool = False,
        scale: float | None = None,
        config: AttentionConfig | None = None,
    ) -> None:
        keys, key_heads = queries if keys is None else keys, heads if key_heads is None else key_heads
        if heads % key_heads:
            raise ArgumentError(f"{heads} heads of Q cannot share {key_heads} heads of K in equal groups")
        if lengths is not None and (
            batch != 1 or [sum(each) for each in zip(*lengths, strict=True)] != [queries, keys]
        ):
            raise ArgumentError(f"the lengths sum up to the extents {queries} and {keys} of a batch of 1")
        if scale is not None and not 0 < scale < math.inf:
            raise ArgumentError(f"scale is positive and finite, not {scale!r}; negate q for a negative one")
        self.config = choose_config(element, head, keys) if config is None else config
        blocks = -(-keys // self.config.keys)
        for what, count in (("sequences", batch), ("heads", heads), (f"blocks of {self.config.keys} keys", blocks)):
            if count > MAX_SCHEDULE_COUNT:
                raise ArgumentError(f"a plan has at most {MAX_SCHEDULE_COUNT} {what}, not {count}: use several")
        self.kernel: Kernel = _build_kernel(self.config)
        self.shape = AttentionShape(heads, key_heads, queries, 4 * head, causal, top_left)
        self.extents = {"q": (batch, queries, heads, head), "k": (batch, keys, key_heads, head)}
        self.sequences = _list_sequences(batch, queries, keys) if lengths is None else _place_sequences(lengths)
        self.scale = (head**-0.5 if scale is None else scale) * math.log2(math.e)

    def tiles_of(self, workers: int) -> list[list[AttentionTile]]:
        """Returns the schedule for a number of CTAs."""
        form = self.config
        return assign_tiles(order_attention_tiles(self.sequences, self.shape, form.rows, form.keys), workers)

    @cached_property
    def workers(self) -> int:
        """The number of CTAs that the device can run at once; one occupies a multiprocessor."""
        return int(use_device().properties.multiprocessor_count)

    @cached_property
    def _items(self) -> DeviceArray:
        """The schedule in device memory."""
        return to_device(encode_tiles(self.tiles_of(self.workers)).reshape(-1))

    @cached_property
    def _logarithms(self) -> DeviceArray:
        """Memory for the logarithms of launches that do not want them."""
        return DeviceArray(self.logarithm_shape, np.dtype(np.float32))

    @property
    def logarithm_shape(self) -> tuple[int, int, int]:
        """The shape of the logarithms of the sums: (batch, heads, queries)."""
        batch, queries, heads, _ = self.extents["q"]
        return batch, heads, queries

    def arguments(self, q: Any, k: Any, v: Any, out: Any, lse: Any = None) -> tuple[Any, ...]:
        """Returns the arguments of the kernel. Raises `ArgumentError` for other shapes and types, and
        `TensorMapError`.
        """
        form = self.config
        views = {}
        for name, array, extents in (
            *(("q", q, self.extents["q"]), ("k", k, self.extents["k"])),
            *(("v", v, self.extents["k"]), ("out", out, self.extents["q"])),
        ):
            if tuple(array.shape) != extents:
                raise ArgumentError(f"{name} has the shape {extents}, not {tuple(array.shape)}")
            view = views[name] = view_device_array(array, f"{name} is a tensor in device memory")
            if not has_element_type(form.element, view):
                raise ArgumentError(f"{name} is a tensor of {form.element}, or of its bits, not of {view.elements}")
        strides = [step // 2 for step in views["out"].strides]
        if strides[3] != 1 or any(step % 8 for step in strides[:3]) or strides[0] * out.shape[0] > MAX_OUTPUT_ELEMENTS:
            raise ArgumentError("the heads of out are contiguous, aligned to 16 bytes, and end before 8 GiB")
        batch_stride, row_stride, head_stride, _ = (step % MAX_OUTPUT_ELEMENTS for step in strides)
        maps = [
            TensorMap.tiled(
                each,
                box=(STRIP_ELEMENTS, 1, rows, 1),
                element=form.element,
                swizzle=128,
                l2_promotion=PROMOTION,
            )
            for each, rows in ((q, form.rows), (k, form.keys), (v, form.keys))
        ]
        return (
            *maps,
            _Elements(views["out"], out),
            *(batch_stride, row_stride, head_stride),
            self._logarithms if lse is None else lse,
            self._items,
            self.scale,
        )

    def __call__(self, q: Any, k: Any, v: Any, out: Any, lse: Any = None, *, stream: Any = None) -> None:
        """Launches the kernel and does not wait.

        `lse` is an array of f32 (batch, heads, queries), or None; it receives the natural logarithms of the sums of the
        exponentials of each row.
        """
        self.launch(self.arguments(q, k, v, out, lse), stream=stream)

    def launch(self, arguments: tuple[Any, ...], *, stream: Any = None) -> None:
        """Launches the kernel with existing arguments, whose creation takes longer than the launch."""
        self.kernel.launch(stream, grid=self.workers)(*arguments)


def attend(  # noqa: PLR0913  (the tensors, and by name what has a default)
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    lse: Any = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    stream: Any = None,
) -> None:
    """Computes attention for tensors (batch, sequence, heads, head) of the current device: see `Attention`. A plan is
    cached for each shape.
    """
    view = view_device_array(q, "q is a tensor in device memory")
    element = view.word or ("f16" if view.kind == "f" else "bf16")
    device = use_device().device_id  # whose memory has the schedule
    plan = _get_plan(device, tuple(q.shape), tuple(k.shape), element, causal, scale)
    plan(q, k, v, out, lse, stream=stream)


def choose_config(element: str, head: int, keys: int) -> AttentionConfig:
    """Returns the fastest variant on an H200 for a type, a head size, and the number of keys of the tensors."""
    if head == 64:
        return AttentionConfig(element, head, keys=128, warpgroups=3, slots=8)
    if head == 256:
        return AttentionConfig(element, head, keys=80)
    if keys < LONG_SEQUENCE:
        return AttentionConfig(element, head, keys=128, slots=6)
    return AttentionConfig(element, head, keys=192)


def _list_sequences(batch: int, queries: int, keys: int) -> list[AttentionSequence]:
    return [AttentionSequence(number, 0, queries, 0, keys) for number in range(batch)]


def _place_sequences(lengths: Sequence[tuple[int, int]]) -> list[AttentionSequence]:
    """Returns sequences that follow each other."""
    found, query, key = [], 0, 0
    for queries, keys in lengths:
        found.append(AttentionSequence(0, query, queries, key, keys))
        query, key = query + queries, key + keys
    return found


@cache
def _build_kernel(config: AttentionConfig) -> Kernel:
    return attention(config)


@cache
def _get_plan(
    _device: int,
    queries: tuple[int, int, int, int],
    keys: tuple[int, int, int, int],
    element: str,
    causal: bool,
    scale: float | None,
) -> Attention:
    return Attention(*queries, keys=keys[1], key_heads=keys[2], element=element, causal=causal, scale=scale)
