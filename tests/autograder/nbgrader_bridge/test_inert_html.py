"""What a learner wrote or showed does nothing on nbgrader's own pages; what it says stays."""

from __future__ import annotations

import base64
import io
import re
import time
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import ansi2html
from nbformat import from_dict
from nbgrader.server_extensions.formgrader.handlers import template_path
from PIL import Image
from traitlets.config.loader import PyFileConfigLoader

from autograder.nbgrader_bridge.drawings import is_tame_svg
from autograder.nbgrader_bridge.inert_html import (
    inert,
    inert_markdown,
    inert_raw,
    quick_ansi2html,
    quick_highlight,
)
from course.figures import show_storage
from tests.pictures import DOT

ROOT = Path(__file__).parents[3]
# Each would call `act()`, fetch from evil.test or cover the page, were it put in as it stands.
HOSTILE = [
    "<script>act()</script>",
    "<img src=x onerror=act()>",
    "<img src='https://evil.test/x.png'>",
    "<img src='data:text/html,<script>act()</script>'>",
    "<svg onload=act()><script>act()</script></svg>",
    "<svg><foreignObject><iframe src='javascript:act()'></iframe></foreignObject>",
    "<iframe srcdoc='<script>act()</script>'></iframe>",
    "<a href='javascript:act()'>link</a>",
    "<a href='jav&#x09;ascript:act()'>link</a>",
    "<a href='data:text/html,<script>act()</script>'>link</a>",
    "<form action='https://evil.test'><button>Save</button></form>",
    "<style>body { display: none } @import url(https://evil.test)</style>",
    "<link rel=stylesheet href=https://evil.test/x.css>",
    "<base href='https://evil.test/'>",
    "<meta http-equiv=refresh content='0;url=https://evil.test'>",
    "<div style='background:url(https://evil.test)'>x</div>",
    "<div style='position:fixed;inset:0'>x</div>",
    "<div class='comment score tabbable' id='comment'>x</div>",
    "<math><mtext><table><mglyph><style><img src=x onerror=act()></style></table></math>",
    "<video src='https://evil.test/x.mp4' autoplay></video>",
    "<object data='https://evil.test'></object><embed src='https://evil.test'>",
]
ACTS = re.compile(
    r"<(script|iframe|object|embed|form|input|button|style|link|base|meta|video|svg|math)\b"
    r"|\son\w+=|javascript:|evil\.test|position:|data:text|class=.comment|id=",
    re.IGNORECASE,
)


@pytest.mark.parametrize("html", HOSTILE)
def test_nothing_is_left_that_acts(html: str) -> None:
    assert not ACTS.search(inert(html)), inert(html)
    assert not ACTS.search(inert(f"<b>before</b>{html}<b>after</b>"))


def test_tables_pictures_and_links_stay() -> None:
    table = (
        '<table class="dataframe"><tbody><tr><td style="color:red;width:2em">1</td></tr></tbody>'
        "</table>"
    )
    assert inert(table) == table
    picture = f'<img src="data:image/png;base64,{DOT}" alt="a line">'
    assert inert(picture) == picture
    assert 'href="https://pytorch.org"' in inert('<a href="https://pytorch.org">PyTorch</a>')
    assert inert("<details open><summary>s</summary>t</details>").startswith("<details open")


