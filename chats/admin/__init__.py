"""Operators' pages for topics, turns and instructions."""

from chats.admin.topics import InstructionAdmin, TopicAdmin
from chats.admin.turns import ChatAdmin

__all__ = ["ChatAdmin", "InstructionAdmin", "TopicAdmin"]
