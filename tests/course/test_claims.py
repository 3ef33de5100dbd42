"""Claims: each proof holds, each error says what to do."""

import re
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.kept_results import KeptResults
from autograder.lessons.lint.proofs.results import keep_proof, known_proof
from course.claims import (
    Claim,
    ClaimError,
    MalformedClaims,
    UnknownId,
    claim,
    claims,
    misconception,
    misconceptions,
    prove,
)
from course.claims.proof_helpers import (
    KeptByGraphs,
    error_of,
    operators_of,
    pinnings_of,
    same_storage,
    saved_nbytes,
    warnings_of,
)
from course.claims.proofs import run_proof
from course.claims.schema import parse, refuse_duplicates

ROOT = Path(__file__).parents[2]

GOOD = """
[[claim]]
id = "a"
asked = "Does it hold?"
said = "It holds."
verdict = "true"
fact = "It does."
proof = "x = 1"
shows = "x == 1"
"""


def malformed(text: str) -> str:
    """The message that the loader gives for a file `04-memory-layout.toml` with this text."""
    with pytest.raises(MalformedClaims) as caught:
        parse(text, "04-memory-layout")
    return str(caught.value)


# ---------------------------------------------------------------- every claim of every lesson


@pytest.mark.parametrize("entry", claims(), ids=lambda entry: entry.id)
def test_the_proof_holds(entry: Claim) -> None:
    results = KeptResults.of_course(ROOT)
    if known_proof(results, entry):
        return  # a release or the site has run it, and nothing behind it has changed since
    proof = prove(entry)
    assert proof.error is None, f"{entry.lesson}, {entry.id}: {proof.error}"
    assert proof.holds, f"{entry.lesson}, {entry.id}: {entry.shows}, but {proof.shown}"
    assert proof.shown, "a relation that names no result of the proof shows nothing"
    keep_proof(results, entry, asdict(proof))


@pytest.mark.cuda
@pytest.mark.parametrize("entry", [c for c in claims() if c.proof_cuda], ids=lambda c: c.id)
def test_the_proof_for_a_gpu_holds(entry: Claim) -> None:
    proof = prove(entry, cuda=True)
    assert (proof.error, proof.holds) == (None, True), proof


@pytest.mark.parametrize("entry", claims(), ids=lambda entry: entry.id)
def test_a_claim_is_written_in_sentences(entry: Claim) -> None:
    assert entry.said.rstrip('"')[-1] in ".?"
    assert entry.fact.rstrip('")')[-1] == "."
    assert entry.said.count("`") % 2 == entry.fact.count("`") % 2 == 0
    assert entry.id == entry.id.lower()
    assert entry.id.replace("-", "").isalnum()


def test_no_text_has_stars_that_a_cell_would_show_as_they_stand() -> None:
    """Of Markdown, questions and tables know `code` and nothing else."""
    told = [(one.id, f"{one.said}\n{one.fact}") for one in claims()]
    told += [(one.id, f"{one.title}\n{one.why}") for one in misconceptions()]
    plain = {id: re.sub("`[^`]*`", "", text) for id, text in told}
    assert [id for id, text in plain.items() if re.search(r"(?<![\w*])\*+\w[^*]*\*", text)] == []


@pytest.mark.parametrize("entry", claims(), ids=lambda entry: entry.id)
def test_a_claim_names_a_misconception_that_exists(entry: Claim) -> None:
    if entry.misconception is not None:
        assert misconception(entry.misconception).title


def test_a_claim_that_needs_cuda_has_a_proof_for_it() -> None:
    assert [c.id for c in claims() if (c.needs == "cuda") and not c.proof_cuda] == []


# ---------------------------------------------------------------- asking


def test_a_claim_is_found_by_its_id() -> None:
    found = claim("reshape-always-copies")
    assert (found.lesson, found.verdict) == ("04-memory-layout", "false")


def test_an_unknown_claim_names_the_nearest() -> None:
    with pytest.raises(UnknownId) as caught:
        claim("reshape-allways-copies")
    assert str(caught.value).startswith(
        "no claim 'reshape-allways-copies'. Did you mean 'reshape-always-copies'"
    )


