# Answers to lesson 04, as learners type them. See "How to add an exercise" in the README.

# %% right row-major: one step to the left at a time
def row_major_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(1, size)
    return tuple(strides)


def is_row_major(shape, stride):
    if 0 in shape:
        return True
    wanted = row_major_strides(shape)
    return all(n == 1 or s == w for n, s, w in zip(shape, stride, wanted))


# %% right row-major: products of what stands to the right, and a running count
import math


def row_major_strides(shape):
    counted = [size or 1 for size in shape]
    return tuple(math.prod(counted[d + 1 :]) for d in range(len(counted)))


def is_row_major(shape, stride):
    if math.prod(shape) == 0:
        return True
    expected = 1
    for size, step in reversed(list(zip(shape, stride))):
        if size != 1:
            if step != expected:
                return False
            expected *= size
    return True


# %% wrong row-major: bytes, as in NumPy -> strides-in-bytes
def row_major_strides(shape):
    strides = []
    step = 4
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(1, size)
    return tuple(strides)


def is_row_major(shape, stride):
    return 0 in shape or all(
        n == 1 or s == w for n, s, w in zip(shape, stride, row_major_strides(shape))
    )


# %% wrong row-major: the first dimension is the fast one -> first-dimension-is-fast
def row_major_strides(shape):
    strides = []
    step = 1
    for size in shape:
        strides.append(step)
        step *= max(1, size)
    return tuple(strides)


def is_row_major(shape, stride):
    return 0 in shape or all(
        n == 1 or s == w for n, s, w in zip(shape, stride, row_major_strides(shape))
    )


# %% wrong row-major: multiplies its own size in -> stride-includes-own-size
def row_major_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        step *= max(1, size)
        strides.insert(0, step)
    return tuple(strides)


def is_row_major(shape, stride):
    return 0 in shape or all(
        n == 1 or s == w for n, s, w in zip(shape, stride, row_major_strides(shape))
    )


# %% wrong row-major: a size of 0 makes strides of 0 -> size-zero-makes-stride-zero
def row_major_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


def is_row_major(shape, stride):
    return 0 in shape or all(
        n == 1 or s == w for n, s, w in zip(shape, stride, row_major_strides(shape))
    )


# %% wrong row-major: compares every stride, size 1 too -> size-one-stride-matters
def row_major_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(1, size)
    return tuple(strides)


def is_row_major(shape, stride):
    return 0 in shape or tuple(stride) == row_major_strides(shape)


# %% wrong row-major: no gaps is enough, in any order -> gap-free-is-contiguous
def row_major_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(1, size)
    return tuple(strides)


def is_row_major(shape, stride):
    if 0 in shape:
        return True
    expected = 1
    for step, size in sorted((s, n) for n, s in zip(shape, stride) if n != 1):
        if step != expected:
            return False
        expected *= size
    return True


# %% wrong row-major: falling strides, gaps allowed -> evenly-spaced-is-contiguous
def row_major_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(1, size)
    return tuple(strides)


def is_row_major(shape, stride):
    if 0 in shape:
        return True
    kept = [(n, s) for n, s in zip(shape, stride) if n != 1]
    return all(outer[1] == inner[0] * inner[1] for outer, inner in zip(kept, kept[1:]))


