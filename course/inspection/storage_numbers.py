"""Serial numbers of storages, and which of them lie over the same memory."""

from __future__ import annotations

from bisect import bisect, insort

import torch
from torch.multiprocessing.reductions import StorageWeakRef

__all__ = ["StorageNumbers"]

_data_ptr, _nbytes = torch.UntypedStorage.data_ptr, torch.UntypedStorage.nbytes
_NEIGHBOURS = 8  # storages over one memory are few, and begin close to each other in the list
_behind = torch.UntypedStorage._new_with_weak_ptr


class StorageNumbers:
    """Gives every storage a serial number that no later storage gets.

    A weak reference keeps the small struct of a storage (not its memory) from being freed, so
    its address cannot be taken by another storage while it is in the table.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[StorageWeakRef, int]] = {}
        self._below: dict[int, int] = {}  # number -> number of the storage whose memory it is
        self._starts: list[tuple[int, int, StorageWeakRef]] = []  # address, number; sorted
        self._next = 1
        self._outside = False  # whether any of them came from outside of PyTorch's allocator
        self._prune_at = 1024

    def count_from(self, number: int) -> None:
        """Give storages that are seen from now on numbers from this one on, or higher ones."""
        self._next = max(self._next, number)

    def number(self, storage: torch.UntypedStorage) -> int:
        """The serial number of a storage."""
        key = storage._cdata
        found = self._known.get(key)
        if found is not None:
            return found[1]
        if len(self._known) >= self._prune_at:
            self._prune()
        number = self._next
        self._next += 1
        reference = StorageWeakRef(storage)
        self._known[key] = (reference, number)
        self._place(storage, number, reference)
        return number

    def memory(self, number: int) -> int:
        """The number of the storage whose memory this one's is: its own, for nearly all.

        Two storages over the same bytes come from outside of PyTorch's allocator, from
        `torch.from_numpy(x.numpy())` for example.
        """
        return self._below.get(number, number)

    def _place(self, storage: torch.UntypedStorage, number: int, new: StorageWeakRef) -> None:
        """Find the older storage that a new one lies over, or remember where the new one lies."""
        if storage.device.type != "cpu" or not _nbytes(storage):
            return
        try:
            start = _data_ptr(storage)
        except RuntimeError:  # the zeros of forward-mode autograd have no memory
            return
        stop = start + _nbytes(storage)
        # What PyTorch allocates can be resized, and lies over nothing that lives beside it.
        self._outside = self._outside or not storage.resizable()
        if self._outside:
            place = bisect(self._starts, start, key=_address)
            older = self._living_at(place, start, stop)
            if older is not None:
                self._below[number] = self.memory(older)
        insort(self._starts, (start, number, new), key=_address)

    def _living_at(self, place: int, start: int, stop: int) -> int | None:
        """The number of a living storage in these bytes, at a place of the list or before it."""
        looked_at = 0
        while place >= 0 and looked_at < _NEIGHBOURS:
            if place < len(self._starts):
                begin, number, reference = self._starts[place]
                end = _end_of(reference, begin)
                if end is None:
                    del self._starts[place]  # it is gone, or its memory is elsewhere by now
                elif begin < stop and start < end:
                    return number
                looked_at += end is not None
            place -= 1
        return None

    def _prune(self) -> None:
        self._known = {k: entry for k, entry in self._known.items() if not entry[0].expired()}
        living = {number for _, number in self._known.values()}
        self._below = {one: of for one, of in self._below.items() if one in living}
        self._starts = [entry for entry in self._starts if entry[1] in living]
        self._prune_at = max(1024, 2 * len(self._known))


def _address(entry: tuple[int, int, StorageWeakRef]) -> int:
    return entry[0]


def _end_of(reference: StorageWeakRef, begin: int) -> int | None:
    """Where the memory ends that a storage still holds at this address; None where it does not."""
    storage = None if reference.expired() else _behind(reference.cdata)
    if storage is None or _data_ptr(storage) != begin:
        return None
    return begin + _nbytes(storage)