START = (
    "<svg xmlns='http://www.w3.org/2000/svg' xmlns:x='http://www.w3.org/1999/xlink'>"
    "<rect id='a0' width='9' height='9'/>"
)
NESTED = "".join(
    f"<g id='a{n + 1}'><use x:href='#a{n}'/><use x:href='#a{n}' x='1'/></g>" for n in range(30)
)
TAME = {
    "plain": f"{START}<path id='p' d='M0 0'/><use x:href='#p'/></svg>",
    "clipped": f"{START}<clipPath id='c'><rect/></clipPath><g clip-path='url(#c)'/></svg>",
}
WILD = {
    "no SVG": "<svg width='1'></svg>",
    "nested": f"{START}{NESTED}</svg>",
    "a use of a use": f"{START}<use id='a' x:href='#a0'/><use x:href='#a'/></svg>",
    "a filter": f"{START}<g style='filter:blur(9999px)'/></svg>",
    "a filter, too": f"{START}<g filter='blur(9999px)'/></svg>",
    "a pattern": f"{START}<pattern/></svg>",
    "a clip of a clip": f"{START}<clipPath id='c' clip-path='url(#c)'><rect/></clipPath></svg>",
    "an entity": f"<!DOCTYPE svg [<!ENTITY a 'b'>]>{START}</svg>",
    "a default": f"<!DOCTYPE svg [<!ATTLIST g filter CDATA 'blur(9px)'>]>{START}<g/></svg>",
    "a style sheet": f"<?xml-stylesheet href='data:text/css,*{{}}'?>{START}</svg>",
    "styles": f"{START}<style>*{{filter:blur(9px)}}</style></svg>",
    "another encoding": f"<?xml version='1.0' encoding='utf-16'?>{START}</svg>",
    "deep": f"{START}{'<g>' * 60}{'</g>' * 60}</svg>",
    "many": f"{START}{'<g/>' * 30_000}</svg>",
    "long copies": START
    + f"<path id='p' d='{'M' * 9_000}'/>"
    + "<use x:href='#p'/>" * 1_000
    + "</svg>",
}


def test_a_drawing_with_much_metadata_is_soon_looked_through() -> None:
    begun = time.process_time()
    many = "<g/>" * 100_000 + "<metadata/>" * 100_000
    assert is_tame_svg(f"{START}{'<metadata><a/></metadata>' * 9}</svg>")
    assert not is_tame_svg(f"{START}{many}</svg>")
    assert time.process_time() - begun < 10  # it took minutes


@pytest.mark.parametrize("svg", TAME.values(), ids=TAME)
def test_a_drawing_becomes_a_picture(svg: str) -> None:
    picture = r'<img alt="" src="data:image/svg\+xml;base64,[A-Za-z0-9+/=]+">'
    assert re.fullmatch(f"a{picture}b", inert(f"a{svg}b"))


@pytest.mark.parametrize("svg", WILD.values(), ids=WILD)
def test_a_drawing_that_may_take_for_ever_is_not_shown(svg: str) -> None:
    address = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
    shown = page("feedback", showing(image_svg__xml=svg)) + inert(f'<img src="{address}">')
    if svg.startswith("<svg"):  # HTML knows nothing of what stands before
        shown += inert(f"<p>{svg}</p>")
    assert "data:image/svg" not in shown
    assert shown.count("a drawing (SVG) is not shown here") == 1 + svg.startswith("<svg")


def test_the_courses_own_figures_are_shown() -> None:
    figure = show_storage(torch.arange(6).view(2, 3).t())._repr_html_()
    assert 'src="data:image/svg+xml;base64,' in inert(figure)


class Acting(HTMLParser):
    """Collects what of a page would call `act`: attributes, and the texts of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.acting: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.acting += [f"{tag} {name}={value}" for name, value in attrs if "act(" in str(value)]

    def handle_data(self, data: str) -> None:
        if self.cdata_elem and "act(" in data:
            self.acting.append(data)


def page(
    template: str, *cells: dict[str, Any], metadata: dict[str, Any] | None = None, **about_page: Any
) -> str:
    """These cells on a page that nbgrader makes with our configuration."""
    config = PyFileConfigLoader(str(ROOT / "nbgrader_config.py")).load_config()
    styles = Path(template_path).parent / "static/node_modules/bootstrap/dist/css"
    about = {"extra_template_basedirs": [template_path], "extra_template_paths": [str(styles)]}
    config.HTMLExporter.update(template_name=template, **about)
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells)]
    notebook = {"cells": numbered, "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": 5}
    points = {"notebook": "x", "score": 1, "max_score": 1, "late_penalty": 0, "toc": []}
    points |= {"student": "ada", "assignment": "x"}
    resources = {"notebook_path": "x", "base_url": "", "index": 0, "total": 1, "nbgrader": points}
    resources |= about_page
    found, _ = HTMLExporter(config=config).from_notebook_node(from_dict(notebook), resources)
    return str(found)


def words(source: str) -> dict[str, Any]:
    about = {"grade_id": "why", "grade": True, "solution": True, "points": 1, "score": 1}
    about |= {"locked": False, "task": False, "schema_version": 3, "comment": ""}
    return {"cell_type": "markdown", "metadata": {"nbgrader": about}, "source": source}


def showing(**data: Any) -> dict[str, Any]:
    kinds = {kind.replace("__", "+").replace("_", "/"): value for kind, value in data.items()}
    output = {"output_type": "display_data", "data": kinds, "metadata": {}}
    about = {"cell_type": "code", "metadata": {}, "execution_count": 1}
    return {**about, "source": "x", "outputs": [output]}


@pytest.mark.parametrize("template", ["feedback", "formgrade"])
def test_a_script_of_a_learner_is_on_no_page_of_nbgraders(template: str) -> None:
    hostile = "<script>act(4711)</script><img src=x onerror=act(4711)>"
    shown = page(
        template,
        words(f"Because **it** $x < 1$.\n\n{hostile} [link](javascript:act(4711))"),
        showing(text_html=hostile, text_plain="4711"),
        showing(text_markdown=hostile, text_plain="told"),
        showing(application_javascript="act(4711)"),
        showing(image_svg__xml=f"<svg>{hostile}</svg>"),
        showing(text_latex=hostile),
        showing(image_png=f'{DOT}"{hostile}'),
        showing(image_png=DOT),
    )
    body = shown[shown.index("<body") :]
    found = Acting()
    found.feed(body)
    assert found.acting == []
    assert "<strong>it</strong>" in body
    assert "told" in body
    assert f'src="data:image/png;base64,{DOT}"' in body


BUSY = ["\\\\(", "\\\\[", "\\begin{a}\n", "[a](", "a|b\n-|-\n", "<a\n", "` a", "$$"]


def rendered(source: str, page: dict[str, Any], **pictures: Any) -> str:
    """A text of a learner's on a page whose resources are `page`."""
    context: Any = {"resources": page, "cell": {"attachments": pictures}}
    return inert_markdown(context, source)