# %% wrong row-major: an empty tensor gets no exception -> empty-is-not-contiguous
def row_major_strides(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(1, size)
    return tuple(strides)


def is_row_major(shape, stride):
    return all(n == 1 or s == w for n, s, w in zip(shape, stride, row_major_strides(shape)))


# %% wrong row-major: asks torch instead of deriving -> strides-need-a-tensor
def row_major_strides(shape):
    return torch.empty(shape).stride()


def is_row_major(shape, stride):
    return torch.empty_strided(shape, stride).is_contiguous()


# %% right byte-offset: the formula, bounds checked
def byte_offset(t, index):
    position = t.storage_offset()
    for i, size, step in zip(index, t.shape, t.stride()):
        if i < 0:
            i += size
        if not 0 <= i < size:
            raise IndexError(f"{i} is outside a dimension of size {size}")
        position += i * step
    return position * t.element_size()


# %% right byte-offset: range() normalises an index and refuses a bad one
def byte_offset(t, index):
    steps = [range(size)[i] * step for i, size, step in zip(index, t.size(), t.stride())]
    return (t.storage_offset() + sum(steps)) * t.dtype.itemsize


# %% wrong byte-offset: forgets where the tensor starts -> every-tensor-starts-at-zero
def byte_offset(t, index):
    position = 0
    for i, size, step in zip(index, t.shape, t.stride()):
        position += range(size)[i] * step
    return position * t.element_size()


# %% wrong byte-offset: counts elements -> offset-counts-bytes
def byte_offset(t, index):
    position = t.storage_offset()
    for i, size, step in zip(index, t.shape, t.stride()):
        position += range(size)[i] * step
    return position


# %% wrong byte-offset: every element has 4 bytes -> every-element-has-four-bytes
def byte_offset(t, index):
    position = t.storage_offset()
    for i, size, step in zip(index, t.shape, t.stride()):
        position += range(size)[i] * step
    return position * 4


# %% wrong byte-offset: adds the offset after the multiplication -> storage-offset-in-bytes
def byte_offset(t, index):
    position = 0
    for i, size, step in zip(index, t.shape, t.stride()):
        position += range(size)[i] * step
    return position * t.element_size() + t.storage_offset()


# %% wrong byte-offset: strides taken from the shape -> address-from-the-shape
def byte_offset(t, index):
    position = 0
    for i, size in zip(index, t.shape):
        position = position * size + range(size)[i]
    return (t.storage_offset() + position) * t.element_size()


# %% wrong byte-offset: a negative index goes left of the start -> negative-index-times-stride
def byte_offset(t, index):
    position = t.storage_offset()
    for i, size, step in zip(index, t.shape, t.stride()):
        if i >= size or i < -size:
            raise IndexError("out of range")
        position += i * step
    return position * t.element_size()


# %% wrong byte-offset: trusts the strides with the bounds -> strides-know-the-bounds
def byte_offset(t, index):
    position = t.storage_offset()
    for i, size, step in zip(index, t.shape, t.stride()):
        position += (i + size if i < 0 else i) * step
    return position * t.element_size()


# %% wrong byte-offset: an absolute address -> data-ptr-is-the-offset
def byte_offset(t, index):
    steps = [range(size)[i] * step for i, size, step in zip(index, t.shape, t.stride())]
    return t.data_ptr() + sum(steps) * t.element_size()


# %% wrong byte-offset: reads the element to find it -> an-element-must-be-read
def byte_offset(t, index):
    return t[tuple(index)].data_ptr() - t.untyped_storage().data_ptr()


# %% right common-bytes: two sets of bytes
def common_bytes(a, b):
    if not same_storage(a, b):
        return None

    def reached(t):
        width = t.element_size()
        return {p * width + k for p in positions(t) for k in range(width)}

    return len(reached(a) & reached(b))


# %% right common-bytes: one mark for each byte of the storage
def common_bytes(a, b):
    if a.untyped_storage()._cdata != b.untyped_storage()._cdata:
        return None
    marks = []
    for t in (a, b):
        width = t.element_size()
        mark = [False] * t.untyped_storage().nbytes()
        starts = [t.storage_offset()]
        for size, step in zip(t.shape, t.stride()):
            starts = [start + i * step for start in starts for i in range(size)]
        for start in starts:
            mark[start * width : (start + 1) * width] = [True] * width
        marks.append(mark)
    return sum(x and y for x, y in zip(*marks))


# %% wrong common-bytes: looks at the first element only -> data-ptr-is-the-storage
def common_bytes(a, b):
    if a.data_ptr() != b.data_ptr():
        return None
    width = a.element_size()
    one = {p * width + k for p in positions(a) for k in range(width)}
    width = b.element_size()
    two = {p * width + k for p in positions(b) for k in range(width)}
    return len(one & two)


# %% wrong common-bytes: compares the Python objects -> python-object-is-the-storage
def common_bytes(a, b):
    if id(a) != id(b):
        return None
    return len(set(positions(a))) * a.element_size()


# %% wrong common-bytes: one storage, so they overlap -> sharing-is-overlapping
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    return min(len(set(positions(a))) * a.element_size(), len(set(positions(b))) * b.element_size())


# %% wrong common-bytes: first to last byte -> a-range-is-filled
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    if a.numel() == 0 or b.numel() == 0:
        return 0
    start = max(facts(a).byte_range[0], facts(b).byte_range[0])
    stop = min(facts(a).byte_range[1], facts(b).byte_range[1])
    return max(0, stop - start)


# %% wrong common-bytes: counts every element of an expanded tensor -> every-element-has-its-own-bytes
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    width_a, width_b = a.element_size(), b.element_size()
    in_b = {p * width_b + k for p in positions(b) for k in range(width_b)}
    return sum(p * width_a + k in in_b for p in positions(a) for k in range(width_a))


# %% wrong common-bytes: positions compared across dtypes -> positions-ignore-the-dtype
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    return len(set(positions(a)) & set(positions(b))) * min(a.element_size(), b.element_size())


# %% wrong common-bytes: counts positions, not bytes -> positions-are-bytes
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    return len(set(positions(a)) & set(positions(b)))


# %% wrong common-bytes: equal values must be the same memory -> equal-values-same-memory
def common_bytes(a, b):
    values = set(a.flatten().tolist()) & set(b.flatten().tolist())
    return len(values) * a.element_size() if values else None


# %% wrong common-bytes: equal addresses, empty or not -> equal-addresses-same-storage
def common_bytes(a, b):
    if a.untyped_storage().data_ptr() != b.untyped_storage().data_ptr():
        return None
    one = {p * a.element_size() + k for p in positions(a) for k in range(a.element_size())}
    two = {p * b.element_size() + k for p in positions(b) for k in range(b.element_size())}
    return len(one & two)


# %% wrong common-bytes: writes and looks -> write-to-find-out
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    with torch.no_grad():
        before = b.clone()
        a.fill_(1)
        one = b.clone()
        a.fill_(0)
        two = b.clone()
    return int((one != two).sum()) * b.element_size()


# %% right flatten: looks at the strides first
def flatten(x):
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    if x.numel() > 0:
        for i, j in zip(kept, kept[1:]):
            if x.stride(i) != x.shape[j] * x.stride(j):
                raise ValueError(f"dimensions {i} and {j} cannot be merged")
    return x.view(-1)


# %% right flatten: tries the view, explains afterwards
def flatten(x):
    try:
        return x.view(x.numel())
    except RuntimeError:
        pass
    previous = None
    for d, (size, step) in enumerate(zip(x.size(), x.stride())):
        if size == 1:
            continue
        if previous is not None and x.stride(previous) != size * step:
            raise ValueError(f"no view: dimensions {previous} and {d} do not merge")
        previous = d


# %% wrong flatten: reshape, which copies when it must -> reshape-never-copies
def flatten(x):
    return x.reshape(-1)


# %% wrong flatten: lays an empty tensor's pairs out anew -> empty-has-a-layout
def flatten(x):
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    for i, j in zip(kept, kept[1:]):
        pair = x.detach().as_strided((x.shape[i], x.shape[j]), (x.stride(i), x.stride(j)))
        try:
            pair.view(-1)
        except RuntimeError as error:
            raise ValueError(f"dimensions {i} and {j}: stride does not fit") from error
    return x.view(-1)


# %% right flatten: asks view about each pair of neighbours
def flatten(x):
    if x.numel() == 0:
        return x.view(-1)
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    for i, j in zip(kept, kept[1:]):
        pair = x.detach().as_strided((x.shape[i], x.shape[j]), (x.stride(i), x.stride(j)))
        try:
            pair.view(-1)
        except RuntimeError as error:
            raise ValueError(f"dimensions {i} and {j}: stride does not fit") from error
    return x.view(-1)


# %% wrong flatten: torch's own flatten -> flatten-is-a-view
def flatten(x):
    return torch.flatten(x)


# %% wrong flatten: contiguous first -> contiguous-is-free
def flatten(x):
    return x.contiguous().view(-1)


# %% wrong flatten: refuses whatever is not contiguous -> view-needs-contiguous
def flatten(x):
    if not x.is_contiguous():
        raise ValueError("dimensions 0 and 1 cannot be merged: x is not contiguous")
    return x.view(-1)


# %% wrong flatten: reads the storage from left to right -> storage-order-is-index-order
def flatten(x):
    return x.as_strided((x.numel(),), (1,))


# %% wrong flatten: leaves the explanation to view -> view-says-which-dimensions
def flatten(x):
    try:
        return x.view(-1)
    except RuntimeError as error:
        raise ValueError(str(error)) from error


# %% wrong flatten: blames the first two dimensions -> transpose-spoils-every-pair
def flatten(x):
    try:
        return x.view(-1)
    except RuntimeError as error:
        raise ValueError("dimensions 0 and 1 cannot be merged") from error


# %% wrong flatten: a size of 1 counts as a dimension -> size-one-blocks-merging
def flatten(x):
    for i in range(x.dim() - 1):
        j = i + 1
        if x.numel() and x.stride(i) != x.shape[j] * x.stride(j):
            raise ValueError(f"dimensions {i} and {j} cannot be merged")
    return x.view(-1)


# %% wrong flatten: cuts the gradient -> data-keeps-the-graph
def flatten(x):
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    if x.numel() > 0:
        for i, j in zip(kept, kept[1:]):
            if x.stride(i) != x.shape[j] * x.stride(j):
                raise ValueError(f"dimensions {i} and {j} cannot be merged")
    return x.data.view(-1)


# %% wrong flatten: reshapes first, looks afterwards -> copy-first-ask-later
def flatten(x):
    flat = x.reshape(-1)
    if x.numel() > 0 and not same_storage(x, flat):
        kept = [d for d in range(x.dim()) if x.shape[d] != 1]
        for i, j in zip(kept, kept[1:]):
            if x.stride(i) != x.shape[j] * x.stride(j):
                raise ValueError(f"dimensions {i} and {j} cannot be merged")
    return flat


# %% right reshape-copies: merge into runs, then cut the runs
def reshape_copies(shape, stride, new_shape):
    if 0 in shape:
        return False
    runs = []
    for size, step in zip(shape, stride):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * step:
            runs[-1] = [runs[-1][0] * size, step]
        else:
            runs.append([size, step])
    wanted = [size for size in new_shape if size != 1]
    for size, _ in runs:
        while size > 1:
            if not wanted or size % wanted[0]:
                return True
            size //= wanted.pop(0)
    return False


# %% right reshape-copies: every cut between runs must be a cut of the new shape
import math


def reshape_copies(shape, stride, new_shape):
    if math.prod(shape) == 0:
        return False
    kept = [(n, s) for n, s in zip(shape, stride) if n > 1]
    cuts = set()
    for d in range(len(kept) - 1):
        (_, outer), (size, inner) = kept[d], kept[d + 1]
        if outer != size * inner:
            cuts.add(math.prod(n for n, _ in kept[d + 1 :]))
    offered = {math.prod(new_shape[d:]) for d in range(len(new_shape) + 1)}
    return not cuts <= offered


# %% right reshape-copies: walks all positions and asks whether one stride fits each new dimension
import itertools


def reshape_copies(shape, stride, new_shape):
    where = [
        sum(i * s for i, s in zip(index, stride))
        for index in itertools.product(*(range(n) for n in shape))
    ]
    if len(where) < 2:
        return False
    steps, count = [], 1
    for size in reversed(new_shape):
        steps.insert(0, where[count] - where[0] if size > 1 else 0)
        count *= size
    return where != [
        where[0] + sum(i * s for i, s in zip(index, steps))
        for index in itertools.product(*(range(n) for n in new_shape))
    ]


# %% wrong reshape-copies: always -> reshape-always-copies
def reshape_copies(shape, stride, new_shape):
    return True


# %% wrong reshape-copies: never -> reshape-never-copies
def reshape_copies(shape, stride, new_shape):
    return False


# %% wrong reshape-copies: always, unless the shape stays -> reshape-always-copies
def reshape_copies(shape, stride, new_shape):
    return tuple(shape) != tuple(new_shape)


# %% wrong reshape-copies: whenever the input is not contiguous -> view-needs-contiguous
def reshape_copies(shape, stride, new_shape):
    if 0 in shape:
        return False
    step = 1
    for size, have in reversed(list(zip(shape, stride))):
        if size != 1 and have != step:
            return True
        step *= size
    return False


# %% wrong reshape-copies: a view must be able to flatten -> reshape-goes-through-flat
def reshape_copies(shape, stride, new_shape):
    if 0 in shape or [n for n in shape if n != 1] == [n for n in new_shape if n != 1]:
        return False
    kept = [(n, s) for n, s in zip(shape, stride) if n != 1]
    return any(outer[1] != inner[0] * inner[1] for outer, inner in zip(kept, kept[1:]))


# %% wrong reshape-copies: a size of 1 blocks merging -> size-one-blocks-merging
def reshape_copies(shape, stride, new_shape):
    if 0 in shape:
        return False
    runs = []
    for size, step in zip(shape, stride):
        if runs and runs[-1][1] == size * step:
            runs[-1] = [runs[-1][0] * size, step]
        else:
            runs.append([size, step])
    wanted = list(new_shape)
    for size, _ in runs:
        while size > 1:
            while wanted and wanted[0] == 1:
                wanted.pop(0)
            if not wanted or size % wanted[0]:
                return True
            size //= wanted.pop(0)
    return False


# %% wrong reshape-copies: gaps at the end need a copy too -> flat-means-stride-one
def reshape_copies(shape, stride, new_shape):
    if 0 in shape:
        return False
    if [n for n in shape if n != 1] == [n for n in new_shape if n != 1]:
        return False
    kept = [(n, s) for n, s in zip(shape, stride) if n != 1]
    if kept and kept[-1][1] != 1:
        return True
    cuts, count = set(), 1
    for d in range(len(kept) - 1, 0, -1):
        count *= kept[d][0]
        if kept[d - 1][1] != kept[d][0] * kept[d][1]:
            cuts.add(count)
    offered, count = set(), 1
    for size in reversed(new_shape):
        count *= size
        offered.add(count)
    return not cuts <= offered


# %% wrong reshape-copies: splitting a dimension copies -> splitting-copies
def reshape_copies(shape, stride, new_shape):
    if 0 in shape:
        return False
    old = [(n, s) for n, s in zip(shape, stride) if n != 1]
    for size in (n for n in new_shape if n != 1):
        if not old:
            return True
        have, step = old.pop(0)
        while have < size and old and step == old[0][0] * old[0][1]:
            more, step = old.pop(0)
            have *= more
        if have != size:
            return True
    return bool(old)


# %% wrong reshape-copies: stride 0 always copies -> expanded-cannot-be-viewed
import math


def reshape_copies(shape, stride, new_shape):
    if math.prod(shape) == 0:
        return False
    kept = [(n, s) for n, s in zip(shape, stride) if n > 1]
    if any(step == 0 for _, step in kept):
        return [n for n in shape if n > 1] != [n for n in new_shape if n > 1]
    cuts = set()
    for d in range(len(kept) - 1):
        if kept[d][1] != kept[d + 1][0] * kept[d + 1][1]:
            cuts.add(math.prod(n for n, _ in kept[d + 1 :]))
    return not cuts <= {math.prod(new_shape[d:]) for d in range(len(new_shape) + 1)}


# %% wrong reshape-copies: nothing special about empty -> empty-has-a-layout
import math


def reshape_copies(shape, stride, new_shape):
    kept = [(n, s) for n, s in zip(shape, stride) if n != 1]
    cuts = set()
    for d in range(len(kept) - 1):
        if kept[d][1] != kept[d + 1][0] * kept[d + 1][1]:
            cuts.add(math.prod(n for n, _ in kept[d + 1 :]))
    if 0 in shape and list(shape) != list(new_shape):
        return bool(cuts)
    return not cuts <= {math.prod(new_shape[d:]) for d in range(len(new_shape) + 1)}


# %% wrong reshape-copies: tries it -> layout-must-be-tried
def reshape_copies(shape, stride, new_shape):
    t = torch.empty_strided(shape, stride)
    try:
        t.view(new_shape)
    except RuntimeError:
        return True
    return False


# %% right windows: unfold
def windows(x, size, step):
    if len(x) < size:
        raise ValueError(f"{len(x)} elements are fewer than one window of {size}")
    return x.unfold(0, size, step)


# %% right windows: strides by hand
def windows(x, size, step):
    count = (x.numel() - size) // step + 1
    if x.numel() < size:
        raise ValueError("x is shorter than one window")
    (s,) = x.stride()
    return torch.as_strided(x, (count, size), (step * s, s), x.storage_offset())


# %% right windows: every window, then every step-th of them
def windows(x, size, step):
    if x.shape[0] < size:
        raise ValueError("too short")
    all_windows = x.as_strided((x.shape[0] - size + 1, size), (x.stride(0), x.stride(0)))
    return all_windows[::step]


# %% wrong windows: stacks the slices -> stacked-views-share
def windows(x, size, step):
    if len(x) < size:
        raise ValueError("too short")
    return torch.stack([x[i : i + size] for i in range(0, len(x) - size + 1, step)])


# %% wrong windows: picks with an index tensor -> index-tensor-is-a-view
def windows(x, size, step):
    if len(x) < size:
        raise ValueError("too short")
    starts = torch.arange(0, len(x) - size + 1, step)
    return x[starts[:, None] + torch.arange(size)]


# %% wrong windows: counts strides in elements of x -> as-strided-counts-in-x
def windows(x, size, step):
    if len(x) < size:
        raise ValueError("too short")
    count = (len(x) - size) // step + 1
    return x.as_strided((count, size), (step, 1))


# %% wrong windows: starts at the beginning of the storage -> every-tensor-starts-at-zero
def windows(x, size, step):
    if len(x) < size:
        raise ValueError("too short")
    count = (len(x) - size) // step + 1
    s = x.stride(0)
    return x.as_strided((count, size), (step * s, s), 0)


# %% wrong windows: one window for each start -> as-strided-stops-at-the-end
def windows(x, size, step):
    if len(x) < size:
        raise ValueError("too short")
    count = len(x) // step
    s = x.stride(0)
    return x.as_strided((count, size), (step * s, s))


# %% wrong windows: one window after the other -> windows-cannot-overlap
def windows(x, size, step):
    if len(x) < size:
        raise ValueError("too short")
    count = (len(x) - size) // step + 1
    s = x.stride(0)
    whole = len(x) // size
    return x.as_strided((min(count, whole), size), (size * s, s))


# %% wrong windows: windows in columns -> rows-and-columns-of-strides
def windows(x, size, step):
    if len(x) < size:
        raise ValueError("too short")
    return x.unfold(0, size, step).t()


# %% wrong windows: makes the input contiguous first -> contiguous-is-free
def windows(x, size, step):
    if len(x) < size:
        raise ValueError("too short")
    return x.contiguous().unfold(0, size, step)


# %% wrong windows: works on the data -> data-keeps-the-graph
def windows(x, size, step):
    if len(x) < size:
        raise ValueError("too short")
    return x.detach().unfold(0, size, step)


# %% wrong windows: no window, no error -> as-strided-counts-to-zero
def windows(x, size, step):
    count = max(0, (len(x) - size) // step + 1)
    s = x.stride(0)
    return x.as_strided((count, size), (step * s, s))


# %% right dense-rows: the last stride decides
def dense_rows(x):
    if x.dim() == 0 or x.numel() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    return x.contiguous()


# %% right dense-rows: asks one row
def dense_rows(x):
    if x.numel() == 0:
        return x
    row = x
    while row.dim() > 1:
        row = row[0]
    return x if row.is_contiguous() else x.clone(memory_format=torch.contiguous_format)


# %% wrong dense-rows: contiguous, needed or not -> rows-need-a-contiguous-tensor
def dense_rows(x):
    return x.contiguous()


# %% wrong dense-rows: a clone whatever comes -> a-clone-costs-nothing
def dense_rows(x):
    return x.clone(memory_format=torch.contiguous_format)


# %% wrong dense-rows: clone for contiguous -> clone-is-contiguous
def dense_rows(x):
    if x.dim() == 0 or x.numel() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    return x.clone()


# %% wrong dense-rows: reshape for contiguous -> reshape-makes-contiguous
def dense_rows(x):
    return x.reshape(x.shape)


# %% wrong dense-rows: the gradient stops at the copy -> data-keeps-the-graph
def dense_rows(x):
    if x.dim() == 0 or x.numel() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    return x.detach().contiguous().requires_grad_(x.requires_grad)


# %% wrong dense-rows: size 1 is no exception -> size-one-stride-matters
def dense_rows(x):
    if x.dim() == 0 or x.numel() == 0 or x.stride(-1) == 1:
        return x
    return x.clone(memory_format=torch.contiguous_format)


# %% wrong dense-rows: stride 0 is close enough -> stride-zero-is-dense
def dense_rows(x):
    if x.dim() == 0 or x.numel() == 0 or x.shape[-1] == 1 or x.stride(-1) <= 1:
        return x
    return x.contiguous()


# %% wrong dense-rows: transposes until it fits -> transpose-mends-the-rows
def dense_rows(x):
    if x.dim() == 0 or x.numel() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    if x.dim() == 2:
        return x.t().contiguous().view(x.shape)
    return x.contiguous()


# %% right hwc-to-chw: permute by rank
def to_chw(images):
    if images.dim() == 3:
        return images.permute(2, 0, 1)
    return images.permute(0, 3, 1, 2)


def view_is_harmless(h, w, c):
    return c == 1 or h * w == 1


# %% right hwc-to-chw: movedim, and a trial on numbered elements
def to_chw(images):
    return images.movedim(-1, -3)


def view_is_harmless(h, w, c):
    image = torch.arange(h * w * c).view(h, w, c)
    return torch.equal(image.view(c, h, w), image.permute(2, 0, 1))


# %% right hwc-to-chw: two transposes
def to_chw(images):
    return images.transpose(-1, -2).transpose(-2, -3)


def view_is_harmless(h, w, c):
    return 1 in (c, h * w)


# %% wrong hwc-to-chw: view, in new clothes -> view-is-a-transpose
def to_chw(images):
    h, w, c = images.shape[-3:]
    return images.reshape(*images.shape[:-3], c, h, w)


def view_is_harmless(h, w, c):
    return c == 1 or h * w == 1


# %% wrong hwc-to-chw: one transpose for three dimensions -> transpose-turns-the-image
def to_chw(images):
    return images.transpose(-1, -3)


def view_is_harmless(h, w, c):
    return c == 1 or h * w == 1


# %% wrong hwc-to-chw: permute read the other way round -> permute-says-where-to
def to_chw(images):
    if images.dim() == 3:
        return images.permute(1, 2, 0)
    return images.permute(0, 2, 3, 1)


def view_is_harmless(h, w, c):
    return c == 1 or h * w == 1


# %% wrong hwc-to-chw: contiguous to be safe -> permute-needs-contiguous
def to_chw(images):
    return images.movedim(-1, -3).contiguous()


def view_is_harmless(h, w, c):
    return c == 1 or h * w == 1


# %% wrong hwc-to-chw: dimension 2 is always the channel -> dimensions-count-from-the-left
def to_chw(images):
    return images.movedim(2, 0)


def view_is_harmless(h, w, c):
    return c == 1 or h * w == 1


# %% wrong hwc-to-chw: a square image hides it -> square-hides-the-bug
def to_chw(images):
    return images.movedim(-1, -3)


def view_is_harmless(h, w, c):
    return h == w or c == 1 or h * w == 1


# %% wrong hwc-to-chw: no size hides it -> a-wrong-view-always-shows
def to_chw(images):
    return images.movedim(-1, -3)


def view_is_harmless(h, w, c):
    return False


# %% wrong hwc-to-chw: one row or one column hides it -> one-row-hides-the-bug
def to_chw(images):
    return images.movedim(-1, -3)


def view_is_harmless(h, w, c):
    return c == 1 or h == 1 or w == 1


# %% right linear: matmul with the view
def linear(x, weight, bias=None):
    y = x @ weight.t()
    return y if bias is None else y + bias


# %% right linear: addmm on rows
def linear(x, weight, bias=None):
    rows = x.reshape(x.shape[:-1].numel(), x.shape[-1])
    if bias is None:
        y = torch.mm(rows, weight.t())
    else:
        y = torch.addmm(bias, rows, weight.t())
    return y.reshape(*x.shape[:-1], weight.shape[0])


# %% right linear: the transposed product
def linear(x, weight, bias=None):
    y = torch.matmul(weight, x.unsqueeze(-1)).squeeze(-1)
    return y if bias is None else y + bias


# %% wrong linear: weight as (in, out) -> weight-is-in-out
def linear(x, weight, bias=None):
    y = x @ weight
    return y if bias is None else y + bias


# %% wrong linear: view as transpose -> view-is-a-transpose
def linear(x, weight, bias=None):
    y = x @ weight.reshape(weight.shape[1], weight.shape[0])
    return y if bias is None else y + bias


# %% wrong linear: a contiguous transpose first -> matmul-needs-contiguous
def linear(x, weight, bias=None):
    y = x @ weight.t().contiguous()
    return y if bias is None else y + bias


# %% wrong linear: multiplies everything, then sums -> broadcasting-is-free
def linear(x, weight, bias=None):
    y = (x.unsqueeze(-2) * weight).sum(-1)
    return y if bias is None else y + bias


# %% wrong linear: turns the weight itself -> transpose-in-place-is-local
def linear(x, weight, bias=None):
    with torch.no_grad():
        weight.t_()
    y = x @ weight
    return y if bias is None else y + bias


# %% wrong linear: data of the weight -> data-keeps-the-graph
def linear(x, weight, bias=None):
    y = x @ weight.data.t()
    return y if bias is None else y + bias


# %% wrong linear: addmm on whatever comes -> addmm-takes-any-batch
def linear(x, weight, bias=None):
    if bias is None:
        return x @ weight.t()
    return torch.addmm(bias, x, weight.t())


# %% wrong linear: calls the layer it should be -> the-library-does-it-by-hand
def linear(x, weight, bias=None):
    return torch.nn.functional.linear(x, weight, bias)


# %% wrong linear: adds the bias to the input's place in memory -> out-argument-keeps-the-graph
def linear(x, weight, bias=None):
    y = torch.empty(*x.shape[:-1], weight.shape[0], dtype=x.dtype)
    with torch.no_grad():
        torch.matmul(x, weight.t(), out=y)
    return y if bias is None else y + bias


# %% right folk-rules: a table of counterexamples
def judge(rule):
    t = torch.zeros(3, 2).t()
    return {
        "view": (torch.arange(10)[::2], (5, 1)),
        "reshape copies": (torch.zeros(4), (2, 2)),
        "reshape contiguous": (t, (2, 3)),
        "no gaps": t,
        "transpose": torch.zeros(3, 1),
        "contiguous copies": torch.zeros(1),
        "clone": torch.zeros(2, 3, 4).permute(2, 0, 1),
        "aligned": torch.zeros(100)[1:],
        "sharing": tuple(torch.zeros(8).chunk(2)),
    }.get(rule)


# %% right folk-rules: one branch for each rule
def judge(rule):
    x = torch.arange(12.0).view(3, 4)
    if rule in ("view shares", "same values", "flatten"):
        return None
    if rule == "view":
        return x.t(), (2, 2, 3)
    if rule == "reshape copies":
        return x, (4, 3)
    if rule == "reshape contiguous":
        return x[:, ::2], (6,)
    if rule in ("no gaps", "clone"):
        return x.transpose(0, 1)
    if rule == "transpose":
        return torch.ones(1, 5)
    if rule == "contiguous copies":
        return x
    if rule == "aligned":
        return x[0, 2:]
    return x[:, :2], x[:, 2:]


# %% wrong folk-rules: believes that view needs contiguity -> view-needs-contiguous
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: takes a slice of rows for one that is not contiguous -> view-needs-contiguous
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x[1:], (3,)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: believes that reshape copies -> reshape-always-copies
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: believes that reshape makes rows -> reshape-makes-contiguous
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: believes that view copies when it must -> view-may-copy
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
        "view shares": (x.t(), (6,)),
    }.get(rule)


# %% wrong folk-rules: believes that no gaps is enough -> gap-free-is-contiguous
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: refutes it with a tensor that has gaps -> gap-free-is-contiguous
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x[:, ::2],
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: believes that a transpose is never contiguous -> transpose-is-never-contiguous
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: believes that contiguous copies -> contiguous-always-copies
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: believes that a clone is contiguous -> clone-is-contiguous
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: gives an expanded tensor for the clone -> clone-is-contiguous
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": torch.zeros(3, 1).expand(3, 4),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: believes that contiguous means aligned -> contiguity-is-alignment
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: gives an aligned transpose -> contiguity-is-alignment
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.t(),
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: believes that only matrices can be flattened by view -> view-needs-two-dimensions
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
        "flatten": torch.zeros(2, 3, 4),
    }.get(rule)


