"""Invoices: numbering, tax, storage, export and a small HTTPS front."""

__version__ = "2.3.0"
