"""The house rules: what each module says of itself, how large it may be, and what importing it costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import foldline

HOUSE = Path(foldline.__file__).parent
MODULES = sorted(HOUSE.rglob("*.py"))
LONGEST_FUNCTION = 60

PUBLIC = {
    "": {
        "Brief", "CannotFit", "Compactor", "Compactors", "ContextOverflow", "Edit", "Entry", "Event", "Fold", "FoldDue", "Folded",
        "FoldlineError", "Interleaved", "Layer", "Looping", "Message", "Policy", "Receipt", "Rewound", "Risk", "Session", "Skipped",
        "StateError", "Summary", "SummaryFellBack", "Usage", "View",
    },
    "compactor": {
        "Compactor", "Event", "FoldDue", "Folded", "Interleaved", "Looping", "Rewound", "Risk", "Skipped", "SummaryFellBack",
    },
    "listing": {"Listed", "Listing", "listed"},
    "recall": {"Hit", "Index", "Within", "handle", "recall_tool", "resolve_references"},
    "sessions": {
        "Branch", "Context", "Fault", "PastFold", "Point", "Reading", "Row", "Session", "SessionFile", "SessionFormat",
        "Source", "StoreFolder", "Stored", "Tail", "Transcript", "find", "open_session", "read_all", "recognize",
    },
    "strategies": {
        "Strategy", "drop_media", "may_summarize", "never_summarizes", "prune_tool_outputs", "shorten_tool_outputs", "summarize_older",
        "truncate",
    },
    "wire": {
        "FORMATS", "OWN", "SUMMARY_PREFIX", "SUMMARY_SUFFIX", "Ended", "Picture", "Sign", "Tool", "WireFormat", "decode",
        "decode_all", "detect", "encode", "joined", "named", "read_reply", "read_usage", "summary_text", "with_ids",
    },
}  # fmt: skip
"""What the packages that users import offer, by name."""

every_module = pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(HOUSE)))


def tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text("utf-8"))


def test_the_house_is_found() -> None:
    assert {"view.py", "engine.py", "compactor.py"} <= {path.name for path in MODULES}


@every_module
def test_every_module_says_what_it_is(module: Path) -> None:
    assert ast.get_docstring(tree(module))


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
PROGRAMS = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("scripts/*.py")])


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
        return False


@pytest.mark.parametrize("package", PUBLIC)
def test_a_public_package_offers_exactly_what_it_promises(package: str) -> None:
    path = HOUSE / package / "__init__.py" if (HOUSE / package).is_dir() else HOUSE / f"{package}.py"
    assert set(names_offered(tree(path))) == PUBLIC[package]


@pytest.mark.parametrize("module", ["foldline", "foldline.compactor"])
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