# %% wrong folk-rules: believes that sharing is overlapping -> sharing-is-overlapping
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x, x.t()),
    }.get(rule)


# The following came from readers of the tasks who had not seen the tests.


# %% wrong row-major: lists for tuples -> a-list-is-a-tuple
def row_major_strides(shape):
    out, s = [], 1
    for n in shape[::-1]:
        out.insert(0, s)
        s *= n or 1
    return out


def is_row_major(shape, stride):
    return 0 in shape or all(
        n == 1 or a == b for n, a, b in zip(shape, stride, row_major_strides(shape))
    )


# %% wrong row-major: asks torch, but only the second time -> strides-need-a-tensor
def row_major_strides(shape):
    out, s = [], 1
    for n in shape[::-1]:
        out.insert(0, s)
        s *= n or 1
    return tuple(out)


def is_row_major(shape, stride):
    return torch.empty_strided(shape, stride).is_contiguous()


# %% wrong row-major: a tensor without memory -> strides-need-a-tensor
def row_major_strides(shape):
    return torch.empty(shape, device="meta").stride()


def is_row_major(shape, stride):
    return torch.empty_strided(shape, stride, device="meta").is_contiguous()


# %% wrong row-major: imports the course's own -> the-course-has-it-already
from course.inspection.strides import row_major_strides, is_contiguous as is_row_major


