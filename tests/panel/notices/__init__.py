"""Notices: planned, put into words, sent, and settled."""
