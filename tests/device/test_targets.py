"""The compilation target for a device."""

from __future__ import annotations

import pytest

from ptxkit.device import DeviceError, device_target, target_for


@pytest.mark.parametrize(("capability", "target"), [((8, 0), "sm_80"), ((9, 0), "sm_90a"), ((12, 1), "sm_121a")])
def test_a_device_has_the_instructions_of_its_exact_chip_from_hopper_on(
    capability: tuple[int, int], target: str
) -> None:
    assert device_target(capability) == target


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_90a"])
def test_code_for_this_chip_and_older_ones_is_compiled_for_the_device(target: str) -> None:
    assert target_for([target, "texmode_independent"], "sm_90a") == "sm_90a"


@pytest.mark.parametrize(
    ("target", "device"), [("sm_100f", "sm_90a"), ("sm_100", "sm_90a"), ("sm_90a", "sm_100a"), ("sm_90a", "sm_80")]
)
def test_a_missing_feature_of_the_device_is_reported(target: str, device: str) -> None:
    with pytest.raises(DeviceError, match=f"code for {target} does not run on this GPU, which is "):
        target_for([target], device)


def test_code_for_a_family_runs_on_its_later_chips() -> None:
    assert target_for(["sm_100f"], "sm_103a") == "sm_103a"
