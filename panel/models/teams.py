"""People, teams, and who may do what in which."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from panel.models.codes import new_code


class UserManager(BaseUserManager["User"]):
    """Makes users from an e-mail address; the address is the name one signs in with."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Return a new saved user; a None password cannot be used to sign in."""
        user: User = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser, PermissionsMixin):
    """A person. `language` and `zone` are empty where the browser decides."""

    email = models.EmailField(_("e-mail address"), unique=True)
    name = models.CharField(_("name"), max_length=80)
    language = models.CharField(_("language"), max_length=10, blank=True)
    zone = models.CharField(_("time zone"), max_length=64, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    date_joined = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(Lower("email"), name="user_email_once"),
        ]

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def initials(self) -> str:
        """Two letters for the face beside a name."""
        words = (self.name or self.email).split()
        return "".join(word[0] for word in words[:2]).upper()


class Role(models.IntegerChoices):
    """What a member may do; a higher number may do all that a lower one may."""

    VIEWER = 10, _("viewer")
    ENGINEER = 20, _("engineer")
    LEAD = 30, _("lead")
    OWNER = 40, _("owner")


class Team(models.Model):
    """One group of people with its own endpoints, keys and profiles.

    `sealed_data_key` is the team's data key, wrapped by the master key (see `panel.vault`). Runs are kept
    for `runs_days`, their hours for `hours_days`.
    """

    slug = models.SlugField(_("address"), max_length=40, unique=True)
    name = models.CharField(_("team name"), max_length=80)
    sealed_data_key = models.TextField()
    runs_days = models.PositiveSmallIntegerField(_("days that runs are kept"), default=30)
    hours_days = models.PositiveSmallIntegerField(_("days that hours are kept"), default=400)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person in a team, with one role."""

    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.PositiveSmallIntegerField(_("role"), choices=Role.choices)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "user"], name="member_once_in_a_team"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="member_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"

    def may(self, role: Role) -> bool:
        """Tell whether this member's role reaches `role`."""
        return self.role >= role


class Invitation(models.Model):
    """A single-use link: into a team, or (team is None) the set-up link that makes the first owner.

    Only the SHA-256 of the link's token is stored.
    """

    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(_("e-mail address"), blank=True)
    role = models.PositiveSmallIntegerField(_("role"), choices=Role.choices)
    token_hash = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"invitation for {self.email or 'the first owner'}"
