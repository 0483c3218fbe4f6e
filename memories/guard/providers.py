"""Tokens whose first characters say who issued them; providers publish these so that scanners find them."""

import re
from collections.abc import Iterator
from typing import Final

from memories.guard import values

# Prefix → the least number of characters that follow it.
_PREFIXES: Final[dict[str, int]] = {
    prefix: least
    for least, prefixes in (
        (12, "LTAI AKTP"),
        (13, "AKID"),
        (
            16,
            "AKIA ASIA ABIA ACCA AKLT ALTAK glpat- gldt- glrt- glptt- glcbt- gloas- glft- glimt- glagent- "
            "glffct- glsoat- xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xapp- sk_live_ sk_test_ rk_live_ "
            "rk_test_ tskey- sb_secret_ FLWSECK- FLWSECK_TEST- SCT",
        ),
        (
            20,
            "GOCSPX- ya29. whsec_ sk- gsk_ xai- pplx- r8_ hf_ api_org_ tvly- lsv2_ nvapi- fw_ csk- "
            "voyage- dckr_pat_ dckr_oat_ shpat_ shpss_ shpca_ shppa_ sq0csp- sq0atp- hvs. hvb. "
            "hvr. glsa_ glc_ NRAK- NRAL- NRJS- NRII- lin_api_ figd_ ntn_ sntrys_ sntryu_ ATATT3 ATCTT3 ATBB "
            "ATTA AKCp sbp_ nfp_ dp.pt. dp.st. dp.ct. CCIPAT_ pscale_tkn_ pscale_pw_ pscale_oauth_ aio_ "
            "HRKU- CFPAT- FlyV1 fo1_ fm1r_ fm1a_ fm2_ bkua_ pat-na1- pat-eu1- patk_ phx_ tfp_ shippo_live_ "
            "rpa_ cal_live_ vercel_ vcp_ wandb_ wandb_v1_ pcsk_ re_ rnd_ sdp_ dsp_ fastgpt- dataset- pat_ "
            "sat_ cztei_ sctp PDU AQVN t1. jina_ e2b_ fc- ptr_ tgp_v1_ zpka_ rdme_ sqp_ squ_ sqa_ pnu_ ico- "
            "fio-u- duffel_live_ duffel_test_ CLOJARS_ sm_aat_ p8e- esecret_ flp_ sk_prod_ rk_prod_ tk-us- "
            "s-s4t2ud- access-production- access-sandbox-",
        ),
        (24, "1//0 app- sl."),
        (
            30,
            "AIza ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ pa- npm_ pypi- rubygems_ dop_v1_ doo_v1_ dor_v1_ "
            "SG. eyJrIjoi dapi PMAK- pul- xkeysib- phc_ sgp_ EZAK EZTK ddp_ bce-v3/ALTAK- sk.eyJ cmVmdGtuO "
            "sha256~ oy2 sk_",
        ),
        (32, "key- live_ SK"),
        (40, "EAAC EAAG EAAA AGE-SECRET-KEY-1 secret_ ops_eyJ AC dt0c01. xprv yprv zprv tprv"),
    )
    for prefix in prefixes.split()
}
_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9_-])("
    + "|".join(map(re.escape, sorted(_PREFIXES, key=len, reverse=True)))
    + r")([A-Za-z0-9_.=+/-]{12,512})"
)
_LONG: Final = re.compile(r"[A-Za-z0-9_.=+/-]{16,}")
_IN_BASE64: Final = frozenset({"glc_", "sl.", "EAAA", "EAAG", "EAAC", "bce-v3/ALTAK-", "fm2_", "FlyV1"})
# The end of a file's name that a key stands in ("AKIA….env"); no key ends in so short a word.
_FILE_END: Final = re.compile(r"(?:\.[A-Za-z]{1,5}){1,2}$")

# Two parts that only together are telling, each of a length of its own.
_PAIRED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(?P<bot>\d{8,10}:[A-Za-z0-9_-]{35})|(?P<zhipu>[0-9a-f]{32}\.[A-Za-z0-9]{16})"
    r"|(?P<discord>[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})"
    r"|(?P<airtable>pat[A-Za-z0-9]{14}\.[0-9a-f]{64})|(?P<terraform>[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70})"
    r"|(?P<asana>\d/\d{15,17}(?:/\d{15,17})?:[0-9a-f]{32})"
    r"|(?P<mailchimp>[0-9a-f]{32}-us\d{1,2})|(?P<cairn>cairn_[0-9a-f]{12}_[0-9a-f]{48}))(?![A-Za-z0-9_-])"
)
_SHORTEST_PAIR: Final = 26  # characters of its longer part
_BEFORE: Final = 20  # characters that may stand before that part: "1/1201234567890123:"
# A prefix that nobody published, and then many characters of all kinds: "acme_live_…".
_UNKNOWN: Final = re.compile(
    r"(?<![\w/.@#?=&-])(?!pk_|pub|site)(?:[a-z]{2,10}[_-]){1,3}(?=[a-z0-9]*[A-Z])(?=[A-Za-z]*\d)([A-Za-z0-9]{24,200})(?![\w/.-])"
)
_DINGTALK: Final = re.compile(r"(?<![A-Za-z0-9])SEC[0-9a-f]{64}(?![A-Za-z0-9])")


def find(text: str) -> Iterator[tuple[str, int, int, bool]]:
    """(code, start, end, sure) of every token that names its issuer."""
    runs = list(_LONG.finditer(text))
    if not runs:
        return
    for run in runs:
        for match in _TOKEN.finditer(text, run.start(), run.end()):
            body = match[2] if match[1] in _IN_BASE64 else re.split("[+/]", match[2], maxsplit=1)[0]
            tail = _FILE_END.sub("", body).rstrip(".-=")
            if len(tail) >= _PREFIXES[match[1]] and _is_generated(match[1], tail):
                yield "provider_key", match.start(), match.start(2) + len(tail), True
        if run.end() - run.start() >= _SHORTEST_PAIR:
            for match in _PAIRED.finditer(text, max(0, run.start() - _BEFORE), run.end()):
                if len(set(match[0])) >= 10 and not values.is_placeholder(match[0]):
                    yield "provider_key", *match.span(), True
    if "SEC" in text:
        yield from (("provider_key", *match.span(), True) for match in _DINGTALK.finditer(text))
    if "_" in text or "-" in text:
        for match in _UNKNOWN.finditer(text):
            if values.is_dense(match[1]):
                yield "token", *match.span(), False


def _is_generated(prefix: str, tail: str) -> bool:
    """Short telling prefixes may begin a word ("ACCA", "sk-"): what follows must then be truly random."""
    if values.is_placeholder(tail) or values.is_sequence(tail) or len(set(tail)) < 8:
        return False
    if prefix.isalpha() and prefix.isupper():
        return any(map(str.isdigit, tail)) and tail.isalnum()
    return values.is_random(tail) or (len(tail) >= 16 and not values.is_name(tail))
