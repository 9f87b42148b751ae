"""Every address of the panel, grouped under its prefix."""

from __future__ import annotations

from allauth.account import views as account
from django.urls import include, path
from django.views.i18n import set_language

from panel.views import (
    compare,
    dry_runs,
    endpoints,
    errors,
    exports,
    health,
    help,
    hosts,
    lanes,
    members,
    overview,
    people,
    profiles,
    recipes,
    reports,
    runs,
    teams,
    versions,
)

# Of allauth's pages, those that lead somewhere here; each has a template of ours.
accounts = [
    path("login", account.login, name="account_login"),
    path("logout", account.logout, name="account_logout"),
    path("signup", account.signup, name="account_signup"),
    path("inactive", account.account_inactive, name="account_inactive"),
    path("reauthenticate", account.reauthenticate, name="account_reauthenticate"),
    path("me/password", account.password_change, name="account_change_password"),
    path("me/password/set", account.password_set, name="account_set_password"),
]
# /t/<team>/
of_team = [
    path("", overview.overview, name="overview"),
    path("profiles/", profiles.profiles, name="profiles"),
    path("profiles/new", profiles.profile_new, name="profile_new"),
    path("p/<str:code>/", lanes.profile, name="profile"),
    path("p/<str:code>/edit", profiles.profile_edit, name="profile_edit"),
    path("p/<str:code>/delete", profiles.profile_delete, name="profile_delete"),
    path("p/<str:code>/run", lanes.run_now, name="run_now"),
    path("p/<str:code>/pause", lanes.lane_pause, name="lane_pause"),
    path("p/<str:code>/export/", exports.profile_export, name="profile_export"),
    path("p/<str:code>/versions/", versions.versions, name="versions"),
    path("p/<str:code>/recipe", recipes.recipe, name="recipe"),
    path("p/<str:code>/dry-run", dry_runs.dry_run, name="dry_run"),
    path("p/<str:code>/compare", compare.compare, name="compare"),
    path("runs/<str:code>/", runs.run, name="run"),
    path("runs/<str:code>/output", dry_runs.run_output, name="run_output"),
    path("hosts/", hosts.hosts, name="hosts"),
    path("hosts/new", hosts.host_new, name="host_new"),
    path("hosts/<str:code>/", hosts.host, name="host"),
    path("hosts/<str:code>/edit", hosts.host_edit, name="host_edit"),
    path("hosts/<str:code>/delete", hosts.host_delete, name="host_delete"),
    path("hosts/<str:code>/key", hosts.host_key, name="host_key"),
    path("hosts/<str:code>/ask", hosts.host_ask, name="host_ask"),
    path("hosts/<str:code>/accept", hosts.host_accept, name="host_accept"),
    path("hosts/<str:code>/forget", hosts.host_forget, name="host_forget"),
    path("hosts/<str:code>/read", hosts.host_read, name="host_read"),
    path("hosts/<str:code>/pause", hosts.host_pause, name="host_pause"),
    path("endpoints/", endpoints.endpoints, name="endpoints"),
    path("endpoints/new", endpoints.endpoint_new, name="endpoint_new"),
    path("endpoints/calls", endpoints.calls, name="calls"),
    path("e/<str:code>/", endpoints.endpoint, name="endpoint"),
    path("e/<str:code>/edit", endpoints.endpoint_edit, name="endpoint_edit"),
    path("e/<str:code>/balance", endpoints.balance_ask, name="balance_ask"),
    path("e/<str:code>/base", endpoints.base_url_apply, name="base_url_apply"),
    path("e/<str:code>/delete", endpoints.endpoint_delete, name="endpoint_delete"),
    path("e/<str:code>/key", endpoints.key_add, name="key_add"),
    path("e/<str:code>/key/destroy", endpoints.key_destroy, name="key_destroy"),
    path("keys/", endpoints.keys, name="keys"),
    path("reports/", reports.archive, name="reports"),
    path("reports/preview", reports.report_preview, name="report_preview"),
    path("reports/schedule", reports.report_schedules, name="report_schedules"),
    path("reports/schedule/<str:code>", reports.report_schedule, name="report_schedule"),
    path("reports/schedule/<str:code>/delete", reports.report_schedule_delete, name="report_schedule_delete"),
    path("reports/<str:code>/", reports.report, name="report"),
    path("reports/<str:code>.csv", reports.report_csv, name="report_csv"),
    path("reports/<str:code>.json", reports.report_json, name="report_json"),
    path("reports/<str:code>.md", reports.report_markdown, name="report_markdown"),
    path("activity/", teams.activity, name="activity"),
    path("members/", members.members, name="members"),
    path("members/<str:code>/", members.member_edit, name="member_edit"),
    path("members/<str:code>/remove", members.member_remove, name="member_remove"),
    path("settings/", teams.team_settings, name="settings"),
]
urlpatterns = [
    path("", people.home, name="home"),
    path("setup/<str:token>/", people.setup, name="setup"),
    path("invite/<str:token>/", people.invite, name="invite"),
    path("me/", people.me, name="me"),
    path("help/", help.help_index, name="help"),
    path("help/<str:code>/", help.help_entry, name="help_entry"),
    path("language", set_language, name="set_language"),
    path("healthz", health.healthz, name="healthz"),
    path("", include(accounts)),
    path("t/<slug:team>/", include(of_team)),
]
handler403 = errors.forbidden
handler404 = errors.absent
handler500 = errors.broken