def test_the_beginning_of_an_id_finds_it() -> None:
    with pytest.raises(UnknownId, match="Did you mean 'clone-detach-is-a-deep-copy'"):
        claim("clone-detach")


def test_an_id_that_resembles_none_says_so() -> None:
    with pytest.raises(UnknownId) as caught:
        claim("qqqq")
    count = len(claims())
    assert str(caught.value) == f"no claim 'qqqq', and no claim has a similar name ({count} exist)."


def test_an_unknown_lesson_names_the_nearest() -> None:
    with pytest.raises(UnknownId) as caught:
        claims("04")
    assert str(caught.value) == "no lesson '04'. Did you mean '04-memory-layout'?"


def test_an_unknown_misconception_is_an_error_of_its_own_kind() -> None:
    with pytest.raises(UnknownId, match="no misconception 'there-is-none-such'"):
        misconception("there-is-none-such")
    assert issubclass(UnknownId, ClaimError)
    assert issubclass(UnknownId, LookupError)


def test_the_id_of_a_claim_is_not_the_id_of_a_misconception() -> None:
    only_claims = {c.id for c in claims()} - {m.id for m in misconceptions()}
    with pytest.raises(UnknownId, match="no misconception"):
        misconception(sorted(only_claims)[0])


def test_a_file_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    claim("reshape-always-copies")
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: pytest.fail("read again"))
    assert claim("reshape-always-copies").id == "reshape-always-copies"


def test_import_course_reads_no_claims() -> None:
    code = "import sys, course; print('course.claims' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("False\n", "")


# ---------------------------------------------------------------- files that break the form


def test_a_good_file_gives_its_claim() -> None:
    (found,) = parse(GOOD, "04-memory-layout").claims
    assert (found.id, found.lesson, found.slow) == ("a", "04-memory-layout", False)


def test_a_misconception_is_read() -> None:
    text = '[[misconception]]\nid = "m"\ntitle = "T"\nwhy = "W"\nsection = "s"'
    (found,) = parse(text, "04-memory-layout").misconceptions
    assert (found.id, found.title, found.why, found.section) == ("m", "T", "W", "s")


def test_an_unknown_key_names_the_one_that_was_meant() -> None:
    assert malformed(GOOD + 'neds = "fork"') == (
        "04-memory-layout.toml: claim 'a': unknown key 'neds'. Did you mean 'needs'?"
    )


def test_a_key_that_resembles_none_lists_the_known_ones() -> None:
    assert malformed('[[misconception]]\nid="m"\ntitle="T"\nwhy="W"\nsection="s"\nzzz="1"') == (
        "04-memory-layout.toml: misconception 'm': unknown key 'zzz'."
        " Known keys: id, title, why, section."
    )


def test_a_missing_key_is_named() -> None:
    assert malformed(GOOD.replace('fact = "It does."', "")) == (
        "04-memory-layout.toml: claim 'a': the key 'fact' is missing. Add fact = \"…\"."
    )


def test_a_claim_without_its_question_is_refused() -> None:
    assert malformed(GOOD.replace('asked = "Does it hold?"', "")) == (
        "04-memory-layout.toml: claim 'a': the key 'asked' is missing. Add asked = \"…\"."
    )


def test_what_is_asked_must_be_a_question() -> None:
    assert malformed(GOOD.replace("Does it hold?", "It holds.")) == (
        "04-memory-layout.toml: claim 'a': asked is no question: 'It holds.'."
        " End it with a question mark."
    )


def test_every_question_is_short_plain_and_asked_once() -> None:
    asked = [one.asked for one in claims()]
    assert [one for one in asked if not 3 <= len(one.split()) <= 9 or "`" in one] == []
    plain = Counter(re.sub(r"\W+", " ", one).casefold() for one in asked)
    assert [one for one, times in plain.items() if times > 1] == []


def test_an_entry_without_id_is_found_by_its_number() -> None:
    assert malformed(GOOD + GOOD.replace('id = "a"', "")) == (
        "04-memory-layout.toml: claim number 2: the key 'id' is missing. Add id = \"…\"."
    )


def test_a_bad_verdict_lists_the_four() -> None:
    assert malformed(GOOD.replace('"true"', '"half"')) == (
        "04-memory-layout.toml: claim 'a': verdict is 'half'."
        " Write one of true, false, depends, outdated."
    )


