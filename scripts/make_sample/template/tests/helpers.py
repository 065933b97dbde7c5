"""What several tests need."""

import tempfile
import unittest
from datetime import date
from decimal import Decimal
from pathlib import Path

from billing.api import Api
from billing.models import Customer, Invoice, Line
from billing.money import Money
from billing.numbering import Numbers
from billing.store import Store

PRIVATE = Customer("c-1", "Ada Brandt", "DE")
BUSINESS = Customer("c-2", "Vinkel ApS", "DK", "DK12345678", "accounts@example.com")
GREEK = Customer("c-3", "Elaia E.P.E.", "GR", "EL094259216")


def line(price: str, quantity: str = "1", reduced: bool = False, currency: str = "EUR") -> Line:
    return Line("Support", Decimal(quantity), Money.of(price, currency), reduced)


def invoice(number: str = "INV-2025-00001", day: date = date(2025, 3, 14), customer: Customer = PRIVATE) -> Invoice:
    return Invoice(customer, [line("100.00"), line("20.00", "2", reduced=True)], day, number=number)


class Case(unittest.TestCase):
    """A test with a folder, a store and an API of its own."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.store = Store(self.folder / "billing.sqlite3")
        self.addCleanup(self.store.close)
        self.numbers = Numbers(self.folder)
        self.api = Api(self.store, self.numbers)
