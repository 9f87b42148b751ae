"""Preflight's tests: what it promises, one sentence a test."""
