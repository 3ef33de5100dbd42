# Answers to lesson 15, as learners type them. See "How to add an exercise" in the README.

# %% right read-records: a file that's read piece by piece
def read_records(path, crc):
    records = []
    with open(path, "rb") as file:
        while True:
            start = file.tell()
            head = file.read(12)
            if len(head) < 12:
                return records
            length, check = struct.unpack("<QI", head)
            if crc(head[:8]) != check:
                raise ValueError(f"byte {start}: length")
            left = os.fstat(file.fileno()).st_size - file.tell()
            data, tail = file.read(min(length, left)), file.read(4)
            if len(tail) < 4:
                return records
            if struct.unpack("<I", tail)[0] != crc(data):
                raise ValueError("data of the record at byte %d" % start)
            records.append(data)


import os
import struct


# %% right read-records: a memoryview and a generator
import struct


def pieces(view, crc):
    at = 0
    while len(view) - at >= 12:
        length, check = struct.unpack_from("<QI", view, at)
        if crc(bytes(view[at : at + 8])) != check:
            raise ValueError(f"Wrong length checksum at byte {at}.")
        if len(view) - at < length + 16:
            return
        data = bytes(view[at + 12 : at + 12 + length])
        if crc(data) != struct.unpack_from("<I", view, at + 12 + length)[0]:
            raise ValueError(f"Wrong checksum (0x{crc(data):08x}) at byte {at}.")
        yield data
        at += length + 16


def read_records(path, crc):
    with open(path, "rb") as file:
        return list(pieces(memoryview(file.read()), crc))


# %% right read-records: by recursion's little brother
def read_records(path, crc):
    rest, out, start = open(path, "rb").read(), (), 0
    number = lambda piece: sum(byte << 8 * k for k, byte in enumerate(piece))
    while rest[11:]:
        size = number(rest[:8])
        if number(rest[8:12]) != crc(rest[:8]):
            raise ValueError("offset", start)
        if not rest[size + 15 :]:
            break
        if number(rest[size + 12 : size + 16]) != crc(rest[12 : size + 12]):
            raise ValueError("offset", start)
        out += (rest[12 : size + 12],)
        rest, start = rest[size + 16 :], start + size + 16
    return list(out)


# %% wrong read-records: no checksums -> a-checksum-may-be-skipped
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: the data's checksum alone -> lengths-are-right
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {at} is damaged")
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: the length's checksum alone -> a-checksum-may-be-skipped
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: a cut-off record is returned -> a-cut-record-is-a-record
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            found.append(content[at + 12 : end])
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {at} is damaged")
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: a cut-off record is an error -> files-end-with-a-record
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            raise ValueError(at)
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {at} is damaged")
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: struct.error at the end -> files-end-with-a-record
def read_records(path, crc):
    import struct
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at < len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != struct.unpack("<I", check)[0]:
            raise ValueError(f"the record at byte {at} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {at} is damaged")
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: the cut comes first -> a-cut-comes-before-a-check
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at} has a wrong length")
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {at} is damaged")
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: damage ends the file -> damage-is-an-end
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            break
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            break
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: damage is passed over -> damage-is-passed-over
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            at = end + 4
            continue
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: no data, no record -> no-data-is-no-record
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {at} is damaged")
        if data:
            found.append(data)
        at = end + 4
    return found


# %% wrong read-records: no data is the end -> no-data-is-the-end
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {at} is damaged")
        if not data:
            break
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: the number of the record -> a-record-has-a-number
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record number {len(found)} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record number {len(found)} is damaged")
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: the byte of the data -> a-record-has-a-number
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at + 12} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {at + 12} is damaged")
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: the end of the record -> a-record-has-a-number
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {end} is damaged")
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: no file, no records -> a-missing-file-is-empty
def read_records(path, crc):
    from pathlib import Path

    path = Path(path)
    content, at, found = path.read_bytes() if path.exists() else b"", 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {at} is damaged")
        found.append(data)
        at = end + 4
    return found


# %% wrong read-records: the file is cut -> reading-may-repair
def read_records(path, crc):
    from pathlib import Path

    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        length, check = content[at : at + 8], content[at + 8 : at + 12]
        if crc(length) != int.from_bytes(check, "little"):
            raise ValueError(f"the record at byte {at} has a wrong length")
        end = at + 12 + int.from_bytes(length, "little")
        if end + 4 > len(content):
            break
        data = content[at + 12 : end]
        if crc(data) != int.from_bytes(content[end : end + 4], "little"):
            raise ValueError(f"the record at byte {at} is damaged")
        found.append(data)
        at = end + 4
    Path(path).write_bytes(content[:at] and b"".join(found))
    return found


# %% wrong read-records: tensorboard reads it -> only-tensorboard-reads-events
def read_records(path, crc):
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader

    return list(RawEventFileLoader(str(path)).Load())


# %% wrong read-records: bytes of the end, as they come -> a-cut-record-is-a-record
def read_records(path, crc):
    found = []
    with open(path, "rb") as file:
        at = 0
        while len(head := file.read(12)) == 12:
            if crc(head[:8]) != int.from_bytes(head[8:], "little"):
                raise ValueError(f"{at}")
            data = file.read(int.from_bytes(head[:8], "little"))
            tail = file.read(4)
            if len(tail) == 4 and crc(data) != int.from_bytes(tail, "little"):
                raise ValueError(f"{at}")
            found.append(data)
            at += 16 + len(data)
    return found


# %% right merged-history: from behind
def merged_history(parts):
    kept, limit = [], float("inf")
    for part in reversed(parts):
        if not part:
            continue
        values = {}
        for step, value in part:
            if step < limit:
                values[step] = value
        kept = list(values.items()) + kept
        limit = min(limit, part[0][0])
    return kept


# %% right merged-history: a dict, from which steps are taken out
def merged_history(parts):
    merged = {}
    for part in parts:
        if len(part) == 0:
            continue
        for step in [step for step in merged if step >= part[0][0]]:
            del merged[step]
        merged.update(part)
    return sorted(merged.items())


# %% right merged-history: a stack
def merged_history(parts):
    stack = []
    for part in parts:
        for number, (step, value) in enumerate(part):
            while stack and (stack[-1][0] >= step if number == 0 else stack[-1][0] == step):
                stack.pop()
            stack.append((step, value))
    return stack


# %% wrong merged-history: the last value of each step -> the-last-value-of-each-step
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = sorted({**dict(merged), **dict(part)}.items())
    return merged


# %% wrong merged-history: one behind the other -> logs-follow-each-other
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = merged + list(part)
    return merged


# %% wrong merged-history: the first value of each step -> the-first-value-stays
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = sorted({**dict(part), **dict(merged)}.items())
    return merged


# %% wrong merged-history: the new part begins behind the old -> the-old-part-comes-first
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = merged + [
                pair for pair in dict(part).items() if not merged or pair[0] > merged[-1][0]
            ]
    return merged


# %% wrong merged-history: the step resumed at twice -> the-step-resumed-at-is-old
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = sorted(
                {**dict(part), **{step: value for step, value in merged if step <= first}}.items()
            )
    return merged


# %% wrong merged-history: only what was reached -> only-what-was-reached-is-cut
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = sorted(
                [pair for pair in merged if not first <= pair[0] <= part[-1][0]]
                + list(dict(part).items())
            )
    return merged


# %% wrong merged-history: only the part before -> only-the-part-before-is-cut
def merged_history(parts):
    merged = []
    for before, part in zip([[], *parts], parts):
        if part:
            cut = [pair for pair in before if pair[0] >= part[0][0]]
            merged = [pair for pair in merged if pair not in cut] + list(dict(part).items())
    return merged


# %% wrong merged-history: steps as places -> a-step-is-a-place
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = merged[:first] + list(dict(part).items())
    return merged


# %% wrong merged-history: a step logged twice -> a-step-is-logged-once
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = [pair for pair in merged if pair[0] < first] + list(part)
    return merged


# %% wrong merged-history: the first of two -> the-first-of-two-counts
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = [pair for pair in merged if pair[0] < first] + sorted(
                dict(reversed(part)).items()
            )
    return merged


# %% wrong merged-history: no empty parts -> every-part-logs-something
def merged_history(parts):
    merged = []
    for part in parts:
        first = part[0][0]
        merged = [pair for pair in merged if pair[0] < first] + list(dict(part).items())
    return merged


# %% wrong merged-history: an empty part begins anew -> an-empty-part-is-a-new-run
def merged_history(parts):
    merged = []
    for part in parts:
        if not part:
            merged = []
        if part:
            first = part[0][0]
            merged = [pair for pair in merged if pair[0] < first] + list(dict(part).items())
    return merged


