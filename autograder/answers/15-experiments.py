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


# %% wrong halving: a dict by loss -> no-two-losses-are-equal
def halving(train, n, low, high, eta):
    """The rungs of a search: pairs of epochs and the numbers of the trials, best first."""
    rungs = []
    trials = list(range(n))
    epochs = low
    while True:
        trial_of = {train(trial, epochs): trial for trial in trials}
        ranking = [trial_of[loss] for loss in sorted(loss for loss in trial_of if loss == loss)]
        rungs.append((epochs, ranking))
        if epochs >= high:
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


# %% wrong halving: counted from n -> a-rung-keeps-a-share-of-all
import math


def halving(train, n, low, high, eta):
    """The rungs of a search: pairs of epochs and the numbers of the trials, best first."""
    result, trials, epochs, rung = [], list(range(n)), low, 0
    while True:
        scored = [(train(trial, epochs), trial) for trial in trials]
        ranking = [trial for loss, trial in sorted(s for s in scored if not math.isnan(s[0]))]
        result.append((epochs, ranking))
        if epochs == high:
            break
        rung += 1
        trials = ranking[: max(n // eta**rung, 1)]
        epochs = min(low * eta**rung, high)
    return result


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


# %% wrong halving: asks the plan behind the figures -> the-course-may-search
def halving(train, n, low, high, eta):
    from course.lessons.experiments.successive_halving import halving_plan

    class Curve:
        def __init__(self, trial):
            self.trial, self.known = trial, {}

        def __len__(self):
            return high

        def __getitem__(self, at):
            if at not in self.known:
                self.known[at] = train(self.trial, at + 1)
            return self.known[at]

    plan = halving_plan([Curve(trial) for trial in range(n)], low, high, eta)
    return [
        (rung.epochs, [t for t, loss in zip(rung.ranking, rung.losses) if loss == loss])
        for rung in plan
    ]


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


# %% right run-record: bytes of pickle as a deep copy of the config
import pickle


class RunRecord:
    def __init__(self, config):
        self._bytes = pickle.dumps(config)
        self._told = []

    @property
    def config(self):
        return pickle.loads(self._bytes)

    @property
    def rows(self):
        return [{"step": step, **row} for step, row in enumerate(self._told)]

    def log(self, values):
        self._told.append(
            {k: v.detach().reshape(()).item() if torch.is_tensor(v) else v for k, v in values.items()}
        )


# %% right run-record: tuples inside, dicts outside
from copy import deepcopy


class RunRecord:
    def __init__(self, config):
        self.__config = deepcopy(config)
        self.__pairs = ()

    def log(self, values):
        numbers = [("step", len(self.__pairs))]
        for name in values:
            value = values[name]
            numbers.append((name, value.tolist() if hasattr(value, "dim") and not value.dim() else
                            value.flatten()[0].item() if hasattr(value, "dim") else value))
        self.__pairs += (tuple(numbers),)

    config = property(lambda self: deepcopy(self.__config))
    rows = property(lambda self: [dict(pairs) for pairs in self.__pairs])


# %% right run-record: a counter of steps
import copy


class RunRecord:
    def __init__(self, config):
        self.step = 0
        self.kept = {"config": copy.deepcopy(config), "rows": []}

    def log(self, values):
        new = dict(values)
        for name, value in list(new.items()):
            if isinstance(value, torch.Tensor):
                new[name] = value.item()
        new["step"] = self.step
        self.step += 1
        self.kept["rows"].append(new)

    @property
    def config(self):
        return copy.deepcopy(self.kept)["config"]

    @property
    def rows(self):
        return copy.deepcopy(self.kept)["rows"]


# %% wrong run-record: the dict itself -> a-config-is-kept-by-its-name
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = config, []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.item() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: a shallow copy -> a-copy-goes-all-the-way
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = dict(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.item() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: dicts and lists, but not those in tuples -> what-is-in-a-tuple-stays
import copy


def own(value):
    if isinstance(value, dict):
        return {key: own(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [own(inner) for inner in value]
    return value  # numbers, texts and tuples can't be changed


class RunRecord:
    """The config of a run and what it logged, safe from later changes."""

    def __init__(self, config):
        self._config = own(config)
        self._rows = []

    def log(self, values):
        """Add a row of values, with its step."""
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.item() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        """The config that the run was given."""
        return own(self._config)

    @property
    def rows(self):
        """A list of all rows."""
        return own(self._rows)


# %% wrong run-record: a config of JSON -> json-keeps-everything
import copy
import json


class RunRecord:
    """The config of a run and what it logged, safe from later changes."""

    def __init__(self, config):
        self._config = json.dumps(config)  # a text can't be changed
        self._rows = []

    def log(self, values):
        """Add a row of values, with its step."""
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.item() if hasattr(value, "item") else value
        self._rows.append(row)

    @property
    def config(self):
        """The config that the run was given."""
        return json.loads(self._config)

    @property
    def rows(self):
        """A list of all rows."""
        return copy.deepcopy(self._rows)


# %% wrong run-record: the config itself is given -> who-asks-only-looks
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.item() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return self._config

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: a shallow copy of the config is given -> who-asks-only-looks
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.item() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return dict(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: the rows themselves -> who-asks-only-looks
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.item() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return self._rows


# %% wrong run-record: a list of the rows -> a-list-is-copied-with-its-rows
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.item() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return list(self._rows)


# %% wrong run-record: lists of the class -> a-class-holds-what-is-mine
import copy


class RunRecord:

    _rows = []

    def __init__(self, config):
        self._config = copy.deepcopy(config)

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.item() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: tensors stay -> a-record-may-hold-tensors
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: detached tensors -> a-record-may-hold-tensors
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.detach() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: detached copies -> a-record-may-hold-tensors
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value.detach().clone() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: numbers when somebody asks -> a-record-may-hold-tensors
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return [{k: v.item() if isinstance(v, torch.Tensor) else v for k, v in row.items()} for row in self._rows]


# %% wrong run-record: floats alone -> every-number-is-a-float
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = float(value) if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: floats, of all -> every-number-is-a-float
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = float(value)
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: the caller's dict -> a-row-is-kept-by-its-name
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = values
        for name, value in list(values.items()):
            row[name] = value.item() if isinstance(value, torch.Tensor) else value
        row["step"] = len(self._rows)
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% wrong run-record: the given dict gets numbers -> a-given-dict-may-be-filled
import copy


class RunRecord:

    def __init__(self, config):
        self._config, self._rows = copy.deepcopy(config), []

    def log(self, values):
        row = {"step": len(self._rows)}
        for name, value in values.items():
            row[name] = values[name] = value.item() if isinstance(value, torch.Tensor) else value
        self._rows.append(row)

    @property
    def config(self):
        return copy.deepcopy(self._config)

    @property
    def rows(self):
        return copy.deepcopy(self._rows)


# %% right search-results: glob
import json
from pathlib import Path


def search_results(folder, metric, mode):
    sign = -1.0 if mode == "max" else 1.0
    found = []
    for params in Path(folder).glob("*/params.json"):
        trial = params.parent
        if (trial / "error.txt").is_file():
            continue
        best = None
        with open(trial / "result.json") as file:
            for text in file:
                try:
                    report = json.loads(text)
                except json.JSONDecodeError:
                    continue
                value = report[metric]
                if value != value or value in (float("inf"), -float("inf")):
                    continue
                if best is None or sign * value < sign * best[0]:
                    best = value, report["training_iteration"]
        if best:
            found.append((trial.name, json.loads(params.read_text()), *best))
    found.sort(key=lambda one: sign * one[2])
    return found


# %% right search-results: os alone
import json
import math
import os


def reports_of(path):
    with open(path) as file:
        for line in file.read().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                return


def search_results(folder, metric, mode):
    pick = {"min": min, "max": max}[mode]
    trials = []
    for name in os.listdir(folder):
        inside = os.path.join(folder, name)
        if "error.txt" in os.listdir(inside):
            continue
        told = []
        for report in reports_of(os.path.join(inside, "result.json")):
            if math.isfinite(report[metric]):
                told.append((report[metric], report["training_iteration"]))
        if told:
            value, iteration = pick(told, key=lambda one: one[0])
            with open(os.path.join(inside, "params.json")) as file:
                trials.append((name, json.load(file), value, iteration))
    trials.sort(key=lambda one: one[2], reverse=mode == "max")
    return trials


# %% right search-results: a heap of lines
import json
import math
import pathlib


def search_results(folder, metric, mode):
    def best_of(trial):
        text = (trial / "result.json").read_text()
        rows = []
        for line in text.split("\n"):
            if line.endswith("}"):
                rows.append(json.loads(line))
        rows = [row for row in rows if math.isfinite(row[metric])]
        rows.sort(key=lambda row: row[metric], reverse=mode == "max")
        return rows[0] if rows else None

    told = []
    for trial in pathlib.Path(folder).glob("*"):
        row = None if trial.joinpath("error.txt").exists() else best_of(trial)
        if row is not None:
            with (trial / "params.json").open() as file:
                told.append((trial.name, json.load(file), row[metric], row["training_iteration"]))
    return sorted(told, key=lambda one: one[2], reverse=(mode == "max"))


# %% wrong search-results: the last report -> the-last-report-is-the-best
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = finite[-1]
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: failed ones too -> failed-trials-have-results
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: every line is read -> every-line-is-finished
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            reports.append(json.loads(line))
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: the last line goes -> a-last-line-is-unfinished
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines()[:-1]:
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: lines are counted -> lines-are-iterations
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], reports.index(best) + 1))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: zero is none -> zero-is-no-report
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if one[metric] and math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: inf counts -> infinite-is-best
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if not math.isnan(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: nan counts -> nan-can-be-sorted
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = reports
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: a nan is a failure -> a-trial-with-nan-failed
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite and len(finite) == len(reports):
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong search-results: small ones first -> small-is-first
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: one[2])


# %% wrong search-results: by name -> names-decide
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: one[0])


# %% wrong search-results: settings in second place -> no-two-values-are-equal
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    """The trials of a search, best first, read from its folder."""
    sign = 1 if mode == "min" else -1
    found = []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        settings = json.loads((trial / "params.json").read_text())
        points = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                report = json.loads(line)
            except json.JSONDecodeError:
                continue
            if math.isfinite(report[metric]):
                points.append((sign * report[metric], report["training_iteration"]))
        if points:
            value, iteration = min(points)
            found.append((value, settings, trial.name, iteration))
    return [(name, settings, sign * value, it) for value, settings, name, it in sorted(found)]


# %% wrong search-results: nan anywhere in a report -> a-nan-spoils-its-report
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    sign, found = (1 if mode == "min" else -1), []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if all(map(math.isfinite, one.values()))]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% same read-records: the order of these two lines
def read_records(path, crc):
    """The data of each whole record, a list of bytes."""
    with open(path, "rb") as file:
        content, at, found = file.read(), 0, []
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
        at = end + 4
        found.append(data)
    return found


# %% same search-results: only the sign of the factor counts, for min
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    """The trials of a search, best first, read from its folder."""
    sign, found = (2 if mode == "min" else -1), []
    for written in Path(folder).glob("*/result.json"):
        trial = written.parent
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in written.read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% same search-results: only the sign of the factor counts, for max
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    """The trials of a search, best first, read from its folder."""
    sign, found = (1 if mode == "min" else -2), []
    for written in Path(folder).glob("*/result.json"):
        trial = written.parent
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in written.read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                break
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% same search-results: json raises no other error
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    """The trials of a search, best first, read from its folder."""
    sign, found = (1 if mode == "min" else -1), []
    for written in Path(folder).glob("*/result.json"):
        trial = written.parent
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in written.read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except Exception:
                break
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% same search-results: an unfinished line is the last one
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    """The trials of a search, best first, read from its folder."""
    sign, found = (1 if mode == "min" else -1), []
    for written in Path(folder).glob("*/result.json"):
        trial = written.parent
        if (trial / "error.txt").exists():
            continue
        reports = []
        for line in written.read_text().splitlines():
            try:
                reports.append(json.loads(line))
            except ValueError:
                continue
        finite = [one for one in reports if math.isfinite(one[metric])]
        if finite:
            best = min(finite, key=lambda one: sign * one[metric])
            settings = json.loads((trial / "params.json").read_text())
            found.append((trial.name, settings, best[metric], best["training_iteration"]))
    return sorted(found, key=lambda one: sign * one[2])


# %% wrong run-record: asks for the exact type -> a-parameter-is-no-tensor
import copy

import torch


class RunRecord:
    """The config of a run and what it logged, safe from later changes."""

    def __init__(self, config):
        self.__config = copy.deepcopy(config)
        self.__rows = []

    def log(self, values):
        """Add a row of values, with its step."""
        row = {"step": len(self.__rows)}
        for name, value in values.items():
            row[name] = value.item() if type(value) is torch.Tensor else value
        self.__rows.append(row)

    @property
    def config(self):
        """The config that the run was given."""
        return copy.deepcopy(self.__config)

    @property
    def rows(self):
        """A list of all rows."""
        return copy.deepcopy(self.__rows)


# %% wrong quiet-logger: asks for the exact type -> a-parameter-is-no-tensor
class QuietLogger:
    def __init__(self, write, on=True):
        self._write, self._on, self._kept = write, on, []

    def add(self, name, value, step):
        if not self._on:
            return
        if callable(value):
            with torch.no_grad():
                value = value()
        if type(value) is torch.Tensor:
            value = value.detach().clone()
        self._kept.append((name, value, step))

    def flush(self):
        for name, value, step in self._kept:
            self._write(name, float(value), step)
        self._kept = []


# %% wrong search-results: settings compared where value and iteration are equal -> no-two-values-are-equal
import json
import math
from pathlib import Path


def search_results(folder, metric, mode):
    """The trials of a search, best first, read from its folder."""
    sign = 1 if mode == "min" else -1
    ranked = []
    for trial in Path(folder).iterdir():
        if (trial / "error.txt").exists():
            continue
        settings = json.loads((trial / "params.json").read_text())
        reports = []
        for line in (trial / "result.json").read_text().splitlines():
            try:
                report = json.loads(line)
            except json.JSONDecodeError:
                continue
            if math.isfinite(report[metric]):
                reports.append((sign * report[metric], report["training_iteration"]))
        if reports:
            ranked.append((*min(reports), settings, trial.name))
    return [
        (name, settings, sign * value, iteration)
        for value, iteration, settings, name in sorted(ranked)
    ]


# %% right quiet-logger: no_grad as a decorator
from collections import deque


class QuietLogger:
    def __init__(self, write, on=True):
        self.write, self.queue = write, deque()
        self.on = on

    @torch.no_grad()
    def add(self, name, value, step):
        if not self.on:
            return
        if not isinstance(value, (int, float, torch.Tensor)):
            value = value()
        if isinstance(value, torch.Tensor):
            value = torch.clone(value.detach())
        self.queue.append((name, value, step))

    def flush(self):
        while self.queue:
            name, value, step = self.queue[0]
            self.write(name, float(value), step)
            self.queue.popleft()
