"""Calls to the kernel that no notebook needs, refused to learners' code.

They hold memory that no limit counts (memfd, System V segments), reach into other processes, or
have been ways out of sandboxes.  The namespaces and limits hold without this filter; it is a
second line of defence.
"""

from __future__ import annotations

import errno
import platform
import socket
import struct

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
}
# Of these only the domain AF_UNIX: processes of a submission may talk to each other, no more.
SOCKETS: dict[str, tuple[int, int]] = {"socket": (41, 198), "socketpair": (53, 199)}
_X32_BIT = 0x40000000  # the second set of numbers that x86-64 kernels may offer
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_ARCHITECTURE_AT, _NUMBER_AT, _FIRST_ARGUMENT_AT = 4, 0, 16


def refuse_dangerous_calls() -> bool:
    """Install the filter for this process and all it starts; False where it is not known how."""
    machines = {"x86_64": (_X86_64, 0), "aarch64": (_AARCH64, 1)}
    if platform.machine() not in machines:
        return False
    architecture, column = machines[platform.machine()]
    numbers = sorted({both[column] for both in REFUSED.values()})
    sockets = sorted(both[column] for both in SOCKETS.values())
    return linux.set_seccomp(_program(architecture, numbers, sockets))


def _program(architecture: int, numbers: list[int], sockets: list[int]) -> bytes:
    """The filter in the kernel's small language: refuse these numbers, allow the others.

    A jump counts the instructions that it leaves out. After the tests, one for each number, stand
    the instruction that allows, the one that refuses, and the look at a socket's domain.
    """
    tests = len(numbers) + len(sockets)
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
    program += [
        _step(_RETURN, 0, 0, _ALLOW),
        _step(_RETURN, 0, 0, _ERRNO | errno.EPERM),
        _step(_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        _step(_EQUAL, 1, 0, socket.AF_UNIX),
        _step(_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT),
        _step(_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(program)


def _step(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
