"""Many texts, checked one beside the other: in processes of their own, on a cluster, or not at all where it is known.

`question.answered(question)` is what is done with one text, wherever that is: in this process (`alone`), in processes
that are watched (`here`, `watched`, `worker`), by the workers of a cluster (`cluster`). `kept` knows what was answered
before. Whatever runs them, answers come in the order of the inputs, and are the same.
"""

from __future__ import annotations
