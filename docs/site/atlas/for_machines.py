"""What of a claim is written for programs: structured data, and the texts that the search reads."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator

from course.claims import Claim
from docs.site.atlas.entries import Entry
from docs.site.words import as_text

__all__ = ["faq", "in_script", "searched"]

_WORD = re.compile(r"[A-Za-z]{2,}")
_LEAST_WORDS = 4  # of a message; what is shorter is a value


def faq(entry: Entry) -> str:
    """The claim's question and answer as JSON-LD, which search engines read from a page."""
    answer = {"@type": "Answer", "text": entry.answer}
    question = {"@type": "Question", "name": entry.claim.asked, "acceptedAnswer": answer}
    page = {"@context": "https://schema.org", "@type": "FAQPage", "mainEntity": [question]}
    return in_script(page)


def searched(found: Iterable[Entry]) -> str:
    """What the atlas's search reads beside its list: by id, the question and the messages."""
    return in_script({one.claim.id: [one.claim.asked, *_messages(one)] for one in found})


def in_script(value: object) -> str:
    r"""The value as JSON that may stand in a script, and in a fence of Markdown.

    >>> print(in_script({"a": "</script>"}))
    {"a":"\u003c/script>"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace("`", r"\u0060")


def _messages(entry: Entry) -> list[str]:
    """Messages of errors and warnings, each once: those that a proof showed or asks for."""
    shown = [value for _, value in entry.proof["shown"]]
    texts = [*_in_code(entry.claim), *shown, *entry.proof["printed"].splitlines()]
    plain = (as_text(one.replace("\\n", " ").replace("\\", "")) for one in texts)
    return list(dict.fromkeys(one for one in plain if len(_WORD.findall(one)) >= _LEAST_WORDS))


def _in_code(claim: Claim) -> Iterator[str]:
    for code in (claim.proof, claim.shows):
        for node in ast.walk(ast.parse(code.strip())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
