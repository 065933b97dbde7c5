"""The nightly run: issue what recurs, export what is new, tell how it went."""

import logging
import time
from dataclasses import dataclass, field
from datetime import date
from typing import Callable, Dict, List, Optional, Tuple

from billing.api import Api
from billing.config import Config
from billing.export import write_batch
from billing.models import ISSUED
from billing.store import Store

log = logging.getLogger("billing.jobs")


@dataclass
class Report:
    """What a run did, step by step."""

    day: date
    counts: Dict[str, int] = field(default_factory=dict)
    errors: List[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.errors

    def line(self) -> str:
        counts = " ".join(f"{name}={count}" for name, count in self.counts.items())
        return f"nightly {self.day.isoformat()} {'ok' if self.ok else 'FAILED'} {counts} in {self.seconds:.1f}s"


Step = Tuple[str, Callable[["Run"], int]]


class Run:
    """One nightly run; a step that fails is reported and does not stop the ones after it."""

    def __init__(self, config: Config, store: Store, api: Api, day: Optional[date] = None) -> None:
        self.config = config
        self.store = store
        self.api = api
        self.day = day or date.today()

    def steps(self) -> List[Step]:
        return [("recurring", recurring), ("export", export)]

    def __call__(self) -> Report:
        report = Report(self.day)
        began = time.monotonic()
        for name, step in self.steps():
            log.info("step %s begins", name)
            try:
                report.counts[name] = step(self)
            except Exception as error:
                log.exception("step %s failed", name)
                report.errors.append(f"{name}: {error}")
            else:
                log.info("step %s done count=%d", name, report.counts[name])
        report.seconds = time.monotonic() - began
        log.info(report.line())
        return report


def recurring(run: Run) -> int:
    """Issue the invoices of every subscription that is due."""
    rows = run.store.db.execute("SELECT name FROM sqlite_master WHERE type='table' AND name='subscriptions'").fetchone()
    if rows is None:
        return 0
    due = run.store.db.execute(
        "SELECT id, customer, lines FROM subscriptions WHERE next_on<=? ORDER BY id LIMIT ?",
        (run.day.isoformat(), run.config.batch_size),
    ).fetchall()
    import json

    for row in due:
        run.api.create_invoice(json.loads(row["customer"]), json.loads(row["lines"]), run.day.isoformat())
        run.store.db.execute("UPDATE subscriptions SET next_on=date(next_on, '+1 month') WHERE id=?", (row["id"],))
    return len(due)


def export(run: Run) -> int:
    """Write yesterday's invoices for the accountants."""
    invoices = run.store.find(state=ISSUED, since=run.day, limit=10000)
    write_batch(run.config.export_folder / f"datev-{run.day.isoformat()}.csv", invoices)
    return len(invoices)
