import json
import logging
import unittest
from dataclasses import replace
from datetime import date

from billing.config import load
from billing.jobs import Run
from tests.helpers import Case
from tests.test_config import SHIPPED

CUSTOMER = json.dumps({"id": "c-9", "name": "Mira Toth", "country": "HU"})
LINES = json.dumps([{"text": "Seat", "quantity": "3", "unit_price": "9.99"}])


class JobsTest(Case):
    def setUp(self):
        super().setUp()
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        self.config = replace(load(SHIPPED, {}), export_folder=self.folder / "export")

    def run_on(self, day):
        return Run(self.config, self.store, self.api, day)()

    def subscribe(self, count):
        self.store.db.execute("CREATE TABLE subscriptions (id INTEGER PRIMARY KEY, customer, lines, next_on)")
        for _ in range(count):
            self.store.db.execute(
                "INSERT INTO subscriptions (customer, lines, next_on) VALUES (?, ?, ?)",
                (CUSTOMER, LINES, "2025-03-01"),
            )

    def test_nothing_to_do(self):
        report = self.run_on(date(2025, 3, 1))
        self.assertTrue(report.ok)
        self.assertEqual(report.counts["recurring"], 0)

    def test_subscriptions_are_issued_once(self):
        self.subscribe(3)
        self.assertEqual(self.run_on(date(2025, 3, 1)).counts["recurring"], 3)
        self.assertEqual(self.run_on(date(2025, 3, 2)).counts["recurring"], 0)
        self.assertEqual(len(self.store.find()), 3)

    def test_a_failing_step_does_not_stop_the_rest(self):
        self.subscribe(1)
        self.store.db.execute("UPDATE subscriptions SET lines='nonsense'")
        report = self.run_on(date(2025, 3, 1))
        self.assertFalse(report.ok)
        self.assertIn("export", report.counts)
        self.assertTrue(report.line().startswith("nightly 2025-03-01 FAILED"))


if __name__ == "__main__":
    unittest.main()
