"""The scratch project of the sample session: the files in `template/`, a night's log, and a git history."""

import random
import shutil
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

TEMPLATE = Path(__file__).parent / "template"
START = datetime(2025, 11, 2, 2, 18, 0)
PATHS = ["/v1/invoices", "/v1/invoices?state=issued&limit=50", "/v1/invoices/INV-2025-{:05d}"]
PATHS += ["/v1/invoices/INV-2025-{:05d}/documents", "/v1/invoices/INV-2025-{:05d}/payment"]

EVENTS = """\
02:30:00.012 worker-1 INFO billing.jobs step recurring begins
02:30:00.031 worker-2 INFO billing.jobs step recurring begins
02:31:07.114 worker-1 DEBUG billing.numbering lock taken /mnt/shared/billing/numbering/numbering.lock pid=4117
02:31:07.201 worker-1 DEBUG billing.numbering counter-2025.txt read 416
02:31:07.260 worker-1 WARNING billing.storage nfs: server not responding, still trying volume=/mnt/shared
02:31:07.308 worker-2 DEBUG billing.numbering waiting for /mnt/shared/billing/numbering/numbering.lock
02:31:12.240 worker-2 DEBUG billing.numbering lock is 5.1 s old, breaking it holder=4117
02:31:12.249 worker-2 DEBUG billing.numbering lock taken /mnt/shared/billing/numbering/numbering.lock pid=3988
02:31:12.303 worker-2 DEBUG billing.numbering counter-2025.txt read 416
02:31:12.377 worker-2 DEBUG billing.numbering counter-2025.txt written 417
02:31:12.380 worker-2 DEBUG billing.numbering lock released
02:31:12.398 worker-2 INFO billing.store added INV-2025-00417 customer=c-2207 gross=38.06
02:31:13.356 worker-1 WARNING billing.storage nfs: server OK volume=/mnt/shared stalled=6.1s
02:31:13.361 worker-1 DEBUG billing.numbering counter-2025.txt written 417
02:31:13.372 worker-1 ERROR billing.numbering lock vanished while held /mnt/shared/billing/numbering/numbering.lock
02:31:13.377 worker-1 ERROR billing.jobs step recurring failed
Traceback (most recent call last):
  File "/app/billing/store.py", line 84, in add
    self.db.execute(
sqlite3.IntegrityError: UNIQUE constraint failed: invoices.number

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/billing/jobs.py", line 57, in __call__
    report.counts[name] = step(self)
  File "/app/billing/jobs.py", line 84, in recurring
    run.api.create_invoice(json.loads(row["customer"]), json.loads(row["lines"]), run.day.isoformat())
  File "/app/billing/api.py", line 58, in create_invoice
    self._store.add(invoice)
  File "/app/billing/store.py", line 89, in add
    raise DuplicateNumber(f"E-4312 duplicate invoice number {invoice.number}") from error
billing.store.DuplicateNumber: E-4312 duplicate invoice number INV-2025-00417
02:31:13.402 worker-1 INFO billing.jobs step export begins
02:31:29.874 worker-2 INFO billing.jobs step recurring done count=106
02:31:29.880 worker-2 INFO billing.jobs step export begins
02:31:44.611 worker-1 INFO billing.jobs step export done count=388
02:31:44.615 worker-1 INFO billing.jobs nightly 2025-11-02 FAILED export=388 in 104.6s
02:31:58.207 worker-2 INFO billing.jobs step export done count=388
02:31:58.211 worker-2 INFO billing.jobs nightly 2025-11-02 ok recurring=106 export=388 in 118.2s
"""


def log_lines(count: int = 3400) -> list[str]:
    """Return one night of both workers, merged: requests, numbers, jobs, and the accident at 02:31."""
    rng = random.Random(20251102)
    lines, now, serial, paid = [], START, 311, set()
    events = EVENTS.rstrip("\n").split("\n")

    def add(worker: int, level: str, name: str, text: str) -> None:
        lines.append(f"{now:%H:%M:%S}.{now.microsecond // 1000:03d} worker-{worker} {level} billing.{name} {text}")

    while len(lines) < count:
        now += timedelta(milliseconds=rng.randrange(20, 800))
        while events and (not events[0].startswith("02:") or events[0] <= f"{now:%H:%M:%S.%f}"):
            if "written 417" in events[0]:
                serial = 417
            lines.append(events.pop(0))
        worker = rng.choice((1, 2))
        roll = rng.random()
        if roll < 0.12:
            text = f"GET /healthz 200 {rng.uniform(0.2, 0.9):.1f}ms from=10.0.3.{rng.choice((4, 5, 17))} port=8081"
            add(worker, "INFO", "server", text)
        elif roll < 0.72:
            path = rng.choice(PATHS).format(rng.randrange(1, serial))
            method = "POST" if path.endswith("payment") else "GET"
            status = 404 if "INV" in path and rng.random() < 0.02 else 200
            if method == "POST" and status == 200:
                status = 409 if path in paid else 200
                paid.add(path)
            client = rng.choice(("app/3.4.1", "app/3.5.0", "nordlys/11.2", "fjell-dunning/6.0"))
            add(
                worker,
                "INFO",
                "server",
                f"{method} {path} {status} {rng.uniform(2, 60):.1f}ms client={client} port=8443",
            )
        elif roll < 0.8 and now.minute not in (30, 31) and serial < (416 if events else 999):
            serial += 1
            gross = f"{rng.uniform(9, 900):.2f}"
            add(worker, "DEBUG", "numbering", f"counter-2025.txt written {serial}")
            add(
                worker,
                "INFO",
                "store",
                f"added INV-2025-{serial:05d} customer=c-{rng.randrange(1000, 3000)} gross={gross}",
            )
        elif roll < 0.9:
            used, pages = rng.uniform(3, 9), rng.randrange(20, 90)
            add(worker, "DEBUG", "store", f"wal checkpoint pages={pages} moved={pages} in {used:.1f}ms")
        elif roll < 0.93:
            add(worker, "WARNING", "storage", f"documents volume at {81.0 if events else 81.1}% free=3.9GB")
        else:
            size = rng.randrange(18_000, 240_000)
            add(worker, "INFO", "render", f"wrote 2025/11/INV-2025-{rng.randrange(1, serial):05d}.pdf bytes={size}")
    return lines


def build(folder: Path) -> None:
    """Write the project into a folder that does not exist yet, and commit it."""
    shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    (folder / "logs").mkdir()
    (folder / "logs" / "worker.log").write_text("\n".join(log_lines()) + "\n")
    (folder / ".gitignore").write_text("__pycache__/\nlogs/\n")
    who = ["-c", "user.name=Demo", "-c", "user.email=demo@example.com"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "-m", "Release 2.3.0"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    for key, value in (("user.name", "Demo"), ("user.email", "demo@example.com")):
        subprocess.run(["git", "config", key, value], cwd=folder, check=True)
