"""Failing examples of oracles, which are saved in a folder as PTX and a launch, and can be replayed.

    folder/kernel.ptx        the text; `kernel_1.ptx` the second one of an oracle that compares two
    folder/launch.json       the oracle, its other arguments, how the kernel is launched, what was reported
    folder/argument_0.npy    an array among the arguments of the launch
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import Any

import numpy as np

from ptxkit.testing.limits import MAX_MESSAGE_CHARS
from ptxkit.emulator.state.tensor_maps import TensorMapArgument, TensorMapFields
from ptxkit.limits import MAX_FILE_BYTES
from ptxkit.fast_dataclasses import dataclass, field, fields
from ptxkit.refusal import RefusedError
from ptxkit.small_files import UnsuitableFileError, parse_json, read_small_file
from ptxkit.device_runs.device_launch import DeviceLaunch



RECIPES_OPTION = "made"
"""The option that holds the recipes of arguments that are more than their text
(`ptxkit.testing.corpus.example_recipes`)."""


_NAME_A_FOLDER = "name a folder in which `ptxkit fuzz` saved an example"


class ExampleError(RefusedError):
    """A folder holds no example, or an invalid one."""


@dataclass(frozen=True, slots=True)
class Example:
    """A call of an oracle. oracle: the name of its function. texts: the PTX. options: its other arguments. message: the
    reason of the failure. cause: a line about the failure without variable names and numbers.
    """

    oracle: str
    texts: tuple[str, ...]
    launch: DeviceLaunch | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    cause: str = ""

    def save(self, folder: Path) -> Path:
        """Writes the folder, and removes an earlier example from it."""
        folder.mkdir(parents=True, exist_ok=True)
        for old in (*folder.glob("kernel*.ptx"), *folder.glob("argument_*.npy")):
            old.unlink()
        for number, text in enumerate(self.texts):
            path = folder / (f"kernel_{number}.ptx" if number else "kernel.ptx")
            path.write_text(text, encoding="utf-8", errors="surrogateescape")
        entry = {"oracle": self.oracle, "options": dict(self.options), "cause": self.cause, "said": self.message}
        document = entry if self.launch is None else {**entry, "launch": _encode_launch(self.launch, folder)}
        (folder / "launch.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        return folder


def load_example(folder: Path) -> Example:
    """Loads the example of a folder, which another user may have written. Raises ExampleError."""
    try:
        document = parse_json(read_small_file(str(folder / "launch.json")))
        paths = sorted(folder.glob("kernel*.ptx"), key=lambda path: (len(path.name), path.name))
        texts = tuple(map(_read_text, paths))
        launch = _decode_launch(document["launch"], folder) if "launch" in document else None
        words = [document["oracle"], document.get("said", ""), document.get("cause", "")]
        options = {str(name): each for name, each in document["options"].items()}
        if not all(isinstance(each, str) for each in words):
            raise TypeError("its oracle, message and cause must be texts")
    except ExampleError:
        raise
    except OSError as error:
        what = f"`{error.filename}` cannot be read: {error.strerror or error}"
        raise ExampleError(what, _NAME_A_FOLDER) from error
    except UnsuitableFileError as error:
        raise ExampleError(f"`{folder / 'launch.json'}` {error}", _NAME_A_FOLDER) from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        raise ExampleError(f"`{folder / 'launch.json'}` holds no example: {error}", _NAME_A_FOLDER) from error
    if not texts:
        raise ExampleError(f"`{folder}` holds no kernel.ptx", _NAME_A_FOLDER)
    return Example(words[0], texts, launch, options, words[1], words[2])


def _read_text(path: Path) -> str:
    """Reads a saved text. Raises OSError for a pipe or a device, and for a text that is too long."""
    if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
        raise ExampleError(f"`{path}` is not a file of at most {MAX_FILE_BYTES:,} bytes", _NAME_A_FOLDER)
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def build_example(oracle: str, given: Mapping[str, Any], error: Exception) -> Example:
    """Returns the example of a failure of an oracle. given: the arguments by name; those with a text are PTX."""
    from ptxkit.testing.oracles.assertions import launch_argument, ptx_argument
    from ptxkit.testing.corpus.example_recipes import recipe_of

    texts = tuple(text for each in given.values() if (text := ptx_argument(each)) is not None)
    launch = launch_argument(given)
    options: dict[str, Any] = {
        name: each for name, each in given.items() if _is_plain(each) and ptx_argument(each) is None
    }
    made = {name: recipe for name, each in given.items() if (recipe := recipe_of(each)) is not None}
    if made:
        options[RECIPES_OPTION] = made
    return Example(oracle, texts, launch, options, error_message(error), failure_cause(error))


def error_message(error: BaseException) -> str:
    """Returns the message of an error, truncated. Lone surrogates, which databases reject, are escaped."""
    return str(error)[:MAX_MESSAGE_CHARS].encode(errors="backslashreplace").decode()


def failure_cause(error: BaseException) -> str:
    """Returns `KeyError at flow.py:step`, or the first line of an oracle's message without numbers and names."""
    if isinstance(error, AssertionError):
        first = error_message(error).partition("\n")[0]
        return " ".join("#" if _is_example_specific(word) else word for word in first.split())
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__) if _is_ptxkit_frame(frame)]
    place = f" at {Path(codes[-1].co_filename).name}:{codes[-1].co_name}" if codes else ""
    return f"{type(error).__name__}{place}"


