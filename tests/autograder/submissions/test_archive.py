"""An archive is read file by file; what could do harm is refused with its reason, nothing else."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.submissions.archive import (
    Accounts,
    ArchiveError,
    ArchiveFile,
    Bounds,
    RefusedEntry,
    read_archive,
)

GOOD = "good.ipynb"


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    """An archive of these entries, packed as an LMS does it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def entry(name: str, *, mode: int = 0o100644, extra: bytes = b"") -> zipfile.ZipInfo:
    """An entry with a Unix mode and extra fields."""
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.extra = extra
    return info


def read(tmp_path: Path, content: bytes, bounds: Bounds | None = None) -> dict[str, str]:
    """Each file of the archive with the reason why it is refused, or the empty word."""
    path = tmp_path / "all.zip"
    path.write_bytes(content)
    found = read_archive(path, bounds)
    return {"/".join(o.path): o.reason if isinstance(o, RefusedEntry) else "" for o in found}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("../../etc/x.ipynb", "leads out of the directory"),
        ("a/../../x.ipynb", "leads out of the directory"),
        ("..\\..\\x.ipynb", "leads out of the directory"),
        ("/etc/x.ipynb", "an absolute path"),
        ("\\\\server\\x.ipynb", "an absolute path"),
        ("C:\\x.ipynb", "a drive letter"),
        ("c:x.ipynb", "a drive letter"),
        ("a\x1b[31m.ipynb", "a control character"),
        ("x" * 1100 + ".ipynb", "longer than 1,024 characters"),
        ("a/" * 101 + "x.ipynb", "in more than 100 folders"),
    ],
)
def test_a_name_that_could_leave_the_directory_is_refused(
    tmp_path: Path, bad: str, reason: str
) -> None:
    found = read(tmp_path, zipped((bad, b"{}"), (GOOD, b"{}")))
    assert found.pop(GOOD) == ""
    assert [reason in one for one in found.values()] == [True]


def test_a_name_cut_by_a_null_byte_is_refused(tmp_path: Path) -> None:
    content = zipped(("aa.ipynb", b"{}")).replace(b"aa.ipynb", b"a\0.ipynb")
    assert list(read(tmp_path, content).values()) == ["its name holds a control character"]


LINKED = struct.pack("<HH", 0x000D, 14) + b"\0" * 12 + b"/e"


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (entry("a.ipynb", mode=0o120777), "is a symbolic link, not a file"),
        (entry("a.ipynb", mode=0o010644), "is a special file (device, pipe or socket)"),
        (entry("a.ipynb", mode=0o020644), "is a special file (device, pipe or socket)"),
        (entry("a.ipynb", extra=LINKED), "is a link to another file"),
    ],
)
def test_only_plain_files_are_read(tmp_path: Path, info: zipfile.ZipInfo, reason: str) -> None:
    found = read(tmp_path, zipped((info, b"/etc/passwd"), (GOOD, b"{}")))
    assert found == {"a.ipynb": reason, GOOD: ""}


def test_a_bomb_is_known_by_its_ratio(tmp_path: Path) -> None:
    found = read(tmp_path, zipped(("a.ipynb", bytes(8 * 2**20)), (GOOD, b"{}")))
    assert found[GOOD] == ""
    assert "times its size, as an archive made to fill the disk does" in found["a.ipynb"]


def test_an_honest_notebook_that_packs_well_is_no_bomb(tmp_path: Path) -> None:
    assert read(tmp_path, zipped((GOOD, bytes(2 * 2**20)))) == {GOOD: ""}


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    found = read(
        tmp_path, zipped(("a.ipynb", b"x" * 2000), (GOOD, b"{}")), Bounds(file_nbytes=1000)
    )
    assert "more than the" in found["a.ipynb"]
    assert found[GOOD] == ""


def test_an_announced_size_is_not_believed(tmp_path: Path) -> None:
    content = bytearray(zipped(("a.ipynb", b"x" * 2000), (GOOD, b"{}")))
    for header, at in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        struct.pack_into("<L", content, content.find(header) + at, 10)
    found = read(tmp_path, bytes(content))
    assert found["a.ipynb"].startswith("is damaged: ")
    assert found[GOOD] == ""


def by_folder(accounts: Accounts) -> Callable[[tuple[str, ...]], str | None]:
    """What lies in each folder is one owner's; nobody knows whose the other files are."""
    return lambda path: path[0] if len(path) > 1 else None


