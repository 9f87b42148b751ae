"""The error dictionary: one page a reason, in both languages, and a search by a pasted error."""

from __future__ import annotations

from itertools import groupby

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from panel import dictionary
from panel.forms.searches import ErrorTextForm
from panel.views.shell import posted


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def help_index(request: HttpRequest) -> HttpResponse:
    """List all reasons by layer; a pasted error text is answered with what may stand behind it."""
    form, found = ErrorTextForm(posted(request)), None
    if request.method == "POST" and form.is_valid():
        found = dictionary.causes_of(form.cleaned_data["text"])
    layers = [
        (layer, list(group)) for layer, group in groupby(dictionary.everything(), lambda entry: entry.layer)
    ]
    return render(request, "help/index.html", {"form": form, "found": found, "layers": layers})


@login_required
@require_safe
def help_entry(request: HttpRequest, code: str) -> HttpResponse:
    """Show one reason in both languages."""
    if not dictionary.known(code):
        raise Http404
    return render(request, "help/entry.html", {"code": code, "both": dictionary.in_both(code)})
