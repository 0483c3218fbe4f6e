import threading

from memories.recall.cache import IndexCache
from memories.recall.index import Index
from tests.memories.recall.entries import entry


def index(size: int) -> Index:
    return Index.build(entry(f"note {n}") for n in range(size))


def test_an_index_is_found_by_project_and_version_alone() -> None:
    cache, kept = IndexCache(max_projects=2, max_memories=10), index(1)
    cache.put(1, "a", kept)
    assert (cache.get(1, "a"), cache.get(1, "b"), cache.get(2, "a")) == (kept, None, None)


def test_a_new_version_takes_the_place_of_the_old_one() -> None:
    cache, newer = IndexCache(max_projects=2, max_memories=3), index(2)
    cache.put(1, "a", index(3))
    cache.put(1, "b", newer)
    cache.put(2, "c", index(1))
    assert (cache.get(1, "a"), cache.get(1, "b"), len(cache)) == (None, newer, 2)


def test_the_project_that_was_used_longest_ago_goes_first() -> None:
    cache = IndexCache(max_projects=2, max_memories=10)
    for project in (1, 2):
        cache.put(project, "v", index(1))
    cache.get(1, "v")
    cache.put(3, "v", index(1))
    assert [cache.get(project, "v") is not None for project in (1, 2, 3)] == [True, False, True]


def test_the_memories_of_all_projects_are_bounded() -> None:
    cache = IndexCache(max_projects=9, max_memories=5)
    for project, size in ((1, 2), (2, 3), (3, 2)):
        cache.put(project, "v", index(size))
    assert [cache.get(project, "v") is not None for project in (1, 2, 3)] == [False, True, True]


def test_an_index_larger_than_the_whole_cache_is_not_kept_and_drives_nothing_out() -> None:
    cache = IndexCache(max_projects=9, max_memories=2)
    cache.put(1, "v", index(2))
    cache.put(2, "v", index(3))
    assert [cache.get(project, "v") is not None for project in (1, 2)] == [True, False]


def test_many_threads_keep_the_account() -> None:
    cache, made = IndexCache(max_projects=3, max_memories=6), [index(size) for size in (1, 2, 3)]

    def work(seed: int) -> None:
        for step in range(300):
            cache.put((seed + step) % 7, "v", made[step % 3])
            cache.get((seed * step) % 7, "v")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = [found for project in range(7) if (found := cache.get(project, "v"))]
    assert cache._memories == sum(map(len, kept)) <= 6
    assert len(kept) == len(cache) <= 3


def test_clear_forgets_all() -> None:
    cache = IndexCache(max_projects=3, max_memories=6)
    cache.put(1, "v", index(6))
    cache.clear()
    assert cache.get(1, "v") is None
    cache.put(2, "v", index(6))
    assert cache.get(2, "v") is not None
