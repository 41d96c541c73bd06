"""Which links are found in documents: the keywords of :func:`uriscan.extract`."""

from __future__ import annotations

import re
from typing import Any, Literal, Sequence, TypedDict

from ._options import names, text


class Links(TypedDict, total=False):
    """Which links are found and kept; each keyword is the option of ``uriscan extract`` with its name."""

    scheme: str | Sequence[str] | None
    """The schemes to find; ``"any"`` for whatever looks like one."""
    unicode: bool
    """Find links with non-ASCII characters."""
    unwrap: bool
    """Join links in ``< >`` that are broken across lines."""
    refang: bool
    """Find defanged links and restore them."""
    bare_hosts: bool
    """Find hosts without a scheme."""
    email: bool
    """Find mail addresses."""
    unsplit: bool
    """Read ``http://a/x,http://b/y`` as one link."""
    base: str | None
    """The base of relative references."""
    fields: Sequence[str]
    """The members or columns that are searched; ``--link-column``."""
    delimiter: str | None
    """The character between the fields of CSV."""
    log_format: str | None
    """The format of access logs."""
    log_field: str | Sequence[str]
    """The fields of access logs that are searched."""
    status: str | int | Sequence[str | int]
    """The statuses of the entries of access logs that are read: ``404``, ``"4xx"``, ``"500-599"``."""
    method: str | Sequence[str]
    """The methods of the entries of access logs that are read."""
    since: str | None
    """Entries of access logs at this time or later are read."""
    until: str | None
    """Entries of access logs before this time are read."""
    also: str | Sequence[str]
    """Further parts of pages that are read."""
    warc_field: Literal["target"] | None
    """The URIs of the records of archives."""
    warc_type: str | Sequence[str]
    """The types of the records of archives that are read."""
    mime: str | Sequence[str]
    """The media types of the records of archives that are read."""
    host: str | Sequence[str]
    """The hosts that are kept."""
    domain: str | Sequence[str]
    """The domains that are kept, with the hosts below them."""
    match: str | Sequence[str]
    """Regular expressions, one of which matches in what is kept."""
    not_scheme: str | Sequence[str]
    """The schemes that are dropped."""
    not_host: str | Sequence[str]
    """The hosts that are dropped."""
    not_domain: str | Sequence[str]
    """The domains that are dropped, with the hosts below them."""
    not_match: str | Sequence[str]
    """Regular expressions; what one of them matches in is dropped."""
    max_segments: int | None
    """What has more segments in its path is dropped; empty ones do not count."""
    max_repeats: int | None
    """What has a segment, or a run of segments, more often in a row is dropped."""
    max_params: int | None
    """What has more parameters in its query is dropped."""
    max_length: int | None
    """What has more bytes is dropped."""


DEFAULTS: dict[str, Any] = {
    "scheme": None, "unicode": False, "unwrap": False, "refang": False, "bare_hosts": False, "email": False, "unsplit": False, "base": None,
    "fields": (), "delimiter": None, "log_format": None, "log_field": (), "status": (), "method": (), "since": None, "until": None,
    "also": (), "warc_field": None, "warc_type": (), "mime": (), "host": (),
    "domain": (), "match": (), "not_scheme": (), "not_host": (), "not_domain": (), "not_match": (),
    "max_segments": None, "max_repeats": None, "max_params": None, "max_length": None,
}  # fmt: skip

_FLAGS = ("unicode", "unwrap", "refang", "bare_hosts", "email", "unsplit")
_TEXTS = ("format", "base", "delimiter", "log_format", "since", "until", "warc_field")
_LISTS = (
    "log_field", "status", "method", "also", "warc_type", "mime", "host", "domain", "match",
    "not_scheme", "not_host", "not_domain", "not_match",
)  # fmt: skip

_OF_LOGS = ("log_field", "status", "method", "since", "until")

_LIMITS = {"max_segments": 0, "max_repeats": 1, "max_params": 0, "max_length": 1}

_WARC_TYPES = ("response", "resource", "request", "metadata", "warcinfo", "revisit", "conversion", "continuation")


def find(format: str = "text", **links: Any) -> dict[str, Any]:
    """What the native half is given for these keywords."""
    for name in links:
        if name not in DEFAULTS:
            raise TypeError(f"there is no keyword {name!r} here; the keywords are {', '.join(DEFAULTS)}")
    options = {"format": format, **DEFAULTS, **links}
    for name in _TEXTS:
        text(name, options[name])
    for name in _FLAGS:
        options[name] = bool(options[name])
    options["status"] = _statuses(options["status"])
    for name in _LISTS:
        options[name] = [options[name]] if isinstance(options[name], str) else names(name, options[name])
    for name, least in _LIMITS.items():
        _limit(name, options[name], least)
    options["fields"] = names("fields", options["fields"])
    options["scheme"] = _schemes(options["scheme"])
    options["warc_type"] = [name.lower() for name in options["warc_type"]]
    for name in options["warc_type"]:
        if name not in _WARC_TYPES:
            raise ValueError(f"warc_type={name!r}: there are {', '.join(_WARC_TYPES)}")
    # Other formats than that of access logs have no use for the pattern and the fields.
    if format == "text" and (options["log_format"] is not None or any(options[name] for name in _OF_LOGS)):
        options["format"] = "clf"
    return options


def _statuses(status: Any) -> Any:
    """These statuses as text, where they are numbers."""
    if isinstance(status, bool):
        return status
    if isinstance(status, int):
        return str(status)
    if isinstance(status, (list, tuple)):
        return [_statuses(one) for one in status]
    return status


def _limit(name: str, most: Any, least: int) -> None:
    if most is None:
        return
    if isinstance(most, bool) or not isinstance(most, int):
        raise TypeError(f"{name} is a number or None, not {type(most).__name__}")
    if not least <= most < 2**64:
        raise ValueError(f"{name}={most}: a number from {least}")


def _schemes(scheme: Any) -> list[str] | None:
    if scheme is None:
        return None
    found = [scheme] if isinstance(scheme, str) else names("scheme", scheme)
    if "any" in found:
        return ["any"]
    for name in found:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", name):
            raise ValueError(f"scheme={name!r}: that is not a scheme; schemes are written like ['http', 'mailto']")
    return found
