"""VAT: which rate a line gets, and when the buyer owes the tax in our place."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Dict, List, Optional

HOME = "DE"


@dataclass(frozen=True)
class Rate:
    """One country's rates, valid from a day on."""

    country: str
    standard: Decimal
    reduced: Decimal
    since: date


def _rate(country: str, standard: str, reduced: str, since: str) -> Rate:
    return Rate(country, Decimal(standard), Decimal(reduced), date.fromisoformat(since))


#: Newest last for each country; `rate_for` takes the last one that has begun.
RATES: List[Rate] = [
    _rate("AT", "20", "10", "2016-01-01"),
    _rate("BE", "21", "6", "2000-01-01"),
    _rate("BG", "20", "9", "2011-04-01"),
    _rate("CY", "19", "5", "2014-01-13"),
    _rate("CZ", "21", "15", "2013-01-01"),
    _rate("CZ", "21", "12", "2024-01-01"),
    _rate("DE", "19", "7", "2007-01-01"),
    _rate("DE", "16", "5", "2020-07-01"),
    _rate("DE", "19", "7", "2021-01-01"),
    _rate("DK", "25", "25", "1992-01-01"),
    _rate("EE", "20", "9", "2009-07-01"),
    _rate("EE", "22", "9", "2024-01-01"),
    _rate("EE", "24", "9", "2025-07-01"),
    _rate("ES", "21", "10", "2012-09-01"),
    _rate("FI", "24", "14", "2013-01-01"),
    _rate("FI", "25.5", "14", "2024-09-01"),
    _rate("FR", "20", "5.5", "2014-01-01"),
    _rate("GR", "24", "13", "2016-06-01"),
    _rate("HR", "25", "13", "2014-01-01"),
    _rate("HU", "27", "18", "2012-01-01"),
    _rate("IE", "23", "13.5", "2021-03-01"),
    _rate("IT", "22", "10", "2013-10-01"),
    _rate("LT", "21", "9", "2009-09-01"),
    _rate("LU", "17", "8", "2024-01-01"),
    _rate("LV", "21", "12", "2012-07-01"),
    _rate("MT", "18", "7", "2011-01-01"),
    _rate("NL", "21", "9", "2019-01-01"),
    _rate("PL", "23", "8", "2011-01-01"),
    _rate("PT", "23", "13", "2011-01-01"),
    _rate("RO", "19", "9", "2017-01-01"),
    _rate("RO", "21", "11", "2025-08-01"),
    _rate("SE", "25", "12", "1996-01-01"),
    _rate("SI", "22", "9.5", "2013-07-01"),
    _rate("SK", "20", "10", "2011-01-01"),
    _rate("SK", "23", "19", "2025-01-01"),
]

#: Prefixes of VAT numbers that are not the country's own code.
PREFIXES: Dict[str, str] = {}


class UnknownCountry(LookupError):
    """There is no rate for this country on this day."""


def rate_for(country: str, day: date, reduced: bool = False) -> Decimal:
    """Return the rate in percent that is valid in a country on a day."""
    found = [rate for rate in RATES if rate.country == country and rate.since <= day]
    if not found:
        raise UnknownCountry(f"no rate for {country} on {day.isoformat()}")
    return found[-1].reduced if reduced else found[-1].standard


def country_of(vat_id: str) -> str:
    """Return the country that a VAT number belongs to."""
    prefix = vat_id[:2].upper()
    return PREFIXES.get(prefix, prefix)


def reverse_charge(country: str, vat_id: Optional[str]) -> bool:
    """Tell whether the buyer owes the tax: a business with a VAT number in another member state."""
    if not vat_id or country == HOME:
        return False
    return country_of(vat_id) == country and any(rate.country == country for rate in RATES)


def applied_rate(country: str, vat_id: Optional[str], day: date, reduced: bool = False) -> Decimal:
    """Return the rate that goes on the invoice; zero where the buyer owes the tax."""
    if reverse_charge(country, vat_id):
        return Decimal(0)
    return rate_for(country, day, reduced)
