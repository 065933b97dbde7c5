import unittest
from pathlib import Path

from billing.config import BadConfig, load
from tests.helpers import Case

SHIPPED = Path(__file__).parent.parent / "config" / "service.ini"


class ConfigTest(Case):
    def test_shipped(self):
        config = load(SHIPPED, {})
        self.assertEqual((config.port, config.health_port), (8443, 8081))
        self.assertEqual(config.batch_size, 250)

    def test_environment_wins(self):
        self.assertEqual(load(SHIPPED, {"BILLING_JOBS_BATCH_SIZE": "10"}).batch_size, 10)

    def test_nonsense_is_refused(self):
        for value in ("0", "ten", "99999"):
            with self.assertRaises(BadConfig):
                load(SHIPPED, {"BILLING_JOBS_BATCH_SIZE": value})
        with self.assertRaises(BadConfig):
            load(self.folder / "none.ini", {})


if __name__ == "__main__":
    unittest.main()
