import unittest
from datetime import date

from billing.models import ISSUED, PAID, BadTransition
from billing.store import DuplicateNumber, NotFound
from tests.helpers import BUSINESS, Case, invoice


class StoreTest(Case):
    def test_round_trip(self):
        self.store.add(invoice())
        self.assertEqual(self.store.get("INV-2025-00001"), invoice())

    def test_number_is_unique(self):
        self.store.add(invoice())
        with self.assertRaisesRegex(DuplicateNumber, "E-4312"):
            self.store.add(invoice())

    def test_unknown(self):
        with self.assertRaises(NotFound):
            self.store.get("INV-1999-00001")
        with self.assertRaises(NotFound):
            self.store.update(invoice("INV-1999-00001"))

    def test_find(self):
        self.store.add(invoice("INV-2025-00001", date(2025, 1, 5)))
        self.store.add(invoice("INV-2025-00002", date(2025, 2, 5), BUSINESS))
        self.store.add(invoice("INV-2025-00003", date(2025, 3, 5)).moved(ISSUED))
        self.assertEqual([i.number[-1] for i in self.store.find()], ["3", "2", "1"])
        self.assertEqual([i.number[-1] for i in self.store.find(customer="c-2")], ["2"])
        self.assertEqual([i.number[-1] for i in self.store.find(state=ISSUED)], ["3"])
        self.assertEqual([i.number[-1] for i in self.store.find(since=date(2025, 2, 1))], ["3", "2"])
        self.assertEqual(len(self.store.find(limit=1)), 1)

    def test_documents_and_journal(self):
        self.store.add(invoice())
        self.store.attach("INV-2025-00001", "2025/03/INV-2025-00001.pdf", date(2025, 3, 14))
        self.assertEqual(self.store.documents("INV-2025-00001"), ["2025/03/INV-2025-00001.pdf"])
        self.assertEqual([what for what, _ in self.store.journal("INV-2025-00001")], ["added", "attached"])

    def test_transaction_is_all_or_nothing(self):
        with self.assertRaises(RuntimeError), self.store.transaction():
            self.store.add(invoice())
            raise RuntimeError
        self.assertEqual(self.store.find(), [])

    def test_states(self):
        paid = invoice().moved(ISSUED).moved(PAID, date(2025, 4, 1))
        self.assertEqual(paid.paid_on, date(2025, 4, 1))
        with self.assertRaises(BadTransition):
            paid.moved(ISSUED)


if __name__ == "__main__":
    unittest.main()
