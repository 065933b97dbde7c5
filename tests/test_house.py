"""The house rules: what each module says of itself, how large it may be, and what importing it costs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import foldline

HOUSE = Path(foldline.__file__).parent
MODULES = sorted(HOUSE.rglob("*.py"))
LONGEST_FUNCTION = 60

PUBLIC = {
    "foldline": {
        "Brief", "CannotFit", "CompactionError", "Compactor", "Compactors", "ConfigError", "ContextOverflow", "Edit", "Entry",
        "Event", "Fold", "FoldDue", "Folded", "FoldlineError", "FormatError", "Interleaved", "Layer", "Looping", "Message",
        "ModelSummarizer", "NativeSummarizer", "Policy", "ProviderError", "Receipt", "ReplyCutOff", "Rewound", "Risk", "Room", "Session", "SessionError",
        "SessionFile", "Skipped", "StateError", "Summary", "SummaryFailed", "SummaryFellBack", "UnsafeEdit", "Usage", "View",
        "Verdict", "WireError", "astep", "command_hook", "command_listener", "conversation", "find_session", "handle", "open_session", "recall_tool", "resolve_references",
        "step", "without_unfinished_calls", "wrap",
    },
    "foldline.extend": {
        "SUMMARY_PREFIX", "SUMMARY_SUFFIX", "Automatic", "Bill", "Branch", "Brief", "Budget", "Context", "Conversation", "Draft", "Edit",
        "Ended", "Endpoint", "Entry", "Fault", "Fold", "FoldlineError", "HostFormat", "Layer", "Mark", "Media", "Message", "Model", "Opaque", "Part", "PastFold",
        "Picture", "Point", "Policy", "Reactive", "Reading", "Receipt", "Request", "Reset", "Role", "Row", "Sealed", "SessionError",
        "SessionFile", "SessionFormat", "SharedPrefix", "Sign", "Source", "Speaker", "Stage", "StoreFolder", "Stored", "Strategy",
        "Summarizer", "Summary", "SummaryFailed",
        "Tail", "Text", "Thinking", "Tool", "ToolCall", "ToolResult", "Transcript", "UnsafeEdit", "Usage", "View", "WireError",
        "WireFormat", "Wording", "bills", "budget", "connect", "decode", "decode_all", "detect", "drop_media", "encode", "estimate", "extract",
        "hard_strategies", "may_summarize", "model", "named", "never_summarizes", "policy", "preset", "prune_tool_outputs", "read_policy",
        "replace", "shorten_tool_outputs", "summarize_older", "summary_in", "summary_text", "text_of", "truncate", "view_of", "weigh",
    },
}  # fmt: skip
"""What users import, by name; every other module is private, which its underscore says."""

every_module = pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(HOUSE)))


def tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text("utf-8"))


def test_what_is_wanted_with_an_extra_is_pinned_with_it() -> None:
    """Of what is pinned without its extra, pip 23 takes the newest release, finds no hash for it and installs nothing."""
    lines = (HOUSE.parents[3] / "requirements-dev.txt").read_text().splitlines()
    pins = [Requirement(line.rstrip(" \\")) for line in lines if line[:1].isalnum()]
    pinned = {pin.name: pin.extras for pin in pins}
    wanted = [
        Requirement(each)
        for pin in pins
        if pin.marker is None or pin.marker.evaluate()
        for each in requires(pin.name) or ()
    ]
    here = [each for each in wanted if each.extras and (each.marker is None or each.marker.evaluate({"extra": ""}))]
    assert here
    assert [str(each) for each in here if not each.extras <= pinned[each.name]] == []


def test_the_house_is_found() -> None:
    assert {"_view.py", "folding.py", "compactor.py"} <= {path.name for path in MODULES}


@every_module
def test_every_module_says_what_it_is(module: Path) -> None:
    assert ast.get_docstring(tree(module))


SHARED = {"Folding"}
"""The one name of several classes: what stands in an agent of each framework is called alike there."""


def test_no_two_classes_have_one_name() -> None:
    where: dict[str, list[str]] = {}
    for module in MODULES:
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(str(module.relative_to(HOUSE)))
    assert {name: places for name, places in where.items() if len(places) > 1 and name not in SHARED} == {}
    assert {name for name, places in where.items() if len(places) > 1} == SHARED


@every_module
def test_no_function_is_long(module: Path) -> None:
    functions = [node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert [f.name for f in functions if (f.end_lineno or 0) - f.lineno + 1 > LONGEST_FUNCTION] == []


@every_module
def test_what_a_module_offers_is_there_and_listed_once(module: Path) -> None:
    offered = names_offered(tree(module))
    assert len(offered) == len(set(offered))
    name = ".".join(["foldline", *module.relative_to(HOUSE).with_suffix("").parts]).removesuffix(".__init__")
    if offered:
        loaded = import_module(name)
        assert [name for name in offered if not hasattr(loaded, name)] == []


def names_offered(module: ast.Module) -> list[str]:
    """What a module lists in `__all__`."""
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


ROOT = Path(__file__).parent.parent
PROGRAMS = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("scripts/*.py"), *ROOT.glob("examples/*/*.py")])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_what_a_program_beside_the_house_imports_is_there(program: Path) -> None:
    named = [
        n for n in ast.walk(tree(program)) if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("foldline")
    ]
    missing = [
        f"{node.module}.{each.name}" for node in named for each in node.names if not found(node.module, each.name)
    ]
    assert missing == []


def found(module: str | None, name: str) -> bool:
    """Whether a module, or a package's module, can be imported by this name."""
    try:
        return hasattr(import_module(str(module)), name) or bool(import_module(f"{module}.{name}"))
    except ImportError:
        return name in defined(str(module))


