"""How often a caller may ask, whoever counts: this process, or a Redis that may be away."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings as site_settings
from django.test import RequestFactory
from limits.errors import StorageError
from redis import Redis
from rest_framework.request import Request

from projects.http import throttling
from projects.http.address import address_of
from projects.http.throttling import PAUSE_S, Tally, Window
from projects.models import AuditEvent, Project
from tests.factories import make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_django.fixtures import SettingsWrapper
    from rest_framework.test import APIClient

pytestmark = pytest.mark.urls("tests.projects.urls")

BROKER = os.environ.get("CELERY_BROKER_URL", "")
WITH_REDIS = pytest.mark.skipif(
    not BROKER.startswith("redis"), reason="asks a real Redis: make test-services"
)
# Ten seconds into a window of a minute.
NOW = 1_796_000_000.0 - 1_796_000_000.0 % 60 + 10


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """`clock.now` is the time that the throttle sees, by both of its clocks."""
    made = SimpleNamespace(now=NOW)
    monkeypatch.setattr(
        throttling, "time", SimpleNamespace(time=lambda: made.now, monotonic=lambda: made.now)
    )
    return made


@pytest.fixture(autouse=True)
def _three_a_minute(settings: SettingsWrapper, clock: SimpleNamespace) -> Iterator[None]:
    settings.THROTTLE_RATE = "3/minute"
    settings.THROTTLE_STORAGE_URL = "memory://"
    throttling._tally.cache_clear()
    yield
    throttling._tally.cache_clear()


def statuses(client: APIClient, path: str, times: int) -> list[int]:
    return [client.get(path).status_code for _ in range(times)]


@pytest.mark.django_db
def test_who_has_used_up_the_budget_is_refused_and_nothing_happens(api: Callable[..., APIClient]) -> None:
    project = make_project("shop")
    client = api(make_key(project)[1])
    answers = [client.post("/api/v1/probes/access/shop/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert [answer["RateLimit"] for answer in answers] == [
        '"caller";r=2;t=50',
        '"caller";r=1;t=50',
        '"caller";r=0;t=50',
    ]
    Project.objects.update(description="")
    events = AuditEvent.objects.count()
    refused = client.post("/api/v1/probes/access/shop/", headers={"X-Request-ID": "r-4"})
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
    assert refused["Retry-After"] == "50"
    assert refused["RateLimit-Policy"] == '"caller";q=3;w=60'
    assert refused["RateLimit"] == '"caller";r=0;t=50'
    assert refused.json() == {
        "type": "about:blank",
        "title": "Too Many Requests",
        "status": 429,
        "code": "throttled",
        "detail": "Too many requests. Try again later.",
        "request_id": "r-4",
    }
    project.refresh_from_db()
    assert (project.description, AuditEvent.objects.count()) == ("", events)


@pytest.mark.django_db
def test_the_next_window_begins_with_the_clock(api: Callable[..., APIClient], clock: SimpleNamespace) -> None:
    make_project("shop")
    client = api(make_key(Project.objects.get())[1])
    assert statuses(client, "/api/v1/projects/shop/", 4) == [200, 200, 200, 429]
    clock.now = NOW + 49.5
    answer = client.get("/api/v1/projects/shop/")
    assert (answer.status_code, answer["Retry-After"]) == (429, "1")
    clock.now = NOW + 50
    answer = client.get("/api/v1/projects/shop/")
    assert (answer.status_code, answer["RateLimit"]) == (200, '"caller";r=2;t=60')


@pytest.mark.django_db
def test_each_key_and_each_person_has_a_budget_in_each_project(
    api: Callable[..., APIClient], api_as: Callable[..., APIClient]
) -> None:
    ana, ben = make_user("ana"), make_user("ben")
    shop, blog = make_project("shop", owner=ana, members=[ben]), make_project("blog", owner=ana)
    one, other = api(make_key(shop)[1]), api(make_key(shop)[1])
    platform, owner, member = api(make_key(None)[1]), api_as(ana), api_as(ben)
    assert statuses(one, "/api/v1/projects/shop/", 4) == [200, 200, 200, 429]
    for client in (other, platform, owner, member):
        assert statuses(client, "/api/v1/projects/shop/", 4) == [200, 200, 200, 429]
    for client in (api(make_key(blog)[1]), platform, owner):
        assert statuses(client, "/api/v1/projects/blog/", 4) == [200, 200, 200, 429]


@pytest.mark.django_db
def test_a_row_named_by_its_id_counts_for_its_project(
    api: Callable[..., APIClient], api_as: Callable[..., APIClient]
) -> None:
    project = make_project("shop")
    row, plain = make_key(project)
    for client in (api(plain), api(make_key(None)[1]), api_as(project.owner)):
        assert statuses(client, f"/api/v1/probes/rows/{row.pk}/", 2) == [200, 200]
        assert statuses(client, "/api/v1/projects/shop/", 2) == [200, 429]


@pytest.mark.django_db
def test_looking_for_what_one_cannot_see_is_counted_as_one_whatever_it_is_called(
    api: Callable[..., APIClient], api_as: Callable[..., APIClient]
) -> None:
    shop = make_project("shop")
    row, plain = make_key(shop)
    for client in (api_as(make_user()), api(make_key(None, ["recall"])[1])):
        found = [client.get(f"/api/v1/projects/{slug}/").status_code for slug in ("a", "b")]
        found += [client.get(f"/api/v1/probes/rows/{pk}/").status_code for pk in (9999, 9998)]
        assert found == [404, 404, 404, 429]
    key = api(plain)
    assert statuses(key, "/api/v1/projects/other/", 2) == [404, 404]
    assert statuses(key, "/api/v1/projects/shop/", 2) == [200, 429], "a key looks from its own project"
    stranger = api_as(make_user())
    assert statuses(stranger, f"/api/v1/probes/rows/{row.pk}/", 4) == [404, 404, 404, 429]


@pytest.mark.django_db
def test_what_is_forbidden_is_counted(api: Callable[..., APIClient]) -> None:
    client = api(make_key(make_project("shop"), ["turns"])[1])
    answers = [client.post("/api/v1/probes/access/shop/").status_code for _ in range(4)]
    assert answers == [403, 403, 403, 429]


def test_a_request_counts_once_however_often_its_view_asks() -> None:
    request = Request(RequestFactory().get("/"))
    for _ in range(5):
        throttling.count(request, "key:1", 1)
    another = Request(RequestFactory().get("/"))
    throttling.count(another, "key:1", 1)
    assert [standing and standing.used for standing in map(throttling.standing_of, (request, another))] == [
        1,
        2,
    ]


@pytest.mark.django_db
def test_a_project_that_comes_into_being_has_a_budget_of_its_own(api_as: Callable[..., APIClient]) -> None:
    client = api_as(make_user())
    body = {"name": "Shop"}
    first = client.put("/api/v1/projects/shop/", body)
    assert (first.status_code, first["RateLimit"]) == (201, '"caller";r=2;t=50')
    again = client.put("/api/v1/projects/shop/", body)
    assert (again.status_code, again["RateLimit"]) == (200, '"caller";r=2;t=50'), "now it is in a project"


@pytest.mark.django_db
def test_lists_and_the_question_who_one_is_are_counted(api_as: Callable[..., APIClient]) -> None:
    client = api_as(make_user())
    assert statuses(client, "/api/v1/projects/", 2) == [200, 200]
    assert client.get("/api/v1/me/").json()["limits"]["requests"] == {
        "limit": 3,
        "window_s": 60,
        "remaining": 0,
        "resets_in_s": 50,
    }
    assert statuses(client, "/api/v1/me/", 1) == [429]


@pytest.mark.django_db
def test_without_a_valid_key_the_address_is_counted_and_nobody_else_at_it(
    api: Callable[..., APIClient],
) -> None:
    make_project("shop")
    good = api(make_key(Project.objects.get())[1])
    wrong = api("cairn_000000000000_" + "x" * 43)
    assert statuses(wrong, "/api/v1/projects/shop/", 2) == [401, 401]
    assert statuses(api(), "/api/v1/projects/shop/", 2) == [401, 429]
    assert statuses(wrong, "/api/v1/projects/shop/", 1) == [429]
    assert wrong.get("/api/v1/me/", REMOTE_ADDR="192.0.2.7").status_code == 401
    assert statuses(good, "/api/v1/projects/shop/", 3) == [200, 200, 200]


@pytest.mark.django_db
@pytest.mark.urls(site_settings.ROOT_URLCONF)
def test_what_everybody_may_ask_is_not_counted(api: Callable[..., APIClient]) -> None:
    for path in ("/api/v1/health/live/", "/api/v1/schema/", "/login/"):
        answers = [api().get(path) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200] * 5
        assert not any("RateLimit" in answer for answer in answers)


@pytest.mark.django_db
def test_an_empty_rate_is_no_throttle(api: Callable[..., APIClient], settings: SettingsWrapper) -> None:
    settings.THROTTLE_RATE = ""
    make_project("shop")
    client = api(make_key(Project.objects.get())[1])
    assert statuses(client, "/api/v1/projects/shop/", 9) == [200] * 9
    answer = client.get("/api/v1/me/")
    assert answer.json()["limits"]["requests"] is None
    assert "RateLimit" not in answer


@pytest.mark.parametrize(
    ("proxies", "remote", "forwarded", "address"),
    [
        pytest.param(0, "192.0.2.1", "203.0.113.9", "192.0.2.1", id="nobody's word is taken"),
        pytest.param(1, "10.0.0.1", "203.0.113.9", "203.0.113.9", id="our proxy's word"),
        pytest.param(
            1, "10.0.0.1", "198.51.100.66, 203.0.113.9", "203.0.113.9", id="what a caller made up stands left"
        ),
        pytest.param(2, "10.0.0.1", "198.51.100.66, 203.0.113.9, 10.0.0.2", "203.0.113.9", id="two proxies"),
        pytest.param(
            2, "10.0.0.1", "203.0.113.9", "10.0.0.1", id="fewer entries than proxies: came another way"
        ),
        pytest.param(1, "10.0.0.1", "", "10.0.0.1", id="a proxy that says nothing"),
        pytest.param(1, "10.0.0.1", "localhost", "10.0.0.1", id="no address"),
        pytest.param(0, "2001:db8:1:2:aaaa::1", "", "2001:db8:1:2::", id="a net of IPv6"),
        pytest.param(0, "::ffff:192.0.2.1", "", "192.0.2.1", id="IPv4 in IPv6"),
        pytest.param(0, "fe80::1%eth0", "", "fe80::", id="a link's own address"),
        pytest.param(0, "", "", None, id="a Unix socket"),
    ],
)
def test_the_address_of_a_caller(
    proxies: int, remote: str, forwarded: str, address: str | None, settings: SettingsWrapper
) -> None:
    settings.BEHIND_PROXY, settings.PROXY_COUNT = bool(proxies), max(1, proxies)
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    assert address_of(RequestFactory().get("/", REMOTE_ADDR=remote, **headers)) == address


def test_threads_of_one_process_count_exactly_and_forget_earlier_windows() -> None:
    window = Window()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns in the middle of everything
    try:
        with ThreadPoolExecutor(16) as pool:
            counted = list(pool.map(lambda _: window.add("caller", 7), range(16_000)))
    finally:
        sys.setswitchinterval(interval)
    assert sorted(counted) == list(range(1, 16_001))
    assert window.add("caller", 8) == 1
    assert window._counts == {"caller": 1}


class Shared:
    """Stands for Redis: counts, or fails while `away`, after `delay_s`."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.delay_s = delay_s
        self.away = False
        self.asked = 0
        self.count = 0

    def incr(self, key: str, expiry: int) -> int:
        self.asked += 1
        if self.away:
            time.sleep(self.delay_s)
            raise StorageError(TimeoutError("redis://:password@host"))
        self.count += 1
        return self.count


