"""`scripts/mutate --deletions`: deletes each synchronization line of the PTX files below a folder."""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from ptxkit.gc_control import freeze_all
from ptxkit.testing.mutation import deletion_report, equivalent_mutants
from ptxkit.testing.mutation.campaign import CorpusKernel, filter_assemblable
from ptxkit.testing.mutation.line_deletions import (
    FileDeletions,
    check_deletions,
    find_line_deletions,
    sample_deletions,
)
from ptxkit.testing.oracles.ptxas import installed_ptxas


def run_deletions(folder: Path, options: argparse.Namespace) -> int:
    """Prints the tables, and returns the exit status: 1 if an explanation or a note about redundancy does not hold."""
    paths = sorted(folder.rglob("*.ptx")) if folder.is_dir() else [folder]
    base = folder if folder.is_dir() else folder.parent
    kernels = [
        CorpusKernel(str(path.relative_to(base)), path, path.read_text(encoding="utf-8"))
        for path in paths
        if not options.kernel or any(part in str(path.relative_to(base)) for part in options.kernel)
    ]
    entries = equivalent_mutants.Explanations()
    if (base / "equivalent.toml").is_file():
        entries = equivalent_mutants.load_explanations(base / "equivalent.toml")
    explained = entries.identities
    with ProcessPoolExecutor(options.jobs, initializer=freeze_all) as pool:
        files = list(pool.map(check_file, kernels, [options] * len(kernels)))
    if options.json:
        documents = [deletion_report.deletion_json(each, explained) for each in files]
        options.json.write_text(json.dumps(documents, indent=1) + "\n", encoding="utf-8")
    outcomes = [each for file in files for each in file.outcomes if not entries.is_unreachable(each.mutant)]
    for name, heading in ((lambda each: each.mutant.family), "family"), ((lambda each: each.mutant.kernel), "file"):
        rows = deletion_report.count_deletions(outcomes, explained, name)
        print("\n".join(deletion_report.count_lines(rows, heading)), end="\n\n")
    print("\n".join(deletion_report.original_lines(files)))
    for each in outcomes if options.list_survivors else ():
        if each.kind != "reported" and not deletion_report.is_equivalent(each, explained):
            print(f"{each.kind}: {each.mutant.family}: {each.mutant} {' '.join(each.codes)}")
    wrong = [each for each in outcomes if each.kind == "reported" and each.mutant.identity in explained]
    for each in wrong:
        print(f"wrong explanation: {each.mutant}: reported: {', '.join(each.codes)}")
    contradictions = [each for each in outcomes if each.is_contradiction]
    for each in contradictions:
        print(f"contradiction: {each.mutant}: called redundant, and reported: {', '.join(each.codes)}")
    return 1 if wrong or contradictions else 0


def check_file(kernel: CorpusKernel, options: argparse.Namespace) -> FileDeletions:
    """Checks the chosen deletions of one file. The choice depends on its name, its text and the seed only."""
    found = find_line_deletions(kernel)
    ptxas = installed_ptxas()[0]
    chosen = sample_deletions(found, options.most, options.seed, kernel.name)
    accepted = set(map(id, filter_assemblable(kernel, [each.mutant for each in chosen], ptxas)))
    chosen = [each for each in chosen if id(each.mutant) in accepted]
    return check_deletions(kernel, len(found), chosen, options.file_seconds)
