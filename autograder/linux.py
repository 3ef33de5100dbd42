"""The few Linux calls that Python 3.11 does not offer, through ctypes.

Every call raises OSError with the kernel's reason; nothing here decides anything.  Elsewhere the
module can be imported, as what asks whether there is a sandbox does, and has nothing to call.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
from contextlib import suppress

NEW_NS, NEW_IPC = 0x00020000, 0x08000000
NEW_USER, NEW_PID, NEW_NET = 0x10000000, 0x20000000, 0x40000000

_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_DETACH = 2
_DUMPABLE, _NO_NEW_PRIVS, _PARENT_DEATH, _CAP_DROP, _AMBIENT = 4, 38, 1, 24, 47
_AMBIENT_CLEAR = 4
_SUBREAPER, _SET_NAME = 36, 15
_SECCOMP, _FILTER_MODE = 22, 2
_LAST_CAPABILITY = 40
_CAPABILITY_VERSION_3 = 0x20080522
_HUGE_NBYTES = 2**21
_MADV_HUGEPAGE, _MADV_COLLAPSE = 14, 25
_SIGKILL = 9
# Sizes of holes in the heap, the largest first: whatever a smaller one leaves of one is smaller.
_HOLES = (*(1032 * 6**n // 5**n for n in range(26, 0, -1)), *range(1032, 23, -16))
_SET_FLAGS, _UP, _RUNNING = 0x8914, 0x1, 0x40  # SIOCSIFFLAGS and two of its flags

_libc = ctypes.CDLL(None, use_errno=True)
if sys.platform == "linux":  # ctypes looks each of them up here, and other systems have no prctl
    _libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
    _libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    _libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Give this process namespaces of its own."""
    _checked(_libc.unshare(flags), f"unshare({flags:#x})")