def _is_ptxkit_frame(frame: FrameType) -> bool:
    """Returns whether a frame belongs to this package, by the name of its module, not by the path of its file."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "ptxkit"


def _is_example_specific(word: str) -> bool:
    """Returns whether a word of a message is specific to this example: a number, a register, or a quoted name."""
    bare = word.strip("(),.:;'\"`[]{}")
    return bare[:1] in "%-0123456789" or word[:1] in "'\"`" or "(" in bare


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


# ------------------------------------------------------------------------------------------- launches


_LAYOUT_FIELDS = tuple(each.name for each in fields(TensorMapFields))


def _encode_launch(launch: DeviceLaunch, folder: Path) -> dict[str, Any]:
    names: dict[int, str] = {}

    def save_array(array: Any) -> str:
        if id(array) not in names:
            names[id(array)] = f"argument_{len(names)}.npy"
            np.save(folder / names[id(array)], array)
        return names[id(array)]

    def document(value: Any) -> Any:
        match value:
            case TensorMapArgument(array, layout):
                return {"map": save_array(array), "layout": {name: getattr(layout, name) for name in _LAYOUT_FIELDS}}
            case np.ndarray():
                return {"array": save_array(value)}
            case np.generic():
                return {"number": value.item(), "type": value.dtype.str}
            case bytes() | bytearray():
                return {"bytes": bytes(value).hex()}
            case list() | tuple():
                return {"table": [document(each) for each in value]}
            case _ if _is_plain(value):
                return {"number": value}
        raise TypeError(f"an argument of type {type(value).__name__} cannot be kept")

    shape = {name: getattr(launch, name) for name in ("name", "grid", "block", "cluster", "shared")}
    return {**shape, "arguments": [document(each) for each in launch.arguments]}


def _decode_launch(document: Mapping[str, Any], folder: Path) -> DeviceLaunch:
    arrays: dict[str, Any] = {}

    def array(name: str) -> Any:
        if name not in arrays:
            path = folder / Path(name).name
            if not path.is_file():
                raise ValueError(f"{path.name} is not a file")
            arrays[name] = np.load(path, allow_pickle=False)
        return arrays[name]

    def value(each: Mapping[str, Any]) -> Any:
        match each:
            case {"map": name, "layout": layout}:
                return TensorMapArgument(
                    array(name), TensorMapFields(**{key: _as_tuple(part) for key, part in layout.items()})
                )
            case {"array": name}:
                return array(name)
            case {"number": number, "type": kind}:
                return np.dtype(kind).type(number)
            case {"number": number}:
                return number
            case {"bytes": digits}:
                return bytes.fromhex(digits)
            case {"table": entries}:
                return [value(entry) for entry in entries]
        raise ValueError(f"an argument is {each!r}")

    arguments = tuple(value(each) for each in document["arguments"])
    grid, block, cluster = (_as_tuple(document[name]) for name in ("grid", "block", "cluster"))
    return DeviceLaunch(document["name"], grid, block, arguments, cluster, document["shared"])


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
