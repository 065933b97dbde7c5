import unittest

from billing.export import COLUMNS, rows, write_batch
from tests.helpers import BUSINESS, GREEK, Case, invoice


class ExportTest(Case):
    def test_rows(self):
        first, second = rows(invoice())
        self.assertEqual(first[:5], ["119,00", "S", "EUR", "10000", "8400"])
        self.assertEqual(second[:5], ["42,80", "S", "EUR", "10000", "8300"])
        self.assertEqual(first[6:8], ["1403", "INV-2025-00001"])

    def test_reverse_charge_has_its_key(self):
        for customer in (BUSINESS, GREEK):
            self.assertEqual(rows(invoice(customer=customer))[0][4:6], ["8125", "94"])

    def test_file(self):
        path = self.folder / "out" / "batch.csv"
        self.assertEqual(write_batch(path, [invoice()]), 2)
        text = path.read_text(encoding="cp1252")
        self.assertEqual(text.splitlines()[0], ";".join(COLUMNS))
        self.assertEqual(len(text.splitlines()), 3)


if __name__ == "__main__":
    unittest.main()