def bring_up(interface: str) -> None:
    """Switch an interface of this network namespace on."""
    from fcntl import ioctl  # Windows has none

    request = struct.pack("16sH22x", interface.encode(), _UP | _RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        ioctl(any_socket, _SET_FLAGS, request)


def enter_namespace(fd: int) -> None:
    """Join the namespace that `fd` (of /proc/PID/ns) stands for."""
    _checked(_libc.setns(fd, 0), "setns")


def mount_proc() -> None:
    """Mount the process list of this pid namespace on /proc."""
    _checked(
        _libc.mount(b"proc", b"/proc", b"proc", _NOSUID | _NODEV | _NOEXEC, None), "mount proc"
    )


def mount_tmpfs(path: str, *, nbytes: int, files: int) -> None:
    """Mount an empty file system in memory, with a bounded size and number of files."""
    options = f"size={nbytes},nr_inodes={files},mode=755".encode()
    flags = _NOSUID | _NODEV
    _checked(_libc.mount(b"tmpfs", os.fsencode(path), b"tmpfs", flags, options), f"mount {path}")


def bind(source: str, target: str) -> None:
    """Show the directory `source`, and what is mounted below it, at `target` too."""
    result = _libc.mount(os.fsencode(source), os.fsencode(target), None, _BIND | _REC, None)
    _checked(result, f"bind {source} on {target}")


def unmount(target: str) -> None:
    """Take away what is mounted on `target`."""
    _checked(_libc.umount2(os.fsencode(target), _DETACH), f"unmount {target}")


def make_mounts_private() -> None:
    """Keep the mounts of this namespace from spreading to any other."""
    _checked(_libc.mount(b"none", b"/", None, _REC | _PRIVATE, None), "make / private")


def set_dumpable(on: bool) -> None:
    """Decide whether processes of the same user may look into this one."""
    _checked(_libc.prctl(_DUMPABLE, int(on), 0, 0, 0), "PR_SET_DUMPABLE")


def die_with_parent(parent: int, how: int = _SIGKILL) -> None:
    """Have the kernel send signal `how` to this process when the thread that started it ends.

    `parent` is the process of that thread.  Where it has ended before the kernel was told, this
    process ends here: nobody else would end it.
    """
    _checked(_libc.prctl(_PARENT_DEATH, how, 0, 0, 0), "PR_SET_PDEATHSIG")
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of whatever processes below this one lose theirs."""
    _checked(_libc.prctl(_SUBREAPER, 1, 0, 0, 0), "PR_SET_CHILD_SUBREAPER")


def call_process(name: str) -> None:
    """Have `top` and `ps -o comm` call this process `name`, of which they show 15 bytes."""
    text = ctypes.create_string_buffer(name.encode())
    _checked(_libc.prctl(_SET_NAME, ctypes.addressof(text), 0, 0, 0), "PR_SET_NAME")


class _CapabilityHead(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def drop_privileges() -> None:
    """Give up every capability for good; a program started later gains none either."""
    _checked(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")
    for number in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_CAP_DROP, number, 0, 0, 0)  # fails where the process holds none: as wanted
    _libc.prctl(_AMBIENT, _AMBIENT_CLEAR, 0, 0, 0)
    nothing = (ctypes.c_uint32 * 6)()
    head = _CapabilityHead(_CAPABILITY_VERSION_3, 0)
    _checked(_libc.capset(ctypes.byref(head), ctypes.byref(nothing)), "capset")


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]


def set_seccomp(program: bytes) -> bool:
    """Install a filter of system calls, eight bytes a step; False where the kernel has none."""
    found = _Filter(len(program) // 8, program)
    return _libc.prctl(_SECCOMP, _FILTER_MODE, ctypes.addressof(found), 0, 0) == 0


def map_own_user(uid: int, gid: int) -> None:
    """After `unshare(NEW_USER)`: keep the same user and group inside."""
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")


def forbid_user_namespaces() -> None:
    """Keep every later process of this user namespace from making another one."""
    _write("/proc/sys/user/max_user_namespaces", "0")


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


class _MallocInfo(ctypes.Structure):
    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in _names.split()]


def retire_free_memory() -> int:
    """Keep what is free between this process's allocations from being used again; its bytes.

    Imports leave thousands of holes in glibc's heap. A fork that fills one gets a copy of the whole
    page, and most of its pages so: a fifth of the page faults of a snapshot (measured: 40,400
    become 32,000 over ten test cells). Afterwards forks allocate from fresh pages, in a row.
    Elsewhere than with glibc 2.33 or newer, nothing changes.
    """
    if not hasattr(_libc, "mallinfo2"):
        return 0
    _libc.mallinfo2.restype, _libc.malloc.restype = _MallocInfo, ctypes.c_void_p
    _libc.sbrk.restype, _libc.sbrk.argtypes = ctypes.c_void_p, [ctypes.c_ssize_t]
    _libc.malloc.argtypes = [ctypes.c_size_t]
    info = _libc.mallinfo2()
    top = _libc.sbrk(0) - info.keepcost
    taken = 0
    for size in _HOLES:
        # What comes from below the end of the heap was a hole.
        while taken < info.arena and (_libc.malloc(size) or top) < top:
            taken += size
    return taken


def use_huge_pages() -> int:
    """Gather this process's memory in 2 MiB pages; the number of bytes that were asked for.

    A fork copies one entry a page, so this makes forking a process with torch in it four times
    cheaper (measured: 10 ms to 2.5 ms, fork and exit).  Where the kernel cannot (before 6.1),
    nothing changes.
    """
    asked = 0
    for start, stop in _private_memory():
        start = -(-start // _HUGE_NBYTES) * _HUGE_NBYTES
        length = stop // _HUGE_NBYTES * _HUGE_NBYTES - start
        if length > 0:
            _libc.madvise(start, length, _MADV_HUGEPAGE)
            _libc.madvise(start, length, _MADV_COLLAPSE)
            asked += length
    return asked


def _private_memory() -> list[tuple[int, int]]:
    found = []
    with suppress(OSError), open("/proc/self/maps") as maps:
        for line in maps:
            fields = line.split()
            if fields[1] == "rw-p" and (len(fields) == 5 or fields[5] == "[heap]"):
                start, _, stop = fields[0].partition("-")
                found.append((int(start, 16), int(stop, 16)))
    return found
