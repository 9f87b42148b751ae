"""Hosts on pages: what is true first, keys accepted by people who saw them, nothing secret shown."""

from __future__ import annotations

import inspect
import re

import pytest
from django.urls import reverse

from checks.hosts import findings
from checks.hosts.facts import HostFacts, PythonFacts
from panel.models import Host
from panel.templatetags.host_facts import pythons
from panel.templatetags.hosts import FINDING_FACTS
from tests.panel.pages.places import address
from tests.panel.pages.scene import HOSTILE, OTHER_HOST_KEY, PUBLIC_KEY, Scene

pytestmark = pytest.mark.django_db
NEW = {"name": "gpu-c01", "address": "gpu-c01.example", "user": "lin", "port": "22", "python": "python3",
       "interval_s": "3600", "workdir": "", "activate": "", "zone": "", "jump": ""}  # fmt: skip
NO_KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary-4f1d0c9a\n-----END OPENSSH PRIVATE KEY-----"


def page_of(atlas: Scene, name: str, route: str = "host") -> str:
    return reverse(route, args=[atlas.slug, Host.objects.get(name=name).code])


def test_the_list_says_how_many_report(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(address("hosts", atlas)).text
    assert "1 of 4 hosts report, with 1 finding" in text
    for why in ("another host key", "host key not accepted", "no key yet", "1 of 4 free"):
        assert why in text


def test_a_hosts_page_opens_with_what_is_true_of_it(atlas: Scene, browse) -> None:
    client = browse(atlas.viewer)
    assert "gpu-a12: " in client.get(page_of(atlas, "gpu-a12")).text
    assert "gpu-a13 is blocked: it shows another host key" in client.get(page_of(atlas, "gpu-a13")).text
    assert "gpu-b01 waits until its host key is accepted" in client.get(page_of(atlas, "gpu-b01")).text
    assert "gpu-b02 needs a key before anybody logs in" in client.get(page_of(atlas, "gpu-b02")).text


def test_facts_are_shown_as_text_whoever_wrote_them(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(page_of(atlas, "gpu-a12")).text
    assert "76.0\u2009GiB of 80.0\u2009GiB" in text
    for said in ("process is gone", "74.2 s behind ours", "sk-… (51 characters)"):
        assert said in text
    assert HOSTILE not in text


def test_the_public_line_forbids_forwarding(atlas: Scene, browse) -> None:
    text = browse(atlas.lead).get(page_of(atlas, "gpu-b01")).text
    assert f"restrict {PUBLIC_KEY}" in text


def test_a_changed_host_key_shows_both_fingerprints(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(page_of(atlas, "gpu-a13")).text
    assert text.count("SHA256:") == 2
    assert "can accept a host key" in text
    assert "/accept" not in text


def test_the_host_key_that_a_lead_saw_is_accepted(atlas: Scene, browse) -> None:
    client, where = browse(atlas.lead), page_of(atlas, "gpu-b01")
    seen = client.get(where).text.split('name="fingerprint" value="')[1].split('"')[0]
    answer = client.post(page_of(atlas, "gpu-b01", "host_accept"), {"fingerprint": seen}, follow=True)
    assert "The host key is accepted." in answer.text
    assert Host.objects.get(name="gpu-b01").host_key == OTHER_HOST_KEY


def test_another_fingerprint_than_the_one_shown_is_refused(atlas: Scene, browse) -> None:
    said = {"fingerprint": "SHA256:somethingelse"}
    answer = browse(atlas.lead).post(page_of(atlas, "gpu-b01", "host_accept"), said, follow=True)
    assert "The host key is accepted." not in answer.text
    assert Host.objects.get(name="gpu-b01").host_key == ""


def test_a_lead_adds_a_host_and_comes_to_its_key(atlas: Scene, browse) -> None:
    answer = browse(atlas.lead).post(reverse("host_new", args=[atlas.slug]), NEW)
    assert answer.headers["Location"] == page_of(atlas, "gpu-c01", "host_key")


@pytest.mark.parametrize(
    ("field", "value"),
    [("address", "lin@gpu"), ("address", "-oProxyCommand=x"), ("user", "a b"), ("port", "0"), ("python", "")],
)
def test_what_no_host_has_is_refused_at_its_field(atlas: Scene, browse, field: str, value: str) -> None:
    answer = browse(atlas.lead).post(reverse("host_new", args=[atlas.slug]), NEW | {field: value})
    assert f'<a href="#id_{field}">' in answer.text
    assert 'value="gpu-c01"' in answer.text
    assert not Host.objects.filter(name="gpu-c01")


def test_a_pair_is_made_and_only_its_public_half_is_shown(atlas: Scene, browse) -> None:
    client = browse(atlas.lead)
    answer = client.post(page_of(atlas, "gpu-b02", "host_key"), {"deed": "make"}, follow=True)
    assert "restrict ssh-ed25519 " in answer.text
    assert "PRIVATE KEY" not in answer.text


def test_a_refused_private_key_is_not_sent_back(atlas: Scene, browse) -> None:
    said = {"private": NO_KEY, "passphrase": "canary phrase"}
    answer = browse(atlas.lead).post(page_of(atlas, "gpu-b02", "host_key"), said)
    assert answer.status_code == 200
    assert 'href="#id_private"' in answer.text
    assert "canary" not in answer.text


def test_another_address_forgets_the_host_key_and_says_so(atlas: Scene, browse) -> None:
    said = NEW | {"name": "gpu-a13", "address": "elsewhere.example"}
    answer = browse(atlas.lead).post(page_of(atlas, "gpu-a13", "host_edit"), said, follow=True)
    assert "the accepted host key was forgotten" in answer.text
    assert Host.objects.get(name="gpu-a13").host_key == ""


def test_a_host_that_a_profile_runs_on_is_not_deleted(atlas: Scene, browse) -> None:
    client = browse(atlas.lead)
    client.post(page_of(atlas, "gpu-a12", "host_delete"), {"name": "gpu-a12"})
    client.post(page_of(atlas, "gpu-b02", "host_delete"), {"name": "gpu-b02"})
    assert set(Host.objects.values_list("name", flat=True)) == {"gpu-a12", "gpu-a13", "gpu-b01"}


def test_readings_are_paused_and_go_on(atlas: Scene, browse) -> None:
    client = browse(atlas.lead)
    answer = client.post(page_of(atlas, "gpu-a12", "host_pause"), follow=True)
    assert "Readings of gpu-a12 are paused" in answer.text
    client.post(page_of(atlas, "gpu-a12", "host_pause"), {"deed": "resume"})
    assert Host.objects.get(name="gpu-a12").next_reading_at is not None


def test_the_teams_python_is_shown_with_its_packages_where_our_program_ran_in_the_same_one() -> None:
    team = PythonFacts("/opt/agl/bin/python", version="3.12.1", packages={"agentlightning": "1.0.2"})
    facts = HostFacts(python=PythonFacts("/opt/agl/bin/python", version="3.12.1"), team=team)
    assert pythons(facts) == [team]


def test_a_version_that_does_not_go_with_the_rest_is_marked_in_its_python(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(page_of(atlas, "gpu-a12")).text
    python = text[text.index('id="pythons"') : text.index('id="ports"')]
    assert "verl 0.9.1" in python
    assert "verl==0.8.0" in python


def test_the_lanes_of_a_host_are_called_as_their_generation_calls_them(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(address("hosts", atlas)).text
    assert "grpo-prod, Gateway upstream" in text
    assert "Trace replay" not in text


def test_every_value_of_a_finding_has_a_word() -> None:
    source = inspect.getsource(inspect.getmodule(findings))
    said = re.findall(r"(?:say = |Finding\(Reason\.\w+, )\{([^}]*)\}", source)
    written = {name for values in said for name in re.findall(r'"(\w+)":', values)}
    assert "pid" in written
    assert written - {"state"} <= FINDING_FACTS.keys()
