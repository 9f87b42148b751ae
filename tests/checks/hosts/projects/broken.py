"""A module whose import needs a package that is not there."""

import no_such_package_of_ours  # type: ignore[import-not-found]  # noqa: F401