def told(tmp_path: Path, content: bytes, bounds: Bounds) -> dict[str, str]:
    (tmp_path / "all.zip").write_bytes(content)
    found = read_archive(tmp_path / "all.zip", bounds, by_folder)
    return {"/".join(o.path): o.reason if isinstance(o, RefusedEntry) else "" for o in found}


NAMES = ("ada/x.ipynb", "kim/0.ipynb", "kim/1.ipynb", "kim/2.ipynb", "kim/3.ipynb", "zoe/x.ipynb")


def test_one_owners_files_of_more_bytes_than_are_read_cost_nobody_else(tmp_path: Path) -> None:
    entries = [(name, bytes([at]) * 400) for at, name in enumerate(NAMES)]
    assert told(tmp_path, zipped(*entries), Bounds(own_nbytes=1000)) == {
        **dict.fromkeys(NAMES[:3], ""),
        "kim/2.ipynb": "what its owner has handed in comes to more than 1,000 bytes; "
        "the rest was not read",
        "zoe/x.ipynb": "",
    }


def test_more_files_of_one_owner_than_are_read_cost_nobody_else(tmp_path: Path) -> None:
    junk = [(f"kim/{number}.csv", b"") for number in range(9)]
    entries = [*junk, *((name, b"{}") for name in NAMES)]
    assert (
        told(tmp_path, zipped(*entries), Bounds(own_files=2))
        == {
            **{
                name: "is not a notebook (.ipynb)" for name, _ in junk
            },  # and takes nothing from hers
            **dict.fromkeys(NAMES[:3], ""),
            "kim/2.ipynb": "what its owner has handed in holds more than 2 files; "
            "the rest was not read",
            "zoe/x.ipynb": "",
        }
    )


def test_all_together_whom_nobody_knows_have_one_budget(tmp_path: Path) -> None:
    entries = [(name, b"{}") for name in ("0.ipynb", "1.ipynb", "ada/x.ipynb", "2.ipynb")]
    assert told(tmp_path, zipped(*entries), Bounds(files=1)) == {
        "0.ipynb": "",
        "1.ipynb": "what is here of people whom nobody knows holds more than 1 files; "
        "the rest was not read",
        "ada/x.ipynb": "",
    }


def test_a_learners_own_zip_is_opened_once(tmp_path: Path) -> None:
    deep = zipped(("deep.ipynb", b"{}"))
    inner = zipped(("x/mine.ipynb", b"{}"), ("more.zip", deep))
    found = read(tmp_path, zipped(("ada.zip", inner), (GOOD, b"{}")))
    assert found == {
        "ada.zip/x/mine.ipynb": "",
        "ada.zip/more.zip": "is an archive inside an archive inside an archive; not opened",
        GOOD: "",
    }


