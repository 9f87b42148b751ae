"""The pages of incidents: what they say, and what people do on them without a script."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse

from panel.models import Incident, IncidentEntry
from tests import make
from tests.panel.pages.scene import HOSTILE, Scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def incident(atlas: Scene) -> Incident:
    return Incident.objects.get(worst="down")


def there(name: str, atlas: Scene, incident: Incident) -> str:
    return reverse(name, args=[atlas.slug, incident.number])


def test_the_page_says_what_broke_where_and_who_has_it(atlas: Scene, browse, incident: Incident) -> None:
    said = browse(atlas.viewer).get(there("incident", atlas, incident)).content.decode()
    for text in ("grpo-prod, Agent inference", "relay-main, key v1", "Lin Yue has it", "2 lanes", "sp-down"):
        assert text in said
    assert "Marta Silva took it" in said
    assert "Marta Silva handed it over to Lin Yue" in said
    assert "Told oncall" in said


def test_a_note_is_text_and_nothing_else(atlas: Scene, browse, incident: Incident) -> None:
    said = browse(atlas.viewer).get(there("incident", atlas, incident)).content.decode()
    assert HOSTILE not in said
    assert "The relay says so too. &lt;script&gt;" in said


def test_an_engineer_takes_it_without_a_script(atlas: Scene, browse, incident: Incident) -> None:
    answer = browse(atlas.engineer).post(there("incident_take", atlas, incident), follow=True)
    assert "Marta Silva has it" in answer.content.decode()
    assert 'id="take"' not in answer.content.decode()


def test_a_viewer_sees_who_can_take_it(atlas: Scene, browse, incident: Incident) -> None:
    said = browse(atlas.viewer).get(there("incident", atlas, incident)).content.decode()
    assert "can take it" in said
    assert "incident/1/take" not in said


def test_it_is_handed_to_a_colleague_of_the_team_alone(atlas: Scene, browse, incident: Incident) -> None:
    client, where = browse(atlas.engineer), there("incident_hand", atlas, incident)
    client.post(where, {"to": atlas.owner.code})
    assert Incident.objects.get(worst="down").taken_by == atlas.owner.user
    client.post(where, {"to": make.member(role=atlas.owner.role).code})
    assert Incident.objects.get(worst="down").taken_by == atlas.owner.user


def test_a_refused_note_comes_back_with_its_text(atlas: Scene, browse, incident: Incident) -> None:
    client, where = browse(atlas.engineer), there("incident_note", atlas, incident)
    answer = client.post(where, {"text": "y" * 4001})
    assert (answer.status_code, "y" * 4001 in answer.content.decode()) == (200, True)
    assert client.post(where, {"text": "mended"}).status_code == 302
    assert IncidentEntry.objects.filter(kind="note").count() == 2


def test_it_is_muted_and_told_again(atlas: Scene, browse, incident: Incident) -> None:
    client, where = browse(atlas.engineer), there("incident_mute", atlas, incident)
    assert "muted until" in client.post(where, {"hours": "4"}, follow=True).content.decode()
    assert "muted until" not in client.post(where, {"deed": "unmute"}, follow=True).content.decode()
    client.post(where, {"hours": "9999"})
    assert Incident.objects.get(worst="down").muted_until is None


def test_a_closed_one_offers_notes_alone_and_no_longer_refreshes(
    atlas: Scene, browse, incident: Incident
) -> None:
    incident.lanes.update(recovered_at=atlas.now)
    Incident.objects.filter(pk=incident.pk).update(closed_at=atlas.now)
    said = browse(atlas.engineer).get(there("incident", atlas, incident)).content.decode()
    assert 'id="note"' in said
    for gone in ('id="take"', 'id="hand"', 'id="mute"', "hx-trigger"):
        assert gone not in said


def test_the_list_has_a_row_a_cause_and_filters(atlas: Scene, browse) -> None:
    client, where = browse(atlas.lead), reverse("incidents", args=[atlas.slug])
    assert "2 incidents are open" in client.get(where).content.decode()
    assert "relay-main, key v1" in client.get(where, {"who": "me"}).content.decode()
    assert "Nothing matches" in client.get(where, {"state": "closed"}).content.decode()
    assert client.get(where, {"page": "999999999999999999999"}).status_code == 200


def test_a_quiet_team_is_told_so(browse) -> None:
    member = make.member()
    said = browse(member).get(reverse("incidents", args=[member.team.slug])).content.decode()
    assert "None in 90 days" in said


def test_the_overview_leads_to_the_incident_and_the_menu_counts_it(atlas: Scene, browse) -> None:
    said = browse(atlas.viewer).get(reverse("overview", args=[atlas.slug])).content.decode()
    assert f'href="{there("incident", atlas, Incident.objects.get(worst="down"))}"' in said
    assert "Lin Yue has it" in said
    assert 'data-key="g i"' in said
    assert '<span class="count down is-down">' in said


@pytest.mark.parametrize("number", ["0", "999999999", "9" * 40, "x", "²"])
def test_a_number_that_is_none_is_not_found(atlas: Scene, browse, number: str) -> None:
    assert browse(atlas.viewer).get(reverse("incident", args=[atlas.slug, number])).status_code == 404


def test_one_that_is_explained_names_what_explains_it(atlas: Scene, browse, incident: Incident) -> None:
    child = make.incident(atlas.lead.team, atlas.now - timedelta(hours=1), parent=incident, number=77)
    said = browse(atlas.viewer).get(there("incident", atlas, child)).content.decode()
    assert f"explained by #{incident.number}" in said
    assert "#77" in browse(atlas.viewer).get(there("incident", atlas, incident)).content.decode()
