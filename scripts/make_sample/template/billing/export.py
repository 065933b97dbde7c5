"""The batch file for the accountants (DATEV): semicolons, decimal commas, a fixed order of columns."""

import csv
from decimal import Decimal
from pathlib import Path
from typing import Iterable, List

from billing.models import Invoice
from billing.tax import applied_rate, reverse_charge

#: The order is read by position on the other side. New columns go to the end only.
COLUMNS = [
    "Umsatz",
    "Soll/Haben",
    "WKZ",
    "Konto",
    "Gegenkonto",
    "BU-Schluessel",
    "Belegdatum",
    "Belegfeld 1",
    "Buchungstext",
]

ACCOUNTS = {Decimal("19"): "8400", Decimal("7"): "8300", Decimal("0"): "8125"}
FOREIGN = "8320"


def comma(amount: Decimal) -> str:
    """Write 1234.50 as 1234,50: no thousands separator."""
    return str(amount).replace(".", ",")


def rows(invoice: Invoice) -> List[List[str]]:
    """Return one row for each line of an invoice."""
    result = []
    customer = invoice.customer
    for line in invoice.lines:
        rate = applied_rate(customer.country, customer.vat_id, invoice.issued_on, line.reduced)
        net = line.net()
        gross = net + (net * (rate / Decimal(100))).rounded()
        result.append(
            [
                comma(gross.amount),
                "S",
                invoice.currency,
                "10000",
                ACCOUNTS.get(rate, FOREIGN),
                "94" if reverse_charge(customer.country, customer.vat_id) else "",
                invoice.issued_on.strftime("%d%m"),
                invoice.number or "",
                f"{customer.name}: {line.text}"[:60],
            ]
        )
    return result


def write_batch(path: Path, invoices: Iterable[Invoice]) -> int:
    """Write the file and return how many rows it has; it appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    count = 0
    with part.open("w", newline="", encoding="cp1252", errors="replace") as handle:
        writer = csv.writer(handle, delimiter=";", quoting=csv.QUOTE_MINIMAL)
        writer.writerow(COLUMNS)
        for invoice in invoices:
            for row in rows(invoice):
                writer.writerow(row)
                count += 1
    part.replace(path)
    return count
