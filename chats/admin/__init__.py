"""Operators' pages for topics, turns and instructions, and for distilling that fails."""

from chats.admin.distilling import BreakerAdmin, RunAdmin
from chats.admin.topics import InstructionAdmin, TopicAdmin
from chats.admin.turns import ChatAdmin

__all__ = ["BreakerAdmin", "ChatAdmin", "InstructionAdmin", "RunAdmin", "TopicAdmin"]
