"""Secrets by kind: labelled sentences of many voices, what ties a value to a label, what a value is."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories import guard
from memories.guard import secrets, values
from memories.guard.views import readings
from tests.memories.guard.tokens import fill

TEMPLATES = [
    json.loads(line)
    for line in Path(__file__).with_name("secrets.jsonl").read_text(encoding="utf-8").splitlines()
]
VALUE = fill("{strong}", random.Random(11))
TOKEN = fill("{al40}", random.Random(12))


def secrets_in(text: str) -> list[guard.Finding]:
    return [found for found in guard.inspect(text) if found.kind == "secret"]


def verdict(text: str) -> str:
    worst = guard.worst(secrets_in(text))
    return worst.certainty if worst else "pass"


# ── The labelled templates ───────────────────────────────────────────────────────────────────────

SETS = sorted({(row["set"], row["lang"]) for row in TEMPLATES})


def test_the_templates_hold_enough_of_each_side():
    sides = [(row["label"], row["lang"]) for row in TEMPLATES]
    counts = {side: sides.count(side) for side in sorted(set(sides))}
    assert counts == {(0, "en"): 520, (0, "zh"): 345, (1, "en"): 483, (1, "zh"): 342}


@pytest.mark.parametrize(("which", "lang"), SETS)
@pytest.mark.parametrize("seed", [1, 2])
def test_of_a_set_of_sentences_hardly_one_secret_is_missed_and_nothing_else_found(which, lang, seed):
    rng = random.Random(f"{which} {lang} {seed}")
    missed, alarms, sizes = [], [], [0, 0]
    for row in TEMPLATES:
        if (row["set"], row["lang"]) != (which, lang):
            continue
        text = fill(row["template"], rng)
        sizes[row["label"]] += 1
        if bool(secrets_in(text)) != bool(row["label"]):
            (missed if row["label"] else alarms).append(text)
    assert len(missed) <= 0.04 * sizes[1] + 2, missed
    assert len(alarms) <= 0.01 * sizes[0], alarms


# ── What ties a value to its label ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("密码是 tiger-2024", "refuse", id="a word and a number behind 密码是"),
        pytest.param("密码字段是 user_pwd2", "pass", id="a compound noun is no password"),
        pytest.param("密码 8 位以上", "pass", id="a number with its unit"),
        pytest.param("密码：4821", "refuse", id="four digits behind 密码"),
        pytest.param("the password is sunshine", "refuse", id="a word that most people choose"),
        pytest.param("the password is marigold", "hold", id="any word waits for a person"),
        pytest.param("the password is required", "pass", id="what a password has to be"),
        pytest.param("the password is hashed", "pass", id="what is done with a password"),
        pytest.param("pwd: lantern orbit pickle marble", "hold", id="words that form no sentence"),
        pytest.param("password: choose something very strong", "pass", id="words that form one"),
        pytest.param("weak passwords: summer2024 and the like", "pass", id="talk of weak passwords"),
        pytest.param("the wrong password tiger-2024 locks the account", "pass", id="a wrong password"),
        pytest.param(f"enter {VALUE} at the password prompt", "refuse", id="what is typed at the prompt"),
        pytest.param(f"把 {VALUE} 填到密码框", "refuse", id="填到密码框"),
        pytest.param(f"what's the token? Ann: sure, {TOKEN}", "refuse", id="the answer to a question"),
        pytest.param(f"we rotated the key; it is {TOKEN}", "refuse", id="a pronoun for the label"),
        pytest.param(f"| host | password |\n|---|---|\n| db | {VALUE} |", "refuse", id="a column of a table"),
        pytest.param("| field | password |\n|---|---|\n| type | string |", "pass", id="a column of types"),
        pytest.param(f"the public key is {TOKEN}", "pass", id="a public key"),
        pytest.param(f"git checkout {'4f' * 20} -- src/token.ts", "pass", id="a commit before a label"),
        pytest.param(f"commit {fill('{hex40}', random.Random(3))} (token fix)", "pass", id="a commit"),
        pytest.param(
            "密钥指纹 SHA256:fDpaAO2kJqQfPz2psVXYRA0TJg7WuS6v9aAZZVPBSVk", "pass", id="a fingerprint"
        ),
        pytest.param("password_reset_timeout = 259200", "pass", id="a number of a longer name"),
        pytest.param("password = 259200", "refuse", id="a number alone"),
        pytest.param(
            f"> {fill('{pem8}', random.Random(4))}".replace("\n", "\n> "), "refuse", id="a quoted key"
        ),
        pytest.param("arn:aws:secretsmanager:eu-west-1:1234:secret:db-9fKz2L", "pass", id="a secret's name"),
    ],
)
def test_a_value_counts_by_what_ties_it_to_its_label(text, expected):
    assert verdict(text) == expected


@pytest.mark.parametrize(
    "connector",
    ["是", "为", "：", " = ", "改成了 ", "设为", "换成 ", "用的是 ", "还是 ", "就是", "→", "重置为 ", "【"],
)
@pytest.mark.parametrize("label", ["密码", "口令", "登录密码", "数据库密码"])
def test_every_connector_ties_in_chinese(label, connector):
    assert verdict(f"记一下，{label}{connector}{VALUE}") == "refuse"


@pytest.mark.parametrize(
    "connector",
    [
        " is ",
        ": ",
        " = ",
        " was changed to ",
        " → ",
        " - ",
        " equals ",
        ' is "',
        " (temporary): ",
        "=",
        " remains ",
    ],
)
@pytest.mark.parametrize("label", ["password", "db password", "Passphrase", "root pwd", "API secret"])
def test_every_connector_ties_in_english(label, connector):
    value = TOKEN if "secret" in label else VALUE
    assert verdict(f"Note: the {label}{connector}{value}") == "refuse"


@pytest.mark.parametrize(
    "stand_in",
    [
        "<your-password>", "****", "${DB_PASSWORD}", "{{ db_password }}", "os.environ['PW']",
        "settings.PASSWORD",
        "changeme", "your_password", "xxxxxxxx", "process.env.PW", "/run/secrets/db", "null",
        "!vault", "REDACTED",
        "import.meta.env.VITE_KEY", "abc123def456ghi789", "sk-proj-abcdefghijklmnop", "string",
        "z.string().min(8)",
        "getenv('PW')", "SecretStr", "op://prod/db/password", "data.vault.db.value", "[hidden]", "%PASSWORD%",
    ],
)  # fmt: skip
@pytest.mark.parametrize("label", ["token: ", "api_key=", "the secret is ", "令牌是 ", "密钥："])
def test_what_stands_in_for_a_value_is_none(label, stand_in):
    assert verdict(f"{label}{stand_in}") == "pass"


@pytest.mark.parametrize(
    ("test", "yes", "no"),
    [
        pytest.param(
            values.is_chosen,
            ["tiger2024", "summer-rain-12", "482913", "a1234567"],
            ["v2", "section2", "3.13", "2024-11-30", "sha256", "MAX_2", "step-2", "a@b.com",
             "pay-md5", "x.py"],
            id="chosen",
        ),
        pytest.param(
            values.is_phrase,
            ["lantern orbit pickle marble", "lantern-orbit-pickle-marble-saddle"],
            ["lantern orbit pickle", "must be at least twelve", "Lantern Orbit Pickle Marble", "a b c d"],
            id="phrase",
        ),
        pytest.param(
            values.is_dense,
            [TOKEN, "q7RtB2mWx9LfK4zP"],
            ["d41d8cd98f00b204e980", "abc123def456ghi789", "getUserByEmailAddress2", "AAAAAAAAAAAAAAAA"],
            id="dense",
        ),
        pytest.param(
            values.is_grouped,
            ["k3f9a-x81qz", "398937-456468-732443"],
            ["abcd-efgh", "12345-6789"],
            id="grouped",
        ),
    ],
)  # fmt: skip
def test_a_value_is_told_by_its_form(test, yes, no):
    assert [value for value in yes if not test(value)] == []
    assert [value for value in no if test(value)] == []


def test_each_family_of_rules_finds_its_own_form():
    rng = random.Random(5)
    forms = {
        "private keys": "{pem8}",
        "JSON web tokens": "{jwt}",
        "addresses": "postgres://app:{strong}@db/app",
        "links": "https://hooks.slack.com/services/T{up9}/B{up9}/{al24}",
        "providers": "ghp_{al36}",
        "commands": "mysql -u root -p{strong} app",
        "columns": "user,password\nann,{strong}",
        "recovery phrases": "the mnemonic is {bip12}",
        "label, value": "password: {strong}",
        "value, label": "{strong} is the root password",
        "label, word": "the password is marigold",
    }
    assert tuple(forms) == secrets.FAMILIES
    found = {
        family: {name for name, one in guard.found_by(fill(form, rng)) if one.kind == "secret"}
        for family, form in forms.items()
    }
    assert [family for family, names in found.items() if family not in names] == []


@pytest.mark.parametrize(
    ("before", "spread"),
    [
        pytest.param("", "", id="plain"),
        pytest.param("，：", "", id="full width before"),
        pytest.param("a\u200bb ", "", id="dropped before"),
        pytest.param("ﬁne ", "", id="one that is read as two before"),
        pytest.param("a\u200bﬁ ", "", id="one dropped and one doubled before"),
        pytest.param("", "\u200b", id="dropped inside"),
        pytest.param("ﬁ", "\u00ad", id="doubled before, dropped inside"),
    ],
)
def test_the_place_of_a_value_is_its_place_in_the_original(before, spread):
    text = f"{before}密码是 {spread.join(VALUE)}。"
    found = secrets_in(text)
    assert [text[one.start : one.end].replace(spread or "\0", "") for one in found] == [VALUE]
    assert guard.mask(text) == f"{before}密码是 {VALUE[:2]}***。"


# ── For any secret in any prose ──────────────────────────────────────────────────────────────────

SECRETS = st.builds(
    lambda form, seed: fill(form, random.Random(seed)),
    st.sampled_from(
        ["db password: {strong}", "数据库密码是 {strong}", "api token: {hex40}", "ghp_{al36}",
         "postgres://app:{strong}@db/x",
         "密钥：{al32}", "Authorization: Bearer {al40}", "{jwt}", "PGPASSWORD={strong} psql", "口令改成了 {strong}"]
    ),
    st.integers(0, 10**6),
)  # fmt: skip
PROSE = st.lists(
    st.sampled_from(
        ["We deploy on Fridays.", "部署在周五进行。", "Use tabs, not spaces.", "接口超时 30 秒。",
         "See docs/setup.md first.",
         "- item one", "`make test` runs all.", "端口 5432。", "🙂", "The build takes 12 minutes."]
    ),
    max_size=4,
).map("\n".join)  # fmt: skip


@given(PROSE, SECRETS, PROSE)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_prose_around_a_secret_hides_it_from_nobody(before, secret, after):
    text = f"{before}\n{secret}\n{after}"
    found = secrets_in(text)
    assert found
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    masked = guard.mask(text)
    assert [one for one in found if text[one.start : one.end] in masked] == []


@given(PROSE, SECRETS, PROSE)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_what_is_masked_stays_as_it_is_when_masked_again(before, secret, after):
    masked = guard.mask(f"{before}\n{secret}\n{after}")
    assert guard.mask(masked) == masked


@given(PROSE)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_prose_alone_holds_no_secret(text):
    assert secrets_in(text) == []


# ── Hostile lengths ──────────────────────────────────────────────────────────────────────────────

HOSTILE = [
    "password for the x ", "密码我", "密码？小李:", "token? it's ", "key; it is ", "u: a p: ",
    "log in as a, ", "admin / b/ ",
    "| password |\n", "password,\n", "a | b | password\n| - |\n", "a,b,c\n", "\t\n",
    "enter code 1 ", "a:1:b:c:", "a:b@c:1", "x/y@h:1 ",
    "://x/y@z", "/hooks/a/", "sig=", "$2b$10$", "echo 'a' ", "identified by 'a' ", "auth('",
    "auth(\"a\", \"", "-p a -p ",
    "mysql a -pA1! ", "--user a:", "mnemonic a b c d ", "1. abc 2. def ", "助记词 山 水 ", "MIIabcIBAA",
    "MIIAAAIBAA\n",
    "acme_live_", "a_b_c-", "sk-proj-", "aA1", "((((", "{{{{", "<a<", "'a'", "private.x.",
    "password_a-", "密码密码", "重置密码成",
    "a（密码", "作为密码", " is the password", " <- key", "correct horse battery staple ",
    "arn:aws:secret:", "密码\n", "İpassword",
]  # fmt: skip


def _work(text: str) -> float:
    """Seconds of processor time that the views of a text and the search for secrets in them take."""
    started = time.process_time()
    for view in readings(text):
        for _ in secrets.find(view):
            pass
    return time.process_time() - started


@pytest.mark.parametrize("piece", [pytest.param(piece, id=ascii(piece)) for piece in HOSTILE])
def test_twice_the_length_takes_twice_the_work(piece):
    half, whole = (piece * 10_000)[:10_000], (piece * 20_000)[:20_000]
    tries = []
    for _ in range(4):  # what else the machine does may disturb one try, not all of them
        shorter, longer = _work(half), _work(whole)
        tries.append((round(longer, 3), round(longer / (shorter + 0.002), 2)))
        if longer < 1.0 and longer <= 2.5 * (shorter + 0.002):
            return
    pytest.fail(f"seconds, ratio: {tries}")
