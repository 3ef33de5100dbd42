"""Calls to the kernel that no notebook needs, refused to learners' code.

They hold memory that no limit counts (memfd, System V segments, shared memory without a file),
reach into other processes, show what others have read, or have been ways out of sandboxes.  The
namespaces and limits hold without this filter; it is a second line of defence.
"""

from __future__ import annotations

import errno
import mmap
import platform
import socket
import struct
from collections.abc import Sequence

from autograder import linux

_X86_64, _AARCH64 = 0xC000003E, 0xC00000B7  # AUDIT_ARCH_*
# name: number on x86-64, number on arm64
REFUSED: dict[str, tuple[int, int]] = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
    "syslog": (103, 116),
    # Which pages of a file are in memory: what one submission reads would tell the next one.
    "mincore": (27, 232),
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "preadv2": (327, 286),
    "cachestat": (451, 451),
    # Which files that all submissions share are opened now: that one tells those beside it.
    "inotify_init": (253, 26),  # arm64 has the second alone
    "inotify_init1": (294, 26),
}
# Of these only the domain AF_UNIX: processes of a submission may talk to each other, no more.
SOCKETS: dict[str, tuple[int, int]] = {"socket": (41, 198), "socketpair": (53, 199)}
# Not shared memory without a file: its pages stay when no process has them mapped any more.
MAPPING = (9, 222)  # mmap
CONTROL = (72, 25)  # fcntl
# What it may be asked for: duplicates, flags, locks, owners of signals, sizes of pipes, seals. Not
# for leases, which keep whoever opens the file waiting, nor for watching a folder, nor for hints
# that stay with a file which all submissions see.
_CONTROLS = (*range(10), *range(36, 39), *range(1030, 1035))
_SHARED_ANONYMOUS = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
_X32_BIT = 0x40000000  # the second set of numbers that x86-64 kernels may offer
_LOAD, _EQUAL, _AT_LEAST, _RETURN, _AND = 0x20, 0x15, 0x35, 0x06, 0x54
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_ARCHITECTURE_AT, _NUMBER_AT = 4, 0
_FIRST_ARGUMENT_AT, _SECOND_ARGUMENT_AT = 16, 24
_THIRD_ARGUMENT_AT, _FOURTH_ARGUMENT_AT = 32, 40
_AF_NETLINK, _NETLINK_ROUTE = 16, 0


def refuse_dangerous_calls(*, loopback: bool = False) -> bool:
    """Install the filter for this process and all it starts; False where it is not known how.

    Args:
        loopback: The process has a network of its own, where lo is all there is: sockets of the
            internet are allowed, too, and those that ask for a list of the interfaces, as gloo
            does.
    """
    machines = {"x86_64": (_X86_64, 0), "aarch64": (_AARCH64, 1)}
    if platform.machine() not in machines:
        return False
    architecture, column = machines[platform.machine()]
    numbers = sorted({both[column] for both in REFUSED.values()})
    sockets = sorted(both[column] for both in SOCKETS.values())
    look = _look_with_internet() if loopback else _look_for([socket.AF_UNIX])
    looked_at = MAPPING[column], CONTROL[column]
    return linux.set_seccomp(_program(architecture, numbers, sockets, looked_at, look))


def _program(
    architecture: int,
    numbers: list[int],
    sockets: list[int],
    looked_at: tuple[int, int],
    look: list[bytes],
) -> bytes:
    """The filter in the kernel's small language: refuse these numbers, allow the others.

    A jump counts the instructions that it leaves out. After the tests, one for each number, stand
    the instruction that allows, the one that refuses, and the looks at a socket's domain, at the
    flags of a mapping and at what fcntl is asked for.
    """
    mapping, control = looked_at
    tests = len(numbers) + len(sockets) + 2
    program = [
        _step(_LOAD, 0, 0, _ARCHITECTURE_AT),
        _step(_EQUAL, 1, 0, architecture),  # another architecture's numbers mean other calls
        _step(_RETURN, 0, 0, _ERRNO | errno.EPERM),
        _step(_LOAD, 0, 0, _NUMBER_AT),
        _step(_AT_LEAST, tests + 1, 0, _X32_BIT),
    ]
    for index, number in enumerate([*numbers, *sockets]):
        to_refusal = tests - index
        is_socket = index >= len(numbers)
        program.append(_step(_EQUAL, to_refusal + is_socket, 0, number))
    domains = [
        *look,
        _step(_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT),
        _step(_RETURN, 0, 0, _ALLOW),
    ]
    flags = [
        _step(_LOAD, 0, 0, _FOURTH_ARGUMENT_AT),
        _step(_AND, 0, 0, _SHARED_ANONYMOUS),
        _step(_EQUAL, 0, 1, _SHARED_ANONYMOUS),
        _step(_RETURN, 0, 0, _ERRNO | errno.EPERM),
        _step(_RETURN, 0, 0, _ALLOW),
    ]
    program += [
        _step(_EQUAL, 3 + len(domains), 0, mapping),
        _step(_EQUAL, 2 + len(domains) + len(flags), 0, control),
        _step(_RETURN, 0, 0, _ALLOW),
        _step(_RETURN, 0, 0, _ERRNO | errno.EPERM),
        *domains,
        *flags,
        _step(_LOAD, 0, 0, _SECOND_ARGUMENT_AT),
        *(_step(_EQUAL, len(_CONTROLS) - n, 0, one) for n, one in enumerate(_CONTROLS)),
        _step(_RETURN, 0, 0, _ERRNO | errno.EPERM),
        _step(_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(program)


def _look_for(domains: Sequence[int], behind: int = 0) -> list[bytes]:
    """The look at a socket's domain: these are allowed, by the instruction after the next.

    `behind` instructions of the look follow, which are left out then.
    """
    beyond = len(domains) + behind
    tests = [_step(_EQUAL, beyond - i, 0, domain) for i, domain in enumerate(domains)]
    return [_step(_LOAD, 0, 0, _FIRST_ARGUMENT_AT), *tests]


def _look_with_internet() -> list[bytes]:
    """The look that allows the internet's domains, and of netlink only the list of interfaces."""
    internet = [socket.AF_UNIX, socket.AF_INET, socket.AF_INET6]
    netlink = [
        _step(_EQUAL, 0, 2, _AF_NETLINK),
        _step(_LOAD, 0, 0, _THIRD_ARGUMENT_AT),
        _step(_EQUAL, 1, 0, _NETLINK_ROUTE),
    ]
    return [*_look_for(internet, len(netlink)), *netlink]


def _step(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