def tarred(*entries: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in entries:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@pytest.mark.parametrize(("name", "pack"), [("kim.zip", zipped), ("kim.tgz", tarred)])
def test_an_archive_inside_has_bounds_of_its_own_and_takes_nothing_from_the_others(
    tmp_path: Path, name: str, pack: Callable[..., bytes]
) -> None:
    inner = pack(*((f"{n}.ipynb", b"{}") for n in range(50)))
    content = zipped(("ada.zip", zipped((GOOD, b"{}"))), (name, inner), (GOOD, b"{}"))
    found = read(tmp_path, content, Bounds(own_files=2))
    assert found == {
        f"ada.zip/{GOOD}": "",
        f"{name}/0.ipynb": "",
        f"{name}/1.ipynb": "",
        name: "holds more than 2 files; the rest was not read",
        GOOD: "",
    }


def test_an_archive_inside_that_unpacks_to_too_much_is_told_once(tmp_path: Path) -> None:
    inner = zipped(*((f"{n}.ipynb", bytes([n]) * 40_000) for n in range(50)))
    content = zipped(("kim.zip", inner), (GOOD, b"x" * 900))
    assert read(tmp_path, content, Bounds(own_nbytes=100_000)) == {
        "kim.zip/0.ipynb": "",
        "kim.zip/1.ipynb": "",
        "kim.zip": "unpacks to more than 100,000 bytes; the rest was not read",
        GOOD: "",
    }


LARGE = bytes(3 * 2**20)


@pytest.mark.parametrize(("ending", "pack"), [("zip", zipped), ("tgz", tarred)])
def test_the_archives_of_one_owner_take_from_one_budget(
    tmp_path: Path, ending: str, pack: Callable[..., bytes]
) -> None:
    own = pack(("a.ipynb", LARGE))
    content = zipped(*((f"{name}.{ending}", own) for name in ("kim/1", "kim/2", "ada/1", "kim/3")))
    (tmp_path / "all.zip").write_bytes(content)
    found = list(read_archive(tmp_path / "all.zip", Bounds(own_nbytes=4 * 2**20), by_folder))
    spent = "unpacks, with its owner's other archives, to more than 4 MB"
    assert {"/".join(one.path): getattr(one, "reason", "") for one in found} == {
        f"kim/1.{ending}/a.ipynb": "",
        f"kim/2.{ending}": f"{spent}; the rest was not read",
        f"ada/1.{ending}/a.ipynb": "",
        f"kim/3.{ending}": spent,
    }


def test_the_files_of_one_owners_archives_are_counted_together(tmp_path: Path) -> None:
    own = zipped(("a.ipynb", b"{}"), ("b.ipynb", b"{}"))
    content = zipped(("kim/1.zip", own), ("ada/2.zip", own), ("kim/3.zip", own), (GOOD, b"{}"))
    (tmp_path / "all.zip").write_bytes(content)
    found = list(read_archive(tmp_path / "all.zip", Bounds(own_files=3), by_folder))
    assert ["/".join(one.path) for one in found] == [
        *("kim/1.zip/a.ipynb", "kim/1.zip/b.ipynb", "ada/2.zip/a.ipynb", "ada/2.zip/b.ipynb"),
        *("kim/3.zip/a.ipynb", "kim/3.zip", GOOD),
    ]
    assert [one.reason for one in found if isinstance(one, RefusedEntry)] == [
        "holds, with its owner's other archives, more than 3 files; the rest was not read"
    ]


def test_what_is_read_of_an_archive_inside_by_itself_is_as_much_as_of_a_folder() -> None:
    own = Bounds().of_own()
    assert (own.files, own.total_nbytes) == (10_000, 512 * 2**20)
    assert (own.archive_s, own.total_s, Bounds().total_s) == (10, 30, 60)


def test_each_file_says_in_which_archive_it_lies(tmp_path: Path) -> None:
    inner = zipped(("x/mine.ipynb", b"{}"), ("more.zip", b""))
    (tmp_path / "all.zip").write_bytes(zipped(("in/ada.zip", inner), (GOOD, b"{}")))
    found = read_archive(tmp_path / "all.zip")
    assert [one.above for one in found] == [("in", "ada.zip"), ("in", "ada.zip"), ()]


@pytest.mark.parametrize("name", ["__MACOSX/x", "x.ipynb"])
def test_a_tar_with_a_size_below_0_ends_there(tmp_path: Path, name: str) -> None:
    info = tarfile.TarInfo(name)
    info.size = -512
    header = info.tobuf(tarfile.GNU_FORMAT)
    found = read(tmp_path, zipped(("ada.tar", header * 2 + bytes(1024)), (GOOD, b"{}")))
    assert list(found) == ["ada.tar", GOOD]
    assert found["ada.tar"].startswith("cannot be read as a tar archive")


def test_of_a_name_of_too_many_folders_the_outermost_and_innermost_are_kept(tmp_path: Path) -> None:
    just = "".join(f"{n}/" for n in range(100)) + "x.ipynb"
    (tmp_path / "all.zip").write_bytes(zipped((f"0/{just}", b"{}"), (just, b"{}")))
    refused, good = read_archive(tmp_path / "all.zip")
    assert len(refused.path) == 101
    assert (refused.path[:3], refused.path[-2:]) == (("0", "0", "1"), ("99", "x.ipynb"))
    assert isinstance(good, ArchiveFile)
    assert "/".join(good.path) == just


def test_of_a_name_that_is_too_long_beginning_and_end_are_kept(tmp_path: Path) -> None:
    long = "a/" * 20_000 + "x.ipynb"
    (tmp_path / "all.zip").write_bytes(zipped((long, b"{}"), (GOOD, b"{}")))
    refused, good = read_archive(tmp_path / "all.zip")
    assert len("/".join(refused.path)) < 1_100
    assert refused.reason == "its name is longer than 1,024 characters"  # type: ignore[union-attr]
    assert "/".join(good.path) == GOOD


def test_a_file_that_only_pretends_to_be_a_zip_is_refused(tmp_path: Path) -> None:
    found = read(tmp_path, zipped(("ada.zip", b"not a zip"), (GOOD, b"{}")))
    assert found == {"ada.zip": "cannot be read as a zip archive: File is not a zip file", GOOD: ""}


def far_away(name: str = "a.ipynb") -> bytes:
    """A zip whose list says of its only file that it begins at byte 2**63."""
    content = zipped((name, b"{}"))
    at, end = content.find(b"PK\1\2"), content.rfind(b"PK\5\6")
    central, tail = bytearray(content[at:end]), bytearray(content[end:])
    extra = struct.pack("<HHQ", 1, 8, 2**63)
    struct.pack_into("<H", central, 30, len(extra))
    struct.pack_into("<L", central, 42, 2**32 - 1)
    struct.pack_into("<L", tail, 12, len(central) + len(extra))
    return content[:at] + bytes(central) + extra + bytes(tail)


def header(name: str, size: bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    """The first block of a file in a tar, whatever size it announces."""
    block = bytearray(tarfile.TarInfo(name).tobuf(tarfile.GNU_FORMAT))
    block[124:136], block[156:157], block[148:156] = size, kind, b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def endless() -> bytes:
    """A tar whose only file has 2**70 bytes."""
    return header("a.ipynb", b"\x80" + (2**70).to_bytes(11, "big")) + bytes(4096)


def chain() -> bytes:
    """A tar in which a long name has a long name, and so on."""
    long = header("././@LongLink", b"%011o\0" % 2, tarfile.GNUTYPE_LONGNAME)
    return (long + b"a".ljust(512, b"\0")) * 3000 + header("a", b"%011o\0" % 0) + bytes(1024)


def digits() -> bytes:
    """A tar whose only file has a size of 400 digits."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("a.ipynb")
        info.pax_headers = {"size": "9" * 400}
        archive.addfile(info)
    return buffer.getvalue()


def before_a_file(*headers: tuple[bytes, bytes]) -> bytes:
    """A tar with headers of these kinds that tell of its only file."""
    parts = [
        header("x", b"%011o\0" % len(data), kind) + data.ljust(-len(data) // 512 * -512, b"\0")
        for kind, data in headers
    ]
    return b"".join(parts) + header("a.ipynb", b"%011o\0" % 0) + bytes(1024)


PAX, EACH, NAME = tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME


@pytest.mark.parametrize(
    "headers",
    [
        [(PAX, b"1" * 20_000)],
        [(NAME, b"a" * 20_000)],
        [(EACH, b"3000 a=".ljust(2_999, b"a") + b"\n")] * 2,
        [(PAX, b"16000 a=".ljust(15_999, b"a") + b"\n")] * 100,
    ],
)
def test_the_headers_of_a_whole_tar_are_read_within_bounds(
    tmp_path: Path, headers: list[tuple[bytes, bytes]]
) -> None:
    (tmp_path / "all.tar").write_bytes(before_a_file(*headers))
    with pytest.raises(ArchiveError, match="its headers are too long"):
        list(read_archive(tmp_path / "all.tar", Bounds(total_nbytes=512 * 2**20)))


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_thousands_of_long_paths_of_one_learner_do_not_end_a_class(
    tmp_path: Path, form: int
) -> None:
    folders = "/".join(["d" * 250] * 15)
    with tarfile.open(tmp_path / "all.tar", "w", format=form) as archive:
        for name in (*(f"mal/{folders}/{n:04d}.txt" for n in range(2_500)), "ada/b.ipynb"):
            archive.addfile(tarfile.TarInfo(name))
    found = list(read_archive(tmp_path / "all.tar", Bounds()))
    assert [one.path for one in found if isinstance(one, ArchiveFile)] == [("ada", "b.ipynb")]


@pytest.mark.parametrize("name", ["all.tar", "all.zip"])
def test_honest_headers_of_a_tar_are_read(tmp_path: Path, name: str) -> None:
    tar = before_a_file((PAX, b"11 a=12345\n"), (EACH, b"11 b=12345\n"), (NAME, b"b.ipynb"))
    (tmp_path / name).write_bytes(tar if name == "all.tar" else zipped(("kim.tar", tar)))
    (found,) = read_archive(tmp_path / name)
    assert (found.path[-1], getattr(found, "reason", "")) == ("b.ipynb", "")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("kim.zip", far_away(), {"kim.zip/a.ipynb": "is damaged: "}),
        (
            "kim.tar",
            chain(),
            {"kim.tar": "cannot be read as a tar archive: it is nested too deeply"},
        ),
        ("kim.tar", digits(), {"kim.tar": "cannot be read as a tar archive: a number in it is"}),
        (
            "kim.tar",
            endless(),
            {
                "kim.tar/a.ipynb": "has 1125899906842624 MB, more than the 64 MB that are read",
                "kim.tar": "cannot be read as a tar archive: ",
            },
        ),
    ],
    ids=["offset", "chain", "digits", "size"],
)
def test_an_archive_that_breaks_what_reads_it_costs_nobody_else(
    tmp_path: Path, name: str, content: bytes, told: dict[str, str]
) -> None:
    found = read(tmp_path, zipped((name, content), (GOOD, b"{}")))
    assert found.pop(GOOD) == ""
    assert found.keys() == told.keys()
    assert [one for one in told if not found[one].startswith(told[one])] == []


@pytest.mark.parametrize("content", [chain(), endless(), digits()])
def test_an_archive_as_a_whole_that_breaks_what_reads_it_is_no_archive(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "all.tar").write_bytes(content)
    with pytest.raises(ArchiveError, match=r"(?s)all.tar: cannot be read as a tar.*Download it"):
        list(read_archive(tmp_path / "all.tar"))


def broken_checksum(content: bytes) -> bytes:
    wrong = struct.pack("<L", zlib.crc32(b"[1]"))
    return content.replace(struct.pack("<L", zlib.crc32(b"[0]")), wrong)


def with_flag(content: bytes) -> bytes:
    changed = bytearray(content)
    changed[content.find(b"PK\3\4") + 6] |= 1
    changed[content.find(b"PK\1\2") + 8] |= 1
    return bytes(changed)


def other_method(content: bytes) -> bytes:
    changed = bytearray(content)
    changed[content.find(b"PK\1\2") + 10] = 93
    return bytes(changed)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (broken_checksum, "is damaged: Bad CRC-32"),
        (with_flag, "is protected by a password"),
        (other_method, "is packed by a method that neither Moodle nor Canvas uses"),
    ],
)
def test_a_file_that_cannot_be_unpacked_costs_only_itself(
    tmp_path: Path, spoil: Callable[[bytes], bytes], reason: str
) -> None:
    found = read(tmp_path, spoil(zipped(("a.ipynb", b"[0]"), (GOOD, b"{}"))))
    assert found["a.ipynb"].startswith(reason)
    assert found[GOOD] == ""


def test_a_name_that_occurs_twice_is_read_once(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = zipped(("a.ipynb", b"1"), ("a.ipynb", b"2"))
    (tmp_path / "all.zip").write_bytes(content)
    first, second = read_archive(tmp_path / "all.zip")
    assert first == ArchiveFile(("a.ipynb",), b"1")
    assert isinstance(second, RefusedEntry)
    assert "occurs twice" in second.reason


def test_what_systems_leave_behind_is_passed_over(tmp_path: Path) -> None:
    names = ["__MACOSX/a.ipynb", "x/.DS_Store", "x/._a.ipynb", "x/.ipynb_checkpoints/a.ipynb", "x/"]
    assert read(tmp_path, zipped(*((name, b"") for name in names))) == {}


def test_a_utf8_name_without_its_mark_is_read_as_utf8(tmp_path: Path) -> None:
    content = zipped(("Jxxs_1.ipynb", b"{}")).replace(b"Jxxs", "Jós".encode())
    assert read(tmp_path, content) == {"Jós_1.ipynb": ""}


@pytest.mark.parametrize("content", [b"", b"PK", b"<html>log in first</html>"])
def test_what_is_no_archive_says_so(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ArchiveError, match=r"(?s)all.zip: cannot be read as a zip.*Download it"):
        read(tmp_path, content)


def test_an_archive_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="No such file or directory"):
        list(read_archive(tmp_path / "none.zip"))
