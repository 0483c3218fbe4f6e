"""How well Cairn does on labelled cases. Measures; writes nothing."""
