"""Which settings of the kernel forbid user namespaces, and how a machine's owner allows them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

# A setting, its value that forbids user namespaces, and how to allow them.
_SETTINGS = (
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "This machine allows no user namespaces: sudo sysctl -w user.max_user_namespaces=15000.",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "This machine allows user namespaces to root alone: "
        "sudo sysctl -w kernel.unprivileged_userns_clone=1.",
    ),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor refuses user namespaces here, as on Ubuntu 24.04: "
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or install an AppArmor "
        "profile that gives {program} the rule `userns,`.",
    ),
)
_IN_A_CONTAINER = (
    "User namespaces are refused here. In a container, whoever starts it has to allow them "
    "(docker run --privileged, or --security-opt seccomp=unconfined and more); elsewhere see the "
    "settings user.max_user_namespaces, kernel.unprivileged_userns_clone and "
    "kernel.apparmor_restrict_unprivileged_userns of sysctl."
)


def refusals() -> list[str]:
    """The settings that forbid user namespaces here, each as `(PATH is VALUE)`."""
    return [f"({path} is {value})" for path, value, _ in _SETTINGS if _holds(path, value)]


def sandbox_remedy(program: str) -> str:
    """What allows `program`, a bubblewrap that fails here, to make user namespaces."""
    remedies = [remedy for path, value, remedy in _SETTINGS if _holds(path, value)]
    return " ".join(remedies).format(program=program) or _IN_A_CONTAINER


def _holds(path: str, value: str) -> bool:
    with suppress(OSError):
        return Path(path).read_text().strip() == value
    return False