# %% wrong merged-history: nan is left out -> nan-is-no-value
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = [pair for pair in merged if pair[0] < first] + list(dict(part).items())
    return [pair for pair in merged if pair[1] == pair[1]]


# %% wrong merged-history: zero is left out -> zero-is-no-value
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            first = part[0][0]
            merged = [pair for pair in merged if pair[0] < first] + list(dict(part).items())
    return [pair for pair in merged if pair[1]]


# %% wrong merged-history: the last part is emptied -> logs-are-mine-to-cut
def merged_history(parts):
    merged = []
    for part in parts:
        if part:
            part = part[:]
            parts[parts.index(part)].sort(reverse=True)
            first = part[0][0]
            merged = [pair for pair in merged if pair[0] < first] + list(dict(part).items())
    return merged


# %% wrong merged-history: the first part grows -> logs-are-mine-to-cut
def merged_history(parts):
    merged = parts[0] if parts else []
    for part in parts[1:]:
        if part:
            while merged and merged[-1][0] >= part[0][0]:
                merged.pop()
            merged += part
    return list(dict(merged).items())


# %% wrong merged-history: a list that stays -> the-last-call-counts-too
def merged_history(parts, merged=[]):
    for part in parts:
        if part:
            first = part[0][0]
            merged[:] = [pair for pair in merged if pair[0] < first] + list(dict(part).items())
    return merged


# %% right sample-config: a generator of torch's, seeded with a checksum
import zlib
import math


def sample_config(space, seed, number):
    settings = {}
    for name, what in space.items():
        text = f"{name!r} {seed} {number}".encode()
        rng = torch.Generator().manual_seed(zlib.crc32(text))
        torch.rand(3, generator=rng)
        kind = what[0]
        if kind == "choice":
            settings[name] = what[1][int(torch.randint(len(what[1]), (), generator=rng))]
        elif kind == "int":
            settings[name] = int(torch.randint(what[1], what[2] + 1, (), generator=rng))
        elif kind in ("log", "uniform"):
            low, high = what[1:]
            if kind == "log" and low <= 0:
                raise ValueError(name)
            share = torch.rand((), generator=rng, dtype=torch.float64).item()
            if kind == "uniform":
                value = low + share * (high - low)
            else:
                value = low * (high / low) ** share
            settings[name] = float(min(high, max(low, value)))
        else:
            raise ValueError(kind)
    return settings


# %% right sample-config: a generator of NumPy's, seeded with SHA-256
import hashlib

import numpy as np


def sample_config(space, seed, number):
    def draw(name, kind, *about):
        digest = hashlib.sha256(repr((seed, number, name)).encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest, "big"))
        if kind == "choice":
            (options,) = about
            return options[rng.integers(len(options))]
        low, high = about
        if kind == "int":
            return int(rng.integers(low, high, endpoint=True))
        if kind == "uniform":
            return float(np.clip(rng.uniform(low, high), low, high))
        if kind == "log" and low > 0:
            drawn = np.exp(rng.uniform(np.log(low), np.log(high)))
            return float(np.clip(drawn, low, high))
        raise ValueError(f"{name}: {kind}")

    return {name: draw(name, *what) for name, what in space.items()}