def test_a_redis_that_is_away_is_left_alone_for_a_while_and_comes_back(
    clock: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    shared = Shared()
    tally = Tally(shared)  # type: ignore[arg-type]
    assert [tally.add("a", 1, 60) for _ in range(2)] == [1, 2]
    shared.away = True
    assert [tally.add("a", 1, 60) for _ in range(3)] == [1, 2, 3], "this process's own count"
    assert shared.asked == 3
    clock.now += PAUSE_S - 0.1
    assert (tally.add("a", 1, 60), shared.asked) == (4, 3)
    clock.now += 0.1
    assert (tally.add("a", 1, 60), shared.asked) == (5, 4)
    clock.now += PAUSE_S
    shared.away = False
    assert [tally.add("a", 1, 60) for _ in range(2)] == [3, 4]
    assert [record.getMessage() for record in caplog.records] == [
        "Redis does not answer (TimeoutError): throttles count in each process alone until it does.",
        "Redis answers again: throttles are shared.",
    ]


def test_one_request_asks_a_redis_that_was_away_while_the_others_go_on(clock: SimpleNamespace) -> None:
    shared = Shared(delay_s=0.5)
    shared.away = True
    tally = Tally(shared)  # type: ignore[arg-type]
    tally.add("a", 1, 60)
    clock.now += PAUSE_S
    barrier = threading.Barrier(16)

    def ask(_number: int) -> int:
        barrier.wait(timeout=10)
        return tally.add("a", 1, 60)

    with ThreadPoolExecutor(16) as pool:
        assert sorted(pool.map(ask, range(16))) == list(range(2, 18))
    assert shared.asked == 2


@pytest.fixture
def silent() -> Iterator[tuple[str, list[socket.socket]]]:
    """A server that takes connections and never answers: its address, and who came."""
    came: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        over = threading.Event()

        def take() -> None:
            while not over.is_set():
                try:
                    came.append(server.accept()[0])
                except TimeoutError:
                    continue

        thread = threading.Thread(target=take)
        thread.start()
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0", came
        over.set()
        thread.join()
        for connection in came:
            connection.close()


@pytest.mark.django_db
def test_a_redis_that_hangs_delays_one_request_for_a_moment(
    api: Callable[..., APIClient],
    settings: SettingsWrapper,
    silent: tuple[str, list[socket.socket]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.THROTTLE_STORAGE_URL, came = silent
    make_project("shop")
    client = api(make_key(Project.objects.get())[1])
    took = []
    answers = []
    for _ in range(4):
        began = time.perf_counter()
        answers.append(client.get("/api/v1/projects/shop/").status_code)
        took.append(time.perf_counter() - began)
    assert answers == [200, 200, 200, 429]
    assert 0.1 < took[0] < 1, "it was asked"
    assert max(took[1:]) < 1, "and then no more"
    assert len(came) == 1
    assert [r.getMessage() for r in caplog.records if r.name == "projects.http.throttling"] == [
        "Redis does not answer (TimeoutError): throttles count in each process alone until it does."
    ]


@pytest.mark.django_db
def test_a_redis_that_is_not_there_delays_nobody(
    api: Callable[..., APIClient], settings: SettingsWrapper, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings.THROTTLE_STORAGE_URL = f"redis://:hidden@127.0.0.1:{port}/0"
    make_project("shop")
    client = api(make_key(Project.objects.get())[1])
    began = time.perf_counter()
    assert statuses(client, "/api/v1/projects/shop/", 4) == [200, 200, 200, 429]
    assert time.perf_counter() - began < 1
    told = [r.getMessage() for r in caplog.records if r.name == "projects.http.throttling"]
    assert told == [
        "Redis does not answer (ConnectionError): throttles count in each process alone until it does."
    ]
    assert "hidden" not in caplog.text


@pytest.fixture
def redis() -> Iterator[Redis]:
    with Redis.from_url(BROKER) as client:
        yield client
        for key in client.scan_iter("cairn:throttle:*"):
            client.delete(key)


def own_tally() -> Tally:
    """As another process would have."""
    return throttling._tally.__wrapped__(BROKER)


@WITH_REDIS
def test_processes_share_what_they_count_through_redis(redis: Redis[Any]) -> None:
    tallies = [own_tally() for _ in range(4)]
    with ThreadPoolExecutor(16) as pool:
        counted = list(pool.map(lambda n: tallies[n % 4].add("key:1/1", 5, 60), range(160)))
    assert sorted(counted) == list(range(1, 161))
    assert 0 < redis.ttl("cairn:throttle:key:1/1/5") <= 60


@WITH_REDIS
def test_a_redis_that_was_emptied_counts_anew(redis: Redis[Any], caplog: pytest.LogCaptureFixture) -> None:
    tally = own_tally()
    assert tally.add("key:2/1", 5, 60) == 1
    redis.delete("cairn:throttle:key:2/1/5")
    redis.script_flush()
    assert tally.add("key:2/1", 5, 60) == 1
    assert caplog.records == []


@WITH_REDIS
def test_connections_that_broke_are_made_anew(redis: Redis[Any], caplog: pytest.LogCaptureFixture) -> None:
    tally = own_tally()
    assert tally.add("key:3/1", 5, 60) == 1
    redis.client_kill_filter(_type="normal", skipme=True)
    assert tally.add("key:3/1", 5, 60) == 2
    assert caplog.records == []
