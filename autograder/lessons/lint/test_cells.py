"""The rules of a test cell: what it gives, what it asks for, and whether it can travel."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from autograder.errors import did_you_mean
from autograder.lessons.cells import number
from autograder.lessons.lint.check_calls import check_slips, check_variables
from autograder.lessons.lint.findings import Slip
from autograder.lessons.lint.probes import judgements
from autograder.lessons.lint.thinning import thinned
from autograder.lessons.lint.thresholds import LEAST_CHECKS, LEAST_HIDDEN
from autograder.lessons.lint.travel import defined_names, outside_names, probes
from autograder.lessons.model import Exercise
from autograder.lessons.regions import HIDDEN, RegionError, split_regions, without_markers
from course.hidden_lines import first_hidden_line, is_hidden_in, lines_of

_REPEATS = (ast.For, ast.While, ast.comprehension, ast.FunctionDef, ast.Lambda)


def lint_test_cell(one: Exercise, known: Collection[str], given: Collection[str]) -> Iterator[Slip]:
    """Give the slips of a test cell.

    `known` are the lesson's misconceptions, `given` the names that its set-up cell defines.
    """
    place = f"cell {one.test_id}"
    try:
        visible, inside = split_regions(one.test_source, HIDDEN)
        tree = ast.parse(one.test_source)
    except (RegionError, SyntaxError) as error:
        yield place, f"cannot be read: {error}", "Mend the line named."
        return
    if one.points <= 0:
        yield place, "it gives no points", "Set nbgrader's points."
    if not _calls_answer(tree):
        yield place, "it does not use answer()", 'Reach the learner\'s work through answer("name").'
    if not any(line.strip() for line in inside):
        yield place, "it has no hidden tests", "Write some between the HIDDEN TESTS markers."
    if any(re.match(r"\s*@probe\b", line) for line in inside):
        yield place, "a @probe is defined in the hidden part", "Define it in the visible part."
    if _final_score(tree) != one.points:
        yield (
            place,
            "its last line does not give its points",
            f"End with check.score({one.points:g}).",
        )
    yield from _words_of_score(one, tree)
    for id_ in sorted(_misconceptions_in(tree) - set(known)):
        cause = f"no misconception is called '{id_}'.{did_you_mean(id_, known)}"
        yield place, cause, "Add it to the lesson's claims file, or correct it."
    yield from _count(one, tree)
    yield from _late(one, tree)
    yield from check_slips(one.test_id, one.name, tree)
    yield from _ambiguous_matches(one, tree)
    for line, words in thinned(tree):
        yield (
            place,
            f"line {line} leaves out cases by their position: {words}",
            "The one that decides may be among them. Take all cases, or those that a condition on "
            "what they hold picks.",
        )
    yield from _asked(one)
    yield from _shadowed(one)
    yield from _travel(one, "\n".join(visible), set(given))
    for probe, (line, cause, cure) in judgements(one.test_source):
        yield place, f"the probe '{probe}' judges in line {line}: {cause}", cure


def _count(one: Exercise, tree: ast.Module) -> Iterator[Slip]:
    """Give the slip of too few checks; the gate counts them where a loop makes some."""
    lines = _check_lines(tree)
    if lines is None or one.few_checks or not one.task:
        return
    cell = lines_of(one.test_source)
    hidden = sum(is_hidden_in(cell, line) for line in lines)
    if len(lines) < LEAST_CHECKS or hidden < LEAST_HIDDEN:
        yield (
            f"cell {one.test_id}",
            f"it has {len(lines)} checks, {hidden} of them hidden",
            f"Write at least {LEAST_CHECKS}, {LEAST_HIDDEN} of them hidden, or say in "
            "metadata.course.few_checks of the task why fewer will do.",
        )


def _late(one: Exercise, tree: ast.Module) -> Iterator[Slip]:
    """Give the slip of a visible check that is only run after hidden ones, and tells too much."""
    begun = first_hidden_line(one.test_source)
    rest = [node for node in tree.body if begun and (node.end_lineno or 0) > begun]
    for line in sorted(_checks_in(ast.Module(rest, []), check_variables(tree))):
        if not is_hidden_in(lines_of(one.test_source), line):
            yield (
                f"cell {one.test_id}",
                f"line {line} is a visible check that runs after a hidden one",
                "Move it above the hidden tests: what a visible check finds is told in full.",
            )


def _check_lines(tree: ast.Module) -> list[int] | None:
    """Return the line of each check; None where one stands in a loop or a function."""
    made = check_variables(tree)
    if any(_checks_in(node, made) for node in ast.walk(tree) if isinstance(node, _REPEATS)):
        return None
    return _checks_in(tree, made)


def _checks_in(tree: ast.AST, made: Collection[str]) -> list[int]:
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name(name), method)) if name in made:
                found += [node.lineno] if method != "score" else []
    return found


def _ambiguous_matches(one: Exercise, tree: ast.Module) -> Iterator[Slip]:
    """Give the slip of messages that one error could satisfy by saying all of them."""
    said: dict[str, dict[str, bool]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(attr="raises"), [_, error, *_], keywords):
                given = {word.arg: word.value for word in keywords}
                if isinstance(given.get("match"), ast.Constant):
                    words = said.setdefault(ast.unparse(error), {})
                    words[ast.unparse(given["match"])] = "among" in given
    for raised, messages in said.items():
        if len(messages) > 1 and not all(messages.values()):
            wanted = " or ".join(sorted(messages))
            yield (
                f"cell {one.test_id}",
                f"its {raised} has to say {wanted}, and one that says all of them passes",
                "Give each of these checks `among=`: what its message must not name beside.",
            )


def _asked(one: Exercise) -> Iterator[Slip]:
    """Give the slips of names that the answer cell does not define."""
    made = defined_names(without_markers(one.answer_source))
    for name in one.asked:
        if one.answer_id and made and name not in made:
            defined = " and ".join(sorted(made))
            cause = f"it asks for answer({name!r}), but cell {one.answer_id} defines {defined}."
            remedy = "Ask for a name that the answer cell defines, or define it there."
            yield f"cell {one.test_id}", cause + did_you_mean(name, made), remedy


def _shadowed(one: Exercise) -> Iterator[Slip]:
    """Give the slips of names that the test cell takes from the learner's answer."""
    for name in sorted(defined_names(one.test_source) & set(one.asked)):
        cause = f"it gives the name '{name}', for which it asks, to something else"
        yield (
            f"cell {one.test_id}",
            cause,
            "In a notebook that replaces the answer: call what answer() returns by another name.",
        )


