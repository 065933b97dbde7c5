import os
import time
import unittest

from billing.numbering import LockTimeout, lock
from tests.helpers import Case


class NumberingTest(Case):
    def test_counts_up_for_each_year(self):
        self.assertEqual(self.numbers.next(2025), "INV-2025-00001")
        self.assertEqual(self.numbers.next(2025), "INV-2025-00002")
        self.assertEqual(self.numbers.next(2026), "INV-2026-00001")

    def test_peek_takes_nothing(self):
        self.assertEqual(self.numbers.peek(2025), self.numbers.peek(2025))

    def test_lock_is_exclusive(self):
        path = self.folder / "x.lock"
        with lock(path), self.assertRaises(LockTimeout):
            with lock(path, wait=0.1):
                pass

    def test_old_lock_is_broken(self):
        path = self.folder / "x.lock"
        path.write_text("1")
        past = time.time() - 60
        os.utime(path, (past, past))
        with lock(path, wait=0.1):
            pass
        self.assertFalse(path.exists())


if __name__ == "__main__":
    unittest.main()
