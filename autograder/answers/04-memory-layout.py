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


# %% right flatten: asks view about each pair of neighbours
def flatten(x):
    kept = [d for d in range(x.dim()) if x.shape[d] != 1]
    for i, j in zip(kept, kept[1:]):
        pair = x.detach().as_strided((x.shape[i], x.shape[j]), (x.stride(i), x.stride(j)))
        try:
            pair.view(-1)
        except RuntimeError as error:
            raise ValueError(f"dimensions {i} and {j}: stride does not fit") from error
    return x.view(-1)


# %% wrong flatten: reshape, which copies when it must -> reshape-never-copies
def flatten(x):
    return x.reshape(-1)


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
