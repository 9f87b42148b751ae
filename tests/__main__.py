"""`manage.py test`: the whole suite on SQLite, and the panel (but its pages) on PostgreSQL and Redis too.

The services are those named by PREFLIGHT_TEST_DATABASE_URL and PREFLIGHT_TEST_REDIS_URL, else the usual local
ones when they answer. Arguments go to pytest as they are.

Without arguments the panel on SQLite, and what mostly waits (drills, foreign software, Chromium, whole
starts), run beside the run on the services, a few at once, each in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.parts import REQUIRE_ALL

DATABASE = "PREFLIGHT_TEST_DATABASE_URL"
REDIS = "PREFLIGHT_TEST_REDIS_URL"
USUAL = {DATABASE: "postgres://postgres@127.0.0.1:5432/postgres", REDIS: "redis://127.0.0.1:6379/15"}
SERVED = ("tests/panel", "tests/launch")
# What pages read is tried on the services by the tests of history; the pages themselves run on SQLite.
PAGES = "tests/panel/pages"
DRILLS = Path(__file__).parent / "drills"
# The longest first.
BESIDE = (
    "tests/panel",
    "tests/clients",
    "tests/drills/test_killed_parts.py",
    "tests/browser",
    "tests/launch",
)
AT_ONCE = 4
NOTHING_COLLECTED = 5


def main(arguments: list[str]) -> int:
    """Run pytest as often as it takes; return 0 only when no run failed."""
    services = {name: os.environ.get(name) or usual for name, usual in USUAL.items()}
    absent = [*_no_database(services[DATABASE]), *_no_redis(services[REDIS])]
    if absent and REQUIRE_ALL:
        print(f"PREFLIGHT_REQUIRE_ALL is set, but: {'; '.join(absent)}", file=sys.stderr)
        return 1
    if absent:
        print(f"On SQLite and the embedded broker only ({'; '.join(absent)}).", flush=True)
    served = [] if absent else _served(arguments)
    codes = _some(arguments, served, services) if arguments else _all(served, services)
    ran = [code for code in codes if code != NOTHING_COLLECTED]
    return max(ran, key=abs) if ran else NOTHING_COLLECTED  # one that was killed counts too


def _some(arguments: list[str], served: list[str], services: dict[str, str]) -> list[int]:
    """Run what the arguments ask for."""
    codes = []
    if served:
        print("On PostgreSQL and Redis:", flush=True)
        codes.append(_pytest(served, services))
        print("On SQLite and the embedded broker:", flush=True)
    return [*codes, _pytest(arguments, {})]


def _all(served: list[str], services: dict[str, str]) -> list[int]:
    """Run everything, what can beside the rest; the last run is of all that was not run before."""
    drills = sorted(f"tests/{DRILLS.name}/{file.name}" for file in DRILLS.glob("test_*.py"))
    codes = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waits = [pool.submit(_beside, path) for path in dict.fromkeys((*BESIDE, *drills))]
        if served:
            print("On PostgreSQL and Redis:", flush=True)
            codes.append(_pytest([*served, f"--ignore={PAGES}"], services))
        print("On SQLite and the embedded broker:", flush=True)
        for wait in as_completed(waits):
            ended = wait.result()
            print(ended.stdout, flush=True)
            codes.append(ended.returncode)
    done = (f"tests/{DRILLS.name}", *BESIDE)
    return [*codes, _pytest(["tests", *(f"--ignore={path}" for path in done)], {})]


def _beside(path: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", path]
    return subprocess.run(
        command,
        env=_environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _pytest(arguments: list[str], services: dict[str, str]) -> int:
    return subprocess.call([sys.executable, "-m", "pytest", *arguments], env=_environment(services))


def _environment(services: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in USUAL} | services


def _served(arguments: list[str]) -> list[str]:
    """Return the arguments of the run on services: the panel's paths among them, or all of its paths."""
    paths = [argument for argument in arguments if argument.split("::")[0].startswith("tests")]
    if not paths:
        return [*SERVED, *arguments]
    wanted = [path for path in paths if path.startswith(SERVED)]
    if "tests" in paths or "tests/" in paths:
        wanted = list(SERVED)
    return [*wanted, *(rest for rest in arguments if rest not in paths)] if wanted else []


def _no_database(url: str) -> list[str]:
    """Return why PostgreSQL cannot be used, or nothing when it answers."""
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError as error:
        return [f"no PostgreSQL: {str(error).splitlines()[0]}"]
    return []


def _no_redis(url: str) -> list[str]:
    """Return why Redis cannot be used, or nothing when it answers."""
    import redis

    try:
        with redis.Redis.from_url(url, socket_connect_timeout=2) as client:
            client.ping()
    except redis.RedisError as error:
        return [f"no Redis: {error}"]
    return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