def test_a_verdict_that_is_a_boolean_asks_for_a_string() -> None:
    assert malformed(GOOD.replace('"true"', "true")) == (
        "04-memory-layout.toml: claim 'a': verdict must be a string, not True."
    )


def test_an_empty_text_is_refused() -> None:
    assert malformed(GOOD.replace('"It holds."', '""')) == (
        "04-memory-layout.toml: claim 'a': said is empty. Write it, or remove the line."
    )


def test_slow_must_be_a_boolean() -> None:
    assert malformed(GOOD + 'slow = "yes"') == (
        "04-memory-layout.toml: claim 'a': slow must be true or false, not 'yes'."
    )


def test_needs_names_a_system_or_a_package_of_the_lessons() -> None:
    assert malformed(GOOD + 'needs = "gpu"') == (
        "04-memory-layout.toml: claim 'a': needs is 'gpu'. "
        "Write one of fork, linux, cuda, ray, tensorboard, wandb."
    )


def test_a_gpu_proof_without_its_relation_is_refused() -> None:
    assert malformed(GOOD + 'proof_cuda = "x = 1"') == (
        "04-memory-layout.toml: claim 'a': proof_cuda and shows_cuda go together."
        " Add the other one."
    )


def test_an_id_that_stands_twice_is_refused() -> None:
    assert malformed(GOOD + GOOD) == (
        "04-memory-layout.toml: claim 'a' stands twice"
        " (first in 04-memory-layout.toml). Rename one of them."
    )


def test_an_id_in_two_lessons_is_refused_with_both_files() -> None:
    files = [
        parse(GOOD, "04-memory-layout"),
        parse(GOOD, "05-autograd"),
    ]
    with pytest.raises(MalformedClaims) as caught:
        refuse_duplicates(files)
    assert str(caught.value) == (
        "05-autograd.toml: claim 'a' stands twice (first in 04-memory-layout.toml)."
        " Rename one of them."
    )


def test_text_that_is_not_toml_names_the_line() -> None:
    message = malformed("[[claim]]\nid = oops")
    assert message.startswith("04-memory-layout.toml: not valid TOML: ")
    assert "line 2" in message
    assert message.endswith("Mend that place.")


def test_an_unknown_table_is_refused() -> None:
    assert malformed("[[claims]]") == (
        "04-memory-layout.toml: unknown table 'claims'. Write [[claim]] or [[misconception]]."
    )


def test_a_single_table_is_refused() -> None:
    assert malformed(GOOD.replace("[[claim]]", "[claim]")) == (
        "04-memory-layout.toml: 'claim' is not a list of tables. Write [[claim]]."
    )


# ---------------------------------------------------------------- running a proof


def test_a_proof_shows_the_names_of_its_relation_in_order() -> None:
    proof = run_proof("a = 1\nb = 'x'\nc = 0", "b == 'x' and a < len(b) + 1", name="p")
    assert (proof.shown, proof.holds) == ((("b", "'x'"), ("a", "1")), True)


def test_a_relation_that_fails_is_reported_with_its_values() -> None:
    proof = run_proof("a = 1", "a == 2", name="p")
    assert (proof.holds, proof.shown, proof.error) == (False, (("a", "1"),), None)


def test_a_proof_that_raises_names_the_line() -> None:
    proof = run_proof("a = 1\n1 / 0", "a", name="p")
    assert (proof.holds, proof.error) == (False, "ZeroDivisionError in line 2: division by zero")


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "def", "a = 1\nb"])
def test_nothing_that_a_proof_does_reaches_the_caller(code: str) -> None:
    proof = run_proof(code, "a", name="p")
    assert proof.error is not None
    assert not proof.holds


def test_ctrl_c_still_stops_a_proof() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_proof("raise KeyboardInterrupt", "True", name="p")


def test_a_proof_starts_afresh_and_seeded() -> None:
    code = "known = 'left' in globals()\nleft = torch.rand(1).item() + np.random.rand()"
    first, second = (run_proof(code, "not known and left", name="p") for _ in range(2))
    assert first.shown == second.shown
    assert first.holds