def defined(module: str) -> set[str]:
    """What a module of ours defines which another library is needed for; nothing where it is none."""
    path = ROOT / "packages" / "foldline" / "src" / Path(*module.split(".")).with_suffix(".py")
    return {node.name for node in tree(path).body if isinstance(node, ast.ClassDef)} if path.exists() else set()


@pytest.mark.parametrize("face", PUBLIC)
def test_a_public_face_offers_exactly_what_it_promises(face: str) -> None:
    loaded = import_module(face)
    assert set(loaded.__all__) == PUBLIC[face]
    assert [name for name in PUBLIC[face] if not hasattr(loaded, name)] == []


def test_the_library_lists_its_public_names_and_no_others() -> None:
    assert {name for name in dir(foldline) if not name.startswith("__")} == PUBLIC["foldline"]


@every_module
def test_what_is_no_public_face_is_private(module: Path) -> None:
    first, *_ = module.relative_to(HOUSE).parts
    assert first.startswith("_") or first in ("extend.py", "integrations")


SHOWN = sorted(
    [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/README.md"), *ROOT.glob("samples/*")]
)
BESIDE = [path for path in ROOT.glob("packages/*/src/**/*.py") if not path.is_relative_to(HOUSE)]
PRIVATE = re.compile(r"\bfoldline(\.\w+)*\._[a-z]|\bfrom foldline import [^\n]*\b_[a-z]")


@pytest.mark.parametrize("path", [*SHOWN, *BESIDE], ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_outside_needs_what_is_private(path: Path) -> None:
    assert PRIVATE.findall(path.read_text("utf-8")) == []


@pytest.mark.parametrize("module", ["foldline", "foldline._compactor.compactor"])
def test_importing_the_library_loads_no_extra(module: str) -> None:
    code = f"import {module}, sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HOUSE.parent)
    roots = set(loaded.stdout.split())
    assert "foldline" in roots
    assert roots.isdisjoint({"numpy", "click", "rich", "httpx", "pydantic", "tiktoken", "asyncio"})


def test_every_module_is_imported_where_a_system_has_no_file_locks() -> None:
    """As on Windows; whatever an extra is missing for may stay away."""
    names = [
        ".".join(["foldline", *m.relative_to(HOUSE).with_suffix("").parts]).removesuffix(".__init__") for m in MODULES
    ]
    names = [name for name in names if not name.endswith("__main__")]
    code = f"import sys; sys.modules['fcntl'] = None; from importlib import import_module; [import_module(n) for n in {names!r}]"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=HOUSE.parent)
    assert "fcntl" not in done.stderr
