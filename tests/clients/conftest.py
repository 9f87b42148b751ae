"""Real client software for tests that ask for it: skipped by name where it cannot be installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients import agl, environments, interpreters, proxy
from tests.parts import require


def _python(made: Callable[[str], Path], name: str, shown: str) -> Path:
    """The interpreter with that software, or the end of the test that needs it."""
    try:
        return made(name)
    except environments.CannotInstall as error:
        require(None, f"{shown} from the package index ({str(error).splitlines()[-1][:200]})")
        raise


@pytest.fixture(scope="session")
def openai_python() -> Path:
    """The interpreter of an environment that holds the real `openai` package and nothing of ours."""
    return _python(environments.python_of_library, "openai", "openai")


@pytest.fixture(scope="session")
def library_python() -> Callable[[str], Path]:
    """Gives the interpreter of a client library as the product installs it."""
    return lambda text: _python(environments.python_of_library, text, text)


@pytest.fixture(scope="session")
def litellm_python() -> Path:
    """The interpreter of an environment that holds the real `litellm[proxy]`."""
    return _python(environments.python_of, "litellm", "litellm[proxy]")


@pytest.fixture(scope="session")
def litellm_proxy(litellm_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[proxy.Proxy]:
    """The real litellm proxy on loopback, with a master key and one mocked model."""
    with proxy.running(litellm_python, tmp_path_factory.mktemp("litellm")) as started:
        yield started


@pytest.fixture(scope="session")
def agl_python() -> Path:
    """The interpreter of an environment that holds the real `agentlightning` 1.x, which wants 3.12."""
    newer = interpreters.newer_python()
    require(newer, f"Python 3.12 or newer ({interpreters.NAMED_BY} names one)")
    return _python(lambda name: environments.python_of(name, python=newer), "agl", "agentlightning")


@pytest.fixture(scope="session")
def agl0_python() -> Path:
    """The interpreter of an environment that holds the real `agentlightning` 0.3.0 and its pins."""
    return _python(environments.python_of, "agl0", "agentlightning 0.3.0")


@pytest.fixture(scope="session")
def gateway(agl_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[agl.Gateway]:
    """A real Agent-Lightning 1.x gateway on loopback, with a key."""
    with agl.running(agl_python, tmp_path_factory.mktemp("gateway")) as started:
        yield started