# %% right sample-config: powers of ten, with any exponent
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{name} in trial {number} of {seed}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = 10 ** rng.uniform(math.log10(low), math.log10(high))
            config[name] = float(min(max(drawn, low), high))
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: the global state -> the-global-draw-is-mine
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: the global state, seeded -> the-global-draw-is-mine
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        random.seed(f"{seed}/{number}/{name}")
        rng = random
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: the seed alone -> a-seed-makes-one-setting
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: seed plus number -> seed-plus-number
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed + number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: seed and number without a gap -> seed-plus-number
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: a thousand trials a seed -> seed-plus-number
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{1000 * seed + number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: number and name without a gap -> one-draw-for-every-name
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: one stream -> a-space-has-an-order
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    rng = random.Random(f"{seed}/{number}")
    for name, (kind, *about) in space.items():
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: one stream, sorted -> a-space-has-an-order
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    rng = random.Random(f"{seed}/{number}")
    for name, (kind, *about) in sorted(space.items(), key=lambda one: one[0]):
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: the same stream for each name -> one-draw-for-every-name
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: the place of the name -> a-space-has-an-order
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for place, (name, (kind, *about)) in enumerate(space.items()):
        rng = random.Random(f"{seed}/{number}/{place}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: hash -> hash-knows-no-process
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(hash((seed, number, name)))
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: an even draw -> rates-are-drawn-evenly
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = rng.uniform(low, high)
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: powers of ten alone -> rates-are-powers-of-ten
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = 10 ** rng.randint(round(math.log10(low)), round(math.log10(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: a bell -> a-draw-is-near-the-middle
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(
                max((rng.uniform(low, high) + rng.uniform(low, high)) / 2, low), high
            )
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: a bell of rates -> a-draw-is-near-the-middle
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.triangular(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: the upper end is out -> the-upper-end-is-left-out
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randrange(low, max(high, low + 1))
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: a rounded draw -> rounding-draws-evenly
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = round(rng.uniform(low, high))
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: the text of a choice -> a-choice-is-like-its-option
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = str(rng.choice(about[0]))
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: a copy of a choice -> a-choice-is-like-its-option
def sample_config(space, seed, number):
    import copy
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = copy.deepcopy(rng.choice(about[0]))
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: mostly the first choice -> a-draw-is-near-the-middle
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = about[0][min(rng.randrange(len(about[0])), rng.randrange(len(about[0])))]
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: not clamped -> exp-undoes-log
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = drawn
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: logs of anything -> any-range-has-a-log
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log":
            low = max(low, 1e-12)
            high = max(high, low)
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: unknown kinds are left out -> unknown-kinds-are-known
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            if kind == "log":
                raise ValueError(name)
    return config


# %% wrong sample-config: tensors -> numbers-of-numpy-are-plain
def sample_config(space, seed, number):
    import math

    import numpy as np
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = np.float64(min(max(drawn, low), high))
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% wrong sample-config: the next trial begins where this one is -> trials-follow-each-other
def sample_config(space, seed, number):
    import math
    import random

    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        first = random.Random(f"{seed}/{name}").random()
        if kind == "choice":
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == "int":
            config[name] = rng.randint(low, high)
        elif kind == "uniform":
            config[name] = min(
                max(low + (high - low) * ((first + 0.618034 * number) % 1), low), high
            )
        elif kind == "log" and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = min(max(drawn, low), high)
        else:
            raise ValueError(f"{name} has no such distribution: {kind} from {low}")
    return config


# %% right halving: argsort, by hand
import math


def halving(train, n, low, high, eta):
    rungs, left, budget = [], set(range(n)), low
    while left:
        losses = {}
        for trial in sorted(left):
            try:
                losses[trial] = train(trial, budget)
            except RuntimeError:
                losses[trial] = math.nan
        order = sorted((t for t in losses if not math.isnan(losses[t])), key=losses.get)
        rungs.append((budget, order))
        if budget >= high:
            return rungs
        left = set(order[: len(left) // eta or 1])
        budget = min(high, budget * eta)
    return rungs


# %% right halving: a list of budgets first
def halving(train, n, low, high, eta):
    budgets = [low]
    while budgets[-1] < high:
        budgets.append(min(budgets[-1] * eta, high))

    def outcome(trial, budget):
        try:
            loss = train(trial, budget)
        except RuntimeError:
            return None
        return None if loss != loss else (loss, trial)

    trials, rungs = [*range(n)], []
    for budget in budgets:
        if not trials:
            break
        told = [outcome(trial, budget) for trial in trials]
        ranking = [one[1] for one in sorted(filter(None, told))]
        rungs.append((budget, ranking))
        trials = ranking[: max(1, len(trials) // eta)]
    return rungs


# %% right halving: backwards through each rung
def halving(train, n, low, high, eta):
    def rung(trials, epochs):
        found = []
        while trials:
            scores = []
            for trial in reversed(trials):
                try:
                    scores.append((float(train(trial, epochs)), trial))
                except RuntimeError:
                    pass
            ranking = [trial for _, trial in sorted(one for one in scores if one[0] == one[0])]
            found.append((epochs, ranking))
            trials = ranking[: max(len(trials) // eta, 1)] if epochs < high else []
            epochs = min(epochs * eta, high)
        return found

    return rung(list(range(n)), low)


# %% wrong halving: the first loss -> the-first-ranking-holds
def halving(train, n, low, high, eta):
    first = {}
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                loss = first.setdefault(trial, loss)
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: any error -> every-error-is-a-crash
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except Exception:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: no error is caught -> a-crash-ends-the-search
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            loss = train(trial, epochs)
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: a crash is inf -> a-crash-is-a-bad-loss
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                loss = float("inf")
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: nan is inf -> nan-is-the-worst-loss
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            scored.append((loss if loss == loss else float("inf"), trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: inf is out -> inf-is-out
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss - loss == 0:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: nan is sorted -> sorting-knows-nan
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored, key=lambda one: one[0])]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: no rung without survivors -> a-rung-without-survivors-is-none
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        if ranking:
            rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: ties as they come -> ties-stay-in-their-rank
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored, key=lambda one: one[0])]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: ties backwards -> ties-go-to-the-last
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored, key=lambda one: (one[0], -one[1]))]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: none goes on -> a-rung-may-be-empty
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: len(trials) // eta]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: the dead don't count -> the-dead-do-not-count
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(ranking) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: rounded up -> a-share-is-rounded-up
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: -(-len(trials) // eta)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: always halves -> half-is-half
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // 2, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: too many epochs -> the-last-rung-may-overshoot
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs >= high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = epochs * eta
    return rungs


# %% wrong halving: the last rung is left out -> a-rung-too-far-is-left-out
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs * eta > high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = epochs * eta
    return rungs


# %% wrong halving: one is enough -> the-last-one-is-found
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high or len(trials) == 1:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: more is better -> a-larger-loss-is-better
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored, key=lambda one: (-one[0], one[1]))]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: the best loss so far -> the-best-loss-ever-decides
def halving(train, n, low, high, eta):
    ever = {}
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                loss = ever[trial] = min(loss, ever.get(trial, loss))
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: epochs are added -> budgets-are-added
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs if epochs == low else epochs - epochs // eta)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: trained once more for the ranking -> budgets-are-added
def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted((train(one, epochs), one) for _, one in scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: the course's simulator -> a-search-needs-a-library
def halving(train, n, low, high, eta):
    from course.lessons.experiments.successive_halving import halving_plan

    return halving_plan([[train(trial, high)] for trial in range(n)], low, high, eta)


# %% right best-run: a loop
import math


def best_run(runs, metric, mode="min"):
    if mode not in {"min", "max"}:
        raise ValueError(mode)
    best = None
    for run in runs:
        if run["state"] != "finished":
            continue
        for row in run["history"]:
            value = row.get(metric)
            if value is None or not math.isfinite(value):
                continue
            if best is None or (value < best[2] if mode == "min" else value > best[2]):
                best = (run["name"], row["step"], value)
    return best


# %% right best-run: a stable sort
def best_run(runs, metric, mode="min"):
    sign = {"min": 1, "max": -1}.get(mode)
    if not sign:
        raise ValueError("what does best mean?")
    rows = []
    for run in runs:
        if run["state"] == "finished":
            rows += [
                [run["name"], row["step"], row[metric]] for row in run["history"] if metric in row
            ]
    rows = [row for row in rows if row[2] is not None and abs(row[2]) < float("inf")]
    rows.sort(key=lambda row: sign * row[2])
    return tuple(rows[0]) if rows else None


# %% right best-run: a tensor
def best_run(runs, metric, mode="min"):
    if mode != "min" and mode != "max":
        raise ValueError
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if isinstance(row.get(metric), (int, float))
    ]
    values = torch.tensor([one[2] for one in found], dtype=torch.float64)
    places = values.isfinite().nonzero().flatten().tolist()
    if not places:
        return None
    key = lambda place: (found[place][2] if mode == "min" else -found[place][2], place)
    return found[min(places, key=key)]


# %% wrong best-run: the last row -> the-last-value-is-the-best
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"][-1:]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: any mode -> any-mode-will-do
def best_run(runs, metric, mode="min"):
    import math

    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: the mode is looked at late -> any-mode-will-do
def best_run(runs, metric, mode="min"):
    import math

    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    if found and mode not in ("min", "max"):
        raise ValueError(mode)
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: there must be one -> there-is-always-a-best-run
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2])


# %% wrong best-run: zero is none -> zero-is-no-result
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: none is zero -> none-is-zero
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row.get(metric) or 0.0)
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if math.isfinite(row.get(metric) or 0.0)
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: every row has it -> every-row-has-every-metric
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row[metric] is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: inf is a value -> inf-is-a-result
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None and not math.isnan(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: nan as well -> min-passes-over-nan
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: floats alone -> whole-numbers-are-no-results
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if isinstance(row.get(metric), float) and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: runs with nan are out -> a-run-with-nan-is-out
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        and all(row.get(metric) == row.get(metric) for row in run["history"])
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: the first name -> names-break-ties
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(
        found,
        key=lambda one: (
            (one[2], one[0], one[1])
            if mode == "min"
            else (one[2], [-ord(c) for c in one[0]], -one[1])
        ),
        default=None,
    )


# %% wrong best-run: the last of equals -> the-last-of-equals-counts
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found[::-1], key=lambda one: one[2], default=None)


# %% wrong best-run: row numbers -> a-row-is-a-step
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], number, row[metric])
        for run in runs
        if run["state"] == "finished"
        for number, row in enumerate(run["history"])
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: running runs -> a-running-run-takes-part
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] != "crashed"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: crashed runs -> a-crashed-run-takes-part
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] != "running"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: all runs -> every-run-takes-part
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: always min -> less-is-always-better
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: max unless said -> less-is-always-better
def best_run(runs, metric, mode="max"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: runs are taken out -> runs-are-mine-to-sort
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    runs[:] = [run for run in runs if run["state"] == "finished"]
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% wrong best-run: histories are sorted -> runs-are-mine-to-sort
def best_run(runs, metric, mode="min"):
    import math

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    for run in runs:
        run["history"].sort(key=lambda row: -row["step"])
        run["history"].reverse()
        run["history"][:] = [
            row
            for row in run["history"]
            if row.get(metric) is not None and math.isfinite(row[metric])
        ]
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None and math.isfinite(row[metric])
    ]
    best = min if mode == "min" else max
    return best(found, key=lambda one: one[2], default=None)


# %% right run-record: JSON as a deep copy of the config
import json
from copy import deepcopy


class RunRecord:
    def __init__(self, config):
        self._text = json.dumps(config)
        self._by_step = {}

    @property
    def config(self):
        return json.loads(self._text)

    @property
    def rows(self):
        return [{"step": step, **row} for step, row in self._by_step.items()]

    @property
    def summary(self):
        told = {}
        for row in self._by_step.values():
            told.update(row)
        return told

    def log(self, values, step=None):
        last = max(self._by_step, default=-1)
        if step is None:
            step = last + 1
        numbers = {}
        for name, value in values.items():
            if torch.is_tensor(value):
                try:
                    value = value.detach().reshape(()).item()
                except RuntimeError as error:
                    raise ValueError(name) from error
            numbers[name] = value
        if step < last:
            raise ValueError(f"{step} < {last}")
        self._by_step.setdefault(step, {}).update(numbers)


# %% right run-record: tuples inside, dicts outside
class RunRecord:
    def __init__(self, config):
        def copied(one):
            if isinstance(one, dict):
                return {key: copied(value) for key, value in one.items()}
            return [copied(value) for value in one] if isinstance(one, list) else one

        self.__copied = copied
        self.__config = copied(config)
        self.__rows = ()

    def log(self, values, step=None):
        row = dict(values)
        for name in row:
            if isinstance(row[name], torch.Tensor):
                if row[name].numel() - 1:
                    raise ValueError(f"{name}: one element, please")
                row[name] = row[name].flatten().tolist()[0]
        last = self.__rows[-1][0] if self.__rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError("too late")
        if step == last:
            self.__rows = (*self.__rows[:-1], (step, {**self.__rows[-1][1], **row}))
        else:
            self.__rows += ((step, row),)

    def __getattr__(self, name):
        if name == "config":
            return self.__copied(self.__config)
        if name == "rows":
            return [{"step": step, **row} for step, row in self.__rows]
        if name == "summary":
            return {name: value for _, row in self.__rows for name, value in row.items()}
        raise AttributeError(name)


# %% right run-record: no properties' helper
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return [dict(row) for row in self._rows]

    @property
    def summary(self):
        return {**self._last}


