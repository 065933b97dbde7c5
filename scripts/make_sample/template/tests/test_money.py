import unittest
from decimal import Decimal

from billing.money import CurrencyMismatch, Money, total


class MoneyTest(unittest.TestCase):
    def test_reads_plain_decimals_only(self):
        self.assertEqual(Money.of("1234.50").amount, Decimal("1234.50"))
        for text in ("1,234.50", "1 234", "1.234,50"):
            with self.assertRaises(ValueError):
                Money.of(text)

    def test_half_a_cent_goes_up(self):
        """The accountants round half up, also at even cents (ticket 311)."""
        self.assertEqual(Money.of("0.125").rounded().amount, Decimal("0.13"))
        self.assertEqual(Money.of("0.135").rounded().amount, Decimal("0.14"))
        self.assertEqual(Money.of("2.665").rounded().amount, Decimal("2.67"))

    def test_credit_rounds_like_the_invoice_it_undoes(self):
        for text in ("0.125", "0.135", "2.665", "17.005"):
            self.assertEqual((-Money.of(text)).rounded().amount, -Money.of(text).rounded().amount)

    def test_digits_of_the_currency(self):
        self.assertEqual(str(Money.of("1234.5", "JPY")), "1235 JPY")
        self.assertEqual(str(Money.of("1.2345", "KWD")), "1.235 KWD")

    def test_sum_of_nothing(self):
        self.assertTrue(total([]).is_zero())

    def test_currencies_do_not_mix(self):
        with self.assertRaises(CurrencyMismatch):
            total([Money.of("1"), Money.of("1", "USD")])


if __name__ == "__main__":
    unittest.main()
