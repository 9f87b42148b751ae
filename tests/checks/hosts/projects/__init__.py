"""A sample agent project: no package of its own, one module a kind of agent, run from this folder."""
