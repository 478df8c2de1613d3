"""The notation of the litmus tests of asynchronous instructions: a list of words for each thread, each an instruction.

`L#:` in a word is a separate label each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

WARP = 32
WARPGROUP = 128

WORDS = {
    "init": "mbarrier.init.shared.b64 [bar], 1;",
    "init 2": "mbarrier.init.shared.b64 [bar], 2;",
    "expect": "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;",
    "arrive": "mbarrier.arrive.shared.b64 _, [bar];",
    "arrive relaxed": "mbarrier.arrive.relaxed.cta.shared.b64 _, [bar];",
    "wait": "L#: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra L#;",
    "wait relaxed": "L#: mbarrier.try_wait.parity.relaxed.cta.shared.b64 %p, [bar], 0; @!%p bra L#;",
    "wait 1": "L#: mbarrier.try_wait.parity.shared.b64 %p, [bar], 1; @!%p bra L#;",
    "test once": "mbarrier.test_wait.parity.shared.b64 %p, [bar], 0;",
    "try once": "mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;",
    "load": "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%src], 64, [bar];",
    "store": "cp.async.bulk.global.shared::cta.bulk_group [%dst], [tile], 64;",
    "reduce": "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%dst], [tile], 64;",
    "commit": "cp.async.bulk.commit_group;",
    "done 0": "cp.async.bulk.wait_group 0;",
    "done 1": "cp.async.bulk.wait_group 1;",
    "read 0": "cp.async.bulk.wait_group.read 0;",
    "read 1": "cp.async.bulk.wait_group.read 1;",
    "copy": "cp.async.ca.shared.global [tile], [%src], 4;",
    "copy commit": "cp.async.commit_group;",
    "copy wait 0": "cp.async.wait_group 0;",
    "copy wait 1": "cp.async.wait_group 1;",
    "copy wait all": "cp.async.wait_all;",
    "copy arrive": "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];",
    "copy arrive inc": "cp.async.mbarrier.arrive.shared.b64 [bar];",
    "put": "st.shared.u32 [tile], 1;",
    "put g": "st.global.u32 [%src], 1;",
    "get": "ld.shared.u32 %r1, [tile];",
    "get g": "ld.global.u32 %r1, [%dst];",
    "init gate": "mbarrier.init.shared.b64 [gate], 1;",
    "open gate": "mbarrier.arrive.shared.b64 _, [gate];",
    "open gate relaxed": "mbarrier.arrive.relaxed.cta.shared.b64 _, [gate];",
    "pass gate": "L#: mbarrier.try_wait.parity.shared.b64 %p, [gate], 0; @!%p bra L#;",
    "pass gate 1": "L#: mbarrier.try_wait.parity.shared.b64 %p, [gate], 1; @!%p bra L#;",
    "clear": "st.relaxed.cta.shared.u32 [sig], 0;",
    "flag": "st.release.cta.shared.u32 [sig], 1;",
    "flag relaxed": "st.relaxed.cta.shared.u32 [sig], 1;",
    "flag weak": "st.shared.u32 [sig], 1;",
    "flag by red": "red.release.cta.shared.add.u32 [sig], 1;",
    "poll": "L#: ld.acquire.cta.shared.u32 %r0, [sig]; setp.ne.u32 %p, %r0, 1; @%p bra L#;",
    "poll relaxed": "L#: ld.relaxed.cta.shared.u32 %r0, [sig]; setp.ne.u32 %p, %r0, 1; @%p bra L#;",
    "named arrive": "barrier.arrive 1, 64;",
    "named sync": "barrier.sync 1, 64;",
    "wait test": "L#: mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; @!%p bra L#;",
    "wait acquire cta": "L#: mbarrier.try_wait.parity.acquire.cta.shared.b64 %p, [bar], 0; @!%p bra L#;",
    "wait relaxed cluster": "L#: mbarrier.try_wait.parity.relaxed.cluster.shared.b64 %p, [bar], 0; @!%p bra L#;",
    "wait test relaxed": "L#: mbarrier.test_wait.parity.relaxed.cta.shared.b64 %p, [bar], 0; @!%p bra L#;",
    "expect token": "mbarrier.arrive.expect_tx.shared.b64 %token, [bar], 64;",
    "wait token": "L#: mbarrier.try_wait.shared.b64 %p, [bar], %token; @!%p bra L#;",
    "test token": "L#: mbarrier.test_wait.shared.b64 %p, [bar], %token; @!%p bra L#;",
    "expect only": "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 64;",
    "complete": "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 64;",
    "arrive 2": "mbarrier.arrive.shared.b64 _, [bar], 2;",
    "arrive drop": "mbarrier.arrive_drop.shared.b64 _, [bar];",
    "inval": "mbarrier.inval.shared.b64 [bar];",
    "atomic g": "atom.relaxed.gpu.global.add.u32 %r1, [%dst], 1;",
    "put 2": "st.shared.u32 [tile], 2;",
    "signal cta": "st.release.cta.global.u32 [%flag], 1;",
    "signal relaxed": "st.relaxed.gpu.global.u32 [%flag], 1;",
    "signal cluster": "st.release.cluster.global.u32 [%flag], 1;",
    "await cluster": "L#: ld.acquire.cluster.global.u32 %r0, [%flag]; setp.ne.u32 %p, %r0, 1; @%p bra L#;",
    "red far": "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%far], 1, [%farbar];",
    "expect 8": "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 8;",
    "look": "ld.shared.u32 %r1, [tile+64];",
    "mark": "st.shared.u32 [tile+64], 1;",
    "get far": "ld.shared::cluster.u32 %r1, [%far];",
    "bar": "barrier.sync 0;",
    "fence": "fence.proxy.async;",
    "fence shared": "fence.proxy.async.shared::cta;",
    "fence global": "fence.proxy.async.global;",
    "fence memory": "fence.acq_rel.cta;",
    "cluster arrive": "barrier.cluster.arrive.release;",
    "cluster relaxed": "barrier.cluster.arrive.relaxed;",
    "cluster wait": "barrier.cluster.wait.acquire;",
    "cluster fence": "fence.acq_rel.cluster;",
    "publish init": "fence.mbarrier_init.release.cluster;",
    "signal": "st.release.gpu.global.u32 [%flag], 1;",
    "await": "L#: ld.acquire.gpu.global.u32 %r0, [%flag]; setp.ne.u32 %p, %r0, 1; @%p bra L#;",
    "map 0": "mapa.shared::cluster.u32 %far, %tile, 0;",
    "map 1": "mapa.shared::cluster.u32 %far, %tile, 1;",
    "map bar 0": "mapa.shared::cluster.u32 %farbar, %bar, 0;",
    "map bar 1": "mapa.shared::cluster.u32 %farbar, %bar, 1;",
    "put far": "st.shared::cluster.u32 [%far], 1;",
    "arrive far": "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%farbar];",
    "arrive far cta": "mbarrier.arrive.shared::cluster.b64 _, [%farbar];",
    "arrive far relaxed": "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%farbar];",
    "wait cluster": "L#: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [bar], 0; @!%p bra L#;",
    "async put": "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%far], 1, [%farbar];",
    "expect 4": "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4;",
    "multicast": "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%src], "
    "64, [bar], 3;",
    "release": "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
    "acquire": "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
    "send": "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%far], [tile], 64, [%farbar];",
    "mma fence": "wgmma.fence.sync.aligned;",
    "mma": "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %desc, %desc, 1, 1, 1, 0, 0;",
    "mma commit": "wgmma.commit_group.sync.aligned;",
    "mma wait 0": "wgmma.wait_group.sync.aligned 0;",
    "mma wait 1": "wgmma.wait_group.sync.aligned 1;",
    "descriptor": "cvt.u64.u32 %desc, %tile; shr.u64 %desc, %desc, 4; and.b64 %desc, %desc, 16383;",
}
"""The instructions of the tests, by a short name."""


@dataclass(frozen=True)
class SuiteTest:
    """A test. threads: the words of each; ctas: where each runs. verdict: `ok`, `bad` or `silent`. sections: the titles
    of the manual's sections that decide it. query: the question.
    """

    name: str
    title: str
    verdict: str
    threads: tuple[tuple[str, ...], ...]
    sections: str
    ctas: tuple[int, ...] = ()
    query: str = "race"

    @property
    def has_warpgroup(self) -> bool:
        """Whether a warpgroup executes the thread, not one lane of a warp."""
        return any(word.startswith("mma") for words in self.threads for word in words)

    @property
    def ranks(self) -> list[int]:
        """The rank of each thread in its CTA."""
        ctas = self.ctas or (0,) * len(self.threads)
        return [ctas[:number].count(cta) for number, cta in enumerate(ctas)]

    @property
    def block(self) -> int:
        """The threads of a CTA."""
        return WARPGROUP if self.has_warpgroup else WARP * (max(self.ranks) + 1)

    def module(self) -> str:
        """Returns the test as a PTX module."""
        ctas = self.ctas or (0,) * len(self.threads)
        homes = "; ".join(f"P{number} = cta {cta}" for number, cta in enumerate(ctas))
        ranks = self.ranks
        count = max(ctas) + 1
        cluster = ["    .explicitcluster", f"    .reqnctapercluster {count}"] if count > 1 else []
        lines = [
            f"// litmus: {self.title.replace('_', ' ')}",
            f"// threads: {homes}",
            f"// {self.query}",
            f"// verdict: {self.verdict}",
            f"// section: {self.sections}",
            "// Written by `scripts/litmus --write`.",
            "",
            ".version 8.6",
            ".target sm_90a",
            ".address_size 64",
            "",
            ".visible .entry k(.param .u64 src, .param .u64 dst, .param .u64 flag)",
            f"    .reqntid {self.block}",
            *cluster,
            "{",
            "    .reg .b32 %r<4>, %thread, %block, %lane, %tile, %bar, %far, %farbar;",
            "    .reg .b64 %src, %dst, %flag, %desc, %token;",
            "    .reg .f32 %f<4>;",
            "    .reg .pred %p, %p0;",
            "    .shared .align 128 .b8 tile[128];",
            "    .shared .align 8 .b64 bar, gate;",
            "    .shared .align 4 .b32 sig;",
            "    ld.param.u64 %src, [src];",
            "    ld.param.u64 %dst, [dst];",
            "    ld.param.u64 %flag, [flag];",
            "    mov.u32 %tile, tile;",
            "    mov.u32 %bar, bar;",
            "    mov.u32 %thread, %tid.x;",
            *(["    mov.u32 %block, %cluster_ctarank;"] if count > 1 else []),
        ]
        if not self.has_warpgroup:
            lines += ["    mov.u32 %lane, %laneid;", "    setp.ne.u32 %p, %lane, 0;", "    @%p ret;"]
        else:
            lines.append("    setp.ne.u32 %p0, %thread, 0;")
        for number in range(1, len(self.threads)):
            lines.append(f"    setp.eq.u32 %p, %thread, {WARP * ranks[number]};")
            lines += [f"    setp.eq.and.u32 %p, %block, {ctas[number]}, %p;"] if count > 1 else []
            lines.append(f"    @%p bra P{number};")
        label = 0
        for number, words in enumerate(self.threads):
            lines += [f"P{number}:"] if number else []
            for word in words:
                label += 1
                text = WORDS[word].replace("L#", f"L{label}")
                by_one = self.has_warpgroup and not word.startswith(("mma", "bar", "descriptor"))
                statements = [*_statements(text)]
                if by_one:
                    statements = [f"@%p0 bra S{label};", *statements, f"S{label}:"]
                lines += [each if each.endswith(":") else f"    {each}" for each in statements]
            lines.append("    ret;")
        return "\n".join([*lines, "}"]) + "\n"


def _statements(text: str) -> Iterator[str]:
    """Yields the labels and instructions of a word, each for a line."""
    for part in text.split("; "):
        label = re.match(r"(L\d+:) ", part)
        if label is not None:
            yield label.group(1)
        rest = part[label.end() :] if label is not None else part
        yield rest if rest.endswith(";") else f"{rest};"
