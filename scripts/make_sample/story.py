"""What the user asks and what the scripted model does: prompts, and steps of thinking, text and tool calls."""

import json
from dataclasses import dataclass
from typing import Any

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Step:
    """One answer of the model."""

    think: str
    text: str
    calls: tuple[Call, ...] = ()

    def answer(self, at: int) -> dict[str, Any]:
        """Return the answer as a chat completions message; ids follow from the position."""
        message: dict[str, Any] = {"content": self.text}
        if self.think:
            message = {"reasoning_content": self.think, **message}
        if self.calls:
            message["tool_calls"] = [
                {
                    "index": index,
                    "id": f"call_{at:03d}_{index}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for index, (name, arguments) in enumerate(self.calls)
            ]
        return message


@dataclass(frozen=True)
class Turn:
    """A prompt and the steps that answer it."""

    prompt: str
    steps: tuple[Step, ...]


def step(think: str, text: str, *calls: Call) -> Step:
    return Step(think, text, calls)


def read(path: str, offset: int | None = None, limit: int | None = None) -> Call:
    arguments: dict[str, Any] = {"path": path}
    if offset is not None:
        arguments["offset"] = offset
    if limit is not None:
        arguments["limit"] = limit
    return "read", arguments


def bash(command: str) -> Call:
    return "bash", {"command": command}


def write(path: str, content: str) -> Call:
    return "write", {"path": path, "content": content}


def edit(path: str, *changes: tuple[str, str]) -> Call:
    return "edit", {"path": path, "edits": [{"oldText": old, "newText": new} for old, new in changes]}


TESTS = bash("python3 -m unittest 2>&1 | tail -60")
ALL = bash("python3 -m unittest 2>&1 | tail -4")
COMPILES = bash(
    "grep -rnE 'match |:=| \\| None|removeprefix|zip\\(.*strict' billing tests | head; python3 -m compileall -q billing tests && echo compiled"
)

RETENTION_1 = '''"""Retention: documents of paid invoices go after a while; the invoices themselves stay for ten years."""

import logging
from datetime import date, timedelta
from pathlib import Path

from billing.store import Store

log = logging.getLogger("billing.retention")

#: Documents of an invoice are kept for this long after it was paid.
DAYS = 14


def expire(store: Store, folder: Path, day: date, days: int = DAYS, limit: int = 1000) -> int:
    """Remove documents of invoices that were paid more than `days` days ago; return how many."""
    before = day - timedelta(days=days)
    count = 0
    for number, path in store.expired_documents(before, limit):
        (folder / path).unlink()
        store.detach(number, path)
        count += 1
    log.info("removed %d documents of invoices paid before %s", count, before.isoformat())
    return count
'''

TEST_RETENTION = """import unittest
from datetime import date

from billing.models import ISSUED, PAID
from billing.retention import expire
from tests.helpers import Case, invoice

TODAY = date(2025, 6, 30)


class RetentionTest(Case):
    def add(self, serial: int, paid_on=None):
        number = f"INV-2025-{serial:05d}"
        made = invoice(number).moved(ISSUED)
        self.store.add(made.moved(PAID, paid_on) if paid_on else made)
        path = f"2025/{number}.pdf"
        (self.folder / "2025").mkdir(exist_ok=True)
        (self.folder / path).write_bytes(b"%PDF")
        self.store.attach(number, path, date(2025, 3, 14))
        return number, self.folder / path

    def expire(self):
        return expire(self.store, self.folder, TODAY)

    def test_old_documents_go(self):
        number, path = self.add(1, date(2025, 6, 1))
        self.assertEqual(self.expire(), 1)
        self.assertFalse(path.exists())
        self.assertEqual(self.store.documents(number), [])
        self.assertEqual(self.store.journal(number)[-1], ("detached", f"2025/{number}.pdf"))

    def test_the_invoice_stays(self):
        number, _ = self.add(1, date(2025, 6, 1))
        self.expire()
        self.assertEqual(self.store.get(number).state, PAID)

    def test_the_last_day_is_kept(self):
        _, path = self.add(1, date(2025, 6, 16))
        self.assertEqual(self.expire(), 0)
        self.assertTrue(path.exists())

    def test_unpaid_is_kept_for_ever(self):
        _, path = self.add(1)
        self.assertEqual(self.expire(), 0)
        self.assertTrue(path.exists())

    def test_a_file_that_is_gone_already(self):
        number, path = self.add(1, date(2025, 6, 1))
        path.unlink()
        self.assertEqual(self.expire(), 1)
        self.assertEqual(self.store.documents(number), [])

    def test_a_path_that_leaves_the_folder_is_not_followed(self):
        number, _ = self.add(1, date(2025, 6, 1))
        self.store.attach(number, "../outside.pdf", date(2025, 3, 14))
        outside = self.folder.parent / "outside.pdf"
        outside.write_bytes(b"%PDF")
        self.addCleanup(outside.unlink)
        self.expire()
        self.assertTrue(outside.exists())
        self.assertEqual(self.store.documents(number), ["../outside.pdf"])


if __name__ == "__main__":
    unittest.main()
"""

NUMBERING_2 = '''"""Invoice numbers: without gaps, without doubles, one sequence for each year, kept in the database."""

import logging
from pathlib import Path
from typing import Optional

from billing.store import Store

log = logging.getLogger("billing.numbering")


class Numbers:
    """Hands out numbers such as INV-2025-00417 from the `counters` table.

    The write lock of SQLite (BEGIN IMMEDIATE) makes reading and counting up one step for all workers. `legacy` is the
    folder of the counter files that were used before; they are read once, when a year has no row yet.
    """

    def __init__(self, store: Store, prefix: str = "INV", legacy: Optional[Path] = None) -> None:
        self.store = store
        self.prefix = prefix
        self.legacy = legacy

    def next(self, year: int) -> str:
        """Return the next number of a year and remember it."""
        with self.store.transaction(immediate=True):
            last = self._last(year)
            self.store.set_counter(self.prefix, year, last + 1)
        return self.format(year, last + 1)

    def peek(self, year: int) -> str:
        """Return the number that would come next, without taking it."""
        return self.format(year, self._last(year) + 1)

    def format(self, year: int, serial: int) -> str:
        return f"{self.prefix}-{year}-{serial:05d}"

    def _last(self, year: int) -> int:
        counted = self.store.counter(self.prefix, year)
        if counted is not None:
            return counted
        return max(self._from_file(year), self.store.highest_serial(self.prefix, year))

    def _from_file(self, year: int) -> int:
        path = self.legacy / f"counter-{year}.txt" if self.legacy else None
        if path is None or not path.exists():
            return 0
        log.info("taking over %s", path)
        return int(path.read_text())
'''

TEST_NUMBERING_2 = """import threading
import unittest
from datetime import date

from billing.numbering import Numbers
from billing.store import Store
from tests.helpers import Case, invoice


class NumberingTest(Case):
    def test_counts_up_for_each_year(self):
        self.assertEqual(self.numbers.next(2025), "INV-2025-00001")
        self.assertEqual(self.numbers.next(2025), "INV-2025-00002")
        self.assertEqual(self.numbers.next(2026), "INV-2026-00001")

    def test_peek_takes_nothing(self):
        self.assertEqual(self.numbers.peek(2025), self.numbers.peek(2025))

    def test_takes_over_the_counter_file(self):
        (self.folder / "counter-2025.txt").write_text("416")
        numbers = Numbers(self.store, legacy=self.folder)
        self.assertEqual(numbers.next(2025), "INV-2025-00417")
        (self.folder / "counter-2025.txt").write_text("9")
        self.assertEqual(numbers.next(2025), "INV-2025-00418")

    def test_never_falls_behind_the_invoices(self):
        self.store.add(invoice("INV-2025-00420", date(2025, 3, 14)))
        (self.folder / "counter-2025.txt").write_text("416")
        self.assertEqual(Numbers(self.store, legacy=self.folder).next(2025), "INV-2025-00421")

    def test_two_workers_never_get_the_same(self):
        taken, lock = [], threading.Lock()

        def work():
            store = Store(self.store.path)
            try:
                for _ in range(40):
                    number = Numbers(store).next(2025)
                    with lock:
                        taken.append(number)
            finally:
                store.close()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(taken), 160)
        self.assertEqual(sorted(taken), [f"INV-2025-{n:05d}" for n in range(1, 161)])


if __name__ == "__main__":
    unittest.main()
"""

TEST_CREDIT = """import unittest
from datetime import date

from billing.credit import credit_for, issue_credit
from billing.export import COLUMNS, rows
from billing.models import CANCELLED, ISSUED, BadTransition
from billing.numbering import Numbers
from tests.helpers import Case, invoice

DAY = date(2025, 4, 2)


class CreditTest(Case):
    def setUp(self):
        super().setUp()
        self.credits = Numbers(self.store, "CN")
        self.store.add(invoice().moved(ISSUED))

    def test_undoes_the_invoice_to_the_cent(self):
        original = invoice().moved(ISSUED)
        note = credit_for(original, "CN-2025-00001", DAY)
        self.assertTrue((original.net() + note.net()).is_zero())
        self.assertTrue((original.tax() + note.tax()).is_zero())
        self.assertTrue((original.gross() + note.gross()).is_zero())

    def test_keeps_the_rate_of_the_original_day(self):
        original = invoice(day=date(2020, 12, 31)).moved(ISSUED)
        note = credit_for(original, "CN-2025-00001", DAY)
        self.assertTrue((original.tax() + note.tax()).is_zero())

    def test_has_a_sequence_of_its_own(self):
        note = issue_credit(self.store, self.credits, "INV-2025-00001", DAY)
        self.assertEqual(note.number, "CN-2025-00001")
        self.assertEqual(self.numbers.peek(2025), "INV-2025-00002")

    def test_cancels_the_original(self):
        issue_credit(self.store, self.credits, "INV-2025-00001", DAY)
        self.assertEqual(self.store.get("INV-2025-00001").state, CANCELLED)
        with self.assertRaises(BadTransition):
            issue_credit(self.store, self.credits, "INV-2025-00001", DAY)

    def test_a_refused_credit_takes_no_number(self):
        issue_credit(self.store, self.credits, "INV-2025-00001", DAY)
        with self.assertRaises(BadTransition):
            issue_credit(self.store, self.credits, "INV-2025-00001", DAY)
        self.assertEqual(self.credits.peek(2025), "CN-2025-00002")

    def test_export_names_the_original(self):
        note = issue_credit(self.store, self.credits, "INV-2025-00001", DAY)
        row = dict(zip(COLUMNS, rows(note)[0]))
        self.assertEqual(COLUMNS[-1], "Belegfeld 2")
        self.assertEqual(row["Belegfeld 1"], "CN-2025-00001")
        self.assertEqual(row["Belegfeld 2"], "INV-2025-00001")
        self.assertEqual((row["Umsatz"], row["Soll/Haben"]), ("119,00", "H"))


if __name__ == "__main__":
    unittest.main()
"""

CREDIT = '''"""Credit notes: an invoice with negative lines that undoes another one, with a number sequence of its own."""

from dataclasses import replace
from datetime import date

from billing.models import CANCELLED, ISSUED, Invoice
from billing.numbering import Numbers
from billing.store import Store

#: The sequence of credit notes; invoices have theirs from the settings.
PREFIX = "CN"


def credit_for(original: Invoice, number: str, day: date) -> Invoice:
    """Return the credit note that undoes an invoice to the cent, at the rates of the invoice's own day."""
    lines = [replace(line, unit_price=-line.unit_price) for line in original.lines]
    return Invoice(
        customer=original.customer,
        lines=lines,
        issued_on=day,
        number=number,
        state=ISSUED,
        credits=original.number,
        taxed_on=original.issued_on,
    )


def issue_credit(store: Store, numbers: Numbers, number: str, day: date) -> Invoice:
    """Cancel an issued invoice and store the credit note for it."""
    original = store.get(number)
    cancelled = original.moved(CANCELLED)
    note = credit_for(original, numbers.next(day.year), day)
    with store.transaction():
        store.update(cancelled)
        store.add(note)
    return note
'''

STORY = [
    Turn(
        "Hi. This repo is our invoice service. The documents (PDFs that belong to invoices) pile up, the volume is at 81 %. "
        "I want a retention step in the nightly run: delete the documents of paid invoices after 14 days.\n\n"
        "Rules that hold for everything we do today:\n"
        "- never touch the public API in billing/api.py, not even docstrings\n"
        "- keep it Python 3.9 compatible, standard library only\n"
        "- the service port must stay 8443\n"
        "- rows in `invoices` are never deleted\n\n"
        "Look around first, run the tests, and tell me your plan before you write anything.",
        (
            step(
                "The user wants a plan first. Start with the layout, the history and the README; nothing is written yet.",
                "I'll look around first and write nothing yet.",
                bash(
                    "git log --oneline | head; git status --short; git ls-files; wc -l billing/*.py tests/*.py | tail -1"
                ),
                read("README.md"),
            ),
            step(
                "There is a contract in docs/api.md. Read all of the documentation before code, it is short.",
                "",
                read("docs/api.md"),
                read("docs/operations.md"),
                read("docs/architecture.md"),
            ),
            step(
                "Important: decision 5 says nothing is deleted from invoices, documents can be rendered again. The API document "
                "says a removed document is just not listed any more. So retention does not need an API change. Now the code.",
                "The contract already covers this: a document that is removed is simply not listed any more. Now the code it touches.",
                read("billing/api.py"),
                read("billing/store.py"),
            ),
            step("", "", read("billing/models.py"), read("billing/jobs.py"), read("billing/config.py")),
            step(
                "jobs.py has a list of steps; retention fits as a third one, after export (export does not need documents). "
                "Config has `documents` as a folder. Check the ini, the CLI and numbering for how things are wired.",
                "",
                read("config/service.ini"),
                read("billing/cli.py"),
                read("billing/numbering.py"),
            ),
            step("Now the tests, as asked.", "Now the tests.", TESTS),
            step(
                "Four failures, two causes: rounding (quantize without a rounding mode is ROUND_HALF_EVEN) and the Greek prefix. "
                "Confirm in the modules.",
                "Four failures before I have changed anything. They look like two causes; let me confirm.",
                read("billing/money.py"),
                read("billing/tax.py"),
            ),
            step("", "", read("tests/test_money.py"), read("tests/test_tax.py"), read("tests/test_jobs.py")),
            step(
                "Who writes documents, and which paths are stored? Relative or absolute? Look for attach callers.",
                "One more thing: who attaches documents, and are the stored paths relative?",
                bash("grep -rn 'attach\\|documents' --include=*.py billing tests | grep -v '^billing/api.py.*\"\"\"'"),
                bash("grep -n 'billing.render' logs/worker.log | head -8; grep -c 'billing.render' logs/worker.log"),
            ),
            step(
                "Paths are relative to the documents folder (2025/11/INV-...). Write the plan.",
                "Nothing is written yet. What I found:\n\n"
                "**Tests: 37 run, 4 fail, before any change, with two causes.**\n"
                "1. `Money.rounded` calls `quantize` without a mode, which is ROUND_HALF_EVEN; ticket 311 wants half up "
                "(0.125 gives 0.12 where the test wants 0.13). Two tests in `test_money`, including JPY 1234.5.\n"
                "2. `tax.PREFIXES` is empty, but Greek VAT numbers begin with EL, not GR: Greek businesses get 24 % VAT where the "
                "buyer owes the tax. One test in `test_tax`, and one in `test_export` that follows from it.\n\n"
                "**Plan for retention**\n"
                "1. `billing/store.py`: `expired_documents(before, limit)` (join of documents and invoices, state paid, paid_on before a day) and "
                "`detach(number, path)`, which removes the row in `documents` and writes the journal. No row in `invoices` is touched.\n"
                "2. `billing/retention.py`: `expire(store, folder, day)`, 14 days, removes file and row, logs a count.\n"
                "3. `billing/jobs.py`: a third step `retention` after `export`.\n"
                "4. Tests for the boundary day, for unpaid invoices, for files that are gone already, and for paths that leave the folder.\n\n"
                "**Decisions I would take unless you object**\n"
                "- File first, row second: if the process dies in between, the next run finds the row again and a missing file counts as removed.\n"
                "- Batches of 1000 for each night, so the first run after years does not take an hour.\n"
                "- `billing/api.py` stays as it is: docs/api.md says that a removed document is just not listed, and the app copes. Port 8443 is not involved.\n\n"
                "Shall I fix the four tests first?",
            ),
        ),
    ),
    Turn(
        "Good plan. Yes: first the four failing tests in a commit of their own, then the retention.",
        (
            step(
                "Rounding: import ROUND_HALF_UP. In decimal, ROUND_HALF_UP rounds away from zero on ties, so credits are symmetric: "
                "test_credit_rounds_like_the_invoice_it_undoes keeps passing.",
                "First the two small fixes.",
                edit(
                    "billing/money.py",
                    ("from decimal import Decimal\n", "from decimal import ROUND_HALF_UP, Decimal\n"),
                    (
                        '        """Round to the smallest unit of the currency."""',
                        '        """Round to the smallest unit of the currency, half of it away from zero (ticket 311)."""',
                    ),
                    ("self.amount.quantize(unit)", "self.amount.quantize(unit, ROUND_HALF_UP)"),
                ),
                edit(
                    "billing/tax.py",
                    ("PREFIXES: Dict[str, str] = {}", 'PREFIXES: Dict[str, str] = {"EL": "GR"}'),
                ),
            ),
            step("", "", TESTS),
            step(
                "All pass. Commit only these two files.",
                "All green. Committing these alone.",
                bash(
                    "git add billing/money.py billing/tax.py && git commit -qm 'Round half up; Greek VAT numbers begin with EL' && git show --stat HEAD && git diff HEAD~1"
                ),
            ),
            step(
                "Now retention. Look at the helpers for the test case class first, to use the same style.",
                "Now the retention. The helpers first, so that the new tests look like the others.",
                read("tests/helpers.py"),
                read("tests/test_store.py"),
            ),
            step(
                "Add the two store methods after documents(). I remember the signature as list[str], lower case.",
                "",
                edit(
                    "billing/store.py",
                    (
                        "    def documents(self, number: str) -> list[str]:\n",
                        "    def detach(self, number: str, path: str) -> None:\n",
                    ),
                ),
            ),
            step(
                "The text does not match: the file says List[str], for 3.9 style. Read that part again.",
                "That does not match the file; let me look at the exact lines.",
                read("billing/store.py", 126, 20),
            ),
            step(
                "",
                "",
                edit(
                    "billing/store.py",
                    (
                        '        return [row["path"] for row in rows]\n\n    def note(',
                        '        return [row["path"] for row in rows]\n\n'
                        "    def detach(self, number: str, path: str) -> None:\n"
                        '        """Forget a document; the invoice itself stays as it is."""\n'
                        '        self.db.execute("DELETE FROM documents WHERE number=? AND path=?", (number, path))\n'
                        '        self.note(number, "detached", path)\n\n'
                        "    def expired_documents(self, before: date, limit: int) -> List[Tuple[str, str]]:\n"
                        '        """Return number and path of documents whose invoice was paid before a day, oldest first."""\n'
                        "        rows = self.db.execute(\n"
                        '            "SELECT d.number, d.path FROM documents d JOIN invoices i ON i.number = d.number"\n'
                        "            \" WHERE i.state = 'paid' AND i.paid_on < ? ORDER BY i.paid_on, d.number, d.path LIMIT ?\",\n"
                        "            (before.isoformat(), limit),\n"
                        "        )\n"
                        '        return [(row["number"], row["path"]) for row in rows]\n\n'
                        "    def note(",
                    ),
                ),
                write("billing/retention.py", RETENTION_1),
                write("tests/test_retention.py", TEST_RETENTION),
            ),
            step(
                "Run only the new tests first; I expect the missing-file test and the path test to fail.",
                "",
                bash("python3 -m unittest tests.test_retention 2>&1 | tail -60"),
            ),
            step(
                "Two fail as expected: a file that is gone raises FileNotFoundError, and a path with .. is followed. In the path test the file "
                "outside was really removed, then the cleanup fails too. Fix: resolve and check the parent; unlink(missing_ok=True) exists since 3.8, fine. "
                "is_relative_to is 3.9: fine as well.",
                "As expected, the first version is too trusting: a missing file raises, and a stored path with `..` is followed. "
                "`missing_ok` is 3.8 and `is_relative_to` is 3.9, so both are allowed here.",
                edit(
                    "billing/retention.py",
                    (
                        "        (folder / path).unlink()\n",
                        "        file = (folder / path).resolve()\n"
                        "        if not file.is_relative_to(folder.resolve()):\n"
                        '            log.warning("document of %s lies outside the folder and is kept: %s", number, path)\n'
                        "            continue\n"
                        "        file.unlink(missing_ok=True)\n",
                    ),
                ),
            ),
            step("", "", bash("python3 -m unittest tests.test_retention 2>&1 | tail -60")),
            step(
                "Now wire it into jobs.",
                "Now the step in the nightly run.",
                edit(
                    "billing/jobs.py",
                    (
                        "from billing.models import ISSUED\n",
                        "from billing.models import ISSUED\nfrom billing.retention import expire\n",
                    ),
                    (
                        '        return [("recurring", recurring), ("export", export)]',
                        '        return [("recurring", recurring), ("export", export), ("retention", retention)]',
                    ),
                    (
                        "    return len(invoices)\n",
                        "    return len(invoices)\n\n\n"
                        "def retention(run: Run) -> int:\n"
                        '    """Remove documents of invoices that were paid long ago."""\n'
                        "    return expire(run.store, run.config.documents, run.day)\n",
                    ),
                ),
                TESTS,
            ),
            step(
                "Test for the wiring: run the nightly with one old paid invoice. Add to test_jobs.",
                "Green. One test for the wiring itself, then the commit.",
                edit(
                    "tests/test_jobs.py",
                    (
                        '        self.config = replace(load(SHIPPED, {}), export_folder=self.folder / "export")\n',
                        '        self.config = replace(load(SHIPPED, {}), export_folder=self.folder / "export", documents=self.folder)\n',
                    ),
                    (
                        "    def test_a_failing_step_does_not_stop_the_rest(self):\n",
                        "    def test_retention_is_the_last_step(self):\n"
                        "        report = self.run_on(date(2025, 3, 1))\n"
                        '        self.assertEqual(list(report.counts), ["recurring", "export", "retention"])\n\n'
                        "    def test_a_failing_step_does_not_stop_the_rest(self):\n",
                    ),
                ),
                bash(
                    "python3 -m unittest 2>&1 | tail -5 && git add -A && git commit -qm 'Remove documents of paid invoices in the nightly run' && git show --stat HEAD"
                ),
            ),
            step(
                "",
                "Done, in two commits:\n\n"
                "1. *Round half up; Greek VAT numbers begin with EL*: the four failing tests pass.\n"
                "2. *Remove documents of paid invoices in the nightly run*: `billing/retention.py`, two methods in `Store`, a third nightly step, seven new tests.\n\n"
                "Two things the tests forced: a missing file counts as removed, and **a stored path that leaves the documents folder is never followed**: "
                "it is logged and kept. `billing/api.py`, the port and the `invoices` table are untouched; everything runs on 3.9.",
            ),
        ),
    ),
    Turn(
        "Quick question from our auditor: why is the tax rounded per line and not on the total, and why half up? One or two sentences I can paste, please.",
        (
            step(
                "Answer is in architecture.md decision 1 and ticket 311. Check that nothing else rounds.",
                "",
                bash(
                    "grep -rn 'rounded()\\|quantize\\|ROUND_' billing | cat; grep -n 'Decimals, rounded' -A2 docs/architecture.md"
                ),
            ),
            step(
                "",
                '"Tax is computed and rounded for each line because the tax office adds up rounded lines, so the total on the invoice is always the sum of what is '
                "printed above it (architecture decision 1, 2023-02). Half a cent is rounded away from zero, as the accountants require (ticket 311); "
                'the same rule applied to negative amounts makes a credit cancel its invoice to the cent."\n\n'
                "I checked: `Money.rounded` is the only place that rounds.",
            ),
        ),
    ),
    Turn(
        "Thanks. One correction: no, use 30 days not 14 for the retention, I mixed it up with the dunning period. And it should be a setting, "
        "[retention] days in config/service.ini, no number hard-coded in the module.",
        (
            step(
                "Change: config field retention_days, ini section, retention.expire takes days without default, jobs passes it, tests. "
                "Re-read the files as they are now.",
                "30 days, from the settings. Reading the files as they are now.",
                read("billing/retention.py"),
                read("billing/config.py"),
                read("tests/test_config.py"),
            ),
            step(
                "The default in load: none, so that an old ini without the section fails loudly? The rollout would break on servers with an old file. "
                "But a silent default is a hard-coded number again; the user said none. Fail loudly at start: BadConfig. Hmm: the ini ships in the image, so it is always there.",
                "No default in the code: a missing `[retention] days` is an error at start. The ini ships in the image, so it is always there.",
                edit(
                    "billing/config.py",
                    ("    batch_size: int\n", "    batch_size: int\n    retention_days: int\n"),
                    (
                        '        batch_size=number("jobs", "batch_size", 1, 10000, "250"),\n',
                        '        batch_size=number("jobs", "batch_size", 1, 10000, "250"),\n'
                        '        retention_days=number("retention", "days", 1, 3650),\n',
                    ),
                ),
                edit(
                    "config/service.ini",
                    (
                        "batch_size = 250\n",
                        "batch_size = 250\n\n[retention]\n; Documents of an invoice go this many days after it was paid. The invoice itself stays.\ndays = 30\n",
                    ),
                ),
                edit(
                    "billing/retention.py",
                    ("#: Documents of an invoice are kept for this long after it was paid.\nDAYS = 14\n\n\n", "\n"),
                    ("day: date, days: int = DAYS, limit: int = 1000", "day: date, days: int, limit: int = 1000"),
                ),
                edit(
                    "billing/jobs.py",
                    (
                        "    return expire(run.store, run.config.documents, run.day)\n",
                        "    return expire(run.store, run.config.documents, run.day, run.config.retention_days)\n",
                    ),
                ),
            ),
            step("The retention tests call expire without days: expected to fail now.", "", TESTS),
            step(
                "Fix the tests: the boundary day is 30 days before June 30th: May 31st. Old documents: paid on May 1st.",
                "The tests still assume 14 days. The boundary is now May 31st.",
                edit(
                    "tests/test_retention.py",
                    (
                        "        return expire(self.store, self.folder, TODAY)\n",
                        "        return expire(self.store, self.folder, TODAY, 30)\n",
                    ),
                    (
                        "        _, path = self.add(1, date(2025, 6, 16))\n        self.assertEqual(self.expire(), 0)\n        self.assertTrue(path.exists())\n",
                        "        _, path = self.add(1, date(2025, 5, 31))\n        self.assertEqual(self.expire(), 0)\n        self.assertTrue(path.exists())\n\n"
                        "    def test_the_day_after_it_goes(self):\n        _, path = self.add(1, date(2025, 5, 30))\n        self.assertEqual(self.expire(), 1)\n        self.assertFalse(path.exists())\n",
                    ),
                ),
                bash(
                    "sed -i 's/date(2025, 6, 1))/date(2025, 5, 1))/' tests/test_retention.py && grep -n 'date(2025' tests/test_retention.py"
                ),
                edit(
                    "tests/test_config.py",
                    (
                        "        self.assertEqual(config.batch_size, 250)\n",
                        "        self.assertEqual(config.batch_size, 250)\n        self.assertEqual(config.retention_days, 30)\n",
                    ),
                ),
            ),
            step(
                "",
                "",
                TESTS,
                bash("grep -rn '14' billing/retention.py billing/jobs.py config docs/operations.md | cat"),
            ),
            step(
                "Nothing says 14 any more. Commit.",
                "",
                bash("git add -A && git commit -qm 'Retention is 30 days and a setting' && git show HEAD"),
            ),
            step(
                "",
                "Changed: **30 days**, from `[retention] days` in `config/service.ini` (`BILLING_RETENTION_DAYS` in the environment wins, as for every setting). "
                "No number is left in the module, a missing setting is an error at start, allowed are 1 to 3650. "
                "A document paid for exactly 30 days ago stays, one of 31 days goes; both are tested.",
            ),
        ),
    ),
    Turn(
        "Something urgent in between: the nightly failed in production last night. The log of both workers, merged, is logs/worker.log. "
        "Find out why. Don't fix anything yet.",
        (
            step(
                "Start with an overview: size, levels, errors.",
                "Overview first.",
                bash(
                    "wc logs/worker.log; grep -oE '(DEBUG|INFO|WARNING|ERROR)' logs/worker.log | sort | uniq -c; grep -nE 'ERROR|FAILED|nfs' logs/worker.log"
                ),
            ),
            step(
                "The accident is around 02:31:07. Read a wide window to see what both workers did; the surroundings matter.",
                "It happened around line 2010. I read the window from the start of the nightly run, to see both workers.",
                read("logs/worker.log", 1815, 290),
            ),
            step(
                "I see: worker-1 takes the lock 02:31:07.114, reads 416, NFS stalls; worker-2 breaks the lock at 5.1 s because of STALE_SECONDS = 5; both write 417. "
                "Check the code of numbering again: WAIT 5.0, STALE 5.0. Also `finally: path.unlink()` by worker-1 would have removed worker-2's lock.",
                "The sequence is visible there. Let me hold it against the code of the lock.",
                read("billing/numbering.py"),
                bash("grep -n 'billing.numbering' logs/worker.log | grep -v 'written' | cat"),
            ),
            step(
                "Is it the only duplicate? Compute duplicates in the written counters and gaps.",
                "Is that the only double number, and are there gaps?",
                bash(
                    "python3 - <<'EOF'\n"
                    "import re, collections\n"
                    "text = open('logs/worker.log').read()\n"
                    "written = [int(n) for n in re.findall(r'counter-2025.txt written (\\d+)', text)]\n"
                    "added = [int(n) for n in re.findall(r'added INV-2025-(\\d+)', text)]\n"
                    "print('written twice:', [n for n, c in collections.Counter(written).items() if c > 1])\n"
                    "print('added twice:', [n for n, c in collections.Counter(added).items() if c > 1])\n"
                    "print('written', min(written), max(written), 'added', min(added), max(added))\n"
                    "print('never added:', sorted(set(range(min(written), max(written) + 1)) - set(added)))\n"
                    "EOF"
                ),
            ),
            step(
                "No gap, one number was written twice, 417 belongs to customer c-2207. The worker-1 customer's invoice was not issued: the subscription is still due "
                "(next_on is updated after create), so the next nightly issues it, dated a day later. Then all later subscriptions of worker-1's batch were not issued by worker-1, "
                "but worker-2 processed the same list... Both workers run over the same subscriptions! That means doubles for customers? Look at what recurring does: SELECT due, create, UPDATE. "
                "Two workers at the same time: both select the same due rows, both create invoices: double invoices for customers! Check the log for the same customer twice within the run.",
                "There may be a second problem: docs/operations.md says the nightly starts on **both** workers, and since 2.2 both see all subscriptions. Let me check for customers who were billed twice.",
                bash("grep -n 'Steps run in order' -B6 docs/operations.md; sed -n '66,90p' billing/jobs.py"),
                read("logs/worker.log", 2060, 260),
            ),
            step(
                "And what did the first half of the night look like: were there earlier stalls that just went well? The snapshot window begins 02:25; read its first minutes.",
                "And the time before: were there stalls that just went well?",
                read("logs/worker.log", 1010, 290),
            ),
            step("", "And the minutes up to the nightly run.", read("logs/worker.log", 1530, 285)),
            step(
                "No earlier stall in the window. Also check health: did the balancer take worker-1 out?",
                "No other stall. Last check: did a worker drop out of the balancer meanwhile?",
                bash(
                    "grep -n 'healthz' logs/worker.log | grep ' 02:3[01]:' | head -60; awk '/healthz/ && !/ 200 /' logs/worker.log | wc -l; grep -n 'healthz' logs/worker.log | sed -n '150,215p'"
                ),
            ),
            step(
                "",
                "**Why the nightly failed (nothing changed yet)**\n\n"
                "| time | worker | what |\n|---|---|---|\n"
                "| 02:31:07.114 | 1 | takes `numbering.lock`, reads counter **416** |\n"
                "| 02:31:07.260 | 1 | NFS stops answering (inside the snapshot window 02:25 to 02:40) |\n"
                "| 02:31:12.240 | 2 | the lock is 5.1 s old, `STALE_SECONDS` is 5.0: breaks it, reads **416**, writes **417**, stores INV-2025-00417 |\n"
                "| 02:31:13.361 | 1 | NFS is back after 6.1 s; writes **417** as well, finds its lock gone |\n"
                "| 02:31:13.377 | 1 | insert fails: **E-4312 duplicate invoice number INV-2025-00417**; step `recurring` fails, the run ends FAILED after 104.6 s |\n\n"
                "Root cause: the lock may be broken by *age* while its holder is alive and merely slow; waiting time and staleness are both 5.0 s, so every stall over 5 s does this. "
                "Besides, `lock` removes the file in `finally` even when it is no longer its own.\n\n"
                "Damage: one number was written twice, none is missing, and INV-2025-00417 in the database is right (customer c-2207). "
                "The invoice worker-1 wanted to write was not issued; its subscription is still due.\n\n"
                "**Second finding, latent:** the nightly runs on both workers and both select *all* due subscriptions. Between SELECT and UPDATE there is no lock, so the same subscription can be issued twice. "
                "The log has no proof that it happened last night, but nothing prevents it.\n\n"
                "Ways to fix: (a) longer staleness and a heartbeat by the holder; (b) no lock files at all, numbers from SQLite with BEGIN IMMEDIATE. I lean to (b), architecture decision 4 already asks to revisit this. Your call.",
            ),
        ),
    ),
    Turn(
        "That matches what ops saw, thanks. Take (a) please, the small one: stale after 60 s, the holder touches the lock while it works, and it must not remove a lock that isn't its own.",
        (
            step(
                "Implement (a): STALE_SECONDS 60, heartbeat thread that utimes the file every second... with NFS stalled the utime blocks as well, but 60 s covers it. "
                "Ownership: write pid + random token, compare before unlink.",
                "All right, (a).",
                edit(
                    "billing/numbering.py",
                    ("import os\nimport time\n", "import os\nimport threading\nimport time\nimport uuid\n"),
                    (
                        "STALE_SECONDS = 5.0\n",
                        "STALE_SECONDS = 60.0\n#: How often the holder shows that it is alive.\nTOUCH_SECONDS = 1.0\n",
                    ),
                    (
                        "    deadline = time.monotonic() + wait\n",
                        '    token = f"{os.getpid()} {uuid.uuid4().hex}"\n    deadline = time.monotonic() + wait\n',
                    ),
                    (
                        "    try:\n        os.write(handle, str(os.getpid()).encode())\n        os.close(handle)\n        yield\n    finally:\n        path.unlink()\n",
                        "    os.write(handle, token.encode())\n    os.close(handle)\n    done = threading.Event()\n\n"
                        "    def touch() -> None:\n        while not done.wait(TOUCH_SECONDS):\n            os.utime(path)\n\n"
                        "    toucher = threading.Thread(target=touch, daemon=True)\n    toucher.start()\n"
                        "    try:\n        yield\n    finally:\n        done.set()\n        toucher.join()\n"
                        "        if path.exists() and path.read_text() == token:\n            path.unlink()\n",
                    ),
                ),
            ),
            step("", "", bash("python3 -m unittest tests.test_numbering 2>&1 | tail -40")),
            step(
                "test_old_lock_is_broken uses 60 s in the past and stale 60: borderline `> stale`, passes or not depending on microseconds. Make it 120. "
                "Add a test for not removing a foreign lock.",
                "Passing. A test that a foreign lock is left alone, and the old-lock test gets more distance (it sat exactly on the new limit).",
                edit(
                    "tests/test_numbering.py",
                    ("        past = time.time() - 60\n", "        past = time.time() - 120\n"),
                    (
                        '\n\nif __name__ == "__main__":',
                        "\n    def test_a_lock_of_somebody_else_is_left_alone(self):\n"
                        '        path = self.folder / "x.lock"\n'
                        "        with lock(path):\n"
                        "            path.unlink()\n"
                        '            path.write_text("4711 other")\n'
                        "        self.assertTrue(path.exists())\n"
                        '\n\nif __name__ == "__main__":',
                    ),
                ),
                bash("python3 -m unittest tests.test_numbering 2>&1 | tail -40; git diff --stat"),
            ),
            step(
                "",
                "(a) is in place, not committed yet: stale after 60 s, the holder touches the lock every second, and a lock with another token is left alone. "
                "One limit you should know: **while NFS stalls, the touch stalls as well**, so a stall over 60 s would still do it. The wait stays at 5 s, so the other worker now gets a `LockTimeout` where it broke the lock before. Shall I commit?",
            ),
        ),
    ),
    Turn(
        "Stop, I changed my mind. Talked to ops: the NFS volume goes away in January. So (b) after all: no lock files, numbers from SQLite with BEGIN IMMEDIATE. "
        "Throw away what you just did in numbering. The counter files have to be taken over once, we must not start at 1. And api.py stays untouched, you know.",
        (
            step(
                "Revert the working tree for numbering and its test. Then read store and api again for the seam: Api(store, numbers) calls numbers.next(year).",
                "Throwing (a) away and reading the seam again.",
                bash(
                    "git checkout -q billing/numbering.py tests/test_numbering.py && git status --short && git log --oneline | head -5"
                ),
                read("billing/store.py"),
                bash("grep -rn 'Numbers(\\|numbering' --include=*.py --include=*.ini --include=*.md . | cat"),
            ),
            step(
                "api.create_invoice calls self._numbers.next(day.year) then self._store.add. Not in one transaction, as api.py must not be touched. So a crash between the two leaves a gap. "
                "Could be closed without touching api.py: Numbers.next could reserve, and Store.add... e.g. next() computes the number inside a transaction left open until add() commits. "
                "That is action at a distance: with threads (ThreadingHTTPServer) and one connection this would be terrible. Wait: one connection with threads? sqlite3 check_same_thread is default True: "
                "Store is opened in main thread, used in handler threads -> ProgrammingError! Is that so? serve() uses ThreadingHTTPServer and Api bound to a store of the main thread. Hmm, that is an existing problem or production patches it; "
                "mention it, do not fix silently. A gap on crash existed before as well (counter file written, then insert). Keep: same guarantee as before, tell the user.",
                "`Api` only needs `numbers.next(year)`, so `billing/api.py` can stay as it is. I add a `counters` table and an immediate transaction to the store, and `Numbers` works on the store.",
                edit(
                    "billing/store.py",
                    (
                        "CREATE TABLE IF NOT EXISTS journal (",
                        "CREATE TABLE IF NOT EXISTS counters (\n    prefix TEXT NOT NULL,\n    year   INTEGER NOT NULL,\n    last   INTEGER NOT NULL,\n    PRIMARY KEY (prefix, year)\n);\nCREATE TABLE IF NOT EXISTS journal (",
                    ),
                    (
                        "    def transaction(self) -> Iterator[None]:\n"
                        '        """Everything inside is written together or not at all."""\n'
                        '        self.db.execute("BEGIN")\n',
                        "    def transaction(self, immediate: bool = False) -> Iterator[None]:\n"
                        '        """Everything inside is written together or not at all; `immediate` locks out other writers at once."""\n'
                        '        self.db.execute("BEGIN IMMEDIATE" if immediate else "BEGIN")\n',
                    ),
                    (
                        "    def note(self, number: str, what: str",
                        "    def counter(self, prefix: str, year: int) -> Optional[int]:\n"
                        '        """Return the last serial that was handed out, or None for a year that has not begun here."""\n'
                        '        row = self.db.execute("SELECT last FROM counters WHERE prefix=? AND year=?", (prefix, year)).fetchone()\n'
                        '        return None if row is None else int(row["last"])\n\n'
                        "    def set_counter(self, prefix: str, year: int, last: int) -> None:\n"
                        '        self.db.execute("INSERT OR REPLACE INTO counters VALUES (?, ?, ?)", (prefix, year, last))\n\n'
                        "    def highest_serial(self, prefix: str, year: int) -> int:\n"
                        '        """Return the highest serial among the stored invoices of a year."""\n'
                        '        start = f"{prefix}-{year}-"\n'
                        "        row = self.db.execute(\n"
                        '            "SELECT max(number) AS number FROM invoices WHERE number >= ? AND number < ?", (start, start + "~")\n'
                        "        ).fetchone()\n"
                        '        return int(row["number"][len(start) :]) if row["number"] else 0\n\n'
                        "    def note(self, number: str, what: str",
                    ),
                ),
                write("billing/numbering.py", NUMBERING_2),
                write("tests/test_numbering.py", TEST_NUMBERING_2),
            ),
            step(
                "Now the callers: cli and tests/helpers.",
                "",
                edit(
                    "billing/cli.py",
                    ("    config.numbering.mkdir(parents=True, exist_ok=True)\n", ""),
                    (
                        "Numbers(config.numbering, config.prefix)",
                        "Numbers(store, config.prefix, legacy=config.numbering)",
                    ),
                ),
                edit("tests/helpers.py", ("Numbers(self.folder)", "Numbers(self.store)")),
                TESTS,
            ),
            step(
                "Let me see the result. If green: check that the concurrency test really fails with a plain BEGIN, to know that it tests something.",
                "Does the concurrency test really test something? With a plain BEGIN it has to fail.",
                bash(
                    "sed -i 's/transaction(immediate=True)/transaction()/' billing/numbering.py && python3 -m unittest tests.test_numbering 2>&1 | grep -vE '^  File|^    ' | tail -30; sed -i 's/transaction():/transaction(immediate=True):/' billing/numbering.py && git diff --stat && python3 -m unittest tests.test_numbering 2>&1 | tail -4"
                ),
            ),
            step(
                "It fails with 'database is locked' under plain BEGIN (deferred upgrade), and passes with IMMEDIATE. Good. Now the second finding: recurring on both workers. "
                "Same tool: claim rows inside an immediate transaction. The user has not asked for it. Ask, do not do. "
                "Check 3.9 compat and commit.",
                'It fails without IMMEDIATE ("database is locked") and passes with it, so it tests the right thing.',
                COMPILES,
                bash("git add -A && git commit -qm 'Numbers come from the database, no lock files' && git show HEAD"),
            ),
            step(
                "",
                "(b) is committed. What holds now:\n\n"
                "- `Numbers.next` runs in one `BEGIN IMMEDIATE` transaction on the new `counters` table. No file, no lock age, nothing on NFS.\n"
                "- **Take-over once:** for a year without a row, the start is the larger of `counter-YYYY.txt` in `[storage] numbering` and the highest number in `invoices`. After that the file is never read again. So we go on at 00418, not at 1, even if a file is stale.\n"
                "- `billing/api.py` is untouched: it still calls `numbers.next(year)`.\n\n"
                "Open, and your decision:\n"
                "1. As before, a crash between taking a number and storing the invoice leaves a gap. Closing it needs one transaction around both, that is a change in `api.py`. I left it.\n"
                "2. `recurring` can still issue a subscription twice when both workers run. I would claim each row in an immediate transaction.\n"
                "3. `Store` is opened in the main thread and used from server threads; `sqlite3` refuses that by default. I have not looked into how production gets away with it.\n\n"
                "Next I would do 2, then the documentation.",
            ),
        ),
    ),
    Turn(
        "thanks, go on",
        (
            step(
                "Do 2: claim. In recurring: for each due id, in immediate transaction: UPDATE subscriptions SET next_on=date(next_on,'+1 month') WHERE id=? AND next_on=?; rowcount 0 -> another worker took it. "
                "Then create. But create_invoice calls numbers.next which begins its own transaction: cannot nest. So claim first (autocommit UPDATE is atomic by itself), then create; if create fails, give the claim back. "
                "The test for failure: lines='nonsense' -> json error -> must give back.",
                "The claim: one atomic UPDATE that only succeeds for the worker that still sees the old date; if issuing fails, the claim is given back.",
                read("billing/jobs.py"),
                read("tests/test_jobs.py"),
            ),
            step(
                "",
                "",
                edit(
                    "billing/jobs.py",
                    ("import logging\nimport time\n", "import json\nimport logging\nimport time\n"),
                    (
                        '        "SELECT id, customer, lines FROM subscriptions WHERE next_on<=? ORDER BY id LIMIT ?",',
                        '        "SELECT id, customer, lines, next_on FROM subscriptions WHERE next_on<=? ORDER BY id LIMIT ?",',
                    ),
                    (
                        "    import json\n\n    for row in due:\n"
                        '        run.api.create_invoice(json.loads(row["customer"]), json.loads(row["lines"]), run.day.isoformat())\n'
                        '        run.store.db.execute("UPDATE subscriptions SET next_on=date(next_on, \'+1 month\') WHERE id=?", (row["id"],))\n'
                        "    return len(due)\n",
                        "    count = 0\n    for row in due:\n"
                        '        if not claim(run.store, row["id"], row["next_on"]):\n'
                        "            continue\n"
                        "        try:\n"
                        '            run.api.create_invoice(json.loads(row["customer"]), json.loads(row["lines"]), run.day.isoformat())\n'
                        "        except Exception:\n"
                        '            run.store.db.execute("UPDATE subscriptions SET next_on=? WHERE id=?", (row["next_on"], row["id"]))\n'
                        "            raise\n"
                        "        count += 1\n"
                        "    return count\n\n\n"
                        "def claim(store: Store, subscription: int, next_on: str) -> bool:\n"
                        '    """Take a due subscription for this worker; False when the other worker was faster."""\n'
                        "    done = store.db.execute(\n"
                        "        \"UPDATE subscriptions SET next_on=date(next_on, '+1 month') WHERE id=? AND next_on=?\", (subscription, next_on)\n"
                        "    )\n"
                        "    return done.rowcount == 1\n",
                    ),
                ),
                edit(
                    "tests/test_jobs.py",
                    ("from billing.jobs import Run\n", "from billing.jobs import Run, claim\n"),
                    (
                        "    def test_retention_is_the_last_step(self):\n",
                        "    def test_only_one_worker_gets_a_subscription(self):\n"
                        "        self.subscribe(1)\n"
                        '        self.assertTrue(claim(self.store, 1, "2025-03-01"))\n'
                        '        self.assertFalse(claim(self.store, 1, "2025-03-01"))\n\n'
                        "    def test_a_claim_is_given_back_when_issuing_fails(self):\n"
                        "        self.subscribe(1)\n"
                        "        self.store.db.execute(\"UPDATE subscriptions SET lines='nonsense'\")\n"
                        "        self.run_on(date(2025, 3, 1))\n"
                        '        row = self.store.db.execute("SELECT next_on FROM subscriptions").fetchone()\n'
                        '        self.assertEqual(row["next_on"], "2025-03-01")\n\n'
                        "    def test_retention_is_the_last_step(self):\n",
                    ),
                ),
                TESTS,
            ),
            step(
                "",
                "Green. Now the documentation; the files as they stand:",
                bash("git commit -qam 'A subscription is claimed before it is issued'"),
                read("docs/operations.md"),
                read("docs/architecture.md"),
                read("CHANGELOG.md"),
            ),
            step(
                "",
                "",
                edit(
                    "docs/operations.md",
                    (
                        "beside it. Numbering has its own folder on the shared NFS volume (`/mnt/shared/billing/numbering`), a relic of the time\nwhen each worker had its own database.\n",
                        "beside it. Numbers come from the table `counters` in the same database. The old counter files on the NFS volume\n(`/mnt/shared/billing/numbering`) are read once for each year that has no row yet; the volume may go after that.\n",
                    ),
                    (
                        "A timer starts `billing.cli nightly` at 02:30 **on both workers**. That was harmless as long as subscriptions were\npartitioned by worker; since 2.2 both see all of them. Steps run in order and a failing step does not stop the rest.\n",
                        "A timer starts `billing.cli nightly` at 02:30 **on both workers**. Both see all subscriptions and claim each one before\nthey issue it, so it does not matter which worker is faster. Steps (`recurring`, `export`, `retention`) run in order and\na failing step does not stop the rest. `retention` removes documents 30 days after payment (`[retention] days`).\n",
                    ),
                    (
                        "* Restarting a worker during the nightly run leaves `numbering.lock` behind; the next caller breaks it.\n",
                        "* A stored document path that leaves the documents folder is kept and logged as a warning; look at each of them.\n",
                    ),
                    (
                        "Restore the database first, then the documents, then compare `counter-YYYY.txt` with the highest number in the\ndatabase.",
                        "Restore the database first, then the documents, then compare the table `counters` with the highest number in\n`invoices`.",
                    ),
                ),
                edit(
                    "docs/architecture.md",
                    (
                        "      │         ├──> numbering (NFS counter file + lock file)\n",
                        "      │         ├──> numbering (table `counters`) ──> store\n",
                    ),
                    (
                        "    cli ───> jobs ──> export (DATEV batch)\n",
                        "    cli ───> jobs ──> export (DATEV batch)\n              └─────> retention ──> store\n",
                    ),
                    (
                        "4. **Numbers come from a counter file**, because they had to be shared between two databases then. Revisit when both\n   workers use one database. (2023-09; both use one since 2.2, 2025-08, and it was not revisited.)\n",
                        "4. **Numbers come from the database**, in a BEGIN IMMEDIATE transaction. A counter file with a lock was used until 2.3; a\n   lock that is broken by age while its holder is slow gave INV-2025-00417 twice (E-4312). (2025-11)\n",
                    ),
                ),
                edit(
                    "CHANGELOG.md",
                    (
                        "# Changelog\n\n",
                        "# Changelog\n\n## Unreleased\n* Documents of paid invoices are removed after 30 days (`[retention] days`); invoices stay.\n"
                        "* Numbers come from the database; counter files are taken over once. Fixes E-4312.\n* A subscription cannot be issued by both workers.\n"
                        "* Half a cent is rounded away from zero (ticket 311); Greek VAT numbers are recognised.\n\n",
                    ),
                ),
                bash("python3 -m unittest 2>&1 | tail -4; git diff"),
            ),
            step(
                "",
                "",
                bash(
                    "git commit -qam 'Documentation for retention, numbers and claims' && git log --oneline && git status --short && git diff --stat HEAD~6 -- billing/api.py | wc -l"
                ),
            ),
            step(
                "",
                "Done: subscriptions are claimed (two new tests), and operations, architecture and changelog say what holds now. "
                "`git diff` over the whole day shows no change in `billing/api.py`.",
            ),
        ),
    ),
    Turn(
        "Fjell (the dunning partner) writes that they get a lot of 409 since the night of the accident, for payments. Is that us, did we break something? Same log. Only tell me, no change.",
        (
            step(
                "409 is bad_transition: paying an invoice that is paid already, or cancelled. Count by client and look whether it begins with the accident at 02:31.",
                "409 is `bad_transition`. First: who gets it, for what, and since when.",
                bash(
                    "grep -oE '(GET|POST|DELETE) .* 409 .*client=.*' logs/worker.log | sed -E 's/INV-2025-[0-9]+/N/; s/[0-9.]+ms //' | sort | uniq -c; grep ' 409 ' logs/worker.log | cut -c1-5 | sort | uniq -c"
                ),
                bash("grep -n 'def _move' -A10 billing/api.py; grep -n 'NEXT =' -B2 -A1 billing/models.py"),
            ),
            step(
                "All are payments, from all clients, and they began before the accident. Hypothesis: a second payment notice for an invoice that is paid already. Prove it: for each 409 find the 200 before.",
                "All of them are payments, they hit every client, and they begin well before 02:31. My guess is second notices for invoices that are paid already; that can be proved.",
                bash(
                    "python3 - <<'EOF'\n"
                    "import re, collections\n"
                    "paid, repeats, others = {}, [], []\n"
                    "for number, line in enumerate(open('logs/worker.log'), 1):\n"
                    "    found = re.search(r'POST (\\S+)/payment (\\d+) .*client=(\\S+)', line)\n"
                    "    if found is None:\n"
                    "        continue\n"
                    "    path, status, client = found.groups()\n"
                    "    if status == '200':\n"
                    "        paid[path] = (number, line[:12], client)\n"
                    "    elif status == '409':\n"
                    "        (repeats if path in paid else others).append((number, line[:12], client, path[-14:], paid.get(path)))\n"
                    "print('refused', len(repeats) + len(others), 'paid before in this log', len(repeats), 'not', len(others))\n"
                    "print('clients', collections.Counter(r[2] for r in repeats))\n"
                    "print('before 02:30', sum(r[1] < '02:30' for r in repeats), 'after', sum(r[1] >= '02:30' for r in repeats))\n"
                    "for row in repeats[:40]:\n"
                    "    print(*row[:4], 'paid at line', *row[4])\n"
                    "EOF"
                ),
            ),
            step(
                "All 115 were paid before in the same log. Look at one stretch to see whether the same client repeats after a time-out (slow answers?) or different clients notify.",
                "Every one of them. One stretch in full, to see whether slow answers make the clients repeat.",
                read("logs/worker.log", 2330, 270),
            ),
            step(
                "Answers take 2 to 60 ms there: no time-outs. Different clients notify for the same invoice. It grows over the night as more invoices are paid: that explains 'since the accident'.",
                "",
                read("docs/api.md", 30, 14),
            ),
            step(
                "",
                "Not us, and not the accident:\n\n"
                "- 115 payments were refused in this log, 37 of them before the nightly run began. **All 115 are second notices**: the same invoice was paid, with a 200, earlier in the same log.\n"
                "- They hit all clients alike (Nordlys 29, Fjell 29, the app 57). Mostly *another* client had reported the payment first. Answers took under 60 ms, so these are no repeats after time-outs.\n"
                '- It looks like "since the accident" because the share grows through the night: the more is paid, the more second notices meet a paid invoice.\n\n'
                '409 `bad_transition` is what docs/api.md promises for that, and error codes are frozen. Fjell should take a 409 on a payment as "paid already". I changed nothing.',
            ),
        ),
    ),
    Turn(
        "Which port does the health endpoint listen on again, and who calls it? Security wants to close everything but 8443 from outside.",
        (
            step(
                "Look it up, do not answer from memory: ini, server.py, operations.",
                "",
                read("billing/server.py"),
                bash(
                    "grep -rn '8081\\|8443\\|health_port' --include=*.py --include=*.ini --include=*.md . | cat; grep 'healthz' logs/worker.log | grep -oE 'from=[0-9.]+ port=[0-9]+' | sort | uniq -c"
                ),
            ),
            step(
                "Three internal addresses 10.0.3.x call 8081 in the log; none from outside.",
                "`health_port` is **8081**, plain HTTP (`GET /healthz`, also answered on 8443). Callers: the cluster's own probes and the balancer, every 10 s each; in last night's log only "
                "three internal addresses (10.0.3.4, 10.0.3.5, 10.0.3.17). So yes: 8081 can and should be closed from outside, docs/operations.md already demands it. "
                "8443 has to stay open as it is: the app and both partners have it built in. Mind that `host = 0.0.0.0` makes 8081 listen everywhere; closing it is the firewall's job unless you want a separate `health_host`. I changed nothing.",
            ),
        ),
    ),
    Turn(
        "Good, firewall it is. Next task: credit notes. When an issued invoice is cancelled the accountants need a credit note: own number sequence CN-2025-00001, negative lines, "
        "a reference to the original, and it has to undo the original to the cent, with the VAT rate of the original's day. In the DATEV export the original's number goes into a new column "
        '"Belegfeld 2" (at the end, as the rules say), and Soll/Haben is H with a positive amount. No new public API function for now. Write the tests first.',
        (
            step(
                "Read the pieces: models, export, their tests. They may have changed? models and export have not changed today, but I need exact text; models was read long ago.",
                "Tests first. I need the exact text of models, export and their tests.",
                read("billing/models.py"),
                read("billing/export.py"),
                read("tests/test_export.py"),
                read("tests/test_api.py"),
            ),
            step(
                "Key constraint: Invoice.to_json keys are part of the public contract (test_keys_are_frozen). A credit reference must not appear in to_json for the API; but the store saves body = json.dumps(invoice.to_json()). "
                "So the store needs more than to_json. Option: Invoice.to_json unchanged and a separate `to_row_json` with the extra keys for the store only when set. from_json reads with .get. "
                "Tax: rate on taxed_on or issued_on.",
                "One trap: the keys of `Invoice.to_json` are the public contract (`test_keys_are_frozen`), and the store keeps exactly that JSON. So the reference to the original must be stored **beside** it, not in it. The tests:",
                write("tests/test_credit.py", TEST_CREDIT),
                bash("python3 -m unittest tests.test_credit 2>&1 | tail -20"),
            ),
            step(
                "Fails on import as it should. Implement models: credits: Optional[str], taxed_on: Optional[date].",
                "Failing, as it should. Now the model: two fields that never show in `to_json`.",
                edit(
                    "billing/models.py",
                    (
                        "    documents: List[str] = field(default_factory=list)\n",
                        "    documents: List[str] = field(default_factory=list)\n    credits: Optional[str] = None\n    taxed_on: Optional[date] = None\n",
                    ),
                    (
                        "            rate = applied_rate(self.customer.country, self.customer.vat_id, self.issued_on, line.reduced)\n",
                        "            day = self.taxed_on or self.issued_on\n            rate = applied_rate(self.customer.country, self.customer.vat_id, day, line.reduced)\n",
                    ),
                    (
                        '    @classmethod\n    def from_json(cls, data: Dict[str, Any]) -> "Invoice":\n        paid = data.get("paid_on")\n',
                        "    def to_row(self) -> Dict[str, Any]:\n"
                        '        """What is stored: the public JSON, and what a credit note adds; the keys of `to_json` are frozen."""\n'
                        "        if self.credits is None:\n            return self.to_json()\n"
                        "        taxed = self.taxed_on.isoformat() if self.taxed_on else None\n"
                        '        return {**self.to_json(), "credits": self.credits, "taxed_on": taxed}\n\n'
                        '    @classmethod\n    def from_json(cls, data: Dict[str, Any]) -> "Invoice":\n        paid = data.get("paid_on")\n        taxed = data.get("taxed_on")\n',
                    ),
                    (
                        '            documents=list(data.get("documents", [])),\n',
                        '            documents=list(data.get("documents", [])),\n            credits=data.get("credits"),\n            taxed_on=date.fromisoformat(taxed) if taxed else None,\n',
                    ),
                ),
                edit(
                    "billing/store.py",
                    ("            json.dumps(invoice.to_json()),\n", "            json.dumps(invoice.to_row()),\n"),
                ),
                write("billing/credit.py", CREDIT),
                bash("python3 -m unittest tests.test_credit tests.test_api tests.test_store 2>&1 | tail -50"),
            ),
            step(
                "Only the export test is left. Now export: column Belegfeld 2 at the end, S/H and absolute amount, rate at taxed_on.",
                "The model holds and the frozen keys are still frozen. Now the export.",
                edit(
                    "billing/export.py",
                    ('    "Buchungstext",\n', '    "Buchungstext",\n    "Belegfeld 2",\n'),
                    (
                        "        rate = applied_rate(customer.country, customer.vat_id, invoice.issued_on, line.reduced)\n",
                        "        day = invoice.taxed_on or invoice.issued_on\n        rate = applied_rate(customer.country, customer.vat_id, day, line.reduced)\n",
                    ),
                    (
                        '                comma(gross.amount),\n                "S",\n',
                        '                comma(abs(gross.amount)),\n                "H" if invoice.credits else "S",\n',
                    ),
                    (
                        '                f"{customer.name}: {line.text}"[:60],\n',
                        '                f"{customer.name}: {line.text}"[:60],\n                invoice.credits or "",\n',
                    ),
                ),
                TESTS,
            ),
            step(
                "Is everything green? Then look at the whole diff critically before commit. issue_credit: number taken before the transaction; refused credit takes no number since moved() raises before. Good.",
                "Let me read the whole change once more before I commit it.",
                bash("git add -A && git diff --cached"),
            ),
            step(
                "",
                "Credit notes work: `billing/credit.py` (`credit_for`, `issue_credit`), `Invoice.credits` and `taxed_on`, the new last column in the export, six tests. Not committed yet, because of one question.\n\n"
                "- To the cent: yes, also when the rate has changed since (tested with the 16 % of 2020).\n"
                "- Frozen keys: the reference is stored beside the public JSON (`to_row`), so the app and the partners see nothing new. `billing/api.py` is untouched.\n"
                "- A refused credit takes no number.\n\n"
                "Question: `DELETE /v1/invoices/{number}` still cancels *without* a credit note, since that is `api.py`. The nightly run could write the missing credit notes for invoices that were cancelled through the API that day. Shall I add that as a fourth step?",
            ),
        ),
    ),
    Turn(
        "Yes, as a fourth step, but before the export so that the credit notes are in the same batch. And a small change: the prefix must be GS (Gutschrift) instead of CN, the accountants insist. Go on.",
        (
            step(
                "GS instead of CN everywhere. Order: recurring, credits, export, retention. For invoices cancelled via API: state cancelled and no credit note that references it. "
                "How to know 'issued before cancelled'? A draft can be cancelled too: but stored invoices: create_invoice issue=False stores drafts. Journal: 'added issued' tells. Let me look at the journal and the store again.",
                "First the prefix, everywhere.",
                bash("grep -rn 'CN' billing tests docs | cat"),
                bash(
                    "sed -i 's/\"CN\"/\"GS\"/; s/CN-2025/GS-2025/' billing/credit.py tests/test_credit.py && sed -i 's/\"CN-/\"GS-/g' tests/test_credit.py && grep -rn 'CN\\b' billing tests | cat; python3 -m unittest tests.test_credit 2>&1 | tail -4"
                ),
            ),
            step(
                "Commit this, then the nightly step. Read jobs and store as they are now.",
                "GS it is. Committing, then the nightly step; the files as they are now:",
                bash(
                    "git add -A && git commit -qm 'Credit notes with a sequence of their own (GS)' && git show --stat HEAD | tail -9"
                ),
                read("billing/jobs.py"),
                read("billing/store.py"),
            ),
            step(
                "Need: store.uncredited(): cancelled invoices with no note. Drafts that were cancelled never were issued and need none: journal has 'added','issued' or 'updated','issued'. "
                "issue_credit refuses cancelled ones (moved raises), so a second function: credit_cancelled(store, numbers, number, day). Refactor issue_credit to share.",
                "Drafts can be cancelled as well and need no credit note: the journal tells whether an invoice was ever issued. The tests for that first:",
                edit(
                    "tests/test_jobs.py",
                    (
                        '    def test_retention_is_the_last_step(self):\n        report = self.run_on(date(2025, 3, 1))\n        self.assertEqual(list(report.counts), ["recurring", "export", "retention"])\n',
                        '    def test_order_of_the_steps(self):\n        report = self.run_on(date(2025, 3, 1))\n        self.assertEqual(list(report.counts), ["recurring", "credits", "export", "retention"])\n\n'
                        "    def test_what_the_api_cancelled_gets_its_credit_note_once(self):\n"
                        '        made = self.api.create_invoice(json.loads(CUSTOMER), json.loads(LINES), "2025-03-01")\n'
                        '        self.api.cancel_invoice(made["number"])\n'
                        '        self.assertEqual(self.run_on(date(2025, 3, 2)).counts["credits"], 1)\n'
                        '        self.assertEqual(self.run_on(date(2025, 3, 3)).counts["credits"], 0)\n'
                        '        note = self.store.get("GS-2025-00001")\n'
                        '        self.assertEqual(note.credits, made["number"])\n\n'
                        "    def test_a_cancelled_draft_needs_none(self):\n"
                        '        made = self.api.create_invoice(json.loads(CUSTOMER), json.loads(LINES), "2025-03-01", issue=False)\n'
                        '        self.api.cancel_invoice(made["number"])\n'
                        '        self.assertEqual(self.run_on(date(2025, 3, 2)).counts["credits"], 0)\n',
                    ),
                ),
                bash("python3 -m unittest tests.test_jobs 2>&1 | tail -50"),
            ),
            step(
                "Now implement. Store.uncredited uses the journal: EXISTS (SELECT 1 FROM journal j WHERE j.number=i.number AND j.detail='issued'). Notes: body JSON has credits; use json_extract? SQLite on the 3.9 image: JSON1 is usually compiled in, "
                "but not guaranteed before 3.38. Safer: note the credit in the journal of the original ('credited', note number), and check NOT EXISTS on that.",
                "Failing, as it should. I avoid `json_extract` (JSON1 is not guaranteed in the old image) and write `credited` into the journal of the original instead.",
                edit(
                    "billing/store.py",
                    (
                        "    def counter(self, prefix: str, year: int)",
                        "    def uncredited(self, limit: int) -> List[str]:\n"
                        '        """Return numbers of invoices that were issued, then cancelled, and have no credit note yet."""\n'
                        "        rows = self.db.execute(\n"
                        "            \"SELECT number FROM invoices i WHERE state = 'cancelled'\"\n"
                        "            \" AND EXISTS (SELECT 1 FROM journal j WHERE j.number = i.number AND j.detail = 'issued')\"\n"
                        "            \" AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.number = i.number AND j.what = 'credited')\"\n"
                        '            " ORDER BY number LIMIT ?",\n'
                        "            (limit,),\n"
                        "        )\n"
                        '        return [row["number"] for row in rows]\n\n'
                        "    def counter(self, prefix: str, year: int)",
                    ),
                ),
                edit(
                    "billing/credit.py",
                    (
                        "    original = store.get(number)\n    cancelled = original.moved(CANCELLED)\n    note = credit_for(original, numbers.next(day.year), day)\n    with store.transaction():\n        store.update(cancelled)\n        store.add(note)\n    return note\n",
                        "    cancelled = store.get(number).moved(CANCELLED)\n    return _write(store, numbers, cancelled, day)\n\n\n"
                        "def credit_cancelled(store: Store, numbers: Numbers, day: date, limit: int) -> int:\n"
                        '    """Store the credit notes of invoices that were cancelled without one; return how many."""\n'
                        "    found = store.uncredited(limit)\n    for number in found:\n        _write(store, numbers, store.get(number), day)\n    return len(found)\n\n\n"
                        "def _write(store: Store, numbers: Numbers, cancelled: Invoice, day: date) -> Invoice:\n"
                        "    note = credit_for(cancelled, numbers.next(day.year), day)\n"
                        "    with store.transaction():\n        store.update(cancelled)\n        store.add(note)\n"
                        '        store.note(str(cancelled.number), "credited", note.number)\n    return note\n',
                    ),
                ),
                edit(
                    "billing/jobs.py",
                    (
                        "from billing.config import Config\n",
                        "from billing.config import Config\nfrom billing.credit import PREFIX, credit_cancelled\n",
                    ),
                    (
                        "from billing.models import ISSUED\n",
                        "from billing.models import ISSUED\nfrom billing.numbering import Numbers\n",
                    ),
                    (
                        '        return [("recurring", recurring), ("export", export), ("retention", retention)]',
                        '        return [("recurring", recurring), ("credits", credits), ("export", export), ("retention", retention)]',
                    ),
                    (
                        "def export(run: Run) -> int:\n",
                        "def credits(run: Run) -> int:\n"
                        '    """Write credit notes for what was cancelled through the API; before the export, to be in the same batch."""\n'
                        "    return credit_cancelled(run.store, Numbers(run.store, PREFIX), run.day, run.config.batch_size)\n\n\n"
                        "def export(run: Run) -> int:\n",
                    ),
                ),
                TESTS,
            ),
            step(
                "Check the result and then what the batch looks like for a real case: cancel an invoice through the API, run the nightly, print the file.",
                "Now a look at a real batch file, end to end.",
                bash(
                    "python3 - <<'EOF'\n"
                    "import tempfile\nfrom dataclasses import replace\nfrom datetime import date\nfrom pathlib import Path\n"
                    "from billing.api import Api\nfrom billing.config import load\nfrom billing.jobs import Run\nfrom billing.numbering import Numbers\nfrom billing.store import Store\n"
                    "folder = Path(tempfile.mkdtemp())\nconfig = replace(load(Path('config/service.ini'), {}), export_folder=folder, documents=folder)\n"
                    "store = Store(folder / 'x.sqlite3')\napi = Api(store, Numbers(store))\n"
                    "customer = {'id': 'c-1', 'name': 'Ada Brandt', 'country': 'DE'}\n"
                    "for price in ('100.00', '17.005', '2.665'):\n    api.create_invoice(customer, [{'text': 'Seat', 'quantity': '1', 'unit_price': price}], '2025-11-03')\n"
                    "api.cancel_invoice('INV-2025-00002')\nprint(Run(config, store, api, date(2025, 11, 3))().line())\n"
                    "print((folder / 'datev-2025-11-03.csv').read_text(encoding='cp1252'))\nprint(store.journal('INV-2025-00002'))\n"
                    "EOF"
                ),
            ),
            step(
                "The cancelled original itself is missing from the batch: export finds state=ISSUED only, so the batch has the credit note but not the original if it was cancelled the same day before export. "
                "The accountants would see an H without its S. Look at export() in jobs and at find, and think about which invoices a batch must have. Also the log of last night: how many cancels (DELETE)? Let me read the relevant code and the log.",
                "That shows a real problem: INV-2025-00002 was cancelled before it was ever exported, so the batch has its credit note (H) **without the original** (S). "
                "Before I decide, let me see how `export` selects, and how often same-day cancels happen.",
                bash(
                    "grep -n 'def export' -A6 billing/jobs.py; grep -n 'def find' -A30 billing/store.py; grep -c 'DELETE' logs/worker.log; grep -nE '409|404' logs/worker.log | head -60"
                ),
                read("docs/api.md"),
            ),
        ),
    ),
]


def settled(whole: Step) -> list[Step]:
    """Split a step whose calls may not run side by side: pi runs the calls of one answer at the same time."""
    groups: list[list[Call]] = [[]]
    for call in whole.calls:
        names = {name for name, _ in groups[-1]}
        if (call[0] == "bash" and names - {"read"}) or (call[0] in ("edit", "write") and "bash" in names):
            groups.append([])
        groups[-1].append(call)
    first, *rest = groups
    return [Step(whole.think, whole.text, tuple(first)), *(Step("", "", tuple(group)) for group in rest)]


def steps() -> list[Step]:
    """Return every step of the story in order."""
    return [part for turn in STORY for one in turn.steps for part in settled(one)]