def test_a_proof_leaves_the_caller_as_it_was() -> None:
    torch.manual_seed(5)
    np.random.seed(5)
    before = torch.get_rng_state(), np.random.get_state()[1].sum(), torch.get_num_threads()
    code = "torch.rand(9); np.random.rand(9); torch.set_default_dtype(torch.float64)\n"
    run_proof(code + "torch.set_num_threads(1); torch.set_grad_enabled(False)", "1", name="p")
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1:] == (np.random.get_state()[1].sum(), torch.get_num_threads())
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()


def test_a_proof_prints_and_warns_to_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    proof = run_proof("print('seen')\nwarnings.warn('heard')\na = 1", "a", name="p")
    assert (proof.printed, capsys.readouterr()) == ("seen\n", ("", ""))


def test_a_long_value_is_shown_in_part() -> None:
    ((_, text),) = run_proof("a = 'x' * 10_000", "a", name="p").shown
    assert len(text) < 500
    assert text.endswith("… (10002 characters)")


def test_inspect_reads_the_source_of_what_a_proof_defines() -> None:
    code = "def f():\n    return 41\nsource = inspect.getsource(f)"
    assert run_proof(code, "'return 41' in source", name="p").holds


def test_a_proof_that_needs_a_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    (entry,) = parse(GOOD + 'needs = "wandb"', "04-memory-layout").claims
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    proof = prove(entry)
    assert not proof.holds
    assert proof.error == "it needs wandb, which is not installed (pip install wandb)"


def test_a_proof_that_needs_another_system_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    (entry,) = parse(GOOD + 'needs = "linux"', "04-memory-layout").claims
    assert prove(entry).error == "it needs Linux, and this is darwin"


def test_a_proof_for_a_gpu_must_exist() -> None:
    (entry,) = parse(GOOD, "04-memory-layout").claims
    with pytest.raises(ClaimError, match="claim 'a' has no proof_cuda"):
        prove(entry, cuda=True)


# ---------------------------------------------------------------- words of the preamble


def test_error_of_gives_the_first_line() -> None:
    assert error_of(lambda: int("x")).startswith("ValueError: invalid literal")
    assert error_of(lambda: 1) == ""


def test_warnings_of_gives_category_and_first_line() -> None:
    import warnings

    assert warnings_of(lambda: warnings.warn("a\nb", stacklevel=1)) == ["UserWarning: a"]


def test_operators_of_sees_a_copy_and_a_view() -> None:
    t = torch.zeros(2, 3).t()
    assert "clone" in operators_of(lambda: t.reshape(6))
    assert "clone" not in operators_of(lambda: t.reshape(3, 2))


def test_same_storage_looks_at_the_storage_not_the_address() -> None:
    a = torch.zeros(4)
    assert same_storage(a[:2], a[2:])
    assert not same_storage(a, a.clone())


def test_saved_nbytes_counts_each_storage_once() -> None:
    w = torch.ones(100, requires_grad=True)
    assert saved_nbytes(lambda: w * w) == 400
    assert saved_nbytes(lambda: w + w) == 0


def test_kept_by_graphs_falls_when_a_graph_dies() -> None:
    w = torch.ones(100, requires_grad=True)
    with KeptByGraphs() as kept:
        y = w.exp()
        alive = kept.nbytes
        del y
    assert (alive, kept.nbytes) == (400, 0)


def test_pinnings_of_tells_thread_and_shape_and_leaves_torch_as_it_was() -> None:
    before, there = torch.Tensor.pin_memory, torch.accelerator.is_available()
    loader = torch.utils.data.DataLoader(torch.arange(3.0), 2, pin_memory=True)
    assert pinnings_of(lambda: list(loader)) == [("this thread", (2,)), ("this thread", (1,))]
    late = threading.Thread(target=lambda: torch.zeros(2, 3).pin_memory())
    assert pinnings_of(lambda: (late.start(), late.join())) == [("another thread", (2, 3))]
    assert (torch.Tensor.pin_memory, torch.accelerator.is_available()) == (before, there)


def test_a_gradient_through_kept_tensors_is_right() -> None:
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    with KeptByGraphs():
        (w**2).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [4, 6]


def test_a_fast_proof_takes_less_than_a_second() -> None:
    started = time.perf_counter()
    assert prove(claim("reshape-always-copies")).seconds < 1
    assert time.perf_counter() - started < 2
