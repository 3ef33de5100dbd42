"""A learner's own archive takes its time and memory in a process apart, and nobody else's."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.submissions import archive, own_archives
from autograder.submissions.archive import (
    Accounts,
    Bounds,
    RefusedEntry,
    read_archive,
)
from autograder.submissions.own_archives import FILES, Opener, Question

GOOD = "ada.zip/good.ipynb"
HELP = "; hand in the notebook itself, or a plain zip"
EVERYTHING = Question(False, 10, 1000, 1000, 200, 10.0)


def zipped(*entries: tuple[str, bytes]) -> bytes:
    """A zip of these files, as they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, data in entries:
            made.writestr(name, data)
    return buffer.getvalue()


OWN = zipped(("good.ipynb", b"{}"))


def told(path: Path, bounds: Bounds, *entries: tuple[str, bytes]) -> dict[str, str]:
    """Why each file of an LMS's archive is refused, or the empty word; a folder is one owner's."""

    def by_folder(accounts: Accounts) -> Callable[[tuple[str, ...]], str]:
        return lambda path: path[0]

    path.write_bytes(zipped(*entries))
    found = read_archive(path, bounds, by_folder)
    return {"/".join(o.path): o.reason if isinstance(o, RefusedEntry) else "" for o in found}


@pytest.fixture
def opener(monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """One for this test alone, with a tenth of the memory."""
    monkeypatch.setattr(own_archives, "MOST_NBYTES", 100 * 2**20)
    made = Opener()
    monkeypatch.setattr(archive, "OPENER", made)
    yield made
    made.close()


# Blocks of deflate with tables and without a byte: some 0.1 s for each megabyte.
EMPTY = bytes.fromhex(
    "04c081000000000090ff6b100007020000000040feaf41001c080000000000f9bf060170200000000000e4ff1a"
)


def without_a_byte() -> bytes:
    """A zip with a file that takes a second to unpack, to nothing."""
    packed = EMPTY * (12 * 2**20 // len(EMPTY)) + b"\3\0"
    made = bytearray(zipped(("a.ipynb", packed)))
    for mark, method, size in ((b"PK\3\4", 8, 22), (b"PK\1\2", 10, 24)):
        at = made.rfind(mark)
        struct.pack_into("<H", made, at + method, 8)
        struct.pack_into("<L", made, at + size, 1000)
    return bytes(made)


def head(kind: bytes, size: int = 0, magic: bytes = b"ustar\x0000", sparse: bool = False) -> bytes:
    """The first block of a file in a tar."""
    block = bytearray(512)
    block[:7], block[100:108], block[148:157] = b"x.ipynb", b"0000644\0", b" " * 8 + kind
    block[124:136], block[257:265] = b"%011o\0" % size, magic
    if sparse:
        block[482:495] = b"\1" + b"00000000000\0"
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def sparse_blocks() -> bytes:
    """A tar of which one file has 60,000 blocks that tell of holes in it."""
    pairs = (b"\xff" * 12 + b"\x80" + bytes(11)) * 21
    blocks = (pairs + b"\1" + bytes(7)) * 60_000 + pairs + bytes(8)
    return gzip.compress(head(b"S", 0, b"ustar  \0", True) + blocks + bytes(1024), 1)


def sparse_map() -> bytes:
    """A tar of which one file has a map of millions of holes."""
    said = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"
    start = head(b"x", len(said)) + said.ljust(512, b"\0") + head(b"0")
    return gzip.compress(start + b"%d\n" % (2 * 2**20) + b"0\n" * (4 * 2**20) + bytes(4096), 1)


def large_header() -> bytes:
    """A tar with a name of a gigabyte."""
    return gzip.compress(head(b"L", 2**30), 1) + gzip.compress(bytes(2**25), 1) * 32


def long_list() -> bytes:
    """A zip whose list tells of one small file a few hundred thousand times."""
    made = zipped(("a", b""))
    at, end = made.find(b"PK\1\2"), made.rfind(b"PK\5\6")
    number, central = 300_000, made[at:end] * 300_000
    sizes = number, number, len(central), at
    large = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, *sizes)
    behind = struct.pack("<4sLQL", b"PK\6\7", 0, at + len(central), 1)
    return made[:at] + central + large + behind + made[end:]


@pytest.mark.parametrize(
    ("name", "content"),
    [("kim.zip", without_a_byte), ("kim.tgz", sparse_blocks)],
    ids=["no byte", "sparse blocks"],
)
def test_what_takes_too_long_to_open_is_refused(
    tmp_path: Path, name: str, content: Callable[[], bytes]
) -> None:
    found = told(tmp_path / "all.zip", Bounds(archive_s=0.2), (name, content()), ("ada.zip", OWN))
    assert found == {name: f"takes longer than 0.2 s to open{HELP}", GOOD: ""}


@pytest.mark.parametrize(
    ("name", "content"),
    [("kim.tgz", sparse_map), ("kim.tgz", large_header), ("kim.zip", long_list)],
    ids=["sparse map", "header", "list"],
)
@pytest.mark.skipif(os.uname().sysname != "Linux", reason="macOS keeps no limit of memory")
def test_what_takes_too_much_memory_to_open_is_refused(
    tmp_path: Path, opener: Opener, name: str, content: Callable[[], bytes]
) -> None:
    entries = (name, content()), ("ada.zip", OWN)
    found = told(tmp_path / "all.zip", Bounds(archive_s=60.0), *entries)
    assert found == {name: f"takes more than 100 MB of memory to open{HELP}", GOOD: ""}


def test_of_who_has_spent_their_time_nothing_more_is_unpacked(
    tmp_path: Path, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def count(data: bytes, asked: Question) -> own_archives.Opened:
        opened.append((len(data), asked.seconds))
        return Opener.open(opener, data, asked)

    monkeypatch.setattr(opener, "open", count)
    slow = without_a_byte()
    kims = [(f"kim/{n}.zip", one) for n, one in enumerate((slow, OWN, slow, slow, OWN))]
    bounds = Bounds(archive_s=0.2, own_s=0.3)
    found = told(tmp_path / "all.zip", bounds, *kims, ("ada/ada.zip", OWN))
    together = f"takes, with its owner's other archives, longer than 0.3 s to open{HELP}"
    assert found == {
        "kim/0.zip": f"takes longer than 0.2 s to open{HELP}",
        "kim/1.zip/good.ipynb": "",
        "kim/2.zip": together,
        "kim/3.zip": together,
        "kim/4.zip": together,
        f"ada/{GOOD}": "",
    }
    assert [size for size, _ in opened] == [len(slow), len(OWN), len(slow), len(OWN)]
    assert opened[2][1] < 0.11


def test_what_came_before_a_process_was_ended_counts(tmp_path: Path) -> None:
    slow = sparse_blocks()
    with tarfile.open(fileobj=(made := io.BytesIO()), mode="w") as tar:
        info = tarfile.TarInfo("first.ipynb")
        info.size = 2
        tar.addfile(info, io.BytesIO(b"{}"))
        end = tar.offset
    content = made.getvalue()[:end] + gzip.decompress(slow)
    found = told(tmp_path / "all.zip", Bounds(archive_s=0.2), ("kim.tar", content))
    assert list(found) == ["kim.tar/first.ipynb", "kim.tar"]


def test_one_process_opens_all_until_an_archive_ends_it(opener: Opener) -> None:
    def number() -> int | None:
        assert list(opener.open(OWN, EVERYTHING).files) == [("good.ipynb", "", b"{}")]
        return opener._process and opener._process._server._process.pid

    first = number()
    assert first == number()
    assert first is not None
    os.kill(first, signal.SIGSEGV)
    crashed = opener.open(OWN, EVERYTHING)
    assert crashed.has_ended
    assert crashed.reason.startswith("cannot be opened, what reads it ended with -11")
    assert first != number()


def test_of_what_tells_nothing_no_byte_is_unpacked(opener: Opener) -> None:
    data = zipped(("data.csv", bytes(900)), ("x/good.ipynb", b"{}"), ("in.zip", bytes(900)))
    opened = opener.open(data, Question(False, 10, 100, 100, 200, 10.0))
    assert list(opened.files) == [
        ("data.csv", "is not a notebook (.ipynb)", b""),
        ("x/good.ipynb", "", b"{}"),
        ("in.zip", "is an archive inside an archive inside an archive; not opened", b""),
    ]
    assert (opened.reason, opened.files_left, opened.nbytes_left) == ("", 7, 98)


def line(*parts: object) -> bytes:
    return json.dumps(parts).encode() + b"\n"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"no JSON\n",
        b"[" * 10_000,
        line("a.ipynb", "", 5) + b"1234",
        line("a.ipynb", "", -1) + b"1234",
        line("a.ipynb", "", True) + b"1",
        line("a.ipynb", "", 10**6) + bytes(10**6),
        line("a" * 40_000, "", 1) + b"1",
        line("a.ipynb", 0, 1) + b"1",
        line("a.ipynb", ""),
        line(),
    ],
)
def test_what_comes_from_the_process_is_read_strictly(tmp_path: Path, said: bytes) -> None:
    (tmp_path / FILES).write_bytes(line("first.ipynb", "", 2) + b"{}" + said)
    found = list(own_archives._files(tmp_path / FILES, EVERYTHING))
    assert found == [("first.ipynb", "", b"{}")]