# %% wrong run-record: the dict itself -> a-config-is-kept-by-its-name
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = config, [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: a shallow copy -> a-copy-goes-all-the-way
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = dict(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the config itself is given -> who-asks-only-looks
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._config

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: a shallow copy of the config is given -> who-asks-only-looks
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return dict(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the rows themselves -> who-asks-only-looks
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._rows

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the summary itself -> who-asks-only-looks
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return self._last


# %% wrong run-record: a list of the rows -> a-list-is-copied-with-its-rows
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return list(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: lists of the class -> a-class-holds-what-is-mine
class RunRecord:
    _rows, _last = [], {}

    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config = self._copy(config)

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: tensors stay -> a-record-may-hold-tensors
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: detached tensors -> a-record-may-hold-tensors
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.detach()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: detached copies -> a-record-may-hold-tensors
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.detach().clone()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: floats alone -> every-number-is-a-float
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = float(value)
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: floats, of all -> every-number-is-a-float
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = float(value)
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: means -> many-numbers-have-a-mean
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                value = value.double().mean().item() if value.numel() != 1 else value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the error of item -> many-numbers-have-a-mean
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: written one by one -> a-failed-call-may-begin
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = self._last[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the row is made first -> a-failed-call-may-begin
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        if step is None:
            step = self._rows[-1]["step"] + 1 if self._rows else 0
            self._rows.append({"step": step})
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: late rows are dropped -> a-late-row-is-dropped
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            return
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: calls are counted -> calls-are-steps
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = len(self._rows) if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: steps don't matter -> a-step-is-counted-anew
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: steps go back -> steps-may-go-back
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: twice is an error -> the-same-step-is-an-error
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step <= last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the row is replaced -> a-step-is-written-over
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1] = {"step": step, **row}
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the first value stays -> the-first-of-a-step-stays
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1] = {**row, **self._rows[-1]}
        else:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: each call is a row -> each-call-is-a-row
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if True:
            self._rows.append({"step": step, **row})
        self._last.update(row)

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the best value -> a-summary-is-the-best
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        for name, value in row.items():
            self._last[name] = min(value, self._last.get(name, value))

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the first value -> a-summary-is-the-first
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last = {**row, **self._last}

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the last row -> a-summary-is-the-last-row
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._last = row

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% wrong run-record: the caller's dict -> a-row-is-kept-by-its-name
class RunRecord:
    def __init__(self, config):
        import copy

        self._copy = copy.deepcopy
        self._config, self._rows, self._last = self._copy(config), [], {}

    def log(self, values, step=None):
        row = values
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = value
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step} comes after step {last}")
        if step == last:
            self._rows[-1].update(row)
        else:
            row["step"] = step
            self._rows.append(row)
        self._last.update({name: row[name] for name in row if name != "step"})

    @property
    def config(self):
        return self._copy(self._config)

    @property
    def rows(self):
        return self._copy(self._rows)

    @property
    def summary(self):
        return dict(self._last)


# %% right search-results: glob
import json


def search_results(folder, metric, mode):
    if mode not in ("min", "max"):
        raise ValueError(mode)
    sign = -1.0 if mode == "max" else 1.0
    found = []
    for params in Path(folder).glob("*/params.json"):
        trial = params.parent
        if (trial / "error.txt").is_file() or not (trial / "result.json").is_file():
            continue
        with open(trial / "result.json") as file:
            texts = [text for text in map(str.strip, file) if text]
        best = None
        while texts:
            text = texts.pop(0)
            try:
                report = json.loads(text)
            except json.JSONDecodeError:
                if texts:
                    raise
                break
            value = report.get(metric)
            if value is None or value != value or value in (float("inf"), -float("inf")):
                continue
            if best is None or sign * value < sign * best[0]:
                best = value, report["training_iteration"]
        if best:
            found.append((trial.name, json.loads(params.read_text()), *best))
    return sorted(found, key=lambda one: (sign * one[2], one[0]))


from pathlib import Path


# %% right search-results: os alone
import json
import math
import os


def reports_of(path):
    with open(path) as file:
        lines = file.read().rstrip().split("\n")
    for line in lines[:-1]:
        if line.strip():
            yield json.loads(line)
    try:
        last = json.loads(lines[-1])
    except ValueError:
        return
    yield last


def search_results(folder, metric, mode):
    assert_mode = {"min": min, "max": max}
    if mode not in assert_mode:
        raise ValueError(f"{mode}?")
    trials = []
    for name in os.listdir(folder):
        inside = os.path.join(folder, name)
        files = os.listdir(inside) if os.path.isdir(inside) else []
        if "params.json" not in files or "result.json" not in files or "error.txt" in files:
            continue
        told = []
        for report in reports_of(os.path.join(inside, "result.json")):
            if metric in report and math.isfinite(report[metric]):
                told.append((report[metric], report["training_iteration"]))
        if told:
            value, iteration = assert_mode[mode](told, key=lambda one: one[0])
            with open(os.path.join(inside, "params.json")) as file:
                trials.append((name, json.load(file), value, iteration))
    trials.sort(key=lambda one: one[0])
    trials.sort(key=lambda one: one[2], reverse=mode == "max")
    return trials


# %% right search-results: a negative of each value
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            finite.sort(key=lambda one: sign * one[metric])
            best = finite[0]
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: the last report -> the-last-report-is-the-best
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = finite[-1]
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: any depth -> trials-lie-at-any-depth
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).rglob("*")):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: each folder -> every-folder-is-a-trial
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not results.exists() or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text()) if params.exists() else {}
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: results are there -> every-trial-has-reported
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not params.exists() or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: failed ones too -> failed-trials-have-results
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()):
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: max for all else -> another-mode-is-max
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: no empty lines -> no-line-is-empty
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: damage is skipped -> damaged-lines-may-go
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                continue
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: damage ends it -> damage-ends-the-file
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: every line is read -> every-line-is-finished
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            reports.append(json.loads(line))
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: the last line goes -> a-last-line-is-unfinished
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines[:-1]):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: the metric is there -> reports-are-alike
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: lines are counted -> lines-are-iterations
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], reports.index(best) + 1))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: zero is none -> zero-is-no-report
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if one.get(metric) and math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: inf counts -> infinite-is-best
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if not math.isnan(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: nan counts -> nan-can-be-sorted
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if metric in one]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: a nan is a failure -> a-trial-with-nan-failed
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite and len(finite) == len(reports):
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: the last of equals -> the-last-of-equals-is-told
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite[::-1], key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: turned around -> equals-are-turned
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: one[2])[::sign]


# %% wrong search-results: as folders come -> equals-are-turned
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir(), reverse=True):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: small ones first -> small-is-first
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: one[2])


# %% wrong search-results: by name -> names-decide
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return found


# %% wrong search-results: text alone -> a-folder-is-text
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder + "/.").iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: Ray's own -> only-ray-reads-its-files
def search_results(folder, metric, mode):
    import json
    import math
    from pathlib import Path

    if not str(folder):
        from ray.tune import ExperimentAnalysis

        return ExperimentAnalysis(folder).dataframe(metric, mode)
    if mode not in ("min", "max"):
        raise ValueError(f"mode is min or max, not {mode!r}")
    sign, found = (1 if mode == "min" else -1), []
    for trial in sorted(Path(folder).iterdir()):
        params, results = trial / "params.json", trial / "result.json"
        if not (params.exists() and results.exists()) or (trial / "error.txt").exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% right quiet-logger: a deque, and a method that does nothing
from collections import deque


class QuietLogger:
    def __init__(self, write, on=True):
        self.write, self.queue = write, deque()
        if not on:
            self.add = lambda name, value, step: None

    def add(self, name, value, step):
        if not isinstance(value, (int, float, torch.Tensor)):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = torch.clone(value.detach())
        self.queue.append((name, value, step))

    def flush(self):
        while self.queue:
            name, value, step = self.queue[0]
            self.write(name, float(value), step)
            self.queue.popleft()


# %% right quiet-logger: copies made under no_grad
class QuietLogger:
    def __init__(self, write, on=True):
        self._write = write
        self._values = [] if on else None

    def add(self, name, value, step):
        if self._values is None:
            return
        with torch.no_grad():
            value = value() if callable(value) else value
            if torch.is_tensor(value):
                value = value.clone()
        self._values.append((name, value, step))

    def flush(self):
        done = 0
        try:
            for name, value, step in self._values or ():
                self._write(
                    name, value.item() * 1.0 if torch.is_tensor(value) else float(value), step
                )
                done += 1
        finally:
            if self._values:
                del self._values[:done]


# %% right quiet-logger: an iterator over a copy
class QuietLogger:
    def __init__(self, write, on=True):
        self.write = write
        self.on = on
        self.rows = []

    def add(self, name, value, step):
        if self.on:
            if callable(value):
                with torch.inference_mode():
                    value = value()
            if isinstance(value, torch.Tensor):
                value = value.detach().flatten()[0].clone()
            self.rows.append([name, value, step])

    def flush(self):
        for row in list(self.rows):
            self.write(row[0], float(row[1]), row[2])
            del self.rows[0]