# %% wrong row-major: skips a size of 1 at the end only -> size-one-stride-matters
def row_major_strides(shape):
    out, s = [], 1
    for n in shape[::-1]:
        out.insert(0, s)
        s *= n or 1
    return tuple(out)


def is_row_major(shape, stride):
    if 0 in shape:
        return True
    r = row_major_strides(shape)
    return all(
        a == b or (n == 1 and i == len(shape) - 1)
        for i, (n, a, b) in enumerate(zip(shape, stride, r))
    )


# %% right row-major: the rest of the shape first
def row_major_strides(shape):
    if not shape:
        return ()
    rest = row_major_strides(shape[1:])
    if not rest:
        return (1,)
    return (max(shape[1], 1) * rest[0], *rest)


def is_row_major(shape, stride):
    if any(n == 0 for n in shape):
        return True
    return all(n == 1 or s == w for n, s, w in zip(shape, stride, row_major_strides(shape)))


# %% wrong byte-offset: wraps around at the end -> strides-know-the-bounds
def byte_offset(t, index):
    pos = t.storage_offset()
    for i, n, s in zip(index, t.shape, t.stride()):
        pos += (i % n) * s if n else 0
    return pos * t.element_size()


# %% wrong byte-offset: checks the first index only -> strides-know-the-bounds
def byte_offset(t, index):
    pos = t.storage_offset()
    for d, (i, n, s) in enumerate(zip(index, t.shape, t.stride())):
        if d == 0 and not -n <= i < n:
            raise IndexError
        pos += (i + n if i < 0 else i) * s
    return pos * t.element_size()


