"""The texts of files in a revision of git, for `ptxkit lint --diff-base`.

git is executed without a shell, and only commands that read objects: no hook, filter or textconv program is run, and
nothing is fetched. Source: git-rev-parse(1), git-cat-file(1).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from ptxkit.cli.input_files import decode_texts
from ptxkit.cli.limits import GIT_SECONDS
from ptxkit.refusal import RefusedError
from ptxkit.source import SourceFile

_OPTION = "`--diff-base`"
_REMOVED_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""Variables that a hook has and that name another repository than the one of a file."""


class GitError(RefusedError):
    """git or a revision cannot be used."""


class GitRevision:
    """A revision, which may be in several repositories: that of each file."""

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self._commits: dict[str, str] = {}

    def texts_of(self, path: str) -> Mapping[str, str]:
        """Returns the texts of a file in the revision, by the names that `read_texts` gives them; none if the file was
        not there. Raises GitError.
        """
        folder, name = os.path.split(os.path.realpath(path))
        commit = self._find_commit(folder, path)
        there = f"{commit}:./{name}"
        found = _run_git(folder, "cat-file", "blob", there)
        if found.returncode:
            if _run_git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", there).returncode:
                return {}
            what = f"{_OPTION}: `{path}` cannot be read in `{self.revision}`: {_message(found)}"
            raise GitError(what, "fetch the revision with its files: `git fetch --refetch`")
        return {each.path: each.text for each in decode_texts(path, found.stdout) if isinstance(each, SourceFile)}

    def _find_commit(self, folder: str, path: str) -> str:
        """Returns the hash of the commit in the repository of a folder. Raises GitError."""
        known = self._commits.get(folder)
        if known is not None:
            return known
        inside = _run_git(folder, "rev-parse", "--git-dir")
        if inside.returncode:
            what = f"{_OPTION}: `{path}` is in no repository of git: {_message(inside)}"
            raise GitError(what, "name files of a working tree")
        wanted = f"{self.revision}^{{commit}}"
        found = _run_git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        if found.returncode:
            what = f"{_OPTION}: the repository of `{path}` has no revision `{self.revision}`"
            raise GitError(what, "name a commit, a branch or a tag, and fetch it where the clone is shallow")
        return self._commits.setdefault(folder, found.stdout.decode().strip())


def _run_git(folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _REMOVED_VARIABLES}
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(
            ["git", "-C", folder, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            env=environment,
            check=False,
        )
    except FileNotFoundError:
        raise GitError(f"{_OPTION} needs git, which is not installed", "install git") from None
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise GitError(f"{_OPTION}: git cannot be used: {error}", "see whether `git log` works there") from None


def _message(done: subprocess.CompletedProcess[bytes]) -> str:
    """The first line that git printed."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ") if lines else f"status {done.returncode}"
