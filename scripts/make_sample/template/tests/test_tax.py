import unittest
from datetime import date
from decimal import Decimal

from billing.tax import UnknownCountry, applied_rate, country_of, rate_for, reverse_charge

DAY = date(2025, 3, 14)


class TaxTest(unittest.TestCase):
    def test_rates_change_with_time(self):
        self.assertEqual(rate_for("DE", date(2020, 6, 30)), Decimal("19"))
        self.assertEqual(rate_for("DE", date(2020, 7, 1)), Decimal("16"))
        self.assertEqual(rate_for("DE", date(2021, 1, 1)), Decimal("19"))
        self.assertEqual(rate_for("SK", date(2024, 12, 31), reduced=True), Decimal("10"))
        self.assertEqual(rate_for("SK", date(2025, 1, 1), reduced=True), Decimal("19"))

    def test_unknown_country(self):
        with self.assertRaises(UnknownCountry):
            rate_for("XX", DAY)

    def test_buyer_owes_the_tax(self):
        self.assertTrue(reverse_charge("DK", "DK12345678"))
        self.assertFalse(reverse_charge("DK", None))
        self.assertFalse(reverse_charge("DE", "DE123456789"))
        self.assertEqual(applied_rate("DK", "DK12345678", DAY), Decimal(0))

    def test_number_of_another_country_does_not_count(self):
        self.assertFalse(reverse_charge("DK", "SE556677889901"))

    def test_greek_numbers_begin_with_el(self):
        """Greece is GR in addresses and EL in VAT numbers."""
        self.assertEqual(country_of("EL094259216"), "GR")
        self.assertTrue(reverse_charge("GR", "EL094259216"))


if __name__ == "__main__":
    unittest.main()
