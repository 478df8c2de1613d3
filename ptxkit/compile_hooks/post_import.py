"""Calls functions after modules are imported: at once for modules that are there, and later for others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class PostImportFinder(MetaPathFinder):
    """Finds modules as the other finders do. actions: are called with the module of this name after its import."""

    def __init__(self, actions: Mapping[str, Callable[[ModuleType], None]]) -> None:
        self._actions = dict(actions)

    def install(self) -> None:
        """Calls the actions of imported modules, and waits for the import of others."""
        sys.meta_path.insert(0, self)
        for name in list(self._actions):
            if name in sys.modules:
                self._actions.pop(name)(sys.modules[name])

    def remove(self) -> None:
        """Waits no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the specification that another finder returns, with a loader that calls the action."""
        if fullname not in self._actions:
            return None
        for finder in [each for each in sys.meta_path if each is not self]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _ActingLoader(spec.loader, self._actions.pop(fullname))
                return spec
        return None


class _ActingLoader(Loader):
    """A loader that calls an action after another loader has executed the module, and is then replaced by it."""

    def __init__(self, original: Loader, action: Callable[[ModuleType], None]) -> None:
        self._original, self._action = original, action

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._original.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._original
        module.__loader__ = self._original
        self._original.exec_module(module)
        self._action(module)
