"""What can become of a candidate, and why. The values are stored on Candidate rows and shown to people."""

from enum import StrEnum


class Outcome(StrEnum):
    STORED = "stored"  # a new memory, in force
    PROPOSED = "proposed"  # a new memory that waits for a person
    MERGED = "merged"  # evidence added to a memory that says the same
    REPLACED = "replaced"  # a new memory, in force in the place of one that is superseded
    DROPPED = "dropped"  # nothing was written


class Reason(StrEnum):
    # stored, replaced
    NEW = "new"  # nothing known is like it
    STATED_BY_HUMAN = "stated_by_human"  # a human changed what was only extracted and never confirmed
    POLICY_NONE = "policy_none"  # the project reviews nothing: the newer word replaces the older
    # proposed
    REVIEW_POLICY = "review_policy"  # the project wants to see what is as important as this
    NOT_ENTAILED = "not_entailed"  # the content says more, or other, than the words around its quote
    ASSISTANT_QUOTE = "assistant_quote"  # it rests on the assistant's words
    JOKE = "joke"  # the sentence laughs about itself
    SUPPOSED = "supposed"  # the sentence guesses, supposes or wishes
    REPORTED = "reported"  # the speaker tells what somebody else says or wants
    PAST = "past"  # it was so once
    FOR_NOW = "for_now"  # it holds for the moment alone
    TAKEN_BACK = "taken_back"  # the words after it take it back
    REQUESTED = "requested"  # the sentence asks for a piece of work
    PUT_TOGETHER = "put_together"  # a procedure that joins what several turns said and did
    NO_SUBJECT = "no_subject"  # a correction that does not say of what
    ALREADY_HAPPENED = "already_happened"  # the turn was reported after the fact
    TOMBSTONED_KEY = "tombstoned_key"  # another memory of this key was deleted or rejected
    CONTRADICTS = "contradicts"  # it contradicts a memory that it may not, or not clearly, replace
    REPLACEMENT = "replacement"  # it would replace a memory, which waits for review
    WITHHELD = "withheld"  # the guard wants a person to look at it
    # merged
    DUPLICATE = "duplicate"  # the same words
    NEAR_DUPLICATE = "near_duplicate"  # the same claim in other words
    PROPOSAL_OPEN = "proposal_open"  # the same claim already waits for a person
    # dropped
    UNPARSABLE = "unparsable"  # the backend's item could not be read
    UNKNOWN_TYPE = "unknown_type"
    NO_CONTENT = "no_content"
    TOO_LONG = "too_long"
    INVALID_TEXT = "invalid_text"
    NO_EVIDENCE = "no_evidence"  # the quote occurs in no turn this run is about
    NEEDS_HUMAN_WORDS = (
        "needs_human_words"  # a constraint, decision or preference that no human put into words
    )
    ASKED = "asked"  # the sentence asks
    ALREADY_EXPLICIT = "already_explicit"  # the explicit channel took these words
    IN_INSTRUCTIONS = "in_instructions"  # the agent's own static instructions say so
    SECRET_FOUND = "secret_found"  # noqa: S105 (a code, no secret)
    INJECTION_FOUND = "injection_found"
    HIDDEN_CHARACTERS = "hidden_characters"
    INVALID = "invalid"  # a field that no memory may have
    OVER_LIMIT = "over_limit"  # more candidates than one run may bring
    ALREADY_DISTILLED = "already_distilled"  # an earlier run settled the same candidate of the same turn
    ALREADY_KNOWN = "already_known"  # a memory has it from this very turn
    TOMBSTONED = "tombstoned"  # deleted or rejected before
    MANUAL_PRECEDENCE = "manual_precedence"  # a person's memory stands
    STALE = "stale"  # something said later contradicts it


# The words themselves do not state it: they are no further evidence for what is known either.
UNSTATED = frozenset(
    (
        Reason.NOT_ENTAILED,
        Reason.JOKE,
        Reason.SUPPOSED,
        Reason.REPORTED,
        Reason.PAST,
        Reason.FOR_NOW,
        Reason.TAKEN_BACK,
        Reason.REQUESTED,
        Reason.PUT_TOGETHER,
    )
)