@pytest.mark.parametrize("opening", BUSY)
def test_a_text_that_keeps_the_parser_busy_is_shown_as_it_was_written(opening: str) -> None:
    text, begun = "**so** " + opening * (40_000 // len(opening)), time.process_time()
    assert rendered(text, {}) == f"<pre>{escape(text)}</pre>"
    assert time.process_time() - begun < 10  # the first of them took a minute


ENDLESS = "x <a" + "\ta=b\tc" * 40  # what follows a tab is a new attribute, or more of a value


def test_a_short_text_that_would_be_parsed_for_ever_is_soon_shown_as_it_was_written() -> None:
    begun, written = time.monotonic(), f"<pre>{escape(ENDLESS)}</pre>"
    page: dict[str, Any] = {}
    assert rendered(ENDLESS, page) == written
    assert rendered("*it*", page) == "<p><em>it</em></p>\n"
    assert [rendered(ENDLESS, page) for _ in range(100)] == [written] * 100
    assert time.monotonic() - begun < 240  # 20 s where nothing else runs; it took years


def test_so_is_what_is_too_much_for_one_page_and_only_for_that() -> None:
    page: dict[str, Any] = {}
    shown = [rendered("*it* " * 990, page)[:5] for _ in range(25)]
    assert shown == ["<p><e"] * 20 + ["<pre>"] * 5
    assert rendered("*it*", {}) == "<p><em>it</em></p>\n"


def test_a_picture_that_is_shown_again_and_again_fills_no_memory() -> None:
    page: dict[str, Any] = {}
    large = base64.b64decode(DOT) + b"\0" * 3 * 2**20  # a browser stops at the picture's end
    picture = {"image/png": base64.b64encode(large).decode()}
    often = "![p][x] " * 600 + "\n\n[x]: attachment:p.png"
    for text, is_shown in (("![p](attachment:p.png)", True), (often, False)):
        shown = rendered(text, page, **{"p.png": picture})
        assert shown.count("data:image/png;base64,iVBOR") == is_shown


@pytest.mark.parametrize(
    "pictures", [{}, {"p": "none"}, {"p": {}}, {"p": {"image/png": ["a", 3]}}, {"p": {"x": {}}}]
)
def test_a_picture_that_is_none_costs_no_page(pictures: dict[str, Any]) -> None:
    shown = rendered("so ![p](attachment:p)", {}, **pictures)
    assert "so" in shown and "src" not in shown


SLOW_HTML = {
    "in one another": "<div>" * 100_000,
    "ends of spans": "<i>" * 30_000 + "</span>" * 120_000,
    "attributes": f"<b {' '.join(f'a{number}' for number in range(200_000))}>",
}


@pytest.mark.parametrize("html", SLOW_HTML.values(), ids=SLOW_HTML)
def test_html_that_keeps_the_parser_busy_is_shown_as_it_was_written(html: str) -> None:
    begun = time.process_time()
    assert inert(html) == f"<pre>{escape(html)}</pre>"
    assert time.process_time() - begun < 10


SLOW_CODE = {
    "zeros after a percent sign": f"x = '%{'0' * 600_000}'",
    "brackets that stay open": f"x = '{'{a[' * 100_000}'",
    "names of characters": "x = '" + "\\N{" * 100_000 + "'",
}


@pytest.mark.parametrize("code", SLOW_CODE.values(), ids=SLOW_CODE)
def test_code_that_keeps_the_lexer_busy_is_soon_shown_without_colours(code: str) -> None:
    begun = time.monotonic()
    body = page("feedback", showing() | {"source": code}, showing()).partition("<body")[2]
    assert f"<pre>{escape(code, quote=False)}</pre>" in body
    assert '<span class="n">x</span>' in body  # the other cell keeps its colours
    assert time.monotonic() - begun < 60  # 5 s where nothing else runs; it took hours


def test_html_that_is_too_much_for_one_page_is_shown_as_it_was_written() -> None:
    html = "<p>x</p>" * 30_000
    body = page("feedback", *[showing(text_html=html)] * 7).partition("<body")[2]
    assert body.count("<pre>&lt;p&gt;x") == 7 - 300_000 // 60_000


def test_what_takes_too_long_is_tried_a_few_times_only() -> None:
    begun, short = time.monotonic(), "<p>x</p>"
    slow = [
        showing(text_html=html) | {"source": code}
        for html in SLOW_HTML.values()
        for code in SLOW_CODE.values()
    ]
    shown = page("feedback", showing(text_html=short), *slow, words("*it*"))
    assert short in shown
    assert "<pre>*it*</pre>" in shown
    assert time.monotonic() - begun < 120  # 15 s where nothing else runs


def test_pictures_together_have_no_more_pixels_than_a_page_bears() -> None:
    held = io.BytesIO()
    Image.new("1", (5_000, 4_000)).save(held, "PNG")
    large = base64.b64encode(held.getvalue()).decode()
    html = f'<img src="data:image/png;base64,{large}">'
    body = page("feedback", showing(image_png=large), *[showing(text_html=html * 4)] * 3)
    assert body.count(large) == 10
    small = page("feedback", *[showing(text_html=f'<img src="data:image/png;base64,{DOT}">')] * 50)
    assert small.count(DOT) == 50


def test_large_tables_and_pictures_and_long_code_stay() -> None:
    row = f"<tr>\n{'<td>1</td>' * 21}\n</tr>\n"
    table = f'<table class="dataframe">\n<tbody>\n{row * 61}</tbody>\n</table>'
    page: dict[str, Any] = {}
    assert [inert(table, page) for _ in range(40)] == [table] * 40
    held = base64.b64encode(base64.b64decode(DOT) + bytes(range(256)) * 12_000).decode()
    large = f'<img src="data:image/png;base64,{held}">'
    assert [inert(large, page) == large for _ in range(7)] == [True] * 7
    context: Any = {"resources": page}
    lesson = "def f(x):\n    return x + 1  # as always\n" * 5_000  # as much as our longest
    assert '<span class="k">def</span>' in quick_highlight(context, lesson)
    code = "<pre>" + '<span class="n">x</span>\n' * 8_000 + "</pre>"
    assert inert(code) == code


@pytest.mark.parametrize(
    "codes", ["\x1b[m" * 980_000, "\x1b[mx" * 500_000, f"\x1b[{'0;' * 10**6}m"]
)
def test_a_text_of_colour_codes_is_soon_shown_without(codes: str) -> None:
    begun = time.process_time()
    stream = {"output_type": "stream", "name": "stdout", "text": f"{codes}<told>"}
    shown = page(
        "feedback", showing(text_plain=f"{codes}<told>"), showing() | {"outputs": [stream]}
    )
    assert shown.count("&lt;told&gt;</pre>") == 2 or shown.count("&lt;told&gt;\n</pre>") == 2
    assert time.process_time() - begun < 20  # it took minutes


def test_a_traceback_keeps_its_colours() -> None:
    context: Any = {"resources": {}}
    traceback = "\x1b[31mValueError\x1b[39m Traceback; \x1b[38;5;66mhere\x1b[0m <x>\n" * 300
    assert quick_ansi2html(context, traceback) == ansi2html(traceback)


def test_a_text_of_brackets_is_soon_shown() -> None:
    begun = time.process_time()
    text = "[" * 300_000
    assert f"<pre>{text}</pre>" in page("feedback", words(text))
    assert time.process_time() - begun < 20  # it took minutes


@pytest.mark.parametrize("language", ["arduino", "autoit", "ipython", "mermaid", "nothing"])
def test_code_in_another_language_is_shown_without_colours(language: str) -> None:
    begun = time.process_time()
    code = "x" + "\n" * 4_900 + "y"
    assert rendered(f"```{language}\n{code}\n```", {}) == f"<pre><code>{code}\n</code></pre>\n"
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("lexer", ["ipython3", "arduino"])
@pytest.mark.parametrize("template", ["feedback", "formgrade"])
def test_a_cell_of_blank_lines_is_soon_shown(template: str, lexer: str) -> None:
    begun = time.process_time()
    code = "x = 1" + "\n " * 60_000 + "y = 2"
    about = {"language_info": {"name": "python", "pygments_lexer": lexer}}
    cell = showing() | {"source": code, "metadata": {"magics_language": "mermaid"}}
    body = page(template, cell, showing(), metadata=about).partition("<body")[2]
    assert f"<pre>{code}</pre>" in body
    assert '<span class="n">x</span>' in body  # the other cell keeps its colours
    assert time.process_time() - begun < 30  # it took hours


@pytest.mark.parametrize("language", ["python", "bash", "toml", "json"])
def test_code_in_a_language_of_the_course_keeps_them(language: str) -> None:
    assert '<span class="' in rendered(f"```{language} title\nx = 1 # why\n```", {})


def test_each_page_of_nbgraders_begins_anew() -> None:
    for _ in range(2):
        shown = page("feedback", *[words("*it* " * 990)] * 22, words("x" * 5_001))
        assert shown.count("<em>it</em>") == 990 * 20
        assert shown.count("<pre>*it*") == 2
        assert shown.count("<pre>xxx") == 1


@pytest.mark.parametrize("kind", ["text/html", ""])
@pytest.mark.parametrize("template", ["feedback", "formgrade"])
def test_a_raw_cell_has_no_ids_and_no_classes_of_nbgraders(template: str, kind: str) -> None:
    html = "<div id='nav' class='navbar-fixed-top highlight'><b id='b'>told</b></div>" + "".join(
        HOSTILE
    )
    raw = {"cell_type": "raw", "metadata": {"raw_mimetype": kind}, "source": html}
    body = page(template, raw).partition("<body")[2]
    if kind:
        assert '<div class="highlight"><b>told</b></div>' in body
    assert "navbar-fixed-top highlight" not in body and "evil.test" not in body
    found = Acting()
    found.feed(body)
    assert found.acting == []


def test_code_is_highlighted_as_before() -> None:
    code = showing(text_plain="7") | {"source": "def f(x):\n    return x < 1  # 'a' & b\n"}
    body = page("feedback", code).partition("<body")[2]
    assert re.search(r'<div class="highlight[^"]*"><pre>', body)
    assert '<span class="o">&lt;</span>' in body
    nothing: Any = {}
    assert inert_raw(nothing, b"<b>\xc3\xa4</b>") == "<b>\u00e4</b>"


@pytest.mark.parametrize("template", ["feedback", "formgrade"])
def test_the_tags_of_a_learners_cell_become_no_classes(template: str) -> None:
    cell = showing(text_plain="7") | {"metadata": {"tags": ["x navbar navbar-fixed-top"]}}
    assert "celltag_" not in page(template, cell)


def test_a_name_is_no_tag_on_formgraders_page_and_can_be_read() -> None:
    name: Any = {"first_name": "<img src=x onerror=act(4711)>", "last_name": "O'Neil"}
    shown = page("formgrade", words("so"), **name, student="kim", notebook_path='"><b>')
    assert "O'Neil, &lt;img" in shown
    assert "<img src=x" not in shown
    assert '"><b>' not in shown