def test_no_more_files_come_from_the_process_than_were_asked_for(tmp_path: Path) -> None:
    (tmp_path / FILES).write_bytes(line("a.ipynb", "", 0) * 20)
    assert len(list(own_archives._files(tmp_path / FILES, EVERYTHING))) == EVERYTHING.files


ANSWER = {"seconds": 1.0, "reason": "", "files_left": 1, "nbytes_left": 1}


@pytest.mark.parametrize(
    "wrong",
    [{}, ANSWER | {"seconds": "1"}, ANSWER | {"files_left": None}, ANSWER | {"has_ended": True}],
)
def test_an_answer_of_another_form_is_none(wrong: dict[str, object]) -> None:
    with pytest.raises(EOFError):
        own_archives._checked(wrong)


def test_a_time_that_is_no_time_takes_nothing() -> None:
    assert own_archives._checked(ANSWER | {"seconds": -1.0})["seconds"] == 0
    assert own_archives._checked(ANSWER | {"seconds": float("nan")})["seconds"] == 0


def test_where_the_disk_refuses_only_the_archive_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(archive.OPENER, "open", full)
    found = told(tmp_path / "all.zip", Bounds(), ("kim.zip", OWN), ("good.ipynb", b"{}"))
    assert found == {"kim.zip": "cannot be opened: No space left on device", "good.ipynb": ""}


def test_nothing_is_left_of_it(tmp_path: Path, opener: Opener) -> None:
    opener.open(OWN, EVERYTHING)
    folder = Path(opener._folder.name) if opener._folder else tmp_path
    assert folder != tmp_path
    opener.close()
    assert not folder.exists()
