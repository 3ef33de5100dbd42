"""Pages: one self-contained HTML file each, from a template that escapes whatever it is given."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.console import points
from autograder.reporting.status_texts import STATUS_WORDS, state_of

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SHOWN_CHARS = 4000


def render(template: str, **values: object) -> str:
    """The page that `template` makes of `values`; every string in them is escaped."""
    return _environment().get_template(template).render(**values)


@dataclass(frozen=True)
class InlineScript:
    """A script of ours inside a page; `source` is what the page's policy allows, and no other."""

    text: Markup
    source: str


def inline_script(name: str) -> InlineScript:
    """The script `name` of templates/; it stands between `<script>` and `</script>` as it is."""
    environment = _environment()
    assert environment.loader is not None
    text = environment.loader.get_source(environment, name)[0]
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return InlineScript(Markup(text), f"'sha256-{digest}'")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("autograder"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(points=points, state=state_of, ticked=ticked, plain=plain)
    environment.globals.update(STATUS_WORDS=STATUS_WORDS, markdown=markdown)
    return environment


def markdown(source: str) -> Markup:
    """The course's own markdown as HTML; never for text that a learner wrote."""
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    return Markup(markdown2html_mistune(source))


def ticked(text: str) -> Markup:
    """`text` escaped, with what stands between backticks set as code."""
    parts = re.split(r"`([^`\n]+)`", text)
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(p) if i % 2 else p for i, p in enumerate(parts))


def plain(text: str) -> str:
    """`text` without terminal colours, cut where it is longer than anyone reads."""
    text = _ANSI.sub("", text)
    if len(text) <= _SHOWN_CHARS:
        return text
    return f"{text[:_SHOWN_CHARS]}\n… ({len(text) - _SHOWN_CHARS} more characters)"
