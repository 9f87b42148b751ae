#!/usr/bin/env python3
"""The command line of Preflight: prepares its own environment, then runs the command inside it.

Standard library only, and written so that any Python can read it, since it must refuse an old one.
"""

import sys

FLOOR = (3, 11)
if sys.version_info[:2] < FLOOR:
    sys.exit("Preflight needs Python %d.%d or newer; this is %d.%d." % (FLOOR + tuple(sys.version_info[:2])))

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(HERE, ".venv")
PYTHON = os.path.join(VENV, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
RUN_LOCK = os.path.join(HERE, "requirements.lock")
TOOLS_LOCK = os.path.join(HERE, ".ci", "requirements.lock")
FAILED = """
Preflight could not install its packages; the installer's own words are above.
Is the package index reachable from here? HTTPS_PROXY names a proxy, PIP_INDEX_URL a mirror.
Mend that and run the same command again: nothing half-made is kept."""
MUSL = " This system has no glibc (Alpine?), and some packages exist for glibc alone: use the Docker image."


def main():
    """Prepare `.venv` unless told not to, go there, and hand on to pytest or to Django."""
    if not os.environ.get("PREFLIGHT_NO_BOOTSTRAP"):
        prepare([RUN_LOCK, TOOLS_LOCK] if sys.argv[1:2] == ["tools"] else [RUN_LOCK])
        if os.path.realpath(sys.prefix) != os.path.realpath(VENV):
            hand_over([PYTHON] + sys.argv)
    if sys.argv[1:2] == ["tools"]:
        return
    if sys.argv[1:2] == ["test"]:
        os.chdir(HERE)
        hand_over([sys.executable, "-m", "tests"] + sys.argv[2:])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit("Preflight does not start with these settings: %s" % error)


def prepare(locks):
    """Make `.venv` hold exactly what the locks name; do nothing when their stamps say that it does."""
    if all(stamped(lock) for lock in locks):
        return
    with one_at_a_time():
        if not (remembered(RUN_LOCK).startswith(version()) and os.path.exists(PYTHON)):
            sys.stderr.write("Preflight prepares .venv, once; this takes about half a minute.\n")
            run([base_python(), "-m", "venv", "--without-pip", "--clear", VENV])
        for lock in locks:
            if not stamped(lock):
                install(lock)


def install(lock):
    """Install one lock with hashes; its stamp is absent meanwhile, so a broken install is made anew."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(stamp_file(lock))
    # The lock is exact: constraints and places that this machine sets for pip are not meant for it.
    ours = {"PIP_CONSTRAINT": os.devnull, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    env = {key: value for key, value in os.environ.items() if key not in ("PIP_TARGET", "PIP_PREFIX")}
    env.update(ours)
    what = ["install", "-q", "--require-hashes", "--only-binary", ":all:", "-r", lock]
    uv = shutil.which("uv")
    if not uv or subprocess.call([uv, "pip", what[0], "--python", PYTHON] + what[1:], env=env) != 0:
        run(pip() + what + ["-q", "--no-input", "--disable-pip-version-check"], env=env)
    with open(stamp_file(lock), "w") as file:
        file.write(wanted(lock))


def pip():
    """Return the command of a pip that can fill `.venv`: this Python's, else one unpacked there."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if subprocess.call([base_python(), "-m", "pip", "--version"], **quiet) == 0:
        return [base_python(), "-m", "pip", "--python", PYTHON]
    if subprocess.call([PYTHON, "-m", "ensurepip"], **quiet) == 0:
        return [PYTHON, "-m", "pip"]
    sys.exit("Preflight needs pip for %s; on Debian and Ubuntu: apt install python3-pip" % base_python())


def run(command, **options):
    """Run a step of the installation, or stop with a sentence that says what to mend."""
    if subprocess.call(command, **options) != 0:
        musl = sys.platform.startswith("linux") and "glibc" not in platform.libc_ver()
        sys.exit(FAILED.strip() + (MUSL if musl else ""))


@contextlib.contextmanager
def one_at_a_time():
    """Let one start at a time install; where the system has no flock, trust the person."""
    try:
        file = open(RUN_LOCK, "r+")
    except OSError as error:
        sys.exit("Preflight makes .venv beside manage.py, and may not write there: %s" % error)
    with file:
        with contextlib.suppress(ImportError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def base_python():
    """Return the Python outside any virtual environment, which makes and fills `.venv`."""
    return getattr(sys, "_base_executable", None) or sys.executable


def version():
    """Return the part of a stamp that another Python would not share."""
    return "%d.%d " % tuple(sys.version_info[:2])


def wanted(lock):
    """Return the stamp of a finished installation of the lock under this Python."""
    with open(lock, "rb") as file:
        return version() + hashlib.sha256(file.read()).hexdigest()


def stamp_file(lock):
    """Return where the stamp of a lock lies."""
    return os.path.join(VENV, "stamp-tools" if lock == TOOLS_LOCK else "stamp-run")


def remembered(lock):
    """Return the stamp that the last finished installation left, or ""."""
    try:
        with open(stamp_file(lock)) as file:
            return file.read()
    except FileNotFoundError:
        return ""


def stamped(lock):
    """Tell whether `.venv` holds this lock already and its Python still exists."""
    return remembered(lock) == wanted(lock) and os.path.exists(PYTHON)


def hand_over(command):
    """Become the command; Windows cannot, so there it is run and its exit code passed on."""
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    sys.stdout.flush()
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