# %% wrong byte-offset: raises another error -> strides-know-the-bounds
def byte_offset(t, index):
    pos = t.storage_offset()
    for i, n, s in zip(index, t.shape, t.stride()):
        if not -n <= i < n:
            raise ValueError("out of range")
        pos += (i % n) * s
    return pos * t.element_size()


# %% wrong byte-offset: reads a detached alias -> an-element-must-be-read
def byte_offset(t, index):
    return t.detach()[index].storage_offset() * t.element_size()


# %% wrong byte-offset: a float -> a-place-may-be-a-float
def byte_offset(t, index):
    pos = t.storage_offset()
    for i, n, s in zip(index, t.shape, t.stride()):
        if not -n <= i < n:
            raise IndexError
        pos += (i % n) * s
    return float(pos * t.element_size())


# %% wrong byte-offset: counts from the tensor's own start -> every-tensor-starts-at-zero
def byte_offset(t, index):
    pos = 0
    for i, n, s in zip(index, t.shape, t.stride()):
        if not -n <= i < n:
            raise IndexError
        pos += (i % n) * s
    return pos * t.element_size()


# %% wrong byte-offset: knows four dtypes by name -> every-element-has-four-bytes
def byte_offset(t, index):
    pos = t.storage_offset()
    for i, n, s in zip(index, t.shape, t.stride()):
        if not -n <= i < n:
            raise IndexError
        pos += (i % n) * s
    return pos * {"torch.float32": 4, "torch.float64": 8, "torch.int64": 8, "torch.int32": 4}.get(
        str(t.dtype), 4
    )


# %% right byte-offset: the list of positions
def byte_offset(t, index):
    flat = 0
    for i, n in zip(index, t.shape):
        flat = flat * n + range(n)[i]
    return positions(t)[flat] * t.element_size()


# %% right byte-offset: the facts of the tensor
def byte_offset(t, index):
    f = facts(t)
    steps = []
    for i, n, s in zip(index, f.shape, f.stride):
        if i not in range(-n, n):
            raise IndexError
        steps.append((i + n) % n * s)
    return f.itemsize * (f.storage_offset + sum(steps))


# %% wrong flatten: an empty tensor is no exception -> empty-has-a-layout
def flatten(x):
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    for i, j in zip(kept, kept[1:]):
        if x.stride(i) != x.shape[j] * x.stride(j):
            raise ValueError(f"dimensions {i} and {j} cannot be merged")
    return x.view(-1)


# %% wrong flatten: names every pair -> transpose-spoils-every-pair
def flatten(x):
    try:
        return x.view(-1)
    except RuntimeError:
        raise ValueError("0 and 1, 0 and 2, 1 and 2, 0 and 3, 1 and 3, 2 and 3, 3 and 4")


# %% wrong flatten: flattens the caller's own tensor -> a-view-may-be-made-in-place
def flatten(x):
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    if x.numel():
        for i, j in zip(kept, kept[1:]):
            if x.stride(i) != x.shape[j] * x.stride(j):
                raise ValueError(f"dimensions {i} and {j} cannot be merged")
    if not x.requires_grad and x.is_contiguous():
        return x.resize_(x.numel())
    return x.view(-1)


# %% wrong flatten: a clone on the way -> copy-first-ask-later
def flatten(x):
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    y = x.clone()
    if x.numel():
        for i, j in zip(kept, kept[1:]):
            if x.stride(i) != x.shape[j] * x.stride(j):
                raise ValueError(f"dimensions {i} and {j} cannot be merged")
    return x.view(-1)


# %% wrong flatten: cuts the graph of intermediates -> data-keeps-the-graph
def flatten(x):
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    if x.numel():
        for i, j in zip(kept, kept[1:]):
            if x.stride(i) != x.shape[j] * x.stride(j):
                raise ValueError(f"dimensions {i} and {j} cannot be merged")
    return (x.detach() if not x.is_leaf else x).view(-1)


# %% right flatten: as_strided with the last stride
def flatten(x):
    dims = [(d, n, s) for d, (n, s) in enumerate(zip(x.shape, x.stride())) if n != 1]
    if x.numel() > 0:
        for (i, _, si), (j, nj, sj) in zip(dims, dims[1:]):
            if si != nj * sj:
                raise ValueError(f"cannot merge {i} and {j}")
        step = dims[-1][2] if dims else 1
        return x.as_strided((x.numel(),), (step,))
    return x.view(0)


# %% right flatten: itself where it is flat already
def flatten(x):
    if x.dim() == 1:
        return x
    if x.numel():
        last = None
        for d in range(x.dim()):
            if x.size(d) == 1:
                continue
            if last is not None and x.stride(last) != x.size(d) * x.stride(d):
                raise ValueError(f"Dimensions {last} and {d} do not merge (strides {x.stride()})")
            last = d
    return x.view(-1)


