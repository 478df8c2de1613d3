"""`ptxkit compile`: what is checked, compiled, linked, printed and written."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from ptxkit.device import cubin_reader, disassembler
from ptxkit.device.nvjitlink import NvJitLinkInput, link_cubin
from tests.cli.support import BROKEN, CLEAN
from tests.inputs.building import CODE, entry, fatbin

Run = Callable[..., Result]
CORPUS = Path(__file__).resolve().parent.parent.parent / "corpus"

HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"
CALLER = f"""{HEAD}
.extern .func (.param .b32 o) scale(.param .b32 i);
.visible .entry caller(.param .u64 .ptr .global .align 4 p)
{{
\t.reg .b64 %rd<2>;
\t.reg .b32 %r<3>;
\tld.param.u64 %rd1, [p];
\tld.global.u32 %r1, [%rd1];
\t{{
\t.param .b32 a;
\t.param .b32 b;
\tst.param.b32 [a], %r1;
\tcall.uni (b), scale, (a);
\tld.param.b32 %r2, [b];
\t}}
\tst.global.u32 [%rd1], %r2;
\tret;
}}
"""
CALLEE = f"""{HEAD}
.visible .func (.param .b32 o) scale(.param .b32 i)
{{
\t.reg .b32 %r<3>;
\tld.param.b32 %r1, [i];
\tmul.lo.s32 %r2, %r1, 3;
\tst.param.b32 [o], %r2;
\tret;
}}
"""
RACE = f"""{HEAD}
.visible .entry race(.param .u64 .ptr .global .align 4 p)
.reqntid 64
{{
\t.reg .b64 %rd<2>;
\t.reg .b32 %r<4>;
\t.shared .align 4 .b32 cell[64];
\tmov.u32 %r1, %tid.x;
\tmov.u32 %r3, cell;
\tmad.lo.u32 %r3, %r1, 4, %r3;
\tst.shared.u32 [%r3], %r1;
\tld.shared.u32 %r2, [cell+128];
\tld.param.u64 %rd1, [p];
\tst.global.u32 [%rd1], %r2;
\tret;
}}
"""
LOADS = "\n".join(f"ld.volatile.global.u32 %r{at}, [%rd1+{4 * at}];" for at in range(40))
STORES = "\n".join(f"st.volatile.global.u32 [%rd1+{4 * at}], %r{at};" for at in range(40))
SPILLS = f"""{HEAD}
.visible .entry spills(.param .u64 .ptr .global .align 4 p)
.maxnreg 24
{{
\t.reg .b64 %rd<2>;
\t.reg .b32 %r<40>;
\t.shared .align 4 .b8 tile[512];
\tld.param.u64 %rd1, [p];
{LOADS}
\tst.shared.u32 [tile], %r1;
\tbar.sync 0;
\tbar.sync 1;
{STORES}
\tret;
}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {"k": CLEAN, "caller": CALLER, "callee": CALLEE, "race": RACE, "spills": SPILLS}.items():
        (tmp_path / f"{name}.ptx").write_text(text)
    piece = NvJitLinkInput("callee", "PTX", CALLEE.encode() + b"\0")
    (tmp_path / "callee.cubin").write_bytes(link_cubin([piece], ["-arch=sm_90a", "-r"])[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written_cubins(folder: Path) -> set[str]:
    """Returns the cubins that a command has written."""
    return {path.name for path in folder.rglob("*.cubin")} - {"callee.cubin"}


# ------------------------------------------------------------------------------------------------- the output


def test_a_single_file_becomes_a_cubin_in_the_working_directory(ptxkit: Run, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "k.ptx").rename(folder / "sub" / "k.ptx")
    done = ptxkit("compile", "sub/k.ptx")
    assert (done.exit_code, done.stderr) == (0, "")
    assert cubin_reader.read_cubin((folder / "k.cubin").read_bytes()).kernels[0].name == "k"
    assert os.stat("k.cubin").st_mode == os.stat("race.ptx").st_mode


def test_the_resources_are_those_of_the_compiler(ptxkit: Run) -> None:
    done = ptxkit("compile", "spills.ptx", "--format", "json")
    document = json.loads(done.stdout)
    assert (document["version"], document["path"], document["target"]) == (1, "spills.cubin", "sm_90a")
    (kernel,) = document["functions"]
    assert (kernel["name"], kernel["kind"]) == ("spills", "kernel")
    assert (kernel["registers"], kernel["barriers"], kernel["shared_bytes"]) == (24, 2, 512)
    assert kernel["spill_store_bytes"] == kernel["spill_load_bytes"] > 0
    assert kernel["stack_bytes"] > 0
    assert kernel["constant_bytes"] > 8
    assert document["sass"] is None
    heads, row = (line.split("  ") for line in ptxkit("compile", "spills.ptx").stdout.splitlines()[1:])
    cells = dict(zip([each.strip() for each in heads if each], [each.strip() for each in row if each], strict=True))
    assert (cells["kernel"], cells["registers"], cells["spill stores"]) == (
        "spills",
        "24",
        str(kernel["spill_store_bytes"]),
    )


def test_options_of_the_compiler_change_the_code(ptxkit: Run, folder: Path) -> None:
    sizes = {}
    for options in ((), ("-O", "0"), ("-g",), ("--lineinfo",)):
        assert ptxkit("compile", "spills.ptx", *options).exit_code == 0
        sizes[options] = dict(cubin_reader.section_sizes((folder / "spills.cubin").read_bytes()))
    assert sizes[()][".text.spills"] < sizes["-O", "0"][".text.spills"]
    assert ".debug_line" in sizes["--lineinfo",]
    assert any(name.startswith(".nv_debug_info") for name in sizes["-g",])
    assert ".debug_line" not in sizes[()]
    (folder / "spills.ptx").write_text(SPILLS.replace(".maxnreg 24", ""))
    for options, expected in ((["--maxrregcount", "32"], 32), (["--maxrregcount", "40", "--ptxas"], 40)):
        document = json.loads(ptxkit("compile", "spills.ptx", "--format", "json", *options).stdout)
        assert document["functions"][0]["registers"] == expected


def test_a_warning_of_the_compiler_is_printed(ptxkit: Run, folder: Path) -> None:
    (folder / "spills.ptx").write_text(SPILLS.replace(".maxnreg 24", ".maxnreg 16"))
    done = ptxkit("compile", "spills.ptx")
    assert done.exit_code == 0
    assert done.stderr.startswith("ptxkit: warning: ")
    assert "adjusting" in done.stderr


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_the_target_is_that_of_the_file_or_the_given_one(ptxkit: Run, target: str) -> None:
    options = [] if target == "sm_90a" else ["--target", target]
    text = Path("k.ptx").read_text().replace("sm_80", "sm_90a" if not options else "sm_80")
    Path("k.ptx").write_text(text)
    assert json.loads(ptxkit("compile", "k.ptx", "--format", "json", *options).stdout)["target"] == target


# ------------------------------------------------------------------------------------------- what is refused


def test_ptx_with_an_error_is_not_compiled(ptxkit: Run, folder: Path) -> None:
    (folder / "race.cubin").write_text("of an earlier compilation")
    done = ptxkit("compile", "race.ptx")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "race.ptx:15:2: PTX621 error: " in done.stderr
    assert done.stderr.endswith(
        "ptxkit: error: the PTX has 1 error, so nothing is compiled\n  = help: correct the PTX, or write `--no-lint`\n"
    )
    assert (folder / "race.cubin").read_text() == "of an earlier compilation"
    assert ptxkit("compile", "race.ptx", "--no-lint").exit_code == 0
    assert (folder / "race.cubin").read_bytes().startswith(b"\x7fELF")


def test_a_warning_is_printed_and_the_code_is_written(ptxkit: Run, folder: Path) -> None:
    done = ptxkit("compile", "race.ptx", "--severity", "PTX621=warning")
    assert done.exit_code == 0
    assert "PTX621 warning" in done.stderr
    assert written_cubins(folder) == {"race.cubin"}


def test_settings_and_comments_apply_as_for_lint(ptxkit: Run, folder: Path) -> None:
    (folder / "ptxkit.toml").write_text('ignore = ["PTX621"]\n')
    assert ptxkit("compile", "race.ptx").stderr == ""
    assert ptxkit("compile", "race.ptx", "--isolated").exit_code == 1
    (folder / "race.ptx").write_text(RACE.replace(".visible", "// ptxkit: ignore[PTX621] known\n.visible"))
    assert ptxkit("compile", "race.ptx", "--isolated").exit_code == 0


@pytest.mark.parametrize("options", [[], ["--no-lint"]])
def test_a_syntax_error_is_a_finding(ptxkit: Run, folder: Path, options: list[str]) -> None:
    (folder / "k.ptx").write_text(BROKEN)
    done = ptxkit("compile", "k.ptx", *options)
    assert done.exit_code == 1
    assert "k.ptx:12:" in done.stderr
    assert written_cubins(folder) == set()


def test_an_error_of_the_compiler_has_its_line(ptxkit: Run, folder: Path) -> None:
    (folder / "k.ptx").write_text(CLEAN.replace("mov.u32", "movx.u32"))
    done = ptxkit("compile", "k.ptx", "--no-lint", "--target", "sm_90a")
    assert done.exit_code == 2
    assert done.stderr.startswith("k.ptx:12: error: ")
    assert written_cubins(folder) == set()


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_an_input_is_never_overwritten(ptxkit: Run, folder: Path, link: Callable[[str, str], None]) -> None:
    link("k.ptx", "other")
    for output in ("k.ptx", "./k.ptx", "other"):
        done = ptxkit("compile", "k.ptx", "-o", output)
        assert (done.exit_code, done.stderr.splitlines()[0]) == (
            2,
            f"ptxkit: error: the output `{output}` is one of the inputs",
        )
    assert (folder / "k.ptx").read_text() == CLEAN
    assert ptxkit("compile", "callee.cubin", "--target", "sm_90a").exit_code == 2
    assert ptxkit("compile", "k.ptx", "-o", "third").exit_code == 0


def test_a_file_that_cannot_be_written_leaves_nothing(ptxkit: Run, folder: Path) -> None:
    done = ptxkit("compile", "k.ptx", "-o", "nowhere/k.cubin")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr
    assert written_cubins(folder) == set()


# ------------------------------------------------------------------------------------------------- linking


@pytest.mark.parametrize("other", ["callee.ptx", "callee.cubin"])
def test_several_files_are_linked(ptxkit: Run, folder: Path, other: str) -> None:
    done = ptxkit("compile", other, "caller.ptx", "-o", "app.cubin")
    assert (done.exit_code, done.stderr) == (0, "")
    image = cubin_reader.read_cubin((folder / "app.cubin").read_bytes())
    assert not image.is_relocatable
    assert {"caller", "scale"} <= image.defined_names


def test_spills_of_code_that_was_compiled_before_are_not_known(ptxkit: Run, folder: Path) -> None:
    piece = NvJitLinkInput("spills", "PTX", SPILLS.encode() + b"\0")
    (folder / "old.cubin").write_bytes(link_cubin([piece], ["-arch=sm_90a", "-r"])[0])
    done = ptxkit("compile", "old.cubin", "--target", "sm_90a", "-o", "new.cubin", "--format", "json")
    (kernel,) = json.loads(done.stdout)["functions"]
    assert (kernel["spill_store_bytes"], kernel["registers"]) == (None, 24)


def test_an_undefined_function_is_named(ptxkit: Run) -> None:
    for options in ([], ["--ptxas"], ["k.ptx", "-o", "app.cubin"]):
        done = ptxkit("compile", "caller.ptx", *options)
        assert done.exit_code == 2
        assert "scale" in done.stderr
        assert "= help: name all files that define what is used" in done.stderr


def test_several_files_need_a_name_and_a_target(ptxkit: Run) -> None:
    assert "name it by `--output CUBIN`" in ptxkit("compile", "callee.ptx", "caller.ptx").stderr
    assert "name it by `--output CUBIN`" in ptxkit("compile", "-", input=CLEAN).stderr
    assert "no file is PTX" in ptxkit("compile", "callee.cubin", "-o", "a.cubin").stderr
    Path("new.ptx").write_text(CALLEE.replace("8.0", "8.8").replace("sm_90a", "sm_100a"))
    done = ptxkit("compile", "new.ptx", "k.ptx", "caller.ptx", "-o", "a.cubin")
    assert "the files do not state one target that all of them run on" in done.stderr


def test_code_that_cannot_be_linked_is_not_left_out_silently(ptxkit: Run, folder: Path) -> None:
    """A fat binary with code that is not relocatable: nvJitLink reports nothing, and the kernel is not in the cubin."""
    code = link_cubin([NvJitLinkInput("k", "PTX", SPILLS.encode() + b"\0")], ["-arch=sm_90a"])[0]
    (folder / "whole.fatbin").write_bytes(fatbin(entry(code, 90, kind=CODE)))
    done = ptxkit("compile", "whole.fatbin", "--target", "sm_90a", "-o", "a.cubin")
    assert (done.exit_code, "no kernels" in done.stdout) == (0, True), done.stderr
    assert done.stderr.startswith("ptxkit: warning: the cubin has no kernel: ")
    assert ptxkit("compile", "callee.ptx").stderr == ""


def test_an_error_without_a_line_is_one_sentence(ptxkit: Run, folder: Path) -> None:
    text = (CORPUS / "rules" / "PTX702_bad_allocation_of_a_pair.ptx").read_text("utf-8")
    (folder / "k.ptx").write_text(text)
    done = ptxkit("compile", "k.ptx", "--no-lint")
    assert done.exit_code == 2
    first = done.stderr.splitlines()[0]
    assert first.startswith("k.ptx: error: Function 'kernel' uses single CTA")
    assert "aborted" not in first


def test_standard_input_is_compiled(ptxkit: Run, folder: Path) -> None:
    assert ptxkit("compile", "-", "-o", "app.cubin", input=CLEAN.replace("sm_80", "sm_90")).exit_code == 0
    assert written_cubins(folder) == {"app.cubin"}


def test_ptxas_compiles_one_file_and_links_nothing(ptxkit: Run, folder: Path) -> None:
    done = ptxkit("compile", "k.ptx", "--ptxas")
    assert done.exit_code == 0
    assert done.stdout.startswith("k.cubin: sm_80, ptxas ")
    for others in (["callee.ptx"], ["callee.cubin"]):
        done = ptxkit("compile", "caller.ptx", *others, "--ptxas", "-o", "app.cubin")
        assert done.exit_code == 2
        assert "ptxas links no cubins" in done.stderr
    assert written_cubins(folder) == {"k.cubin"}


# ------------------------------------------------------------------------------------------- missing programs


def test_without_the_cuda_libraries_the_command_that_installs_them_is_named(
    ptxkit: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvjitlink", None)
    done = ptxkit("compile", "k.ptx", "--no-cache")
    assert done.exit_code == 2
    assert done.stderr == (
        "ptxkit: error: compiling needs cuda-bindings and nvidia-nvjitlink\n"
        "  = help: install them with `pip install ptxkit[cuda]`\n"
    )
    assert written_cubins(folder) == set()


def test_machine_code_is_printed_by_nvdisasm(ptxkit: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "nvdisasm"
    program.write_text('#!/bin/sh\nfor each; do file=$each; done\necho "$1 $2 $(head -c 4 "$file" | tail -c 3)"\n')
    program.chmod(0o755)
    monkeypatch.setattr(disassembler, "find_programs", lambda name: (folder / name,))
    done = ptxkit("compile", "k.ptx", "--sass", "--lineinfo")
    assert (done.exit_code, done.stdout) == (0, "-c -g ELF\n")
    assert written_cubins(folder) == set()
    document = json.loads(ptxkit("compile", "k.ptx", "--sass", "-o", "a.cubin", "--format", "json").stdout)
    assert document["sass"].endswith("ELF\n")
    assert written_cubins(folder) == {"a.cubin"}
    program.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    done = ptxkit("compile", "k.ptx", "--sass")
    assert done.exit_code == 2
    assert "cannot print the code: broken" in done.stderr


def test_without_nvdisasm_its_package_is_named(ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disassembler, "find_programs", lambda _: ())
    done = ptxkit("compile", "k.ptx", "--sass")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "ptxkit: error: printing machine code needs nvdisasm, which is not installed\n"
        "  = help: `pip install nvidia-cuda-nvdisasm`\n"
    )