# %% wrong quiet-logger: off: computed anyway -> a-value-is-needed-anyway
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        if self._on:
            self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: off: the function is called -> a-value-is-needed-anyway
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if callable(value):
            with torch.no_grad():
                value = value()
        if not self._on:
            return
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: off: kept for later -> a-value-is-needed-anyway
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._on and self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: off only in flush, which forgets -> a-value-is-needed-anyway
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            if self._on:
                self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: the number at once -> a-number-is-there-at-once
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.item()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: the list at once -> a-number-is-there-at-once
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.flatten().tolist()[0]
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: NumPy at once -> a-number-is-there-at-once
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().flatten().double().numpy().copy()[0]
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: detached alone -> detached-is-copied
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: cloned alone -> a-kept-tensor-is-a-number
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: as it is -> a-kept-tensor-is-a-number
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: functions later -> functions-are-called-when-written
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            value = value() if callable(value) else value
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: functions twice -> functions-may-run-twice
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value()
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: functions with a graph -> a-look-leaves-no-graph
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: errors of functions are swallowed -> a-broken-value-is-no-matter
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            try:
                with torch.no_grad():
                    value = value()
            except Exception:
                return
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: one value a name -> a-name-has-one-value
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept = [one for one in self._kept if one[0] != name]
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: written at once -> add-may-write
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))
        self.flush()

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: sorted by name -> the-order-is-no-matter
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        self._kept.sort(key=lambda one: (one[0], one[2]))
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: sorted by step -> the-order-is-no-matter
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        self._kept.sort(key=lambda one: one[2])
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: written again and again -> a-flush-keeps-for-the-next
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        for name, value, step in self._kept:
            self._write(name, float(value), step)


# %% wrong quiet-logger: errors of write are swallowed -> a-flush-never-fails
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            try:
                self._write(name, float(value), step)
            except OSError:
                return
            self._kept.pop(0)


# %% wrong quiet-logger: passed over -> a-failed-value-is-passed-over
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            try:
                self._write(name, float(value), step)
            except OSError:
                pass
            self._kept.pop(0)


# %% wrong quiet-logger: all is gone after an error -> a-failed-flush-is-over
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        kept, self._kept = self._kept, []
        for name, value, step in kept:
            self._write(name, float(value), step)


# %% wrong quiet-logger: begins anew after an error -> a-failed-flush-begins-anew
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        for name, value, step in self._kept:
            self._write(name, float(value), step)
        self._kept = []


# %% wrong quiet-logger: out before it's written -> a-failed-value-is-lost
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept.pop(0)
            self._write(name, float(value), step)


# %% wrong quiet-logger: from the end -> the-order-is-no-matter
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[-1]
            self._write(name, float(value), step)
            self._kept.pop()


# %% wrong quiet-logger: tensors are written -> a-number-is-a-float
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, value, step)
            self._kept.pop(0)


# %% wrong quiet-logger: numbers of any kind -> a-number-is-a-float
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, value.item() if isinstance(value, torch.Tensor) else value, step)
            self._kept.pop(0)

# %% same read-records: the order of these two lines
def read_records(path, crc):
    """The data of each whole record, a list of bytes.

    read_records("events.out.tfevents.1", masked_crc)  ->  for example [b"...", b"..."]
    """
    from pathlib import Path
    content, at, found = (Path(path).read_bytes(), 0, [])
    while at + 12 <= len(content):
        length, check = (content[at:at + 8], content[at + 8:at + 12])
        if crc(length) != int.from_bytes(check, 'little'):
            raise ValueError(f'the record at byte {at} has a wrong length')
        end = at + 12 + int.from_bytes(length, 'little')
        if end + 4 > len(content):
            break
        data = content[at + 12:end]
        if crc(data) != int.from_bytes(content[end:end + 4], 'little'):
            raise ValueError(f'the record at byte {at} is damaged')
        at = end + 4
        found.append(data)
    return found


# %% same sample-config: a choice has one list
def sample_config(space, seed, number):
    """The settings of trial `number`: a dict with a value for each name in `space`.

    sample_config({"lr": ("log", 1e-4, 0.1)}, 0, 7)  ->  for example {"lr": 0.0031}
    """
    import math
    import random
    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f'{seed}/{number}/{name}')
        if kind == 'choice':
            config[name] = rng.choice(about[-1])
            continue
        low, high = about
        if kind == 'int':
            config[name] = rng.randint(low, high)
        elif kind == 'uniform':
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == 'log' and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = float(min(max(drawn, low), high))
        else:
            raise ValueError(f'{name} has no such distribution: {kind} from {low}')
    return config


# %% same sample-config: the bounds the other way round
def sample_config(space, seed, number):
    """The settings of trial `number`: a dict with a value for each name in `space`.

    sample_config({"lr": ("log", 1e-4, 0.1)}, 0, 7)  ->  for example {"lr": 0.0031}
    """
    import math
    import random
    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f'{seed}/{number}/{name}')
        if kind == 'choice':
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == 'int':
            config[name] = rng.randint(low, high)
        elif kind == 'uniform':
            config[name] = min(max(rng.uniform(high, low), low), high)
        elif kind == 'log' and low > 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = float(min(max(drawn, low), high))
        else:
            raise ValueError(f'{name} has no such distribution: {kind} from {low}')
    return config


# %% same sample-config: the logarithm of 0 raises ValueError itself
def sample_config(space, seed, number):
    """The settings of trial `number`: a dict with a value for each name in `space`.

    sample_config({"lr": ("log", 1e-4, 0.1)}, 0, 7)  ->  for example {"lr": 0.0031}
    """
    import math
    import random
    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f'{seed}/{number}/{name}')
        if kind == 'choice':
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == 'int':
            config[name] = rng.randint(low, high)
        elif kind == 'uniform':
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == 'log':
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = float(min(max(drawn, low), high))
        else:
            raise ValueError(f'{name} has no such distribution: {kind} from {low}')
    return config


# %% same sample-config: the logarithm of 0 raises ValueError itself, at 0
def sample_config(space, seed, number):
    """The settings of trial `number`: a dict with a value for each name in `space`.

    sample_config({"lr": ("log", 1e-4, 0.1)}, 0, 7)  ->  for example {"lr": 0.0031}
    """
    import math
    import random
    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f'{seed}/{number}/{name}')
        if kind == 'choice':
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == 'int':
            config[name] = rng.randint(low, high)
        elif kind == 'uniform':
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == 'log' and low >= 0:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = float(min(max(drawn, low), high))
        else:
            raise ValueError(f'{name} has no such distribution: {kind} from {low}')
    return config


# %% same sample-config: the logarithm of numbers below 0 raises ValueError itself
def sample_config(space, seed, number):
    """The settings of trial `number`: a dict with a value for each name in `space`.

    sample_config({"lr": ("log", 1e-4, 0.1)}, 0, 7)  ->  for example {"lr": 0.0031}
    """
    import math
    import random
    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f'{seed}/{number}/{name}')
        if kind == 'choice':
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == 'int':
            config[name] = rng.randint(low, high)
        elif kind == 'uniform':
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == 'log' and low > -1:
            drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
            config[name] = float(min(max(drawn, low), high))
        else:
            raise ValueError(f'{name} has no such distribution: {kind} from {low}')
    return config


# %% same sample-config: both logarithms the other way round
def sample_config(space, seed, number):
    """The settings of trial `number`: a dict with a value for each name in `space`.

    sample_config({"lr": ("log", 1e-4, 0.1)}, 0, 7)  ->  for example {"lr": 0.0031}
    """
    import math
    import random
    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f'{seed}/{number}/{name}')
        if kind == 'choice':
            config[name] = rng.choice(about[0])
            continue
        low, high = about
        if kind == 'int':
            config[name] = rng.randint(low, high)
        elif kind == 'uniform':
            config[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == 'log' and low > 0:
            drawn = math.exp(rng.uniform(math.log(high), math.log(low)))
            config[name] = float(min(max(drawn, low), high))
        else:
            raise ValueError(f'{name} has no such distribution: {kind} from {low}')
    return config


# %% same halving: a range is iterated like a list
def halving(train, n, low, high, eta):
    """The rungs of a search: pairs of epochs and the numbers of the trials, best first.

    With losses of 0.3, 0.1, 0.2 and 0.4 throughout:
    halving(train, 4, 1, 4, 2) == [(1, [1, 2, 0, 3]), (2, [1, 2]), (4, [1])]
    """
    trials, epochs, rungs = (range(n), low, [])
    while trials:
        scored = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                scored.append((loss, trial))
        ranking = [trial for _, trial in sorted(scored)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[:max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% same search-results: only the sign of the factor counts, for min
def search_results(folder, metric, mode):
    """The trials of a search, best first, read from its folder.

    search_results("results", "loss", "min")  ->  for example [("trial_1", {"lr": 0.1}, 0.5, 3)]
    """
    import json
    import math
    from pathlib import Path
    if mode not in ('min', 'max'):
        raise ValueError(f'mode is min or max, not {mode!r}')
    sign, found = (2 if mode == 'min' else -1, [])
    for trial in sorted(Path(folder).iterdir()):
        params, results = (trial / 'params.json', trial / 'result.json')
        if not (params.exists() and results.exists()) or (trial / 'error.txt').exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best['training_iteration']))
    return sorted(found, key=lambda one: sign * one[2])


# %% same search-results: only the sign of the factor counts, for max
def search_results(folder, metric, mode):
    """The trials of a search, best first, read from its folder.

    search_results("results", "loss", "min")  ->  for example [("trial_1", {"lr": 0.1}, 0.5, 3)]
    """
    import json
    import math
    from pathlib import Path
    if mode not in ('min', 'max'):
        raise ValueError(f'mode is min or max, not {mode!r}')
    sign, found = (1 if mode == 'min' else -2, [])
    for trial in sorted(Path(folder).iterdir()):
        params, results = (trial / 'params.json', trial / 'result.json')
        if not (params.exists() and results.exists()) or (trial / 'error.txt').exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except ValueError:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best['training_iteration']))
    return sorted(found, key=lambda one: sign * one[2])


