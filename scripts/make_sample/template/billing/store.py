"""Invoices in SQLite: one row each, the JSON beside the columns that are searched."""

import json
import sqlite3
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, Iterator, List, Optional, Tuple

from billing.models import Invoice

SCHEMA = """
CREATE TABLE IF NOT EXISTS invoices (
    number      TEXT PRIMARY KEY,
    state       TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    issued_on   TEXT NOT NULL,
    paid_on     TEXT,
    gross       TEXT NOT NULL,
    currency    TEXT NOT NULL,
    body        TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS invoices_by_state ON invoices (state, issued_on);
CREATE INDEX IF NOT EXISTS invoices_by_customer ON invoices (customer_id, issued_on);
CREATE TABLE IF NOT EXISTS documents (
    number TEXT NOT NULL REFERENCES invoices (number),
    path   TEXT NOT NULL,
    added  TEXT NOT NULL,
    PRIMARY KEY (number, path)
);
CREATE TABLE IF NOT EXISTS journal (
    at     TEXT NOT NULL,
    number TEXT NOT NULL,
    what   TEXT NOT NULL,
    detail TEXT
);
"""


class DuplicateNumber(ValueError):
    """E-4312: an invoice with this number is there already."""


class NotFound(LookupError):
    """There is no such invoice."""


class Store:
    """The database of one service; open it once for each process."""

    def __init__(self, path: Path, timeout: float = 10.0) -> None:
        self.path = path
        self.db = sqlite3.connect(str(path), timeout=timeout, isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA foreign_keys=ON")
        self.db.executescript(SCHEMA)

    def close(self) -> None:
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is written together or not at all."""
        self.db.execute("BEGIN")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def add(self, invoice: Invoice) -> None:
        """Write a new invoice; its number must be new as well."""
        if invoice.number is None:
            raise ValueError("an invoice needs a number before it is stored")
        try:
            self.db.execute(
                "INSERT INTO invoices VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                self._row(invoice),
            )
        except sqlite3.IntegrityError as error:
            raise DuplicateNumber(f"E-4312 duplicate invoice number {invoice.number}") from error
        self.note(invoice.number, "added", invoice.state)

    def update(self, invoice: Invoice) -> None:
        """Write an invoice over the one with the same number."""
        row = self._row(invoice)
        done = self.db.execute(
            "UPDATE invoices SET state=?, customer_id=?, issued_on=?, paid_on=?, gross=?, currency=?, body=?"
            " WHERE number=?",
            (*row[1:], row[0]),
        )
        if done.rowcount == 0:
            raise NotFound(str(invoice.number))
        self.note(str(invoice.number), "updated", invoice.state)

    def get(self, number: str) -> Invoice:
        row = self.db.execute("SELECT body FROM invoices WHERE number=?", (number,)).fetchone()
        if row is None:
            raise NotFound(number)
        return Invoice.from_json(json.loads(row["body"]))

    def find(
        self,
        state: Optional[str] = None,
        customer: Optional[str] = None,
        since: Optional[date] = None,
        limit: int = 100,
    ) -> List[Invoice]:
        """Return invoices, newest first."""
        where, values = ["1=1"], []  # type: Tuple[List[str], List[Any]]
        if state is not None:
            where.append("state=?")
            values.append(state)
        if customer is not None:
            where.append("customer_id=?")
            values.append(customer)
        if since is not None:
            where.append("issued_on>=?")
            values.append(since.isoformat())
        rows = self.db.execute(
            f"SELECT body FROM invoices WHERE {' AND '.join(where)} ORDER BY issued_on DESC, number DESC LIMIT ?",
            (*values, limit),
        )
        return [Invoice.from_json(json.loads(row["body"])) for row in rows]

    def attach(self, number: str, path: str, added: date) -> None:
        """Remember that a document (a PDF, an XML) belongs to an invoice."""
        self.db.execute("INSERT INTO documents VALUES (?, ?, ?)", (number, path, added.isoformat()))
        self.note(number, "attached", path)

    def documents(self, number: str) -> List[str]:
        rows = self.db.execute("SELECT path FROM documents WHERE number=? ORDER BY path", (number,))
        return [row["path"] for row in rows]

    def note(self, number: str, what: str, detail: Optional[str] = None) -> None:
        """Write a line in the journal."""
        self.db.execute("INSERT INTO journal VALUES (datetime('now'), ?, ?, ?)", (number, what, detail))

    def journal(self, number: str) -> List[Tuple[str, Optional[str]]]:
        rows = self.db.execute("SELECT what, detail FROM journal WHERE number=? ORDER BY rowid", (number,))
        return [(row["what"], row["detail"]) for row in rows]

    def _row(self, invoice: Invoice) -> Tuple[Any, ...]:
        return (
            invoice.number,
            invoice.state,
            invoice.customer.id,
            invoice.issued_on.isoformat(),
            invoice.paid_on.isoformat() if invoice.paid_on else None,
            str(invoice.gross().amount),
            invoice.currency,
            json.dumps(invoice.to_json()),
        )
