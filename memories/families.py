"""Values that exclude each other: a rule that names one of a family is undone by a rule that names another."""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from memories.text import singular

_COLOUR = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)

# One family a line; the first one is that of the colours.
_FAMILIES: Final = """
红 橙 黄 绿 青 蓝 紫 黑 白 灰 粉 棕 red orange yellow green cyan blue purple black white grey gray pink brown
npm pnpm yarn bun
pip poetry uv pipenv conda
maven gradle sbt
mysql mariadb postgresql postgres sqlite oracle mongodb tidb sqlserver oceanbase 达梦
redis memcached
vue react angular svelte solid
django flask fastapi rails laravel express koa nestjs fastify
jest vitest mocha pytest unittest junit testng
playwright cypress selenium puppeteer
tab space 制表符 空格
light dark 浅色 深色 亮色 暗色
中文 英文 日文 法文 德文 韩文 简体 繁体 chinese english japanese french german spanish italian korean dutch
pinia vuex redux zustand mobx
axios fetch
rest graphql grpc soap
webpack vite rollup parcel esbuild
eslint tslint biome oxlint
less sass scss tailwind
javascript typescript
camelcase snake_case kebab-case pascalcase 驼峰 下划线 中划线 短横线
get post put patch delete
升序 降序 正序 倒序 asc desc ascending descending
left right 左 右
top bottom 顶部 底部 上方 下方
before after 之前 之后
周一 周二 周三 周四 周五 周六 周日 monday tuesday wednesday thursday friday saturday sunday
一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月
january february march april may june july august september october november december
jwt session cookie oauth oauth2
bcrypt argon2 scrypt pbkdf2
md5 sha1 sha256 sha512
utc 本地时间 local
true false
单引号 双引号 single double
rabbitmq kafka rocketmq
celery rq dramatiq
elasticsearch opensearch solr meilisearch
aws azure gcp 阿里云 腾讯云 华为云
飞书 钉钉 企业微信 slack teams discord
figma sketch
jira linear trello
docker podman
mit gpl apache bsd
usd eur cny gbp jpy chf 美元 欧元 人民币 日元 英镑
apa mla chicago harvard ieee gb/t
宋体 楷体 黑体 仿宋
serif sans-serif
正式 活泼 口语 幽默 formal informal casual playful
横版 竖版 横向 纵向 portrait landscape
大写 小写 uppercase lowercase
单数 复数 singular plural
同步 异步 synchronous asynchronous
公开 私有 public private
公制 英制 metric imperial
daily weekly monthly quarterly yearly hourly nightly 每天 每日 每周 每月 每年
上午 下午 morning afternoon
手动 自动 manual automatic
"""


def _index(families: str) -> tuple[dict[str, frozenset[int]], dict[str, frozenset[int]]]:
    """Words to numbers of families: those of ASCII letters, and those that a longer value may hold."""
    found: tuple[defaultdict[str, set[int]], defaultdict[str, set[int]]] = (
        defaultdict(set),
        defaultdict(set),
    )
    for number, family in enumerate(families.strip().splitlines()):
        for word in family.split():
            found[not word.isascii()][word].add(number)
    latin, other = ({word: frozenset(numbers) for word, numbers in index.items()} for index in found)
    return latin, other


_LATIN, _OTHER = _index(_FAMILIES)
_HELD: Final = re.compile("|".join(map(re.escape, sorted(_OTHER, key=len, reverse=True))))


@lru_cache(maxsize=4096)
def families(value: str) -> frozenset[int]:
    """The numbers of the families of a value; in Chinese a part of it says which: 品牌蓝."""
    if _COLOUR.fullmatch(value):
        return frozenset({0})
    folded = value.casefold()
    if folded.isascii():
        return _LATIN.get(folded) or _LATIN.get(singular(folded)) or frozenset()
    return _united(_OTHER[match[0]] for match in _HELD.finditer(folded)) | _LATIN.get(folded, frozenset())


def _united(found: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*found)


def exchanged(a: str, b: str) -> bool:
    """Whether one value inside `a`, not at its start, stands in the place of a rival in `b`: 主色蓝色, 主色绿色."""
    shortest = min(len(a), len(b))
    start = 0
    while start < shortest and a[start] == b[start]:
        start += 1
    # The rivals may share letters: 单引号, 双引号 at their end, 十月, 十一月 at their start.
    for match in _HELD.finditer(a):
        if not 0 < match.start() <= start:
            continue
        rest = a[match.end() :]
        other = b[match.start() : len(b) - len(rest)]
        if b.endswith(rest) and _OTHER.get(other, frozenset()) & _OTHER[match[0]]:
            return True
    return False