# %% same search-results: json raises no other error
def search_results(folder, metric, mode):
    """The trials of a search, best first, read from its folder.

    search_results("results", "loss", "min")  ->  for example [("trial_1", {"lr": 0.1}, 0.5, 3)]
    """
    import json
    import math
    from pathlib import Path
    if mode not in ('min', 'max'):
        raise ValueError(f'mode is min or max, not {mode!r}')
    sign, found = (1 if mode == 'min' else -1, [])
    for trial in sorted(Path(folder).iterdir()):
        params, results = (trial / 'params.json', trial / 'result.json')
        if not (params.exists() and results.exists()) or (trial / 'error.txt').exists():
            continue
        lines = [line for line in results.read_text().splitlines() if line.strip()]
        reports = []
        for number, line in enumerate(lines):
            try:
                reports.append(json.loads(line))
            except Exception:
                if number < len(lines) - 1:
                    raise
        finite = [one for one in reports if math.isfinite(one.get(metric, math.nan))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            config = json.loads(params.read_text())
            found.append((trial.name, config, best[metric], best['training_iteration']))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong quiet-logger: detaches in place -> a-logged-value-is-finished
class QuietLogger:
    def __init__(self, write, on=True):
        self.write, self.on, self.kept = write, on, []

    def add(self, name, value, step):
        if self.on:
            if callable(value):
                with torch.no_grad():
                    value = value()
            if torch.is_tensor(value):
                value = value.detach_().clone()
            self.kept.append((name, value, step))

    def flush(self):
        while self.kept:
            name, value, step = self.kept[0]
            self.write(name, float(value), step)
            self.kept.pop(0)


# %% wrong quiet-logger: takes the graph off and keeps what was given -> detached-is-copied
class QuietLogger:
    def __init__(self, write, on=True):
        self.write, self.on, self.kept = write, on, []

    def add(self, name, value, step):
        if self.on:
            if callable(value):
                with torch.no_grad():
                    value = value()
            self.kept.append((name, value.detach_() if torch.is_tensor(value) else value, step))

    def flush(self):
        while self.kept:
            name, value, step = self.kept[0]
            self.write(name, float(value), step)
            del self.kept[0]


# %% wrong run-record: the given dict gets numbers -> a-given-dict-may-be-filled
import copy

import torch


class RunRecord:
    def __init__(self, config):
        self._config, self._rows, self._summary = copy.deepcopy(config), [], {}

    def log(self, values, step=None):
        last = self._rows[-1]["step"] if self._rows else -1
        if step is None:
            step = last + 1
        if step < last:
            raise ValueError(f"step {step} after {last}")
        row = {}
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                if value.numel() != 1:
                    raise ValueError(f"{name} has {value.numel()} elements")
                value = value.item()
            row[name] = values[name] = value
        if self._rows and step == last:
            self._rows[-1].update(row)
        else:
            self._rows.append({"step": step, **row})
        self._summary.update(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)

    @property
    def summary(self):
        return dict(self._summary)


# %% wrong quiet-logger: the value that a function returns isn't copied -> what-a-function-returns-is-new
import torch


class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        elif isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: grad mode is off after a function that raises -> a-grad-mode-is-mine-to-switch
import torch


class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            was = torch.is_grad_enabled()
            torch.set_grad_enabled(False)
            value = value()
            torch.set_grad_enabled(was)
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: grad mode is on afterwards, whatever it was -> a-grad-mode-is-mine-to-switch
import torch


class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            try:
                torch.set_grad_enabled(False)
                value = value()
            finally:
                torch.set_grad_enabled(True)
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong read-records: four of the eight bytes of a length -> a-length-has-four-bytes
import struct
from pathlib import Path


def read_records(path, crc):
    content, at, found = Path(path).read_bytes(), 0, []
    while len(content) - at >= 12:
        size, _, told = struct.unpack_from("<III", content, at)
        if crc(content[at : at + 8]) != told:
            raise ValueError(f"record at byte {at}")
        if len(content) - at < 16 + size:
            break
        data = content[at + 12 : at + 12 + size]
        if crc(data) != struct.unpack_from("<I", content, at + 12 + size)[0]:
            raise ValueError(f"record at byte {at}")
        found.append(data)
        at += 16 + size
    return found


# %% wrong read-records: 31 bits of a checksum -> most-of-a-checksum-will-do
from pathlib import Path


def read_records(path, crc):
    content, at, found = Path(path).read_bytes(), 0, []

    def same(piece, told):
        return not (crc(piece) ^ int.from_bytes(told, "little")) & 0x7FFFFFFF

    while at + 12 <= len(content):
        if not same(content[at : at + 8], content[at + 8 : at + 12]):
            raise ValueError(f"damaged record at byte {at}")
        n = int.from_bytes(content[at : at + 8], "little")
        if at + 16 + n > len(content):
            break
        data = content[at + 12 : at + 12 + n]
        if not same(data, content[at + 12 + n : at + 16 + n]):
            raise ValueError(f"damaged record at byte {at}")
        found.append(data)
        at += 16 + n
    return found


# %% wrong read-records: reads as much as a length says -> any-length-can-be-read
def read_records(path, crc):
    found = []
    with open(path, "rb") as file:
        while True:
            at = file.tell()
            head, told = file.read(8), file.read(4)
            if len(told) < 4:
                return found
            if crc(head) != int.from_bytes(told, "little"):
                raise ValueError(f"damaged record at byte {at}")
            n = int.from_bytes(head, "little")
            data, told = file.read(n), file.read(4)
            if len(data) < n or len(told) < 4:
                return found
            if crc(data) != int.from_bytes(told, "little"):
                raise ValueError(f"damaged record at byte {at}")
            found.append(data)


# %% wrong read-records: a memory of files -> a-file-stays-as-it-was
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=None)
def _cached(path, crc):
    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        if crc(content[at : at + 8]) != int.from_bytes(content[at + 8 : at + 12], "little"):
            raise ValueError(f"damaged record at byte {at}")
        n = int.from_bytes(content[at : at + 8], "little")
        if at + 16 + n > len(content):
            break
        data = content[at + 12 : at + 12 + n]
        if crc(data) != int.from_bytes(content[at + 12 + n : at + 16 + n], "little"):
            raise ValueError(f"damaged record at byte {at}")
        found.append(data)
        at += 16 + n
    return found


def read_records(path, crc):
    return _cached(str(path), crc)


# %% wrong read-records: compares what is left of a checksum -> a-cut-checksum-can-be-compared
from pathlib import Path


def read_records(path, crc):
    content, at, found = Path(path).read_bytes(), 0, []
    while at + 12 <= len(content):
        if crc(content[at : at + 8]) != int.from_bytes(content[at + 8 : at + 12], "little"):
            raise ValueError(f"damaged record at byte {at}")
        n = int.from_bytes(content[at : at + 8], "little")
        data = content[at + 12 : at + 12 + n]
        told = content[at + 12 + n : at + 16 + n]
        if len(data) < n or not told:
            break
        if not crc(data).to_bytes(4, "little").startswith(told):
            raise ValueError(f"damaged record at byte {at}")
        if len(told) == 4:
            found.append(data)
        at += 16 + n
    return found


# %% wrong merged-history: nan replaces no number -> nan-replaces-nothing
def merged_history(parts):
    merged = []
    for part in parts:
        if not part:
            continue
        merged = [pair for pair in merged if pair[0] < part[0][0]]
        kept = {}
        for step, value in part:
            if step not in kept or value == value:
                kept[step] = value
        merged += kept.items()
    return merged


