"""Parsers: one file a format, each tolerant, each with the line of every setting."""
