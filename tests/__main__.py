"""`manage.py test`: the whole suite on SQLite, and before it the panel on PostgreSQL and Redis.

The drills start whole Preflights and mostly wait for them, so each of their files runs in a process of its
own, beside the run on the services.

The services are those named by PREFLIGHT_TEST_DATABASE_URL and PREFLIGHT_TEST_REDIS_URL, else the usual local
ones when they answer. Arguments go to pytest as they are.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.parts import REQUIRE_ALL

DATABASE = "PREFLIGHT_TEST_DATABASE_URL"
REDIS = "PREFLIGHT_TEST_REDIS_URL"
USUAL = {DATABASE: "postgres://postgres@127.0.0.1:5432/postgres", REDIS: "redis://127.0.0.1:6379/15"}
SERVED = ("tests/panel", "tests/launch")
DRILLS = "tests/drills"
NOTHING_COLLECTED = 5


def main(arguments: list[str]) -> int:
    """Run pytest once or twice; return 0 only when no run failed."""
    services = {name: os.environ.get(name) or usual for name, usual in USUAL.items()}
    absent = [*_no_database(services[DATABASE]), *_no_redis(services[REDIS])]
    if absent and REQUIRE_ALL:
        print(f"PREFLIGHT_REQUIRE_ALL is set, but: {'; '.join(absent)}", file=sys.stderr)
        return 1
    codes = []
    drills = [] if arguments else _started_drills()
    if absent:
        print(f"On SQLite and the embedded broker only ({'; '.join(absent)}).", flush=True)
    elif served := _served(arguments):
        print("On PostgreSQL and Redis:", flush=True)
        codes.append(_pytest(served, services))
    codes += [_ended(drill) for drill in drills]
    if not absent:
        print("On SQLite and the embedded broker:", flush=True)
    codes.append(_pytest([*arguments, f"--ignore={DRILLS}"] if drills else arguments, {}))
    ran = [code for code in codes if code != NOTHING_COLLECTED]
    return max(ran) if ran else NOTHING_COLLECTED


def _pytest(arguments: list[str], services: dict[str, str]) -> int:
    return subprocess.call([sys.executable, "-m", "pytest", *arguments], env=_environment(services))


def _environment(services: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in USUAL} | services


def _started_drills() -> list[subprocess.Popen[str]]:
    files = sorted(Path(__file__).parent.joinpath("drills").glob("test_*.py"))
    return [
        subprocess.Popen(
            [sys.executable, "-m", "pytest", f"{DRILLS}/{file.name}"],
            env=_environment({}), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for file in files
    ]  # fmt: skip


def _ended(drill: subprocess.Popen[str]) -> int:
    """Wait for a drill, and pass on what it said."""
    said, _ = drill.communicate()
    print(said, flush=True)
    return drill.returncode


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
