"""How every API of the product speaks HTTP; the apps above add only what they are about.

authentication   who calls: a key (`Authorization: Bearer`) or a session (with CSRF)
access           which project they may reach, and as whom they act
parsers, serializers   what they may send: strict JSON, no unknown field, no coercion
problems         every refusal is `application/problem+json` with a stable `code`
idempotency      a POST with `Idempotency-Key` happens once
preconditions    `ETag` and `If-Match`
paging           cursors
request_id, request_log   one id and one line for each request; no line holds content
slashes          a write without the final slash works, too
schema           how all this is described in OpenAPI
"""
