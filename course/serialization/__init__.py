"""Plain data and tensors as JSON plus raw bytes, and back: what travels between processes.

A document is `{"value": node, "storages": [...]}` and a list of byte buffers. A node is a JSON
scalar, a list of nodes, or `{"t": tag, ...}`. Tensors that share a storage name the same entry of
`storages`, so aliasing travels. Decoding is strict: it trusts no length, index or name in the
document, makes no object but the ones listed there, and never unpickles.
"""

from __future__ import annotations

from course.serialization.decoding import decode
from course.serialization.encoding import (
    LIMITS,
    AnswerRef,
    Buffers,
    Keep,
    WireError,
    digest_of,
    encode,
)

__all__ = [
    "LIMITS",
    "AnswerRef",
    "Buffers",
    "Keep",
    "WireError",
    "decode",
    "digest_of",
    "encode",
]
