"""The cache folders of compilers, which contain the PTX that they have generated.

Source: Triton, "knobs" (`TRITON_CACHE_DIR`, `TRITON_HOME`); PyTorch, "Compile Time Caching Configurations"
(`TORCHINDUCTOR_CACHE_DIR`); CUTLASS, CuTe DSL, "Debugging" (`CUTE_DSL_DUMP_DIR`, `CUTE_DSL_CACHE_DIR`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

CACHES = ("triton", "inductor", "cute-dsl")


def cache_folders(cache: str, environment: Mapping[str, str]) -> list[str]:
    """Returns the folders in which that compiler stores its files, whether they exist or not.

    CuTe DSL writes PTX if CUTE_DSL_KEEP_PTX=1 requests it, to the folder that it is given or the working directory.
    """
    home = os.path.expanduser("~")
    if cache == "triton":
        own = environment.get("TRITON_CACHE_DIR")
        return [own or os.path.join(environment.get("TRITON_HOME") or home, ".triton", "cache")]
    if cache == "inductor":
        return [
            environment.get("TORCHINDUCTOR_CACHE_DIR")
            or os.path.join(_temporary_folder(), f"torchinductor_{_user_name()}")
        ]
    if cache == "cute-dsl":
        folders = [environment[name] for name in ("CUTE_DSL_DUMP_DIR", "CUTE_DSL_CACHE_DIR") if environment.get(name)]
        return folders or [os.path.join(_temporary_folder(), _user_name(), "cutlass_python_cache")]
    raise ValueError(f"no cache of {cache!r} is known; the known caches are {', '.join(CACHES)}")


def _temporary_folder() -> str:
    from tempfile import gettempdir

    return gettempdir()


def _user_name() -> str:
    from getpass import getuser

    return re.sub(r'[\\/:*?"<>|]', "_", getuser())
