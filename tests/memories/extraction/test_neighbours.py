"""What a content is compared with: the few that are most alike."""

import pytest

from memories.extraction.neighbours import nearest

OTHERS = [
    (4, "the database runs in Frankfurt"),
    (2, "the port of the database on the staging host is 5432"),
    (3, "deploys go through ArgoCD"),
    (1, "the port of the database is 5432"),
]


@pytest.mark.parametrize(
    ("content", "most", "expected"),
    [
        pytest.param("the port of the database is 5433", 50, [1, 2, 4], id="most alike first"),
        pytest.param("the port of the database is 5433", 1, [1], id="no more than asked for"),
        pytest.param("Deploy through Argo", 50, [3], id="a plural and a part of a name"),
        pytest.param("colours come from tokens.css", 50, [], id="no word in common"),
        pytest.param("的", 50, [], id="no word at all"),
    ],
)
def test_the_nearest_are_those_that_share_most_words(content: str, most: int, expected: list[int]) -> None:
    assert nearest(content, OTHERS, most=most) == expected
