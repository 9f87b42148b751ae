"""What is said of a host: taken as people write it, refused where a shell or an option could begin."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checks.hosts.grammar import (
    HostProblem,
    HostRefused,
    clean_address,
    clean_folder,
    clean_port,
    clean_python,
    clean_user,
)


def problem_of(clean: Callable[[str], object], text: str) -> HostProblem:
    with pytest.raises(HostRefused) as refused:
        clean(text)
    return refused.value.problem


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (" GPU-7.lab.example\u200b", "gpu-7.lab.example"),
        ("10.0.0.7", "10.0.0.7"),
        ("[FD00:0::7]", "fd00::7"),
        ("fd00::7", "fd00::7"),
        ("gpu7", "gpu7"),
    ],
)
def test_an_address_is_written_in_its_one_spelling(text: str, address: str) -> None:
    assert clean_address(text) == address


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", HostProblem.EMPTY),
        ("-oProxyCommand=reboot", HostProblem.OPTION),
        ("root@gpu7", HostProblem.USER_INFO),
        ("gpu7:2222", HostProblem.PORT_INSIDE),
        ("[fd00::7]:22", HostProblem.PORT_INSIDE),
        ("ssh://gpu7", HostProblem.URL),
        ("gpu 7", HostProblem.INNER_BLANK),
        ("gpu7;reboot", HostProblem.SHELL_SIGN),
        ("gpu7\x07x", HostProblem.CONTROL_CHARACTER),
        ("0x7f.1", HostProblem.BAD_HOST),
        ("fe80::1%eth0", HostProblem.SHELL_SIGN),
        ("gpu7\nreboot", HostProblem.INNER_BLANK),
    ],
)
def test_what_is_no_address_is_refused_by_name(text: str, problem: HostProblem) -> None:
    assert problem_of(clean_address, text) == problem


@pytest.mark.parametrize("user", ["root", "li.wei", "_svc-7", "ZhangSan"])
def test_a_user_name_as_directories_have_them_is_taken(user: str) -> None:
    assert clean_user(f" {user} ") == user


@pytest.mark.parametrize("user", ["-l", "", "a b", "a@b", "7up", "x" * 33, "a$", "张三", "a\nb"])
def test_what_is_no_user_name_is_refused(user: str) -> None:
    with pytest.raises(HostRefused):
        clean_user(user)


@pytest.mark.parametrize("python", ["python3", "python3.11", "/opt/my envs/agl/bin/python", "/home/李/py"])
def test_a_python_is_a_name_or_a_path_from_the_root(python: str) -> None:
    assert clean_python(python) == python


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("-c", HostProblem.OPTION),
        ("python3 -c", HostProblem.NOT_A_PROGRAM),
        ("bin/python", HostProblem.NOT_A_PROGRAM),
        ("~/env/bin/python", HostProblem.NOT_A_PROGRAM),
        ("/bin/py$(reboot)", HostProblem.SHELL_SIGN),
        ("/bin/py'", HostProblem.SHELL_SIGN),
        ("/bin/py\n/bin/sh", HostProblem.INNER_BLANK),
        ("/" + "x" * 500, HostProblem.TOO_LONG),
    ],
)
def test_what_is_no_python_is_refused_by_name(text: str, problem: HostProblem) -> None:
    assert problem_of(clean_python, text) == problem


@pytest.mark.parametrize("folder", ["", "~", "~/grpo", "/data/my run"])
def test_a_folder_is_a_path_from_the_root_or_from_home(folder: str) -> None:
    assert clean_folder(folder) == folder


@pytest.mark.parametrize("folder", ["grpo", "~root/grpo", "/data/$HOME", "-/x"])
def test_what_is_no_folder_is_refused(folder: str) -> None:
    with pytest.raises(HostRefused):
        clean_folder(folder)


@pytest.mark.parametrize("port", [0, -1, 65_536])
def test_what_is_no_port_is_refused(port: int) -> None:
    with pytest.raises(HostRefused):
        clean_port(port)