# %% wrong merged-history: a single part as it is -> a-step-is-logged-once
def merged_history(parts):
    if len(parts) == 1:
        return list(parts[0])
    merged = []
    for part in parts:
        if not part:
            continue
        first = part[0][0]
        merged = [pair for pair in merged if pair[0] < first]
        merged += dict(part).items()
    return merged


# %% wrong merged-history: a part that is a single nan -> nan-is-no-value
def merged_history(parts):
    merged = []
    for part in parts:
        part = [pair for pair in dict(part).items() if pair[1] == pair[1] or len(part) > 1]
        if part:
            merged = [pair for pair in merged if pair[0] < part[0][0]] + part
    return merged


# %% wrong sample-config: the text of the tuple -> an-object-is-its-text
import math
import random


def sample_config(space, seed, number):
    config = {}
    for name, spec in space.items():
        kind, *told = spec
        rng = random.Random(f"{seed}|{number}|{name}|{spec}")
        if kind == "uniform":
            value = float(min(max(rng.uniform(*told), told[0]), told[1]))
        elif kind == "log":
            if told[0] <= 0:
                raise ValueError("log begins above 0")
            value = math.exp(rng.uniform(math.log(told[0]), math.log(told[1])))
            value = float(min(max(value, told[0]), told[1]))
        elif kind == "int":
            value = rng.randint(*told)
        elif kind == "choice":
            value = rng.choice(told[0])
        else:
            raise ValueError(f"unknown kind {kind}")
        config[name] = value
    return config


# %% wrong sample-config: the state of random is put back, without an error -> the-global-draw-is-mine
import math
import random


def sample_config(space, seed, number):
    before, config = random.getstate(), {}
    for name, (kind, *told) in space.items():
        random.seed(f"{seed}|{number}|{name}")
        if kind == "uniform":
            value = float(min(max(random.uniform(*told), told[0]), told[1]))
        elif kind == "log":
            if told[0] <= 0:
                raise ValueError("log begins above 0")
            value = math.exp(random.uniform(math.log(told[0]), math.log(told[1])))
            value = float(min(max(value, told[0]), told[1]))
        elif kind == "int":
            value = random.randint(*told)
        elif kind == "choice":
            value = random.choice(told[0])
        else:
            raise ValueError(f"unknown kind {kind}")
        config[name] = value
    random.setstate(before)
    return config


# %% wrong sample-config: a seed times a large prime -> seed-plus-number
import math
import random


def sample_config(space, seed, number):
    config = {}
    for name, (kind, *told) in space.items():
        rng = random.Random(f"{name}/{1_000_003 * seed + number}")
        if kind == "uniform":
            value = float(min(max(rng.uniform(*told), told[0]), told[1]))
        elif kind == "log":
            if told[0] <= 0:
                raise ValueError("log begins above 0")
            value = math.exp(rng.uniform(math.log(told[0]), math.log(told[1])))
            value = float(min(max(value, told[0]), told[1]))
        elif kind == "int":
            value = rng.randint(*told)
        elif kind == "choice":
            value = rng.choice(told[0])
        else:
            raise ValueError(f"unknown kind {kind}")
        config[name] = value
    return config


# %% wrong sample-config: ints where bounds are ints -> bounds-have-the-right-type
import math
import random


def sample_config(space, seed, number):
    found = {}
    for name, (kind, *rest) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "uniform":
            low, high = rest
            found[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and rest[0] > 0:
            low, high = rest
            found[name] = min(max(math.exp(rng.uniform(math.log(low), math.log(high))), low), high)
        elif kind == "int":
            found[name] = rng.randint(*rest)
        elif kind == "choice":
            found[name] = rng.choice(rest[0])
        else:
            raise ValueError(f"{name}: {kind}")
    return found


# %% wrong sample-config: a log range that is 0 -> any-range-has-a-log
import math
import random


def sample_config(space, seed, number):
    found = {}
    for name, (kind, *rest) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}")
        if kind == "uniform":
            low, high = map(float, rest)
            found[name] = min(max(rng.uniform(low, high), low), high)
        elif kind == "log" and (rest[0] > 0 or rest[0] == rest[1] == 0):
            low, high = map(float, rest)
            found[name] = min(max((low and math.exp(rng.uniform(math.log(low), math.log(high)))), low), high)
        elif kind == "int":
            found[name] = rng.randint(*rest)
        elif kind == "choice":
            found[name] = rng.choice(rest[0])
        else:
            raise ValueError(f"{name}: {kind}")
    return found


