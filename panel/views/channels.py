"""Where a team is told of what: its channels, the routes that lead there, and what could not be sent."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from panel import access, notices
from panel.access import Role
from panel.actions import Refused
from panel.actions import channels as deeds
from panel.forms.channels import KINDS, WHERE, ChannelForm, initial_of
from panel.forms.routes import RouteForm
from panel.forms.routes import initial_of as route_initial
from panel.views.shell import page, posted, refusals_into, tell

FORM_METHODS = ["GET", "HEAD", "POST"]
NEWEST = 20


@login_required
@require_safe
def channels(request: HttpRequest, team: str) -> HttpResponse:
    """List the team's channels and routes, and the messages that were given up."""
    member = access.member_of(request.user, team, Role.LEAD)
    return page(
        request, "channels/list.html", member, "settings", channels=access.channels_of(member),
        routes=access.routes_of(member), given_up=access.notices_given_up(member)[:NEWEST],
        mail_available=notices.mail_available(),
    )  # fmt: skip


@login_required
@require_safe
def channel(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Show one channel: where it leads, what was sent there last, and what became of it."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.channel_for(member, code)
    newest = access.notices_of(member).filter(channel=row)[:NEWEST]
    routes = access.routes_of(member).filter(channel=row)
    return page(
        request, "channels/channel.html", member, "settings", channel=row, notices=newest, routes=routes,
        mail_available=notices.mail_available(),
    )  # fmt: skip


@login_required
@sensitive_post_parameters("address", "token", "sign")
@require_http_methods(FORM_METHODS)
def channel_new(request: HttpRequest, team: str) -> HttpResponse:
    """Choose a kind, then describe the channel."""
    member = access.member_of(request.user, team, Role.LEAD)
    kind = request.GET.get("kind", "")
    if kind not in KINDS.values:
        kinds = [(value, label, WHERE[value]) for value, label in KINDS.choices]
        return page(request, "channels/kinds.html", member, "settings", kinds=kinds)
    form = ChannelForm(posted(request), kind=kind)
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            row = deeds.create(actor=member, kind=kind, draft=form.draft())
            tell(request, _("Channel %(name)s is saved. Send a test to see it arrive.") % {"name": row.name})
            return redirect("channel", member.team.slug, row.code)
    return page(
        request, "channels/form.html", member, "settings", form=form, kind=KINDS(kind).label,
        mail_missing=kind == KINDS.MAIL and not notices.mail_available(),
    )  # fmt: skip


@login_required
@sensitive_post_parameters("address", "token", "sign")
@require_http_methods(FORM_METHODS)
def channel_edit(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Change a channel; what was sealed for another server is asked for again."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.channel_for(member, code)
    form = ChannelForm(posted(request), kind=row.kind, channel=row, initial=initial_of(row))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            dropped = deeds.change(actor=member, channel=row, draft=form.draft())
            tell(request, _("Channel %(name)s is saved.") % {"name": form.cleaned_data["name"]})
            if dropped:
                messages.warning(
                    request, _("It is another server, so the secret of the old one was dropped.")
                )
            return redirect("channel", member.team.slug, row.code)
    return page(
        request, "channels/form.html", member, "settings", form=form, kind=KINDS(row.kind).label, channel=row
    )


@login_required
@require_http_methods(FORM_METHODS)
def channel_delete(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Delete a channel, once its name was typed."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.channel_for(member, code)
    name, typed = row.name, request.POST.get("name", "")
    wrong = request.method == "POST" and typed != name
    if request.method == "POST" and not wrong:
        deeds.delete(actor=member, channel=row)
        tell(request, _("%(name)s is deleted.") % {"name": name})
        return redirect("channels", member.team.slug)
    return page(request, "channels/delete.html", member, "settings", channel=row, wrong=wrong, typed=typed)


@login_required
@require_POST
def channel_test(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Send a test message."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.channel_for(member, code)
    try:
        deeds.test(actor=member, channel=row)
    except Refused as refused:
        messages.error(request, str(refused.sentence))
    else:
        tell(request, _("A test message is on its way to %(name)s.") % {"name": row.name})
    return redirect("channel", member.team.slug, code)


@login_required
@require_http_methods(FORM_METHODS)
def route_new(request: HttpRequest, team: str) -> HttpResponse:
    """Say which incidents reach a channel, and when."""
    return _route(request, team, "")


@login_required
@require_http_methods(FORM_METHODS)
def route_edit(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Change a route."""
    return _route(request, team, code)


@login_required
@require_POST
def route_delete(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Delete a route."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.route_for(member, code)
    deeds.delete_route(actor=member, route=row)
    tell(request, _("The route to %(name)s is deleted.") % {"name": row.channel.name})
    return redirect("channels", member.team.slug)


@login_required
@require_POST
def notice_again(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Send a message that was given up once more."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.notice_for(member, code)
    try:
        deeds.send_again(actor=member, notice=row)
    except Refused as refused:
        messages.error(request, str(refused.sentence))
    else:
        tell(request, _("The message to %(name)s is sent again.") % {"name": row.channel.name})
    return redirect("channels", member.team.slug)


@login_required
@require_POST
def notice_drop(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Take a message off the list of those that were given up."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.notice_for(member, code)
    try:
        deeds.give_up(actor=member, notice=row)
    except Refused as refused:
        messages.error(request, str(refused.sentence))
    return redirect("channels", member.team.slug)


def _route(request: HttpRequest, team: str, code: str) -> HttpResponse:
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.route_for(member, code) if code else None
    initial = route_initial(row) if row else {"channel": request.GET.get("channel", "")}
    form = RouteForm(posted(request), channels=access.channels_of(member), initial=initial)
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            saved = deeds.save_route(actor=member, draft=form.draft(), route=row)
            tell(request, _("The route to %(name)s is saved.") % {"name": saved.channel.name})
            return redirect("channels", member.team.slug)
    return page(request, "channels/route.html", member, "settings", form=form, route=row)