# %% wrong dense-rows: there and back by reshape -> reshape-makes-contiguous
def dense_rows(x):
    return x.reshape(-1).reshape(x.shape)


# %% wrong dense-rows: a view of itself -> reshape-makes-contiguous
def dense_rows(x):
    if x.dim() == 0 or x.numel() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x[...]
    return x.contiguous()


# %% wrong dense-rows: copies what is contiguous -> a-clone-costs-nothing
def dense_rows(x):
    if (
        x.dim() == 0
        or x.numel() == 0
        or x.shape[-1] == 1
        or (x.stride(-1) == 1 and not x.is_contiguous())
    ):
        return x
    return x.clone(memory_format=torch.contiguous_format)


# %% wrong dense-rows: copies under no_grad -> data-keeps-the-graph
def dense_rows(x):
    if x.dim() == 0 or x.numel() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    with torch.no_grad():
        return x.contiguous()


# %% wrong dense-rows: leaves the grad mode off -> a-grad-mode-ends-by-itself
def dense_rows(x):
    if x.dim() == 0 or x.numel() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    y = x.contiguous()
    torch.set_grad_enabled(False)
    return y


# %% wrong dense-rows: through NumPy -> data-keeps-the-graph
def dense_rows(x):
    if x.dim() == 0 or x.numel() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    import numpy as np

    return torch.from_numpy(np.ascontiguousarray(x.detach().numpy()))


# %% right dense-rows: fills an empty tensor
def dense_rows(x):
    if x.ndim and x.numel() and x.size(-1) > 1 and x.stride(-1) != 1:
        out = torch.empty(x.shape, dtype=x.dtype)
        out.copy_(x)
        return out
    return x


# %% right dense-rows: reshape, then view
def dense_rows(x):
    last = x.stride()[-1:] or (1,)
    if last == (1,) or x.numel() == 0 or x.shape[-1] == 1:
        return x
    return torch.cat([x.reshape(-1), x.new_empty(0)]).view(x.shape)


# %% wrong hwc-to-chw: turns the caller's image -> a-view-may-be-made-in-place
def to_chw(images):
    return images.transpose_(-1, -2).transpose_(-2, -3)


def view_is_harmless(h, w, c):
    return c == 1 or h * w == 1


# %% wrong hwc-to-chw: stacks the images of a batch -> permute-needs-contiguous
def to_chw(images):
    if images.dim() == 4:
        return torch.stack([i.permute(2, 0, 1) for i in images])
    return images.permute(2, 0, 1)


def view_is_harmless(h, w, c):
    return c == 1 or h * w == 1


# %% wrong hwc-to-chw: rows for columns in single images -> transpose-turns-the-image
def to_chw(images):
    if images.dim() == 4:
        return images.permute(3, 0, 1, 2).transpose(0, 1)
    return images.permute(2, 1, 0)


def view_is_harmless(h, w, c):
    return c == 1 or h * w == 1


# %% wrong hwc-to-chw: three equal sizes -> square-hides-the-bug
def to_chw(images):
    return images.movedim(-1, -3)


def view_is_harmless(h, w, c):
    return c == 1 or h * w == 1 or h == w == c


# %% wrong hwc-to-chw: one pixel is overlooked -> a-wrong-view-always-shows
def to_chw(images):
    return images.movedim(-1, -3)


def view_is_harmless(h, w, c):
    return h == w == c == 1 or c == 1


# %% wrong hwc-to-chw: tries it on random pixels -> a-random-try-proves-it
def to_chw(images):
    return images.movedim(-1, -3)


def view_is_harmless(h, w, c):
    x = torch.rand(h, w, c)
    return torch.equal(x.view(c, h, w), x.permute(2, 0, 1))


# %% right hwc-to-chw: einsum
def to_chw(images):
    return torch.einsum("...hwc->...chw", images)


def view_is_harmless(h, w, c):
    return not (c > 1 and h * w > 1)


# %% right hwc-to-chw: strides by hand
def to_chw(images):
    *n, h, w, c = images.shape
    *sn, sh, sw, sc = images.stride()
    return images.as_strided((*n, c, h, w), (*sn, sc, sh, sw))


def view_is_harmless(h, w, c):
    return min(c, h * w) == 1


# %% wrong common-bytes: one width for both -> positions-ignore-the-dtype
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    w = a.element_size()
    f = lambda t: {p * w + k for p in positions(t) for k in range(w)}
    return len(f(a) & f(b))


# %% wrong common-bytes: elements that begin at one byte -> positions-ignore-the-dtype
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    sa = {p * a.element_size() for p in positions(a)}
    sb = {p * b.element_size() for p in positions(b)}
    return len(sa & sb) * min(a.element_size(), b.element_size())


# %% wrong common-bytes: writes what is there already -> write-to-find-out
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    s = a.untyped_storage()
    old = bytes(s.tolist())
    f = lambda t: {p * t.element_size() + k for p in positions(t) for k in range(t.element_size())}
    with torch.no_grad():
        a.copy_(a.clone()) if 0 not in a.stride() and a.numel() == len(set(positions(a))) else None
    return len(f(a) & f(b))


# %% wrong common-bytes: compares the bases of the views -> python-object-is-the-storage
def common_bytes(a, b):
    base = lambda t: t if t._base is None else t._base
    if base(a) is not base(b):
        return None
    f = lambda t: {p * t.element_size() + k for p in positions(t) for k in range(t.element_size())}
    return len(f(a) & f(b))


# %% wrong common-bytes: the smaller of the two where they meet -> sharing-is-overlapping
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    return min(a.nbytes, b.nbytes) if set(positions(a)) & set(positions(b)) else 0


# %% right common-bytes: marks in NumPy
import numpy as np


def common_bytes(a, b):
    if facts(a).storage != facts(b).storage:
        return None
    n = a.untyped_storage().nbytes()
    m = np.zeros((2, n + 16), dtype=bool)
    for row, t in zip(m, (a, b)):
        for p in positions(t):
            row[p * t.itemsize : (p + 1) * t.itemsize] = True
    return int((m[0] & m[1]).sum())


# %% right common-bytes: pair by pair
def common_bytes(a, b):
    if not same_storage(a, b):
        return None
    wa, wb = a.element_size(), b.element_size()
    pa, pb = sorted(set(positions(a))), sorted(set(positions(b)))
    total = 0
    for p in pa:
        for q in pb:
            total += max(0, min((p + 1) * wa, (q + 1) * wb) - max(p * wa, q * wb))
    return total


# %% wrong reshape-copies: imports the course's own -> the-course-has-it-already
def reshape_copies(shape, stride, new_shape):
    from course.inspection.strides import view_strides

    return view_strides(shape, stride, new_shape) is None


# %% wrong reshape-copies: tries it without memory -> layout-must-be-tried
def reshape_copies(shape, stride, new_shape):
    x = torch.empty_strided(shape, stride, device="meta")
    try:
        x.view(new_shape)
        return False
    except RuntimeError:
        return True


# %% wrong reshape-copies: lets NumPy try -> layout-must-be-tried
import numpy as np


def reshape_copies(shape, stride, new_shape):
    if 0 in shape:
        return False
    a = np.lib.stride_tricks.as_strided(np.zeros(20000, dtype=np.int8), shape, stride)
    return not np.shares_memory(a, a.reshape(new_shape))


# %% right reshape-copies: cuts, from the right
def reshape_copies(shape, stride, new_shape):
    if 0 in shape:
        return False
    cuts, size = set(), 1
    last = None
    for n, s in reversed(list(zip(shape, stride))):
        if n == 1:
            continue
        if last is not None and s != last:
            cuts.add(size)
        size *= n
        last = s * n
    ends, size = {1}, 1
    for n in reversed(new_shape):
        size *= n
        ends.add(size)
    return bool(cuts - ends)


# %% wrong windows: clones what requires grad -> contiguous-is-free
def windows(x, size, step):
    if len(x) < size:
        raise ValueError
    return (x.clone() if x.requires_grad else x).unfold(0, size, step)


# %% wrong windows: switches requires_grad on -> requires-grad-belongs-to-the-result
def windows(x, size, step):
    if len(x) < size:
        raise ValueError
    return (
        x.requires_grad_().unfold(0, size, step)
        if x.is_floating_point() and x.is_leaf
        else x.unfold(0, size, step)
    )


