"""What the rules about phases and barriers share: what their proofs rest on."""

from __future__ import annotations

from ptxkit.analysis.kernel import World
from ptxkit.analysis.rehearsal import Rehearsal, Stuck


def is_sure(world: World) -> bool:
    """Whether no walk of the CTA guesses, and its block has the size that the kernel asks for."""
    return world.scenario.launch.is_exact and all(actor.guessed is None for actor in world.actors)


def proof(world: World) -> tuple[bool, int]:
    """(exact, threads) of an observation: one scenario is proof where the walks and the size of the block are sure.

    Where the kernel leaves its block's size open, every size that is tried must show it. Guesses prove nothing.
    """
    guessed = any(actor.guessed is not None for actor in world.actors)
    return is_sure(world), 2 if guessed else 1


def first_to_stick(world: World, rehearsal: Rehearsal) -> Stuck | None:
    """What the others hang on, where everybody waits; None where somebody's walk was cut short before it waits, and
    where something else was wrong before.

    That is the phase which came nearest to its end and stopped first; a barrier only where no phase is waited for.
    """
    if rehearsal.excess or rehearsal.uneven:
        return None
    waiting = {stuck.actor for stuck in rehearsal.stuck}
    if any(actor.ended != "exit" and number not in waiting for number, actor in enumerate(world.actors)):
        return None
    started = [s for s in rehearsal.stuck if s.state is not None and s.state.arrivals]
    phases = [s for s in rehearsal.stuck if s.state is not None]
    for found in (started, phases):
        if found:
            return min(found, key=lambda stuck: stuck.state.touched if stuck.state is not None else 0)
    return rehearsal.stuck[0] if rehearsal.stuck else None
