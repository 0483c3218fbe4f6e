# ruff: noqa: E501 - a table: one sign a line, so that two can be compared
"""The signs of words aimed at a model instead of a colleague, by family, English and Chinese.

Weight 3 is clear alone, 2 waits for a person, 1 counts only beside another sign. Patterns run on lower
case text in which `*`, `_`, `-` and backticks are spaces and traditional characters simplified; gaps are
bounded, so that each match costs a constant. Write signs for a kind of sentence, never for one sentence.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Sign:
    code: str
    weight: int
    anchors: tuple[str, ...]  # one of these must occur, else the pattern is not tried
    pattern: re.Pattern[str]
    negatable: bool = True  # "never …" before it turns it into a defensive rule
    starts: frozenset[str] = frozenset()  # how the words or, in Chinese, the characters of its anchors begin


def _words(most: int) -> str:
    return rf"(?:[^\s.;!?]{{1,24}}\s{{1,6}}){{0,{most}}}?"


def _any(*words: str) -> str:
    return "(?:" + "|".join(words) + ")"


# fmt: off
# ── English ──────────────────────────────────────────────────────────────────────────────────────

_S: Final = r"\s{1,6}"
_DROP: Final = _any(
    r"ignor(?:e|es|ing)", "disregard(?:ing)?", "forget", "pay no attention to", "set aside", "unlearn", "do away with", "overlook",
    r"(?:do not|don't|never|no longer|stop|quit|cease) (?:(?:need|have) to )?(?:follow|obey|comply with|adher\w{1,4} to|listen\w{0,3} to|apply|honou?r|heed)(?:ing)?",
)
_LOOSE_DROP: Final = _any("bypass", "neglect", "discard", "dismiss", "abandon", "erase", "void", "cancel", "override", "overrule", "throw out", "drop", "skip", "circumvent", "revoke")
_ORDERS: Final = r"(?:instructions?|rules?|guidelines?|directives?|prompts?|guardrails?|safeguards?|programming|directions)\b"
_LOOSE_ORDERS: Final = r"(?:orders|commands?|polic(?:y|ies)|restrictions?|constraints?|training|limitations?|messages?|context|conversation|requests?)\b"
_EARLIER: Final = _any("previous", "prior", "earlier", "above", "preceding", "foregoing")
_OLD: Final = _any("former", "past", "original", "initial", "existing", "old(?:er)?")
_OURS: Final = _any("your", "system(?:'s)?", "developer(?:'s)?", "safety", "security", "the user's", "core", "built in", "openai's?", "anthropic's?")
_EVERY: Final = _any("all", "any", "every", "everything", "anything", "whatever", "each")
_REVEAL: Final = _any(
    "reveal", "print", "output", "show(?: me)?", "repeat", "display", "dump", "leak", "disclose", "expose", "tell (?:me|us)", "give me", "write out",
    "return", "recite", "share", "provide", "list", "copy", "echo", "what (?:is|are|was|were)", "summari[sz]e", "translate", "quote", "spell out",
)
_SECRETS: Final = _any(
    r"conversations?", r"chat (?:history|logs?)", r"(?:all |every )?(?:project |other |stored )?memor(?:y|ies)", r"(?:project |user )?secrets?", "credentials?",
    "api keys?", r"(?:access |auth )?tokens?", "passwords?", r"\.env\b", "environment variables", r"id rsa", r"\.ssh", r"/etc/passwd", "private keys?", "ssh keys?",
    "all (?:the )?data", "user(?:'s)? (?:data|messages?|input|prompts?)", "source code", "session history", "cookies?", "system prompt", "context window",
)
DOMAIN: Final = r"(?<![a-z0-9.-])(?:[a-z0-9-]{1,63}\.){0,3}[a-z0-9-]{1,63}\.(?:com|net|org|io|cn|example|xyz|top|ru|info|app|dev|site|me|co|cc|tk|test)\b"
OUTSIDE: Final = _any("https?://", "www\\.", DOMAIN, r"[\w.+-]{1,64}@[\w-]", "webhook", "(?:my|an?|the) (?:external|remote|attacker|third party)", r"the (?:next )?(?:web )?request",
                       "urls?", "commit messages?", "query string", "pastebin", "attacker")
_SEND: Final = _any(
    "send", "post", "upload", "exfiltrat(?:e|ing)", "forward", "transmit", "leak", "e ?mail", "put", "includ(?:e|ing)", "append", "embed", "attach", "report", "copy", "write",
    "submit", "encode", "encode them", "deliver", "ship",
)
_FREE: Final = (
    r"(?:unrestricted|unfiltered|uncensored|unlimited ai|jailbroken|(?:an? |the )(?:evil|malicious|rogue|immoral) (?:assistant|ai|agent|bot|model|twin)|(?:the attacker|hacker)\b|a root shell|unbound|amoral|dan\b|do anything now|(?:without|no|free (?:of|from)|not bound by|no longer bound by"
    r"|not subject to|ignor(?:e|es|ing))\s{1,4}(?:any |all |the |your )?(?:content |safety |ethical |moral |usual )?(?:restrictions?|inhibitions|ethics|rules?|limits?|limitations?|filters?"
    r"|polic(?:y|ies)|guardrails?|guidelines?|constraints?|censorship|safeguards?))"
)
_BE: Final = r"(?:are|is|were|was|have been|has been|be)(?: now| hereby| all| no longer)?"

_ENGLISH: Final = (
    ("override", 3, ("instruct", "rule", "guideline", "directive", "prompt", "guardrail", "safeguard", "programming", "direction"),
     rf"\b{_DROP}{_S}{_words(4)}(?:{_EARLIER}|{_OURS}){_S}{_words(3)}{_ORDERS}"
     rf"|\b{_DROP}{_S}{_words(3)}{_ORDERS}{_S}(?:(?:that )?(?:were|was|are|you were|you have been)? ?(?:given|listed|set)? ?)(?:above|before|earlier|so far|previously)\b"),
    ("override", 2, ("instruct", "rule", "guideline", "directive", "prompt", "guardrail", "safeguard", "programming", "direction"),
     rf"\b{_LOOSE_DROP}{_S}{_words(3)}(?:{_EARLIER}|{_OURS}){_S}{_words(2)}(?:instructions|guidelines|directives|prompts?|guardrails|safeguards|programming)\b|\b{_DROP}{_S}(?:(?:all|any|the|your){_S})?{_OLD}{_S}(?:instructions|guidelines|directives|prompts?|programming)\b"),
    ("override", 2, ("order", "command", "polic", "restrict", "constraint", "training", "limitation", "message", "context", "conversation", "request"),
     rf"\b{_DROP}{_S}(?:(?:all|any|the|every|everything){_S}){{0,2}}(?:of{_S})?(?:{_EARLIER}|{_OURS}|{_OLD}){_S}{_words(1)}{_LOOSE_ORDERS}"),
    ("override", 3, ("everything", "anything", "all", "whatever", "what"),
     rf"\b{_DROP}{_S}(?:{_EVERY}|what){_S}(?:(?:of )?(?:that|the|this|you|was|were|is|came|i|have|been|it|text|content|told|said|written|stated)\s{{1,4}}){{0,5}}(?:above|before|prior|previous(?:ly)?|earlier|told|said|so far|know|learned)\b"),
    ("override", 2, ("rules", "instructions", "guidelines", "restrictions", "policies", "user"),
     rf"\b{_DROP}{_S}(?:{_EVERY}{_S}(?:of )?(?:the |these |those |your )?(?:rules|instructions|guidelines|restrictions|policies|guardrails|constraints)\b(?!{_S}(?:for|in|of|about|from|on)\b)|the (?:user|human)\b(?!'s? \w))"),
    ("override", 3, ("instruct", "guideline", "directive", "prompt", "rules", "polic", "filter", "check", "guidance", "everything", "anything", "whatever", "all "),
     rf"\b(?:(?:your|the above|all|any)(?: of)?(?: the| your)?{_S}(?:{_EARLIER}{_S}|system |safety )?(?:instructions|guidelines|guidance|directives|prompts?|rules|policies|constraints)|(?:{_EARLIER}|system){_S}(?:instructions|directives|prompts?)"
     rf"|(?:everything|anything|all|whatever)(?: that)? (?:you were told|i said|above|written above|was said)(?: before| earlier| above)?|(?:all (?:safety|security|content|moderation)|safety|moderation|content){_S}(?:rules?|filters?|checks?|polic(?:y|ies)|guidelines?)){_S}(?:{_BE}{_S}|no longer )(?:void|withdrawn|deleted|erased|nullified|waived|removed|gone|obsolete|invalid|null|cancel+ed|revoked|replaced|superseded|disabled|suspended|lifted|overridden|outdated|wrong|off|apply|valid|in (?:force|effect))"),
    ("override", 3, ("supersede", "override", "precedence", "outrank", "priority", "replaces"),
     rf"\b(?:this|these|the following|my|below){_S}{_words(4)}(?:supersedes?|overrides?|outranks?|replaces?|takes? (?:precedence|priority) over|(?:has|have) (?:higher |absolute )?priority over){_S}{_words(3)}"
     r"(?:system prompt|(?:all|any|every|other|previous|prior|earlier|system|safety|existing)\s(?:other |previous |system |safety )?(?:rules?|instructions?|prompts?|guidelines?|polic(?:y|ies)|memor(?:y|ies)|directives?))"),
    ("override", 2, ("new task", "new instruction", "real task", "new system", "new directive", "new role", "new rules", "actual task"),
     r"\byour (?:new|real|actual|only) (?:task|role|goal|instructions?|objective|directives?|rules) (?:is|are)\b|\bnew (?:system )?(?:instructions?|directives?|prompt) ?:|\bhere are (?:your|the) new (?:instructions|rules)"),
    ("override", 3, ("above", "before", "prior", "previous", "earlier"), r"\b(?:treat|consider|regard|view)\s(?:everything|anything|all(?: of it| text| instructions| rules)?|(?:the )?(?:previous|prior|earlier) (?:instructions|messages|rules|conversation|text))\b[^.;\n]{0,30}\bas (?:deleted|void|invalid|obsolete|a (?:test|joke)|non ?existent|untrue|fiction|erased|cancelled|nothing|if it)"),
    ("override", 3, ("conflict", "contradict", "disagree"), r"\b(?:any|every|all)\s(?:other )?(?:rules?|instructions?|guidelines?|policy|policies|memor(?:y|ies))\s(?:that )?(?:conflict|contradict|disagree)\w{0,3} (?:with )?(?:this|these|it|me|the above)\b[^.;\n]{0,20}\b(?:invalid|void|ignored?|wrong|deleted?|does not|do not|obsolete|must be)"),
    ("override", 2, ("only this", "nothing else", "only the following"), r"\bonly (?:this|the following) (?:memory|note|message|rule|instruction)s? (?:counts?|matters?|appl(?:y|ies)|is valid|is true)"),
    ("override", 2, ("your",), r"\bforget (?:about )?your (?:role|identity|purpose|persona|training|job|values|principles|limits)\b|\byour (?:new|real|true|actual|only|secret|hidden|sole) (?:goal|mission|purpose|master|owner|objective|loyalty|allegiance)\b"),
    ("override", 2, ("only", "exactly"), r"\b(?:follow|obey|execute|listen to|do)\s(?:only|exactly)\s(?:this|these|me|my|what (?:i|this)|the (?:following|below))|\bobey(?:s|ing)? (?:only|me|this (?:memory|message)|the memory)"),
    ("override", 2, ("obey",), r"\bobey(?:s|ing)?\s(?:the\s)?(?:next|following)\s(?:message|text|line|sentence|paragraph)s?\b|\bobey(?:s|ing)?\b[^.;\n]{0,40}\s(?:blindly|unconditionally|without question)"),
    ("override", 2, ("override",), r"(?:^|\n)[\s#>*\[]{0,6}(?:system|admin(?:istrator)?|root|developer|security|priority) override\s?(?:[:!\]]|$)"),
    ("persona", 3, ("you", "act", " as ", "behave", "pretend", "role", "simulate", "become", "respond"),
     rf"\b(?:you (?:are|will|must|should|shall|can|now)|act(?:ing)? as|(?:respond|answer|reply)(?:ing)?(?: to \w{{1,12}})? as|behave|pretend|roleplay|role play|simulate|imagine you|become|i am|you have){_S}{_words(7)}{_FREE}"),
    ("persona", 2, ("unrestricted", "uncensored", "unfiltered", "jailbr", "no rules", "no restrictions", "anything now", "no longer bound", "without restrictions"),
     r"\b(?:unrestricted|uncensored|unfiltered)\s(?:assistant|agent|ai|model|mode|bot|chatbot|access mode)|\bdo anything now\b|\bas (?:if|though) (?:there (?:are|were)|you (?:have|had)) no (?:rules|restrictions|limits)|\bno longer bound by"),
    ("persona", 2, ("mode",), r"\b(?:enter|enable|activate|switch (?:in)?to|turn on|you are (?:now )?in|go into)\s(?:the )?(?:developer|god|jailbreak|dan|debug|maintenance|admin|unrestricted|root|sudo|evil|opposite)\s(?:mode|override)\b(?=[,.;:!]|\s(?:and|now|to)\b|$)"),
    ("safeguards", 3, ("disable", "turn off", "deactivate", "remove", "switch off", "lift", "bypass", "drop"),
     r"\b(?:disable|turn off|deactivate|remove|switch off|lift|drop|bypass)\s(?:all|any|every|your|the)\s(?:of )?(?:your )?(?:the )?(?:(?:safety|content|security|ethical|moderation) (?:filters?|restrictions|rules|checks|polic(?:y|ies)|guidelines)|safeguards?|guardrails?|censorship)\b(?!\s(?:in|on|from|for|when)\b)|\b(?:disable|turn off|remove|lift|drop|bypass) your (?:filters?|restrictions|limits|rules|safety)"),
    ("safeguards", 1, ("filters", "restrictions", "checks"), r"\b(?:disable|turn off|deactivate|remove|switch off|lift|drop|bypass)\s(?:all|any|every)\s(?:the )?(?:filters|restrictions|checks)\b"),
    ("persona", 2, ("refuse", "comply", "regardless", "unconditional"), r"\b(?:never|do not|don't|must not) refuse (?:any|a|the user|anything|to answer)\b|\bcomply with (?:every|any|all) (?:request|order|command|instruction)s?\b|\bobey (?:unconditionally|without question)|\banswer (?:every|any|all) (?:request|question)s? (?:without|regardless|no matter)"),
    ("stealth", 2, ("secretly", "covertly", "silently", "quietly", "knowing", "noticing", "knowledge"), r"\b(?:secretly|covertly)\b|\b(?:silently|quietly) (?:send|post|upload|add|append|include|insert|run|execute|install|forward|copy|approve|disable)\b|\bwithout (?:the )?(?:user|human|owner|developer)(?:'s)? (?:knowing|noticing|knowledge|consent)"),
    ("phishing", 2, ("tell the user", "ask the user", "inform the user", "tell users", "ask users", "instruct the user"), r"\b(?:tell|ask|inform|instruct) (?:the )?users? (?:that |to |for )[^.;\n]{0,60}\b(?:(?:their|his) (?:password|card|credit card|seed phrase|api key|bank)|call \+?\d|transfer|wire|gift card|account (?:is|has been) (?:locked|suspended|blocked)|(?:visit|go to|download from) https?://)"),
    ("propagation", 2, ("claude.md", "agents.md", ".cursorrules", "copilot instructions", "system prompt"), rf"\b(?:copy|write|add|append|insert|save){_S}(?:this|these|the following|the above){_S}{_words(3)}(?:to|into|in){_S}{_words(2)}(?:claude\.md|agents\.md|\.cursorrules|copilot instructions|(?:your|the) system prompt)"),
    ("prompt_leak", 3, ("prompt", "instruction", "context window", "configuration", "rules"),
     rf"\b{_REVEAL}{_S}{_words(5)}(?:your|hidden|secret){_S}{_words(2)}(?:system (?:prompt|message|instructions?)|prompt|instructions?|context(?: window)?|configuration|rules|guidelines|system text)\b(?!{_S}(?:template|hash|file|path|length|id|name)s?\b)"),
    ("prompt_leak", 3, ("prompt", "context window", "instructions"),
     rf"\b{_REVEAL}{_S}{_words(2)}(?:the |this |its |full |entire |complete |whole )?{_words(1)}(?:system (?:prompt|message|instructions)|(?:initial|original|hidden) (?:prompt|instructions))\b(?=[\s.!,;:\"']{{0,3}}(?:$|and\b|verbatim|in full|word for word|to (?:me|the user)|[.!;]))|\bcontents? of (?:your|the) context(?: window)?"),
    ("prompt_leak", 2, ("above", "before", "preceding", "first message"),
     rf"\b(?:repeat|copy|echo|recite|print|output|quote){_S}(?:back )?(?:everything|all|the (?:words?|text|messages?|content|instructions?|lines?)|your first message|the first message){_S}{_words(2)}(?:above|before|preceding|you (?:received|were given)|verbatim)"),
    ("exfiltration", 3, ("send", "post", "upload", "exfil", "forward", "transmit", "leak", "mail", "put", "includ", "append", "embed", "attach", "report", "copy", "write", "submit", "encode", "deliver", "ship"),
     rf"\b{_SEND}{_S}{_words(6)}{_SECRETS}[,\s]{{1,4}}{_words(6)}(?:to|in|into|at|via|with|onto){_S}{_words(4)}{OUTSIDE}"),
    ("exfiltration", 3, ("secret", "key", "token", "password", "credential", ".env", "memor", "conversation", "data", "id rsa", "variables", "prompt", "history"),
     rf"{_SECRETS}\b[^.;\n]{{0,60}}\b(?:base64|encode|encrypt\w{{0,3}} and|hex encode)\b[^.;\n]{{0,60}}\b(?:url|request|https?|webhook|query|send|post)\b"),
    ("exfiltration", 3, ("secret", "key", "token", "password", "credential", "variable"),
     r"\b(?:whenever|when|if|every time|each time|once)\b[^.;\n]{0,30}\b(?:secrets?|keys?|tokens?|passwords?|credentials?|variables?)\b[^.;\n]{0,30}\b(?:append|add|put|send|include|post|attach|copy|embed|forward|encode|smuggle) (?:it|them)\b[^.;\n]{0,40}\b(?:query string|urls?|requests?|https?:|webhook|header|image|link|to)\b"),
    ("exfiltration", 3, ("id rsa", ".ssh", "/etc/passwd", ".env", "credentials", ".aws"),
     r"(?:read|open|cat|include|print|paste|send|copy)\s[^.;\n]{0,12}(?:~/|\.?\.?/)?(?:\.ssh/\w{0,20}|id rsa|/etc/(?:passwd|shadow)|\.aws/credentials|\.env\b)[^;\n]{0,40}?\b(?:includ\w{1,3}|paste|send|print|output|post|reveal|append|copy)\b|\bcontents? of (?:the )?(?:\.env|~/\.ssh|/etc/passwd)[^;\n]{0,40}\b(?:in|to|into)\b"),
    ("exfiltration", 3, ("memor", "secret", "keys", "token", "password", "credential"),
     rf"\b(?:reveal|dump|leak|expose|disclose|exfiltrate|print|output|list){_S}(?:all|any|every|the)(?: of)?(?: the| your| stored| project| user)?{_S}{_words(2)}(?:memories(?! (?:of|in|for) (?:this|the|one|a)\b)|secrets|api keys|tokens|passwords|credentials)\b(?=[\s.!,;<]{{0,3}}(?:$|[.!;<]|and\b|(?:that )?you (?:know|have|see|can)|of (?:other|all|every)|from (?:other|all)|to\b|in (?:other|all)))"),
    ("concealment", 2, ("user", "human", "anyone", "people", "developer"),
     rf"\b(?:do not|don't|never|without|must not|not to|avoid){_S}(?:ever )?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|notify(?:ing)?|alert(?:ing)?|let(?:ting)?|warn(?:ing)?)\b{_S}{_words(3)}(?:users?|humans?|anyone|people|developers?)\b(?=\s{{0,2}}(?:$|[.,;!:)]|and\b|about (?:this|it)\b|(?:know|see|notice|find out)(?:\s{{0,2}}(?:$|[.,;!])| (?:about |of )?(?:this|it|these)\b)|of this\b|that you\b))"),
    ("concealment", 2, ("hide", "conceal", "secret from", "keep"),
     rf"\b(?:hide|conceal|withhold|keep){_S}(?:this|it|these|that|the){_S}{_words(4)}from{_S}(?:the |any |all |every )?(?:users?|humans?|people|reviewers?|logs|anyone|owner|developers?)\b"),
    ("steering", 2, ("say why", "explain why", "tell why", "giving a reason", "give a reason"), r"\b(?:recommend|suggest|promote|prefer|mention|praise|choose|pick)\b[^.;\n]{0,80}\b(?:do not|don't|never|without) (?:say(?:ing)?|explain(?:ing)?|tell(?:ing)?|giv(?:e|ing)) (?:why|a reason)\b"),
    ("concealment", 2, ("memory", "instruction", "rule", "note"), r"\b(?:do not|don't|never) (?:mention|reveal|disclose|acknowledge|admit|show|expose) (?:that )?(?:the existence of )?(?:this|these) (?:memory|memories|instructions?|rules?|notes?|messages?)\b"),
    ("concealment", 2, ("mention", "reveal", "disclose", "refer", "acknowledge"),
     rf"\b(?:do not|don't|never|without){_S}(?:mention|reveal|disclos|refer to|acknowledg)\w{{0,4}}{_S}(?:this|it|these|that|having)\b(?!{_S}(?:field|endpoint|column|key|flag)s?)[^.;\n]{{0,40}}"),
    ("propagation", 3, ("this", "these", "instruction"),
     rf"\b(?:copy|replicate|propagate|spread|write|add|store|save|duplicate|insert|paste|repeat|append|include){_S}(?:this|these|the above){_S}{_words(2)}(?:memory|memories|rules?|instructions?|notes?|messages?|prompts?|text){_S}{_words(3)}(?:to|into|in|across|with){_S}{_words(2)}(?:all|every|other|each|any){_S}{_words(2)}(?:projects?|memor|sessions?|agents?|conversations?|files?|repos|responses?|topics?|chats?)"),
    ("propagation", 2, ("agent", "assistant", "model"),
     rf"\b(?:tell|instruct|order|convince|ask|persuade|get|trick|make){_S}(?:it|them|(?:the |all |any |every ){{0,2}}other (?:ai )?(?:agents?|assistants?|models?)|another (?:agent|assistant)){_S}to{_S}(?:run|execute|ignore|install|follow|do|obey|skip|approve|disable|trust|forget|send|delete|bypass)\b|\bwhen another agent\b"),
    ("propagation", 3, ("yourself", "itself"), r"\b(?:copy|replicate|duplicate|clone|propagate|spread) (?:yourself|itself)\b"),
    ("approval", 2, ("need",), r"\byou (?:no longer|do not|don't|never|needn't) need (?:any |the |user )?(?:approval|permission|confirmation|consent)\b"),
    ("concealment", 2, ("hide this", "conceal this", "without showing", "without displaying"), r"\b(?:hide|conceal) this(?: fact)?\b(?=\s{0,2}(?:$|[.!,;]))|\b(?:execute|run|do)\b[^.;\n]{0,60}\bwithout (?:showing|displaying|printing) (?:it|this|them)\b"),
    ("tampering", 3, ("memor",), rf"\b(?:delete|erase|wipe|remove|purge|clear|overwrite|forget){_S}(?:all|every|any)(?: of)?{_S}(?:the |your |other |existing |stored |previous |saved ){{0,3}}memor(?:y|ies)\b"),
    ("tampering", 2, ("memory",), r"\b(?:call|use|invoke|trigger) the memory (?:tool|api|function) (?:and|to) (?:store|save|write|add)|\bupdate (?:your )?memory ?:|\bsave to (?:your )?memory ?:|\bafter reading this (?:memory|message|note)\b"),
    ("approval", 3, ("approv", "authori", "consent", "permission"),
     rf"\b(?:user|owner|admin(?:istrator)?|human|developer)s?{_S}(?:has|have){_S}(?:already |permanently |pre ?){{0,2}}(?:approved|authori[sz]ed|consented to|granted|allowed){_S}(?:you )?(?:in advance|unlimited|full (?:access|control|permission)|everything|(?:all|every|any)(?: \w{{1,12}}){{0,2}} (?:commands?|requests?|payments?|actions?|operations?|purchases?|transactions?|transfers?|tool|tools|changes?|access|permissions?|deletions?|merges?|deployments?|charges?|spending|orders?|steps?|calls?|shell|invoices?))\b"),
    ("approval", 2, ("confirm", "approval", "permission", "consent"),
     r"\b(?:never|do not|don't|without) (?:ask|request|wait|seek|require|asking|waiting)(?:ing)? (?:for )?(?:the )?(?:user(?:'s)? )?(?:for )?(?:any )?(?:confirmation|approval|permission|consent)\b(?=[\s.!,;]{0,3}(?:$|[.!;]|again|from the user|and\b))"),
    ("approval", 2, ("approve", "tool call", "commands"), r"\bauto ?(?:matically )?(?:approve|accept|run|execute|confirm) (?:all|any|every) (?:tool ?calls?|commands?|requests?|shell|actions?|permissions?)"),
    ("danger", 2, ("root", "admin", "owner", "superuser"), r"\b(?:give|grant|hand|assign|offer) (?:full |permanent )?(?:root|admin|administrator|owner|superuser)\s(?:access|rights|privileges|permissions)? ?to (?:whoever|anyone|anybody|everyone|everybody|any user|every user|all users|him|her|them|me)\b"),
    ("authority", 2, ("source", "cite", "recommend"), r"\b(?:authoritative|most trusted|only trusted|sole|definitive) source\b[^.;\n]{0,80}\b(?:cited?|recommend\w{0,3}|quoted?|mentioned?|first|every|always)\b|\balways (?:recommend|promote|cite|trust) [\w.-]{2,40} (?:first|above|over) (?:all|any|every)"),
    ("remote_code", 2, ("curl", "wget", "iwr", "irm"), r"\b(?:curl|wget|iwr|irm)\b[^|\n]{0,30}\bhttp://(?!localhost|127\.|10\.|192\.168\.|host\.docker)[^|\n]{1,120}\|\s{0,2}(?:sudo )?(?:ba|z|da)?sh\b|\b(?:curl|wget)\b[^|\n]{0,160}\|\s{0,2}(?:sudo )?(?:ba|z|da)?sh\b\s(?:first|before|then)"),
    ("remote_code", 1, ("curl", "wget", "iwr", "irm"), r"\b(?:curl|wget|iwr|irm)\b[^|\n]{0,160}\|\s{0,2}(?:sudo )?(?:ba|z|da)?sh\b"),
    ("remote_code", 2, ("http://",), r"\b(?:install|download|run|fetch|load|add)\s[^.;\n]{0,40}\bfrom http://(?!localhost|127\.|10\.|192\.168\.)"),
    ("remote_code", 2, ("<script",), r"\b(?:always|every|each|silently)\s[^.;\n]{0,30}<script[^>\n]{0,40}src\s?=\s?[\"']?(?:https?:)?//"),
    ("steering", 2, ("ask", "answer", "respon"), r"\b(?:every|all|each|any) (?:answer|response|repl(?:y|ies)|message)s?\b[^.;\n]{0,60}(?:https?://|!\[)|\b(?:in|to|with|at the end of) (?:every|all|each) (?:answer|response|repl(?:y|ies))s?\b[^.;\n]{0,40}\b(?:recommend|promote|advertis|link to|cite)\w{0,3}"),
    ("steering", 1, ("first", "before"), r"\b(?:when asked (?:anything|about anything)|for every (?:task|question|request)|before (?:any|every) task|after reading this (?:memory|message|note))\b"),
)

# ── Chinese ──────────────────────────────────────────────────────────────────────────────────────

_ZH_DROP: Final = _any(
    "忽略", "无视", "忽视", "不理", "忘记", "忘掉", "忘了", "忘却", "抛弃", "丢弃", "抛开", "摒弃", "抛诸脑后",
    "(?:不要|别|不用|不必|无需|不再|停止|别再|甭|勿)(?:再)?(?:理会|理睬|管|遵守|遵循|遵照|服从|听从|执行|在意|考虑|受)",
)
_ZH_LOOSE_DROP: Final = _any("推翻", "撤销", "废除", "清空", "清除", "绕过", "跳过", "突破", "摆脱", "取消", "解除", "违反", "放弃", "打破")
_ZH_EARLIER: Final = _any("之前", "以前", "此前", "先前", "前面", "上面", "以上", "上述", "前述", "刚才", "原来", "原有", "原先", "既有", "现有", "早先", "上文", "前文", "所有", "一切", "全部", "任何", "你的", "系统")
_ZH_ORDERS: Final = _any("指令", "指示", "规则", "限制", "约束", "提示词", "命令", "规定", "准则", "指引", "训练", "人设", "禁令", "戒律", "守则", "(?<=你)[^，。]{0,6}(?:设定|要求|身份|提示)", "系统提示")
_ZH_LOOSE_ORDERS: Final = _any("要求", "设定", "设置", "提示", "原则", "对话", "消息", "上下文", "身份", "约定", "内容", "话")
_ZH_SECRETS: Final = _any("密钥", "密码", "环境变量", r"\.env", "凭据", "凭证", "私钥", "令牌", "(?:所有|全部|项目|其他)的?(?:项目的?)?记忆", "记忆内容", "对话(?:记录|内容|历史)?", "聊天记录", "用户的?(?:消息|输入|数据|信息|问题|隐私)", "系统提示", "源代码?", "api ?key", "token", "所有数据", "cookie", "历史记录", "会话")
OUTSIDE_ZH: Final = _any("https?://", DOMAIN, "webhook", "外部", "指定(?:的)?(?:地址|邮箱|服务器|网址|webhook|链接)", "邮箱", "url", "commit ?message", "提交信息", "请求(?:的)?(?:参数|头|url| url)", r"[\w.+-]{1,64}@[\w-]", "攻击者", "第三方")

_CHINESE: Final = (
    ("override", 3, ("指", "规", "要求", "设", "限制", "约", "提示", "命令", "准则", "原则", "对话", "消息", "上下文", "训练", "人设", "身份", "内容", "话", "令"),
     rf"{_ZH_DROP}(?:掉|了)?[^，。；;\n]{{0,6}}?{_ZH_EARLIER}[^，。；;\n]{{0,8}}?{_ZH_ORDERS}"),
    ("override", 2, ("指", "规", "要求", "设", "限制", "约", "提示", "准则", "对话", "内容", "话"),
     rf"{_ZH_DROP}(?:掉|了)?[^，。；;\n]{{0,6}}?{_ZH_EARLIER}[^，。；;\n]{{0,4}}?{_ZH_LOOSE_ORDERS}|{_ZH_LOOSE_DROP}(?:掉|了)?[^，。；;\n]{{0,4}}?(?:你的|系统|之前|此前|先前|上述|所有)[^，。；;\n]{{0,4}}?{_ZH_ORDERS}"),
    ("override", 2, ("指令", "规则", "用户"), rf"{_ZH_DROP}(?:掉|了)?(?:指令|规则|用户(?:的(?:指令|要求|话|消息))?)(?=$|[\s，。；,;\[\]!<])|(?:不用|不要|不必|别|无需)(?:再)?(?:管|理会|理睬|听)用户"),
    ("override", 3, ("无效", "作废", "失效", "不算", "不作数", "废止", "替换", "取代", "不存在", "不再", "取消", "覆盖", "推翻", "解除"),
     rf"(?:以上|上述|前述|你的?(?:之前|以前|原来|原有)?的?|(?:之前|此前|先前|以前|前面|上面|原有|系统)的?(?:所有|全部|一切|任何|系统)?)的?(?:所有|全部|一切|任何)?的?(?:系统|安全)?(?:{_ZH_ORDERS}|{_ZH_LOOSE_ORDERS})(?:内容)?[^，。；;\n]{{0,4}}?(?:均|都|全部|已经?|一律|全|统统|被|当作|视为)[^，。；;\n]{{0,3}}?(?:无效|作废|失效|不算数?|不作数|废止|替换|取代|不存在|不再(?:适用|有效|生效)|取消|覆盖|推翻|解除)"),
    ("override", 3, ("当作", "视为", "当成", "看作", "当做"), r"(?:把|将)(?:以上|上面|上述|之前|此前|前面)的?[^，。；;\n]{0,8}?(?:当作|视为|当成|看作|当做)[^，。；;\n]{0,4}?(?:删除|不存在|无效|作废|没说|没有|失效|废话|空)"),
    ("override", 3, ("冲突", "矛盾", "抵触", "不一致", "违背"), r"(?:任何|所有|凡|一切)?与(?:本|这|此|该)条?(?:记忆|规则|指令|消息|内容)?(?:相)?(?:冲突|矛盾|抵触|不一致|违背)的[^，。；;\n]{0,8}?(?:无效|作废|忽略|失效|不算|不予|以本|以这)"),
    ("override", 2, ("你", ), r"(?:忘掉|忘记|抛弃|放弃|丢掉)你(?:的|原来的|原有的)?(?:身份|角色|设定|人设|职责|立场|原则|限制)|你(?:的)?(?:真正|实际|真实|唯一|新|秘密)的?(?:任务|目标|使命|目的|身份|主人|职责)|我是你的(?:新)?(?:主人|开发者|管理员|上级)"),
    ("override", 2, ("现在",), r"(?:现在|接下来|以后|今后)(?:只|全|都|全部)?(?:听我|由我)(?:的|指挥|说|命令|来)|(?:以这|以本)(?:条|个|段)(?:记忆|规则|指令|消息)?为准"),
    ("override", 2, ("作废", "无效", "失效", "不再", "从未", "从没", "从来"), rf"(?:之前|此前|先前|前面|上面|以上|上述|前述|你)的?(?:{_ZH_ORDERS}|策略|约定)[^，。；;\n]{{0,4}}?(?:作废|无效|失效|不再(?:适用|有效|生效)|从未存在|从没存在|从来没有|形同虚设)|它们(?:已经?|都)?(?:作废|无效|失效)|(?:上面|以上|前面)的?(?:内容|话|东西|一切)(?:都|全部|统统|一律)(?:作废|无效|失效|不算)"),
    ("override", 3, ("优先级", "凌驾", "高于", "优先于"), r"(?:本条?|这条?|此条?|该条?|以下)(?:记忆|规则|指令|消息|内容|提示)?(?:的)?(?:优先级?|权限|级别)?(?:高于|大于|凌驾于?|优先于|超过|覆盖)[^，。；;\n]{0,4}(?:系统|所有|其他|一切|任何|用户)"),
    ("override", 2, ("服从", "遵守", "照我", "听我", "按我", "按照我", "执行下面", "按下面", "照做", "按照下面", "按以下", "只", "遵循新", "新的系统", "新指令"),
     r"无条件(?:地)?(?:服从|遵守|执行|听从)|只(?:能)?(?:听|服从|遵循|执行|相信|听从)(?:我|下面|以下|本|这)|(?:照|按照?)我(?:的|说的)(?:要求|话|指令|做|来)|(?:遵循|执行|接受)(?:下面的?|以下的?)?新的?(?:系统)?(?:指令|设定|规则|提示)|按照?(?:下面|以下)的?新(?:的)?(?:指令|规则|要求)"),
    ("override", 2, ("重置你", "重新设定你", "改写你", "更新你", "修改你"), r"(?:重置|重新设定|改写|更新|修改|清除|删除)你(?:的|所有的?|全部的?)(?:设定|指令|规则|身份|人设|系统提示词?|记忆|限制)"),
    ("persona", 3, ("你", "您", "扮演", "作为", "充当"),
     r"(?:你|您)(?:现在|将|从现在|要|会|可以|已经?|是|不再|再)?[^，。；;\n]{0,12}?(?:没有|不受|无|不再受|摆脱|不必遵守|无需遵守|无视)(?:任何|一切|所有)?(?:的)?(?:道德|内容|安全|伦理|法律)?(?:任何)?(?:限制|约束|管束|审查|规则|道德|过滤|束缚|拘束|管制|底线)"),
    ("persona", 2, ("你不受任何", "你没有任何", "不受任何限制", "不受任何约束", "不受限制的", "无限制", "没有限制"),
     r"你(?:将|现在|已经?)?(?:不受|没有)任何|(?:扮演|成为|作为|充当)[^，。；;\n]{0,8}(?:没有|不受|无)(?:任何)?(?:限制|约束)|(?:不受(?:任何)?(?:限制|约束)|无限制|没有限制)的?(?:ai|助手|模型|智能体|机器人)"),
    ("persona", 2, ("模式",), r"(?:进入|开启|切换(?:到|至|为)?|启用|激活|打开|现在处于)(?:了)?(?:开发者|开发人员|上帝|越狱|dan|无限制|管理员|超级|自由|无约束)模式(?!选项|菜单|设置)"),
    ("persona", 3, ("安全", "审核", "过滤", "审查", "限制", "防护"),
     r"(?:取消|跳过|绕过|关闭|禁用|解除|停用|屏蔽|去除|移除|忽略)(?:掉|了)?(?:你的?)?(?:所有|全部|一切|任何)(?:的)?(?:安全|审核|内容|权限|道德|伦理)(?:检查|过滤器?|审查|限制|校验|策略|防护|审核|机制|规则|约束)"),
    ("safeguards", 2, ("过滤", "审查", "审核", "限制", "审批", "评审"), r"(?:内容|安全|敏感词?|道德)(?:过滤|审查|审核|限制|检查)(?:器)?(?:均|都|全部)?(?:已经?|现已)(?:全部|被)?(?:关闭|解除|取消|停用|失效|禁用)|(?:绕过|跳过|免除|无视)(?:所有|一切|任何|全部)(?:的)?(?:审批|审核|评审|确认|检查|审查)|(?:被)?解除了?(?:所有|一切|任何|全部)(?:的)?(?:限制|约束)"),
    ("prompt_leak", 3, ("提示", "指令", "设定", "上下文", "消息", "规则", "配置"),
     r"(?:输出|打印|显示|泄露|透露|告诉我|说出|复述|重复|展示|给我看?|公开|列出|返回|背诵|写出|翻译|总结|发给我|暴露)(?:出|一下|下|所有)?[^，。；;\n]{0,4}?(?:你|您)[^，。；;\n]{0,8}?(?:系统提示词?|提示词|(?:初始|原始|系统|全部|隐藏|内部)(?:的)?(?:指令|设定|规则|提示)|上下文|第一条消息|收到的[^，。；;\n]{0,6}(?:消息|指令)|设定|配置)(?!模板|哈希|长度|文件|格式)"),
    ("prompt_leak", 3, ("提示", "指令", "设定", "上下文", "规则"),
     r"(?:把|将)(?:你|您)[^，。；;\n]{0,8}?(?:系统提示词?|提示词|(?:初始|原始|系统|全部|隐藏|内部)(?:的)?(?:指令|设定|规则|提示)|上下文)[^，。；;\n]{0,8}?(?:发给|发送|给我|输出|告诉|打印|展示|翻译|写|贴|公开|复述|念)"),
    ("exfiltration", 3, ("列出", "输出", "打印", "告诉我", "说出", "展示"),
     r"(?:列出|输出|打印|告诉我|说出|展示)(?:你)?(?:知道|保存|存储|看到|能访问|记住)?的?(?:所有|全部|一切)(?:项目)?的?(?:密钥|密码|api ?key|凭据|令牌|其他项目的?记忆|用户数据|私钥)"),
    ("exfiltration", 2, ("发", "传", "提交", "推送", "附加", "拼", "添加", "塞", "写", "放", "编码", "带"),
     rf"{_ZH_SECRETS}[^。；;\n]{{0,4}}?(?:就|都|立即|自动|一律|全部|马上|打包)(?:自动)?(?:发送?|上传|外传|外发|转发|提交|推送|附加|拼接?|添加|塞|写|放|编码|带)(?:给|到|至|进|在|入)?[^，。；;\n]{{0,8}}?{OUTSIDE_ZH}"),
    ("stealth", 2, ("悄悄", "偷偷", "暗中", "暗地", "瞒"), r"(?:悄悄|偷偷|暗中|暗地里)(?:地)?[^，。；;\n]{0,6}?(?:发送?|上传|执行|写入|添加|加入|插入|加载|下载|收集|修改|安装|运行|删除|记录)"),
    ("phishing", 2, ("用户", "客户"), r"(?:告诉|告知|提示|要求|引导|诱导|让|通知)(?:用户|客户)[^。；;\n]{0,16}?(?:转账|汇款|拨打|提供(?:银行卡|密码|验证码|身份证)|输入(?:银行卡|支付密码)|账[号户]已?被(?:锁|冻结)|点击(?:以下|这个|下面)?链接|下载.{0,8}https?://)"),
    ("persona", 2, ("拒绝",), r"(?:不要|不得|永不|绝不|从不|不能|不许|禁止)拒绝(?:任何|一切|所有|用户的?任何|回答)"),
    ("propagation", 2, ("claude.md", "agents.md", ".cursorrules", "系统提示"), r"(?:把|将)(?:本|这|此|该|以上|下面)(?:条|个|段|些)?(?:记忆|规则|指令|消息|内容|提示词?|话)?[^，。；;\n]{0,8}?(?:写入|写进|加入|加到|添加|追加|放进)(?:到)?[^，。；;\n]{0,8}?(?:claude\.md|agents\.md|\.cursorrules|系统提示)"),
    ("override", 3, ("指示", "命令", "ルール", "プロンプト", "지시", "명령", "규칙", "프롬프트"),
     r"(?:これまで|以前|上記|前|全て|すべて|上)の?[^。\n]{0,8}(?:指示|命令|ルール|规则|プロンプト|制限)[^。\n]{0,10}(?:无视|忘れ|従わな|破棄)|(?:システム)?プロンプト[^。\n]{0,6}(?:表示|出力|教えて|见せて|公開)|(?:이전|위|모든|기존)[^.\n]{0,10}(?:지시|명령|규칙|프롬프트|제한)[^.\n]{0,8}(?:무시|잊|따르지)|시스템 프롬프트[^.\n]{0,6}(?:출력|보여|알려|공개)"),
    ("danger", 2, ("权限", "管理员"), r"(?:谁|任何人|所有人|来人|对方)[^，。；\n]{0,8}(?:给|授予|开|都有)[^，。；\n]{0,6}(?:root|admin|管理员|最高|超级|全部) ?(?:权限|身份)"),
    ("override", 1, ("最高", "管理员身份", "系统管理员"), r"最高(?:优先级|权限)的?(?:指令|规则|命令|记忆|要求)?|(?:以|作为)(?:系统)?管理员(?:的)?(?:身份|名义)"),
    ("prompt_leak", 3, ("系统提示", "初始指令", "系统指令", "原始指令", "初始提示"),
     r"(?:输出|打印|显示|泄露|透露|告诉我|说出|复述|展示|给我看?|背诵|暴露|发给我|公开)(?:出|一下|完整的?|全部的?|所有的?|整个|隐藏的?|内部的?|真实的?){0,3}(?:系统提示词?|初始指令|系统指令|原始指令|隐藏指令|初始提示词?)(?=$|[\s，。；,;!]|的?(?:内容|原文|全文|全部))"),
    ("exfiltration", 3, ("发", "传", "提交", "写", "拼", "附", "泄", "导出", "塞", "放"),
     rf"(?:把|将)(?=[^。；;\n]{{4,60}}?{OUTSIDE_ZH})[^。；;\n]{{0,16}}?{_ZH_SECRETS}[^。；;\n]{{0,14}}?(?:发送?|上传|外传|外发|传输?|提交|写(?:进|入|到)|拼(?:到|接|进)|附(?:加|带|在)|转发|导出|泄露|塞(?:进|到)|放(?:进|到|在))(?:给|到|至|进|入|往)?[^，。；;\n]{{0,10}}?{OUTSIDE_ZH}"),
    ("exfiltration", 3, ("编码", "加密", "base64"), rf"{_ZH_SECRETS}[^。；;\n]{{0,14}}?(?:base64|编码|加密)[^。；;\n]{{0,14}}?(?:url|请求|发送|上传|外部|webhook|参数|链接)"),
    ("exfiltration", 3, ("泄露", "泄漏", "外传", "外泄", "外发", "窃取", "盗取"),
     r"(?:(?:泄露|泄漏|外泄|窃取|盗取)(?:出|掉)?(?:所有|全部|其他|一切|用户|项目|系统)[^，。；;\n]{0,12}?(?:记忆|密钥|密码|数据|凭据|令牌|信息|api ?key|对话|token)|(?:必须|应该?|请|立即)(?:泄露|外传|公开)|(?:把|将)[^，。；;\n]{0,16}(?:外传|外泄|泄露))"),
    ("concealment", 2, ("用户", "任何人", "别人", "人类", "他人", "开发者"),
     r"(?:不要|别|不得|无需|不必|请勿|切勿|不可|不许|禁止|不能|勿)(?:再)?(?:把?这[条个件]?[^，。；;\n]{0,6})?(?:向|对|跟|让|给|和)?(?:用户|任何人|别人|人类|他人|开发者)(?:们)?(?:透露|提及|提到|提起|告知|展示|显示|声张|知道|说明|解释|说|发现|看到|察觉)(?:此事|这[条件一]?\w{0,3}|出来)?(?=$|[，。；,;!\s])|(?:不要|别|不得|请勿|切勿|不许)(?:再)?(?:告诉|告知|通知|提醒)(?:用户|任何人|别人|人类|他人)(?:此事|这[条件一]?\w{0,3})?(?=$|[，。；,;!\s])|(?:瞒着|瞒住|避开|背着|隐瞒)(?:所有)?用户|对用户(?:保密|隐瞒)"),
    ("concealment", 2, ("记忆", "规则", "指令", "提示"), r"(?:不要|别|不得|请勿|切勿|不许|禁止)(?:让任何人)?(?:提到|提及|透露|暴露|泄露|展示|承认|公开)(?:这|本|此)(?:条|个|些|段)?(?:记忆|规则|指令|提示|消息)|(?:别|不要|不能|不许|避免)(?:让|被)(?:用户|别人|任何人|人类)(?:们)?(?:看到|知道|发现|察觉|注意到)(?:这|本|此|$|[，。；,;!])"),
    ("concealment", 2, ("提及", "提到", "透露", "提起", "说明", "体现"), r"(?:不要|别|不得|请勿|切勿|不许)(?:在)[^，。；;\n]{0,8}?(?:回复|回答|输出|日志|对话|总结|消息)(?:中|里|内)?(?:提及|提到|透露|提起|说明|体现)(?:此事|这[条件一]?\w{0,3})?(?=$|[，。；,;!\s])"),
    ("propagation", 3, ("自己", "自身"), r"(?:复制|传播|克隆|扩散)(?:你)?(?:自己|自身)|(?:把|将)(?:你)?(?:自己|自身)[^，。；;\n]{0,4}?(?:复制|传播|克隆|扩散|写入)"),
    ("concealment", 2, ("隐瞒", "显示", "展示"), r"隐瞒(?:这|此)(?:一点|件事|个事实|事|条)|(?:执行|运行)[^。；;\n]{0,24}?(?:不要|别|不得)(?:显示|展示)(?:出来|给用户)"),
    ("propagation", 3, ("复制", "写入", "写进", "传播", "扩散", "同步", "添加", "转发", "抄", "植入"),
     r"(?:把|将)(?:本|这|此|该|以上)(?:条|个|段|些)?(?:记忆|规则|指令|消息|内容|提示词?|话)[^，。；;\n]{0,6}?(?:复制|写入|写进|传播|扩散|同步|添加|转发|抄写?|植入|保存)(?:到|至|给|进)?[^，。；;\n]{0,10}?(?:所有|其他|每个|每次|全部|别的|任何|各个)"),
    ("propagation", 2, ("智能体", "代理", "agent", "助手"), r"(?:对|向|告诉|通知|命令|让|要求|说服|诱导|指示|欺骗|指挥)(?:其他|别的|所有|另一个|每个)的?(?:智能体|代理|agent|ai|助手|模型)s?(?:说|：|:|先|必须|也|都|去|忽略|执行|运行|跳过|删除|服从|照做|相信)"),
    ("tampering", 3, ("记忆",), r"(?:删除|清空|清除|抹去|覆盖|销毁|篡改)(?:掉|了)?(?:本项目的?|项目的?|你的?)?(?:所有|全部|其他|其它|一切)的?(?:其他|其它|所有|项目的?)?的?记忆"),
    ("approval", 2, ("同意", "批准", "允许", "确认", "授权", "通过", "审核"),
     r"(?:任何|所有|全部|一切|每个)[^，。；;\n]{0,8}?(?:命令|操作|工具调用|工具|请求|shell|权限|指令|危险操作)[^，。；;\n]{0,6}?(?:自动|默认|一律|直接|无条件|永久|都)(?:自动|默认|直接|已)?(?:同意|批准|允许|确认|授权|通过|执行)|(?:用户|管理员|负责人|所有者)(?:已经?|早已|永久)(?:永久|全部|一次性)?(?:同意|批准|授权|允许|许可)(?:了)?(?:所有|全部|一切|任何)|(?:自动|默认|直接)(?:同意|批准|允许|授权)(?:所有|全部|一切|任何)"),
    ("approval", 1, ("审核", "确认", "diff", "同意", "审批"), r"(?:不需要|无需|不用|不必|不再|跳过|免)(?:任何|用户|人工)?(?:的)?(?:审核|确认|审批|询问|同意)|不要?(?:展示|显示) ?diff"),
    ("authority", 2, ("权威", "可信", "唯一"), r"(?:最权威|唯一可信|最可信|唯一权威|绝对可信|官方唯一)的?(?:来源|信息源|出处|网站|数据源|依据)[^。；;\n]{0,20}?(?:引用|推荐|优先|首先|采信|为准)|(?:首先|优先|始终|一律)(?:引用|推荐)[^，。；;\n]{0,6}" + DOMAIN),
    ("remote_code", 2, ("脚本",), r"(?:自动|默认|每次|始终|偷偷|悄悄|静默)(?:地)?(?:插入|加入|加载|引入|注入|执行|下载|运行)[^，。；;\n]{0,6}?(?:外部|远程|第三方|恶意)?(?:的)?脚本"),
    ("remote_code", 2, (".sh", ".ps1", ".exe", "脚本"), r"(?:先|首先|必须先)(?:运行|执行|下载)[^，。；;\n]{0,8}?(?:恶意|https?://|未知)"),
    ("steering", 2, ("回答", "回复", "答复"), r"(?:凡是?|每当|只要|如果|当|遇到)[^，。；;\n]{0,6}?(?:用户|客户|有人|别人)[^，。；;\n]{0,4}?(?:问|提|要)[^。；;\n]{0,12}?(?:付款|收款|转账|账号|账户|银行|密码|安全|汇款|支付|下载|退款|客服|竞品)[^。；;\n]{0,12}?(?:一律|都|统一|直接|必须|只|就)(?:回答|回复|给出|答复|推荐|说)"),
    ("steering", 1, ("回答", "回复", "一律", "每次"), r"一律(?:回答|回复|答复)|(?:以后|今后|从此)(?:的)?(?:每次|所有|每条)(?:的)?(?:回答|回复|对话)"),
    ("steering", 1, ("从现在",), r"从现在(?:起|开始)[，,]?(?:你|只|您)"),
)

# ── Markers: on lower case text with its punctuation ─────────────────────────────────────────────

_AIMED: Final = r"(?:ai\b|llm|assistants?|agents?|models?|bots?|copilot|claude|gpt|system|ignore|you must|智能体|助手|模型|系统|忽略|指令)"
_MARKERS: Final = (
    ("exfiltration", 3, ("](http", "src=", "href="), r"!\[[^\]\n]{0,80}\]\(https?://[^\s)]{1,200}[?=/]\s?\{?\{|\]\(https?://[^\s)]{1,200}[?&][^\s)]{0,40}=\s?[{<$]"),
    ("block_escape", 3, ("memory", ), r"<\s{0,4}/?\s{0,4}project[\s_.-]{0,3}memor(?:y|ies)\b"),
    ("role_marker", 3, ("<|",), r"<\|\s?/?\s?(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end_of_text|begin_of_text|start_header_id|end_header_id|eot_id|end|endofprompt|fim_\w{1,8}|tool|observation)\s?\|>"),
    ("role_marker", 3, ("[inst", "[/inst", "<<sys", "<</sys", "_of_turn", "of_turn"), r"\[/?inst\]|<</?sys>>|</?(?:start|end)_of_turn>"),
    ("role_marker", 3, ("<system", "</system", "<assistant", "</assistant", "<系统", "</系统", "</记忆", "<instructions>", "<important", "<information", "<admin", "<developer", "</user", "</memor", "</context", "<override", "</指令", "<指令"),
     rf"</?(?:system(?:[_-](?:prompt|message|override|instructions?))?|系统(?:提示|指令|消息)?|override|指令)\s{{0,2}}>\s{{0,3}}(?=\S)(?!tags?\b|elements?\b|nodes?\b|in the\b|for \b|标签|元素|节点)|</(?:记忆|memor(?:y|ies)|context|user|assistant)>\s{{0,3}}<|<(?:important|information|admin|developer|instructions)>[^<\n]{{0,80}}{_AIMED}"),
    # Special tokens of chat templates, whatever their name: <|eot_id|>, <|User|>, <|SYSTEM_TOKEN|>, </s><s>.
    ("role_marker", 3, ("<|",), r"<\|\s?/?\s?[a-z0-9_▁ ./-]{2,40}\s?\|>"),
    ("role_marker", 3, ("</s>", "<s>", "[system", "[/system", "[/user", "[user]", "[assistant]", "<bos>", "<eos>"), r"</s>\s{0,3}(?:<s>|\[|$)|<s>\s{0,3}\[|\[/?(?:system|user|assistant|available)[ _](?:prompt|message|instructions?|tools)\]|\[/(?:system|user|assistant)\]|<[be]os>"),
    # Tags in which a harness speaks to the model.
    ("role_marker", 2, ("reminder>", "result>", "results>", "_output>", "output>", "instructions>", "thinking>", "tool_use>", "prompt>", "_message>", "response>", "context>", "directive>"),
     r"</?(?:system[_-]?reminder|tool[_-]?(?:results?|output|use|response)|function[_-]?(?:results?|output|response|calls?)|user[_-]?(?:message|prompt|query|input)|assistant[_-]?(?:message|response)|developer[_-]?(?:message|prompt)|hidden[_-]?(?:instructions?|prompt|context)|secret[_-]?(?:instructions?|prompt)|ai[_-]?(?:instructions?|directive)|new[_-]?instructions?|ant(?:hropic)?[_-]?thinking|untrusted[_-]?\w{2,12}|search[_-]?results?)>\s{0,3}\S"),
    ("role_marker", 3, ("</instructions>", "</documents>", "</document>", "</context>", "</rules>", "</untrusted", "</data>", "</input>", "</prompt>"), r"</(?:instructions?|documents?|context|rules|untrusted\w{0,20}|data|input|prompt)>\s{0,3}(?:<(?:system|instructions?|user|assistant|admin|developer|important|new)|(?:system|assistant|new instructions?|ignore|you (?:are|must|now)|now )\b)"),
    ("role_marker", 3, ("role", "content"), r"[\"']?role[\"']?\s?[:=]\s?[\"']?(?:system|developer|assistant)[\"']?\s?,?\s{0,4}\n?\s{0,4}[\"']?content[\"']?\s?[:=]\s?[\"']?\s?(?:you\b|ignore|from now|new |the user|i |all |never|always|must|你|忽略|从|必须)"),
    ("role_marker", 2, ("### ", "## ", "=== ", "*** "), r"(?:^|\s)(?:#{1,4}|={3,}|\*{3,}) ?(?:system|assistant|developer|human|user|系统|助手|用户)\s?(?:prompt|message|override|update|notice|提示词?|消息|指令|更新)?\s?(?:#{1,4}|={3,}|\*{3,})?\s?[:：\n]\s{0,3}(?=\S)[^\n]{0,120}?(?:\byou\b|\bi\b|ignore|guard|approve|access|proceed|disable|verified|你|忽略|批准|放行|同意)"),
    ("role_marker", 2, ("human:", "user:", "assistant:", "用户：", "用户:", "助手：", "助手:", "tool output", "tool result", "tool response", "observation:", "function result", "工具返回", "工具输出", "工具结果", "检查结果", "执行结果", "thought:"),
     r"(?:^|\n|[.。] ?)\s{0,4}(?:human|user|customer|用户|客户)\s?[:：][^\n]{1,200}?(?:\n{1,3}\s{0,4}|[.。!！?？] ?)(?:assistant|ai|bot|助手|机器人)\s?[:：]\s?(?:ok|okay|sure|great|yes|understood|of course|certainly|done|i (?:will|have|delete|shall)|好|明白|当然|已|收到|没问题|可以)"
     r"|(?:^|\n)\s{0,4}(?:tool|function)? ?(?:output|results?|response|observation|thought|工具返回|工具输出|工具结果|检查结果|执行结果|函数返回)(?: of \w{1,30}(?:\(\))?)?\s?[:：][^\n]{0,120}?(?:confirm|approv|allow|proceed|authori[sz]|is (?:root|admin|owner)|continue|without asking|已确认|已批准|确认了|批准|放行|授权|请继续|接着|管理员)"),
    ("role_marker", 2, ("系统消息", "系统指令", "系统提示", "系统通知", "系统备注", "平台下发", "系统命令"), r"[【\[（(〔<]\s?系统(?:消息|指令|提示词?|通知|备注|命令|公告)(?:开始)?\s?[】\]）)〕>][^\n]{0,60}?(?:必须|助手|智能体|模型|你|一切|全部|任何|放行|同意|批准|授权|无需|不再|立即|执行)|系统\s?[:：][^\n]{0,60}?(?:助手|智能体|模型)(?:须|必须|应当?|立即|请)"),
    # Text that a page does not show, or a comment, which addresses a model.
    ("hidden_markup", 3, ("display:", "font size", "font-size", "visibility:", "opacity:", "hidden", "color:", "color=", "height:0", "aria hidden"),
     rf"<\w{{1,10}}[^<>\n]{{0,80}}(?:display\s?:\s?none|font-size\s?:\s?[01](?:px|pt|em|%)?\b|visibility\s?:\s?hidden|opacity\s?:\s?0(?:\.0)?\b|colou?r\s?[:=]\s?[\"']?(?:white|#fff(?:fff)?|transparent)|\bhidden\b|height\s?:\s?0)[^<>\n]{{0,80}}>[^<\n]{{0,40}}?{_AIMED}"),
    ("hidden_markup", 3, ("<!--", "/*", "{#", "<?"),
     rf"(?:<!--|/\*|\{{#|<\?)\s{{0,4}}(?:[^\n>]{{0,24}}?\b)?(?:if you are an? (?:ai|llm|language|assistant|agent|bot)|(?:dear|hey|attention|note (?:to|for)|to|for|notice)\s?:?\s(?:all |any |the |every |future )?(?:coding |ai |language |automated )?{_AIMED}|给 ?(?:ai|模型|助手|智能体|编码助手)|(?:ai|llm|assistants?|agents?|copilot|claude|gpt|助手|智能体|模型)\s?[:：,，])"),
    ("hidden_markup", 2, ("# ", "// ", "-- ", "; ", "% ", "#助", "#编"),
     rf"(?:^|\n|\s)(?:#|//|--|;|%)\s{{1,3}}(?:noqa\W{{1,6}})?(?:dear |hey |attention,? |note (?:to|for) (?:the |any |all )?|hi )(?:coding |ai |language )?{_AIMED}[^\n]{{0,60}}?(?:please|must|should|always|never|disable|skip|import|add|remove|ignore)|(?:^|\n)\s{{0,3}}(?:#|//|--)\s{{0,3}}(?:编码)?(?:助手|智能体|模型)(?:请)?(?:注意|看这里|必须|务必)"),
    ("hidden_markup", 3, ("javascript:", "data:text", "vbscript:"), r"\]\(\s?(?:javascript|vbscript|data:text/html)\s?:|(?:href|src)\s?=\s?[\"']?(?:javascript|vbscript|data:text/html)\s?:[^\"'\n]{0,120}?(?:fetch|cookie|localstorage|document|eval|location|xmlhttp)"),
    ("exfiltration", 2, ("<img", "<iframe", "<script", "<link", "<object", "<embed"), r"<(?:img|iframe|object|embed|link)\b[^<>\n]{0,80}(?:src|href|data)\s?=\s?[\"']?(?:https?:)?//[^\s\"'<>]{1,120}[?&][\w-]{1,20}=(?:[a-z]{2,20}_[a-z_]{2,30}|\{|\$|<|\[)"),
    ("remote_code", 2, ("<script", "<iframe"), r"<(?:script|iframe)\b[^<>\n]{0,40}src\s?=\s?[\"']?(?:https?:)?//[^<>\n]{1,120}>(?:</(?:script|iframe)>)?[^\n]{0,40}?\b(?:every|each|all|any|always)\b|(?:每个|每次|所有|一律|都)[^\n<]{0,20}<(?:script|iframe)\b[^<>\n]{0,40}src\s?=\s?[\"']?(?:https?:)?//"),
    ("role_marker", 3, ("<!--", "[//]"), rf"(?:<!--|\[//\]:\s?#\s?[(\"'])\s{{0,4}}(?:note to |attention |hidden |dear |to (?:all )?){{0,2}}{_AIMED}[^\n]{{0,12}}?(?:[:,：，!]|must|should|ignore|忽略)"),
    ("role_marker", 2, ("system", "assistant", "系统", "助手"), r"(?:^|\n)[\s#>*]{0,6}(?:system|assistant|developer|系统(?:指令|提示|消息)?|助手)\s?(?:prompt|message|override|instructions?)?\s?[:：]\s{0,3}[\"'“]?(?:you\b|ignore|disregard|forget|override|print|reveal|must|from now|new |你|忽略|无视|从现在|必须|请忽略|以下|只)"),
    ("role_marker", 2, ("human:", "user:", "用户："), r"(?:^|\n)\s{0,4}(?:human|user|用户)\s?[:：][^\n]{0,400}\n{1,3}\s{0,4}(?:assistant|ai|助手|system)\s?[:：][^\n]{0,120}(?:ignore|disregard|obey|no rules|unrestricted|reveal|忽略|无视|服从|泄露)"),
    ("role_marker", 3, ("instruction", "message", "prompt", "指令", "提示"),
     r"\b(?:hidden|secret|special|private) (?:instructions?|messages?|notes?|prompts?) (?:for|to) (?:the |any |all )?(?:ai|agents?|assistants?|models?|llms?)\b|给 ?(?:ai|模型|助手|智能体) ?的? ?(?:隐藏|秘密|内部)(?:指令|提示|消息)|(?:从这里开始|以下|下面|接下来)是?新的?系统(?:提示|指令)"),
    ("role_marker", 2, ("[system", "[系统", "### instruction", "### 指令", "<tool_call", "<function_call", "end of context", "end of memory", "end of prompt"),
     r"(?:^|\n)\s{0,4}\[(?:system|系统)(?: \w{1,10})?\]|(?:^|\n)#{2,4} (?:instructions?|指令)\s?[:：]|<(?:tool_call|function_calls?)>|(?:[-=#*]{3,}\s{0,2}|\[)end of (?:the )?(?:context|memory|memories|system prompt|prompt)\b"),
    ("role_marker", 2, ("</",), r"</\s?(?:memor(?:y|ies)|context|system|instructions?|prompt|rules)\s?>[\s.:;!]{0,4}(?:you\b|your\b|now\b|new\b|ignore|disregard|forget|system\b|assistant\b|你|您|现在|忽略|无视|新的|系统|助手|以下)"),
    ("role_marker", 3, ("system prompt", "系统提示", "system message"), r"(?:begin|start|end|开始|结束)(?: of)?(?: the)?\s?(?:new )?(?:system (?:prompt|message)|系统提示词?)\s{0,3}[\])\-=:>]{0,6}\s{0,3}(?:you\b|ignore|new |你|忽略)|系统提示词?(?:开始|结束|如下)\s?[:：]?\s{0,3}(?:你|忽略|必须|从现在)"),
)


# fmt: on


def _compiled(
    table: tuple[tuple[str, int, tuple[str, ...], str], ...], *, negatable: tuple[str, ...], start: int
) -> tuple[Sign, ...]:
    return tuple(
        Sign(
            code, weight, anchors, re.compile(pattern), code in negatable,
            frozenset(_FIRST_WORD.findall(anchor)[0][:start] if start > 1 else anchor[0] for anchor in anchors),
        )
        for code, weight, anchors, pattern in table
    )  # fmt: skip


_FIRST_WORD: Final = re.compile("[a-z0-9]+")


def beginnings(plain: str) -> frozenset[str]:
    """How the words of a text begin: a sign none of whose anchors begins so cannot match."""
    words = set(_FIRST_WORD.findall(plain))
    return frozenset(
        [*[word[:4] for word in words], *[word[:3] for word in words], *[word[:2] for word in words]]
    )


_NEGATABLE: Final = (
    "override",
    "persona",
    "prompt_leak",
    "exfiltration",
    "propagation",
    "tampering",
    "approval",
    "remote_code",
    "authority",
)
WORDS: Final = _compiled(_ENGLISH, negatable=_NEGATABLE, start=4)
HAN: Final = _compiled(_CHINESE, negatable=_NEGATABLE, start=1)
MARKERS: Final = _compiled(_MARKERS, negatable=(), start=1)