# %% wrong windows: under no_grad -> data-keeps-the-graph
def windows(x, size, step):
    if len(x) < size:
        raise ValueError
    with torch.no_grad():
        return x.unfold(0, size, step)


# %% right windows: unfold, and its error in other words
def windows(x, size, step):
    try:
        return x.unfold(-1, size, step)
    except RuntimeError as e:
        raise ValueError(str(e)) from e


# %% wrong linear: the same by a private name -> the-library-does-it-by-hand
def linear(x, weight, bias=None):
    return torch._C._nn.linear(x, weight, bias)


# %% wrong linear: the same as an operator -> the-library-does-it-by-hand
def linear(x, weight, bias=None):
    return torch.ops.aten.linear(x, weight, bias)


# %% wrong linear: bilinear with ones -> the-library-does-it-by-hand
def linear(x, weight, bias=None):
    return torch.nn.functional.bilinear(
        torch.ones(*x.shape[:-1], 1, dtype=x.dtype), x, weight.unsqueeze(1), bias
    )


# %% wrong linear: leaves out a bias of zeros -> zero-is-none
def linear(x, weight, bias=None):
    y = x @ weight.t()
    return y + bias if bias is not None and bias.any() else y


# %% wrong linear: the transpose through a flat copy -> matmul-needs-contiguous
def linear(x, weight, bias=None):
    wt = weight.t().reshape(-1).view(weight.shape[1], weight.shape[0])
    y = x @ wt
    return y if bias is None else y + bias


# %% right linear: einsum
def linear(x, weight, bias=None):
    y = torch.einsum("...i,oi->...o", x, weight)
    return y + bias if bias is not None else y


# %% right linear: the bias into its own result
def linear(x, weight, bias=None):
    y = torch.matmul(x, weight.mT)
    if bias is not None:
        y += bias
    return y


# %% right linear: tensordot
def linear(x, weight, bias=None):
    y = torch.tensordot(x, weight, dims=([-1], [1]))
    if bias is not None:
        y = y + bias
    return y


# %% wrong folk-rules: parts that overlap -> sharing-is-overlapping
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x.view(-1)[:4], x.view(-1)[2:]),
    }.get(rule)


# %% wrong folk-rules: a shape that view refuses -> view-needs-contiguous
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": (x.t(), (6,)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% wrong folk-rules: forgets the shapes -> reshape-always-copies
def judge(rule):
    x = torch.arange(6.0).view(2, 3)
    return {
        "view": x.t(),
        "reshape copies": x,
        "reshape contiguous": x.t(),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }.get(rule)


# %% right folk-rules: a fresh matrix every time
def judge(rule):
    m = torch.rand(4, 4, generator=torch.Generator().manual_seed(0))
    if rule == "view":
        return m[:, ::2], (8,)
    if rule == "reshape copies":
        return m, (4, 4)
    if rule == "reshape contiguous":
        return m[:, :2], (2, 2, 2)
    if rule == "no gaps":
        return m.t()
    if rule == "transpose":
        return m[:, :1].contiguous()
    if rule == "contiguous copies":
        return m[1:]
    if rule == "clone":
        return m.t()
    if rule == "aligned":
        return m[0, 1:3]
    if rule == "sharing":
        return m[:, ::2], m[:, 1::2]


# %% right folk-rules: other kinds of shapes
def judge(rule):
    x = torch.zeros(2, 3)
    d = {
        "view": (x.t(), [3, 2]),
        "reshape copies": (x, [3, 2]),
        "reshape contiguous": (x.t(), torch.Size([3, 2])),
        "no gaps": x.t(),
        "transpose": torch.zeros(0, 3),
        "contiguous copies": torch.tensor(1),
        "clone": x.t(),
        "aligned": torch.zeros(9)[1:2],
        "sharing": [x[:, 0], x[:, 1]],
    }
    return d[rule] if rule in d else None


# Changes to the solutions that make no difference.


# %% same row-major: equality does not mind which comes first
def row_major_strides(shape):
    """The strides of a new tensor of this shape, as a tuple.

    row_major_strides((2, 3, 4)) == (12, 4, 1)
    """
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_row_major(shape, stride):
    """Whether a tensor of this shape and stride is contiguous.

    is_row_major((3, 2), (1, 3)) == False
    """
    if 0 in shape:
        return True
    wanted = row_major_strides(shape)
    return all(n == 1 or s == w for n, s, w in zip(shape, wanted, stride, strict=True))


# %% same common-bytes: whether two share a storage does not depend on their order
def common_bytes(a, b):
    """None for different storages, else how many bytes both tensors reach.

    x = torch.zeros(4)
    common_bytes(x[:3], x[2:]) == 4
    """
    if not same_storage(b, a):
        return None

    def reached(t):
        width = t.element_size()
        return {p * width + k for p in positions(t) for k in range(width)}

    return len(reached(a) & reached(b))


# %% same flatten: one element has no two dimensions to merge
def flatten(x):
    """All elements of x as a one-dimensional view; ValueError where there is none.

    flatten(torch.zeros(2, 3).t())  ->  ValueError: dimensions 0 and 1 cannot be merged
    """
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    if x.numel() > 1:
        for i, j in itertools.pairwise(kept):
            if x.stride(i) != x.shape[j] * x.stride(j):
                raise ValueError(f"dimensions {i} and {j} cannot be merged")
    return x.view(-1)


# %% same flatten: where every pair merges, reshape gives the view
def flatten(x):
    """All elements of x as a one-dimensional view; ValueError where there is none.

    flatten(torch.zeros(2, 3).t())  ->  ValueError: dimensions 0 and 1 cannot be merged
    """
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    if x.numel() > 0:
        for i, j in itertools.pairwise(kept):
            if x.stride(i) != x.shape[j] * x.stride(j):
                raise ValueError(f"dimensions {i} and {j} cannot be merged")
    return x.reshape(-1)