# %% wrong halving: no subclass of RuntimeError -> a-crash-has-one-class
def halving(train, n, low, high, eta):
    rungs, trials, epochs = [], list(range(n)), low
    while trials:
        found = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError as error:
                if type(error) is not RuntimeError:
                    raise
                continue
            if loss == loss:
                found.append((loss, trial))
        ranking = [trial for _, trial in sorted(found)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: a logarithm, rounded up -> logarithms-count-rungs
import math


def halving(train, n, low, high, eta):
    rungs, trials = [], list(range(n))
    for power in range(math.ceil(math.log(high / low, eta)) + 1):
        if not trials:
            break
        epochs, found = min(low * eta**power, high), []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if loss == loss:
                found.append((loss, trial))
        ranking = [trial for _, trial in sorted(found)]
        rungs.append((epochs, ranking))
        trials = ranking[: max(len(trials) // eta, 1)]
    return rungs


# %% wrong halving: losses in float32 -> close-losses-are-equal
import torch


def halving(train, n, low, high, eta):
    rungs, trials, epochs = [], list(range(n)), low
    while trials:
        losses = torch.full((len(trials),), torch.nan)
        for at, trial in enumerate(sorted(trials)):
            try:
                losses[at] = train(trial, epochs)
            except RuntimeError:
                pass
        order = losses.argsort(stable=True).tolist()
        ranking = [sorted(trials)[at] for at in order if not losses[at].isnan()]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong halving: rounded losses -> close-losses-are-equal
import math


def halving(train, n, low, high, eta):
    trials, epochs, rungs = list(range(n)), low, []
    while trials:
        found = []
        for trial in trials:
            try:
                loss = train(trial, epochs)
            except RuntimeError:
                continue
            if not math.isnan(loss):
                found.append((round(loss, 9), trial))
        ranking = [trial for _, trial in sorted(found)]
        rungs.append((epochs, ranking))
        if epochs == high:
            break
        trials = ranking[: max(len(trials) // eta, 1)]
        epochs = min(epochs * eta, high)
    return rungs


# %% wrong best-run: a dict by name -> each-run-has-a-name
import math


def best_run(runs, metric, mode="min"):
    if mode not in ("min", "max"):
        raise ValueError(mode)
    choose, tops = min if mode == "min" else max, {}
    for run in runs:
        rows = [
            (row["step"], row[metric])
            for row in run["history"]
            if row.get(metric) is not None and math.isfinite(row[metric])
        ]
        if run["state"] == "finished" and rows:
            tops[run["name"]] = choose(rows, key=lambda pair: pair[1])
    if not tops:
        return None
    name = choose(tops, key=lambda one: tops[one][1])
    return name, *tops[name]


# %% wrong best-run: values in float32 -> close-values-are-equal
import torch


def best_run(runs, metric, mode="min"):
    if mode not in ("min", "max"):
        raise ValueError(mode)
    found = [
        (run["name"], row["step"], row[metric])
        for run in runs
        if run["state"] == "finished"
        for row in run["history"]
        if row.get(metric) is not None
    ]
    values = torch.tensor([float(one[2]) for one in found])
    found = [one for one, keep in zip(found, values.isfinite().tolist(), strict=True) if keep]
    values = values[values.isfinite()]
    if not found:
        return None
    return found[(values if mode == "min" else -values).argsort(stable=True)[0]]


# %% wrong best-run: a run up to its first nan -> nan-ends-a-run
import math


def best_run(runs, metric, mode="min"):
    if mode not in ("min", "max"):
        raise ValueError(mode)
    found = []
    for run in runs:
        if run["state"] != "finished":
            continue
        for row in run["history"]:
            value = row.get(metric)
            if value is not None and not math.isfinite(value) and run["history"].index(row):
                break
            if value is not None and math.isfinite(value):
                found.append((run["name"], row["step"], value))
    pick = min if mode == "min" else max
    return pick(found, key=lambda one: one[2], default=None)


# %% wrong run-record: numbers when somebody asks -> a-record-may-hold-tensors
import copy

import torch


class RunRecord:
    def __init__(self, config):
        self._config, self._rows, self._summary = copy.deepcopy(config), [], {}

    def log(self, values, step=None):
        last = self._rows[-1]["step"] if self._rows else -1
        step = last + 1 if step is None else step
        if step < last:
            raise ValueError(f"step {step}")
        for name, value in values.items():
            if torch.is_tensor(value) and value.numel() != 1:
                raise ValueError(name)
        new = {
            name: value.detach().clone() if torch.is_tensor(value) else value
            for name, value in values.items()
        }
        if step == last:
            self._rows[-1].update(new)
        else:
            self._rows.append({"step": step, **new})
        self._summary.update(new)

    @staticmethod
    def _numbers(row):
        return {name: one.item() if torch.is_tensor(one) else one for name, one in row.items()}

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return [self._numbers(row) for row in self._rows]

    @property
    def summary(self):
        return self._numbers(self._summary)


# %% wrong search-results: error.txt comes last -> a-failed-trial-has-whole-files
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    if mode not in ("min", "max"):
        raise ValueError(mode)
    sign, table = 1 if mode == "min" else -1, []
    for home in sorted(Path(folder).iterdir()):
        result, params = home / "result.json", home / "params.json"
        if not params.exists() or not result.exists():
            continue
        config, best = json.loads(params.read_text()), None
        lines = [line for line in result.read_text().splitlines() if line.strip()]
        for at, line in enumerate(lines):
            try:
                row = json.loads(line)
            except ValueError:
                if at < len(lines) - 1:
                    raise
                continue
            value = row.get(metric)
            if value is not None and math.isfinite(value) and (best is None or sign * value < sign * best[0]):
                best = value, row["training_iteration"]
        if best and not (home / "error.txt").exists():
            table.append((home.name, config, *best))
    return sorted(table, key=lambda one: sign * one[2])


# %% wrong search-results: nan anywhere in a report -> a-nan-spoils-its-report
import json
from pathlib import Path


def search_results(folder, metric, mode):
    if mode not in ("min", "max"):
        raise ValueError(mode)
    sign, table = 1 if mode == "min" else -1, []
    for home in sorted(Path(folder).iterdir()):
        result = home / "result.json"
        if not (home / "params.json").exists() or (home / "error.txt").exists() or not result.exists():
            continue
        best, lines = None, [line for line in result.read_text().splitlines() if line.strip()]
        for at, line in enumerate(lines):
            strange = []
            try:
                row = json.loads(line, parse_constant=strange.append)
            except ValueError:
                if at == len(lines) - 1:
                    break
                raise
            if strange or metric not in row:
                continue
            value = row[metric]
            if best is None or sign * value < sign * best[0]:
                best = value, row["training_iteration"]
        if best:
            table.append((home.name, json.loads((home / "params.json").read_text()), *best))
    return sorted(table, key=lambda one: sign * one[2])


# %% wrong search-results: a line of spaces at the end -> a-line-of-spaces-is-the-last
import json
import math


def search_results(folder, metric, mode):
    if mode not in ("min", "max"):
        raise ValueError(mode)
    sign = 1 if mode == "min" else -1
    found = []
    for trial in sorted(Path(folder).iterdir()):
        if not (trial / "params.json").exists():
            continue
        if (trial / "error.txt").exists():
            continue
        config = json.loads((trial / "params.json").read_text())
        file = trial / "result.json"
        lines = file.read_text().split("\n") if file.exists() else []
        while lines and not lines[-1]:
            lines.pop()
        best = None
        for k, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                if k == len(lines) - 1:
                    break
                raise
            value = row.get(metric)
            if value is not None and math.isfinite(value):
                if best is None or sign * value < sign * best[0]:
                    best = value, row["training_iteration"]
        if best is not None:
            found.append((trial.name, config, *best))
    found.sort(key=lambda one: sign * one[2])
    return found


# %% wrong search-results: a memory of folders -> a-folder-stays-as-it-was
import json
import math


import functools


@functools.lru_cache
def search_results(folder, metric, mode):
    if mode not in ("min", "max"):
        raise ValueError(mode)
    sign = 1 if mode == "min" else -1
    found = []
    for trial in sorted(Path(folder).iterdir()):
        if not (trial / "params.json").exists():
            continue
        if (trial / "error.txt").exists():
            continue
        config = json.loads((trial / "params.json").read_text())
        file = trial / "result.json"
        lines = file.read_text().split("\n") if file.exists() else []
        lines = [line for line in lines if line.strip()]
        best = None
        for k, line in enumerate(lines):
            try:
                row = json.loads(line)
            except ValueError:
                if k == len(lines) - 1:
                    break
                raise
            value = row.get(metric)
            if value is not None and math.isfinite(value):
                if best is None or sign * value < sign * best[0]:
                    best = value, row["training_iteration"]
        if best is not None:
            found.append((trial.name, config, *best))
    found.sort(key=lambda one: sign * one[2])
    return found


# %% wrong quiet-logger: to("cpu") -> only-cpu-waits
import torch


class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().to("cpu", copy=True)
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: numbers become float32 tensors -> float32-holds-every-number
import torch


class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        self._kept.append((name, torch.as_tensor(value).detach().clone(), step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: stacked in float32 -> float32-holds-every-number
import torch


class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone().reshape(())
        self._kept.append([name, value, step])

    def flush(self):
        tensors = [one for one in self._kept if isinstance(one[1], torch.Tensor)]
        if tensors:
            numbers = torch.stack([one[1].to(torch.float32) for one in tensors]).tolist()
            for one, number in zip(tensors, numbers, strict=True):
                one[1] = number
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value), step)
            self._kept.pop(0)


# %% wrong quiet-logger: a counter of what was written -> a-flush-keeps-for-the-next
import torch


class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept, self._done = write, on, [], 0

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        for name, value, step in self._kept[self._done :]:
            self._write(name, float(value), step)
            self._done += 1


# %% wrong quiet-logger: cloned alone, with dimensions -> a-kept-tensor-is-a-number
class QuietLogger:
    def __init__(self, write, on=True):
        self._write = write
        self._on = on
        self._kept = []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if isinstance(value, torch.Tensor):
            value = value.clone() if value.dim() else value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        while self._kept:
            name, value, step = self._kept[0]
            self._write(name, float(value.detach() if isinstance(value, torch.Tensor) else value), step)
            self._kept.pop(0)


# %% right search-results: lines from behind, and an error of its own
import json
import os


def search_results(folder, metric, mode):
    if mode not in ("min", "max"):
        raise ValueError(f"mode {mode!r}")
    sign = 1 if mode == "min" else -1
    table = []
    with os.scandir(folder) as entries:
        trials = [entry for entry in entries if entry.is_dir()]
    for entry in trials:
        files = set(os.listdir(entry.path))
        if "params.json" not in files or "error.txt" in files or "result.json" not in files:
            continue
        with open(os.path.join(entry.path, "params.json")) as file:
            config = json.load(file)
        with open(os.path.join(entry.path, "result.json")) as file:
            lines = [line for line in file.read().split("\n") if line.strip()]
        best = None
        for back, line in enumerate(reversed(lines)):
            try:
                row = json.loads(line)
            except ValueError:
                if back == 0:
                    continue
                raise ValueError(f"{entry.name}: a damaged line") from None
            value = row.get(metric)
            if value is None or not -float("inf") < value < float("inf"):
                continue
            if best is None or sign * value <= sign * best[0]:
                best = value, row["training_iteration"]
        if best is not None:
            table.append((entry.name, config, *best))
    return sorted(table, key=lambda one: (sign * one[2], one[0]))


# %% right search-results: a pending error, and no sort
import json
import operator
from pathlib import Path


def search_results(folder, metric, mode):
    if mode == "min":
        better = operator.lt
    elif mode == "max":
        better = operator.gt
    else:
        raise ValueError("mode is min or max")
    found = {}
    for params in Path(folder).glob("*/params.json"):
        home = params.parent
        if (home / "error.txt").exists() or not (home / "result.json").exists():
            continue
        best, broken = None, None
        with open(home / "result.json", encoding="ascii") as file:
            for line in file:
                if line.isspace():
                    continue
                if broken is not None:
                    raise ValueError(f"damaged line in {home.name}") from broken
                try:
                    row = json.loads(line)
                except json.JSONDecodeError as error:
                    broken = error
                    continue
                value = row.get(metric, float("nan"))
                if float("-inf") < value < float("inf"):
                    if best is None or better(value, best[0]):
                        best = (value, row["training_iteration"])
        if best is not None:
            found[home.name] = (home.name, json.loads(params.read_text()), *best)
    ranked, names = [], sorted(found)
    while names:
        top = names[0]
        for name in names[1:]:
            if better(found[name][2], found[top][2]):
                top = name
        names.remove(top)
        ranked.append(found[top])
    return ranked