def _travel(one: Exercise, visible: str, given: set[str]) -> Iterator[Slip]:
    place = f"cell {one.test_id}"
    unknown = outside_names(one.test_source) - given
    for name in sorted(unknown):
        yield place, f"it uses '{name}', which neither it nor the set-up cell defines", "Define it."
    try:
        hidden_only = outside_names(visible) - given - unknown
    except SyntaxError as error:
        remedy = "Learners get it alone: put whole statements between the markers."
        yield place, f"without its hidden part it cannot be read: {error}", remedy
        return
    for name in sorted(hidden_only):
        cause = f"its visible part uses '{name}', which only the hidden part defines"
        yield place, cause, "Learners get the visible part alone: define it there."
    for probe, names in probes(one.test_source):
        for name in sorted(names - given - {probe} - unknown):
            yield (
                place,
                f"the probe '{probe}' uses '{name}', which is defined outside of it",
                "Only its own text and the set-up cell's names reach the answer: define "
                f"'{name}' inside, or pass it as an argument.",
            )


def _calls_answer(tree: ast.Module) -> bool:
    return any(_is_call_of(node, "answer") for node in ast.walk(tree))


def _is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _final_score(tree: ast.Module) -> float | None:
    match tree.body[-1:]:
        case [ast.Expr(ast.Call(ast.Attribute(attr="score"), [ast.Constant(points)]))]:
            return number(points)
    return None


def _words_of_score(one: Exercise, tree: ast.Module) -> Iterator[Slip]:
    """Give the slips of what the table is told: the release says the rest itself."""
    match tree.body[-1:]:
        case [ast.Expr(ast.Call(ast.Attribute(attr="score"), _, keywords))]:
            for word in keywords:
                if word.arg not in ("why", "hidden") or not isinstance(word.value, ast.Constant):
                    yield (
                        f"cell {one.test_id}",
                        f"its check.score says '{word.arg}'",
                        'Say why="…" or hidden="…" there, each a plain text, and nothing else.',
                    )


def _misconceptions_in(tree: ast.Module) -> set[str]:
    """Return the ids that checks and answers name.

    A check's dictionary of several has them for keys; an answer's has them for values, by the kind
    of what was changed ("arguments", "grad mode").
    """
    found: set[str] = set()
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        for given in (word.value for word in call.keywords if word.arg == "misconception"):
            several: list[ast.expr | None] = []
            if isinstance(given, ast.Dict):
                several += given.values if _is_call_of(call, "answer") else given.keys
            for node in (given, *several):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    return found
