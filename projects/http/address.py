"""The address that a request comes from, as far as it can be believed."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from django.http import HttpRequest

FORWARDED = "HTTP_X_FORWARDED_FOR"
# Who is given an IPv6 address is given at least so much of the net: callers are told apart by it.
_IPV6_PREFIX = 64


def address_of(request: HttpRequest) -> str | None:
    """The caller's IPv4 address or IPv6 /64 network; None where there is none, as on a Unix socket.

    `X-Forwarded-For` counts only behind a proxy, and then only what our own proxies added, from the right:
    whatever stands left of it a caller may have made up.
    """
    told = str(request.META.get("REMOTE_ADDR", ""))
    if settings.BEHIND_PROXY:
        forwarded = [part.strip() for part in str(request.META.get(FORWARDED, "")).split(",")]
        if len(forwarded) >= settings.PROXY_COUNT:
            return _network(forwarded[-settings.PROXY_COUNT]) or _network(told)
    return _network(told)


def _network(text: str) -> str | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False).network_address)
