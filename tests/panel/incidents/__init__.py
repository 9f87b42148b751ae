"""Tests of incidents: what groups lanes, opens and closes, and what people do with it."""