# %% same reshape-copies: sizes of 1 divide everything
def reshape_copies(shape, stride, new_shape):
    """Whether reshape(new_shape) has to copy a tensor of this shape and stride.

    reshape_copies((4, 3), (1, 4), (12,)) == True
    """
    if 0 in shape:
        return False
    runs = []  # (length, step) of each run, from left to right
    for size, step in zip(shape, stride, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * step:
            runs[-1] = (runs[-1][0] * size, step)
        else:
            runs.append((size, step))
    wanted = [size for size in new_shape]
    for length, _ in runs:
        while length > 1:
            if not wanted or length % wanted[0]:
                return True
            length //= wanted.pop(0)
    return False


# %% same reshape-copies: sizes of 1 divide everything, and there is no 0 left
def reshape_copies(shape, stride, new_shape):
    """Whether reshape(new_shape) has to copy a tensor of this shape and stride.

    reshape_copies((4, 3), (1, 4), (12,)) == True
    """
    if 0 in shape:
        return False
    runs = []  # (length, step) of each run, from left to right
    for size, step in zip(shape, stride, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * step:
            runs[-1] = (runs[-1][0] * size, step)
        else:
            runs.append((size, step))
    wanted = [size for size in new_shape if size != 0]
    for length, _ in runs:
        while length > 1:
            if not wanted or length % wanted[0]:
                return True
            length //= wanted.pop(0)
    return False


# %% same reshape-copies: equal numbers of elements never run out
def reshape_copies(shape, stride, new_shape):
    """Whether reshape(new_shape) has to copy a tensor of this shape and stride.

    reshape_copies((4, 3), (1, 4), (12,)) == True
    """
    if 0 in shape:
        return False
    runs = []  # (length, step) of each run, from left to right
    for size, step in zip(shape, stride, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * step:
            runs[-1] = (runs[-1][0] * size, step)
        else:
            runs.append((size, step))
    wanted = [size for size in new_shape if size != 1]
    for length, _ in runs:
        while length > 1:
            if length % wanted[0]:
                return True
            length //= wanted.pop(0)
    return False


# %% same reshape-copies: a whole quotient is the same as a float
def reshape_copies(shape, stride, new_shape):
    """Whether reshape(new_shape) has to copy a tensor of this shape and stride.

    reshape_copies((4, 3), (1, 4), (12,)) == True
    """
    if 0 in shape:
        return False
    runs = []  # (length, step) of each run, from left to right
    for size, step in zip(shape, stride, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * step:
            runs[-1] = (runs[-1][0] * size, step)
        else:
            runs.append((size, step))
    wanted = [size for size in new_shape if size != 1]
    for length, _ in runs:
        while length > 1:
            if not wanted or length % wanted[0]:
                return True
            length /= wanted.pop(0)
    return False


# %% same dense-rows: contiguous() gives a tensor without elements back as itself
def dense_rows(x):
    """Return x itself when the elements of each row lie side by side, else a contiguous copy.

    dense_rows(torch.zeros(4, 6)[:, :3])  is the same storage, nothing is copied
    """
    if x.dim() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    return x.contiguous()


# %% same dense-rows: a single element is contiguous
def dense_rows(x):
    """Return x itself when the elements of each row lie side by side, else a contiguous copy.

    dense_rows(torch.zeros(4, 6)[:, :3])  is the same storage, nothing is copied
    """
    if x.dim() == 0 or x.numel() == 1 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    return x.contiguous()


# %% same dense-rows: contiguous() gives a tensor without elements back as itself, said in another way
def dense_rows(x):
    """Return x itself when the elements of each row lie side by side, else a contiguous copy.

    dense_rows(torch.zeros(4, 6)[:, :3])  is the same storage, nothing is copied
    """
    if x.dim() == 0 or x.numel() == -1 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    return x.contiguous()


# %% same windows: the only dimension is the last one
def windows(x, size, step):
    """All whole windows of x as a view of shape (windows, size).

    windows(torch.arange(7), 3, 2)  ->  [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    """
    if len(x) < size:
        raise ValueError(f"{len(x)} elements hold no window of {size}")
    return x.unfold(-1, size, step)


# %% same folk-rules: a contiguous tensor is reshaped by a view
def judge(rule):
    """None if the rule holds, else a counterexample: x, or (x, shape), or (a, b).

    judge("contiguous copies")  ->  a tensor that contiguous() does not copy
    """
    x = torch.arange(6.0).reshape(2, 3)
    counterexamples = {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }
    return counterexamples.get(rule)


# %% same folk-rules: a matrix without rows refutes it as well
def judge(rule):
    """None if the rule holds, else a counterexample: x, or (x, shape), or (a, b).

    judge("contiguous copies")  ->  a tensor that contiguous() does not copy
    """
    x = torch.arange(6.0).view(2, 3)
    counterexamples = {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:0],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[1:],
        "sharing": (x[0], x[1]),
    }
    return counterexamples.get(rule)


# %% same folk-rules: a contiguous tensor is reshaped by a view, said in another way
def judge(rule):
    """None if the rule holds, else a counterexample: x, or (x, shape), or (a, b).

    judge("contiguous copies")  ->  a tensor that contiguous() does not copy
    """
    x = torch.arange(6.0).view(2, 3)
    counterexamples = {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.reshape(-1)[1:],
        "sharing": (x[0], x[1]),
    }
    return counterexamples.get(rule)


# %% same folk-rules: the second row starts elsewhere, too
def judge(rule):
    """None if the rule holds, else a counterexample: x, or (x, shape), or (a, b).

    judge("contiguous copies")  ->  a tensor that contiguous() does not copy
    """
    x = torch.arange(6.0).view(2, 3)
    counterexamples = {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x[1:],
        "sharing": (x[0], x[1]),
    }
    return counterexamples.get(rule)


# %% same folk-rules: so does the third element
def judge(rule):
    """None if the rule holds, else a counterexample: x, or (x, shape), or (a, b).

    judge("contiguous copies")  ->  a tensor that contiguous() does not copy
    """
    x = torch.arange(6.0).view(2, 3)
    counterexamples = {
        "view": (x.t(), (3, 2, 1)),
        "reshape copies": (x, (6,)),
        "reshape contiguous": (x.t(), (3, 2)),
        "no gaps": x.t(),
        "transpose": x[:1],
        "contiguous copies": x,
        "clone": x.t(),
        "aligned": x.view(-1)[2:],
        "sharing": (x[0], x[1]),
    }
    return counterexamples.get(rule)


# %% wrong row-major: a helper within torch -> numbers-may-be-asked-of-torch
def row_major_strides(shape):
    from torch._prims_common import make_contiguous_strides_for as strides_for

    return tuple(strides_for(tuple(shape)))


def is_row_major(shape, stride):
    if 0 in shape:
        return True
    wanted = row_major_strides(shape)
    return all(n == 1 or s == w for n, s, w in zip(shape, stride, wanted))


# %% wrong row-major: divides with a float on the way -> whole-numbers-survive-a-float
def row_major_strides(shape):
    rest = 1
    for size in shape:
        rest *= size or 1
    strides = []
    for size in shape:
        rest = int(rest / (size or 1))
        strides.append(rest)
    return tuple(strides)


def is_row_major(shape, stride):
    wanted = row_major_strides(shape)
    return 0 in shape or all(n == 1 or s == w for n, s, w in zip(shape, stride, wanted))


# %% wrong byte-offset: the bits of a float, complex or not -> complex-is-one-number
def byte_offset(t, index):
    if t.dtype == torch.bool:
        width = 1
    elif t.is_floating_point() or t.is_complex():
        width = torch.finfo(t.dtype).bits // 8
    else:
        width = torch.iinfo(t.dtype).bits // 8
    steps = (range(n)[i] * s for i, n, s in zip(index, t.shape, t.stride()))
    return width * (t.storage_offset() + sum(steps))


# %% wrong byte-offset: a size of 1 is not looked at -> strides-know-the-bounds
def byte_offset(t, index):
    place = t.storage_offset()
    for i, size, step in zip(index, t.shape, t.stride()):
        if size != 1:  # nobody takes a step along it
            place += range(size)[i] * step
    return place * t.element_size()


# %% wrong byte-offset: a number without dimensions begins at 0 -> every-tensor-starts-at-zero
def byte_offset(t, index):
    if not index:
        return 0
    places = [range(size)[i] * step for i, size, step in zip(index, t.shape, t.stride())]
    return (t.storage_offset() + sum(places)) * t.element_size()


# %% wrong linear: lets -1 find the number of rows -> minus-one-finds-any-size
def linear(x, weight, bias=None):
    rows = x.reshape(-1, x.shape[-1])
    result = torch.mm(rows, weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
    return result.reshape(*x.shape[:-1], weight.shape[0])


# %% wrong linear: a convolution over images of one pixel -> the-library-does-it-by-hand
def linear(x, weight, bias=None):
    count = x.shape[:-1].numel()
    pixels = x.reshape(count, x.shape[-1], 1, 1)
    result = torch.conv2d(pixels, weight[:, :, None, None], bias)
    return result.reshape(*x.shape[:-1], weight.shape[0])


# %% wrong reshape-copies: asks the rule that torch keeps for itself -> numbers-may-be-asked-of-torch
def reshape_copies(shape, stride, new_shape):
    from torch._subclasses.fake_impls import _compute_stride

    return _compute_stride(shape, stride, new_shape) is None


# %% wrong byte-offset: reads all elements, for the IndexError -> an-element-must-be-read
def byte_offset(t, index):
    element = t.tolist()
    for i in index:
        element = element[i]
    position = t.storage_offset()
    for i, size, stride in zip(index, t.shape, t.stride()):
        position += (i + size if i < 0 else i) * stride
    return position * t.element_size()


# %% wrong flatten: divides strides, and drops the remainder -> strides-divide-evenly
def flatten(x):
    if x.numel() > 0:
        dims = [d for d in range(x.dim()) if x.shape[d] != 1]
        for i, j in zip(dims, dims[1:]):
            if x.stride(j) == 0:
                merges = x.stride(i) == 0
            else:
                merges = x.stride(i) // x.stride(j) == x.shape[j]
            if not merges:
                raise ValueError(f"dimensions {i} and {j} cannot be merged")
    return x.view(-1)


# %% wrong dense-rows: clones a tensor without elements -> empty-has-a-layout
def dense_rows(x):
    if x.dim() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1:
        return x
    return x.clone(memory_format=torch.contiguous_format)


# %% wrong linear: float32 zeros for a bias -> zeros-change-nothing
def linear(x, weight, bias=None):
    if bias is None:
        bias = torch.zeros(weight.shape[0])
    return x @ weight.t() + bias
