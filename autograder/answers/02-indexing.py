# Answers to lesson 02, as learners type them. See docs/authoring.md.


# %% right broadcast-shape: padded with ones, then column by column
def broadcast_shape(*shapes):
    rank = max((len(shape) for shape in shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    result = []
    for dim in range(rank - 1, -1, -1):
        size = 1
        for shape in padded:
            if shape[dim] == 1:
                continue
            if size not in (1, shape[dim]):
                raise ValueError(f"cannot broadcast: dimension {dim - rank}")
            size = shape[dim]
        result.append(size)
    return tuple(result[::-1])


# %% right broadcast-shape: two at a time
def broadcast_shape(*shapes):
    whole = ()
    first = {}
    for shape in shapes:
        long, short = (whole, shape) if len(whole) >= len(shape) else (shape, whole)
        joined = list(long)
        for k in range(1, len(short) + 1):
            a, b = long[-k], short[-k]
            if a == b or b == 1:
                joined[-k] = a
            elif a == 1:
                joined[-k] = b
            else:
                first[k] = (a, b)
        whole = tuple(joined)
    if first:
        k = min(first)
        raise ValueError(f"sizes {first[k]} do not fit at dimension -{k}")
    return whole


# %% right broadcast-shape: with zip_longest
from itertools import zip_longest


def broadcast_shape(*shapes):
    columns = zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)
    sizes = []
    for k, column in enumerate(columns, start=1):
        different = set(column) - {1}
        if len(different) >= 2:
            raise ValueError("no common size in dimension %d" % -k)
        sizes += different or {1}
    return tuple(reversed(sizes))


# %% right broadcast-shape: a list
def broadcast_shape(*shapes):
    joined = []
    for back in range(1, max(map(len, shapes), default=0) + 1):
        sizes = {shape[-back] for shape in shapes if len(shape) >= back} - {1}
        if len(sizes) > 1:
            raise ValueError(f"clash at dimension {-back}")
        joined.insert(0, sizes.pop() if sizes else 1)
    return joined


# %% wrong broadcast-shape: aligned at the left -> shapes-align-at-the-left
def broadcast_shape(*shapes):
    rank = max(map(len, shapes), default=0)
    padded = [shape + (1,) * (rank - len(shape)) for shape in shapes]
    joined = []
    for back in range(1, rank + 1):
        sizes = {shape[-back] for shape in padded} - {1}
        if len(sizes) > 1:
            raise ValueError(f"clash at dimension {-back}")
        joined.insert(0, sizes.pop() if sizes else 1)
    return tuple(joined)


# %% wrong broadcast-shape: the maximum, where sizes are 1 or equal or 0 -> zero-is-stretched-to-one
def broadcast_shape(*shapes):
    joined = []
    for back in range(1, max(map(len, shapes), default=0) + 1):
        sizes = [shape[-back] for shape in shapes if len(shape) >= back]
        if len(set(sizes) - {1}) > 1:
            raise ValueError(f"clash at dimension {-back}")
        joined.insert(0, max(sizes))
    return tuple(joined)


# %% wrong broadcast-shape: the largest of each column, never a clash -> the-larger-size-wins
def broadcast_shape(*shapes):
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(max(column) for column in zip(*padded))


# %% wrong broadcast-shape: other numbers of dimensions are refused -> equal-rank-is-needed
def broadcast_shape(*shapes):
    if len({len(shape) for shape in shapes}) > 1:
        raise ValueError("the shapes differ at dimension -1")
    joined = []
    for back in range(1, max(map(len, shapes), default=0) + 1):
        sizes = {shape[-back] for shape in shapes} - {1}
        if len(sizes) > 1:
            raise ValueError(f"clash at dimension {-back}")
        joined.insert(0, sizes.pop() if sizes else 1)
    return tuple(joined)


# %% wrong broadcast-shape: the first two only -> two-shapes-are-enough
def broadcast_shape(*shapes):
    joined = []
    for back in range(1, max(map(len, shapes[:2]), default=0) + 1):
        sizes = {shape[-back] for shape in shapes[:2] if len(shape) >= back} - {1}
        if len(sizes) > 1:
            raise ValueError(f"clash at dimension {-back}")
        joined.insert(0, sizes.pop() if sizes else 1)
    return tuple(joined)


# %% wrong broadcast-shape: drops ones -> ones-are-left-out
def broadcast_shape(*shapes):
    joined = []
    for back in range(1, max(map(len, shapes), default=0) + 1):
        sizes = {shape[-back] for shape in shapes if len(shape) >= back} - {1}
        if len(sizes) > 1:
            raise ValueError(f"clash at dimension {-back}")
        joined = [*sizes, *joined]
    return tuple(joined)


# %% wrong broadcast-shape: a size that divides the other fits -> a-multiple-fits-too
def broadcast_shape(*shapes):
    joined = []
    for back in range(1, max(map(len, shapes), default=0) + 1):
        sizes = [shape[-back] for shape in shapes if len(shape) >= back]
        if 0 in sizes:
            if set(sizes) - {0, 1}:
                raise ValueError(f"clash at dimension {-back}")
            joined.insert(0, 0)
            continue
        if any(max(sizes) % size for size in sizes):
            raise ValueError(f"clash at dimension {-back}")
        joined.insert(0, max(sizes))
    return tuple(joined)


# %% wrong broadcast-shape: torch is asked -> sizes-may-be-asked-of-torch
def broadcast_shape(*shapes):
    for back in range(1, max(map(len, shapes), default=0) + 1):
        if len({shape[-back] for shape in shapes if len(shape) >= back} - {1}) > 1:
            raise ValueError(f"clash at dimension {-back}")
    return tuple(torch.broadcast_shapes(*shapes))


# %% wrong broadcast-shape: NumPy is asked -> sizes-may-be-asked-of-torch
import numpy as np


def broadcast_shape(*shapes):
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        back = 1
        while len({s[-back] for s in shapes if len(s) >= back} - {1}) <= 1:
            back += 1
        raise ValueError(f"dimension {-back}") from None


# %% wrong broadcast-shape: torch's RuntimeError -> any-exception-will-do
def broadcast_shape(*shapes):
    joined = []
    for back in range(1, max(map(len, shapes), default=0) + 1):
        sizes = {shape[-back] for shape in shapes if len(shape) >= back} - {1}
        if len(sizes) > 1:
            raise RuntimeError(f"clash at dimension {-back}")
        joined.insert(0, sizes.pop() if sizes else 1)
    return tuple(joined)


# %% wrong broadcast-shape: no shapes fail -> there-is-always-a-shape
def broadcast_shape(*shapes):
    joined = []
    for back in range(1, max(len(shape) for shape in shapes) + 1):
        sizes = {shape[-back] for shape in shapes if len(shape) >= back} - {1}
        if len(sizes) > 1:
            raise ValueError(f"clash at dimension {-back}")
        joined.insert(0, sizes.pop() if sizes else 1)
    return tuple(joined)


# %% right overwrite: masked_fill_ broadcasts by itself
def overwrite(x, mask, value):
    return x.masked_fill_(mask, value)


# %% right overwrite: where, copied back
def overwrite(x, mask, value):
    chosen = torch.where(mask, torch.tensor(value, dtype=x.dtype), x)
    x.copy_(chosen)
    return x


# %% right overwrite: broadcast_to, and an index
def overwrite(x, mask, value):
    where = torch.broadcast_to(mask, x.shape)
    x[where] = value
    return x


# %% right overwrite: index_put_ at the places of the mask
def overwrite(x, mask, value):
    if x.dim() == 0:
        return x.fill_(value) if mask else x
    places = mask.expand_as(x).nonzero(as_tuple=True)
    x[places] = torch.tensor(value, dtype=x.dtype)
    return x


# %% right overwrite: a new tensor, copied into all of x
def overwrite(x, mask, value):
    x[...] = x.masked_fill(mask, value)
    return x


# %% wrong overwrite: returns nothing -> in-place-returns-nothing
def overwrite(x, mask, value):
    x.masked_fill_(mask, value)


# %% wrong overwrite: no write where the value is 0 -> value-is-always-true
def overwrite(x, mask, value):
    if value:
        x.masked_fill_(mask, value)
    return x


# %% wrong overwrite: fills what was read -> a-masked-read-is-a-window
def overwrite(x, mask, value):
    x[mask.expand(x.shape)].fill_(value)
    return x


# %% wrong overwrite: through reshape -> reshape-always-shares
def overwrite(x, mask, value):
    flat = x.reshape(-1)
    flat[mask.expand(x.shape).reshape(-1)] = value
    return x


# %% wrong overwrite: the mask as an index -> index-masks-are-broadcast
def overwrite(x, mask, value):
    x[mask] = value
    return x


# %% wrong overwrite: multiplied by the mask -> multiplying-selects
def overwrite(x, mask, value):
    x.mul_(~mask).add_(mask * value)
    return x


# %% wrong overwrite: where returns a new tensor -> where-writes-in-place
def overwrite(x, mask, value):
    return torch.where(mask, torch.tensor(value, dtype=x.dtype), x)


# %% wrong overwrite: masked_fill without the underscore -> where-writes-in-place
def overwrite(x, mask, value):
    x = x.masked_fill(mask, value)
    return x


# %% wrong overwrite: other memory under the old name -> where-writes-in-place
def overwrite(x, mask, value):
    x.data = torch.where(mask, torch.tensor(value, dtype=x.dtype), x)
    return x


# %% wrong overwrite: True means keep -> true-means-keep
def overwrite(x, mask, value):
    x.masked_fill_(~mask, value)
    return x


# %% wrong overwrite: inverts the mask in place -> a-mask-may-be-used-up
def overwrite(x, mask, value):
    keep = mask.logical_not_()
    x.masked_fill_(~keep, value)
    return x


# %% wrong overwrite: by view, which refuses other strides -> numpy-only-borrows
def overwrite(x, mask, value):
    flat = x.view(-1)
    flat[mask.expand(x.shape).reshape(-1)] = value
    return x


# %% right drop-ones: a tuple of dimensions
def drop_ones(x):
    return x.squeeze(tuple(range(1, x.dim())))


# %% right drop-ones: an index of zeros
def drop_ones(x):
    if x.dim() == 0:
        return x
    return x[(slice(None), *(0 if size == 1 else slice(None) for size in x.shape[1:]))]


# %% right drop-ones: a shape without the ones
def drop_ones(x):
    if x.dim() == 0:
        return x.view(())
    shape = [x.shape[0]] + [n for n in x.shape[1:] if n != 1]
    return x.view(shape)


# %% right drop-ones: while there is one left
def drop_ones(x):
    d = 1
    while d < x.dim():
        if x.size(d) == 1:
            x = x.squeeze(d)
        else:
            d += 1
    return x


# %% wrong drop-ones: all of them -> squeeze-keeps-the-batch
def drop_ones(x):
    return x.squeeze()


# %% wrong drop-ones: the batch put back always -> the-batch-can-be-put-back
def drop_ones(x):
    return x.squeeze().unsqueeze(0)


# %% wrong drop-ones: the last one -> only-the-last-one-matters
def drop_ones(x):
    return x.squeeze(-1) if x.dim() > 1 else x


# %% wrong drop-ones: numbers that shift -> dimensions-keep-their-numbers
def drop_ones(x):
    for d in range(1, x.dim()):
        if d < x.dim():
            x = x.squeeze(d)
    return x


# %% wrong drop-ones: flatten -> flatten-drops-the-ones
def drop_ones(x):
    return x.flatten(1) if x.dim() > 1 else x


# %% wrong drop-ones: empty dimensions, too -> an-empty-dimension-is-a-one
def drop_ones(x):
    if x.dim() == 0:
        return x
    return x.reshape([x.shape[0]] + [n for n in x.shape[1:] if n > 1])


# %% wrong drop-ones: a batch of one is left alone -> only-a-batch-of-one-is-special
def drop_ones(x):
    if x.dim() and x.shape[0] == 1:
        return x
    return x.squeeze()


# %% wrong drop-ones: detached -> the-history-comes-along
def drop_ones(x):
    return x.detach().squeeze(tuple(range(1, x.dim())))


# %% wrong drop-ones: a copy -> a-result-needs-its-own-memory
def drop_ones(x):
    return x.squeeze(tuple(range(1, x.dim()))).clone()


# %% wrong drop-ones: contiguous first -> a-result-needs-its-own-memory
def drop_ones(x):
    return x.contiguous().squeeze(tuple(range(1, x.dim())))


# %% wrong drop-ones: in place -> squeezing-in-place-is-a-view
def drop_ones(x):
    for d in reversed(range(1, x.dim())):
        x.squeeze_(d)
    return x


# %% right drop-ones: a new shape, by reshape
def drop_ones(x):
    return x.reshape([x.shape[0]] + [n for n in x.shape[1:] if n != 1])


# %% right piece-lengths: subtract until nothing is left
def split_lengths(length, width):
    if length == 0:
        return [0]
    found = []
    while length > 0:
        found.append(min(width, length))
        length -= found[-1]
    return found


def chunk_lengths(length, chunks):
    if length == 0:
        return [0] * chunks
    return split_lengths(length, (length + chunks - 1) // chunks)


# %% right piece-lengths: ranges of starts
def split_lengths(length, width):
    return [min(width, length - start) for start in range(0, length, width)] or [0]


def chunk_lengths(length, chunks):
    width = -(-length // chunks)
    return split_lengths(length, width) if width else [0] * chunks


# %% right piece-lengths: divmod, each on its own
def split_lengths(length, width):
    count, rest = divmod(length, width)
    lengths = count * [width]
    if rest or not lengths:
        lengths.append(rest)
    return lengths


def chunk_lengths(length, chunks):
    if not length:
        return [0 for _ in range(chunks)]
    width = (length - 1) // chunks + 1
    count, rest = divmod(length, width)
    return count * [width] + ([rest] if rest else [])


# %% wrong piece-lengths: as even as possible -> chunk-shares-evenly
def split_lengths(length, width):
    return [min(width, length - start) for start in range(0, length, width)] or [0]


def chunk_lengths(length, chunks):
    return [length // chunks + (k < length % chunks) for k in range(chunks)]


# %% right piece-lengths: rounded up by math.ceil
import math


def split_lengths(length, width):
    if length == 0:
        return [0]
    count = math.ceil(length / width)
    return [width] * (count - 1) + [length - width * (count - 1)]


def chunk_lengths(length, chunks):
    if length == 0:
        return [0] * chunks
    return split_lengths(length, math.ceil(length / chunks))


# %% wrong piece-lengths: nothing from nothing -> no-elements-no-pieces
def split_lengths(length, width):
    return [min(width, length - start) for start in range(0, length, width)]


def chunk_lengths(length, chunks):
    return split_lengths(length, max(1, -(-length // chunks)))


# %% wrong piece-lengths: the rest is lost -> the-rest-is-dropped
def split_lengths(length, width):
    return [width] * (length // width)


def chunk_lengths(length, chunks):
    width = -(-length // chunks)
    return [width] * (length // width) if width else [0] * chunks


# %% wrong piece-lengths: the last piece is longer -> the-last-piece-takes-the-rest
def split_lengths(length, width):
    count = max(1, length // width)
    return [width] * (count - 1) + [length - width * (count - 1)]


def chunk_lengths(length, chunks):
    return [length // chunks] * (chunks - 1) + [length - length // chunks * (chunks - 1)]


# %% wrong piece-lengths: always a remainder -> a-rest-always-comes-last
def split_lengths(length, width):
    return [width] * (length // width) + [length % width]


def chunk_lengths(length, chunks):
    if length == 0:
        return [0] * chunks
    width = -(-length // chunks)
    return [min(width, length - start) for start in range(0, length, width)]


# %% wrong piece-lengths: all pieces are full -> the-last-piece-is-filled-up
def split_lengths(length, width):
    return [width] * -(-length // width) or [0]


def chunk_lengths(length, chunks):
    if length == 0:
        return [0] * chunks
    width = -(-length // chunks)
    return [min(width, length - start) for start in range(0, length, width)]


# %% wrong piece-lengths: split and chunk mixed up -> split-takes-a-number-of-pieces
def split_lengths(length, chunks):
    if length == 0:
        return [0] * chunks
    return chunk_lengths(length, -(-length // chunks))


def chunk_lengths(length, width):
    return [min(width, length - start) for start in range(0, length, width)] or [0]


# %% wrong piece-lengths: chunk cuts to a length -> chunk-takes-a-length
def split_lengths(length, width):
    return [min(width, length - start) for start in range(0, length, width)] or [0]


def chunk_lengths(length, width):
    return [min(width, length - start) for start in range(0, length, width)] or [0]


# %% wrong piece-lengths: filled up with empty pieces -> chunk-fills-up-with-empty-pieces
def split_lengths(length, width):
    return [min(width, length - start) for start in range(0, length, width)] or [0]


def chunk_lengths(length, chunks):
    width = -(-length // chunks)
    return [max(0, min(width, length - k * width)) for k in range(chunks)]


# %% wrong piece-lengths: rounded down -> chunk-rounds-down
def split_lengths(length, width):
    return [min(width, length - start) for start in range(0, length, width)] or [0]


def chunk_lengths(length, chunks):
    if length == 0:
        return [0] * chunks
    return split_lengths(length, max(1, length // chunks))


# %% wrong piece-lengths: torch cuts -> sizes-may-be-asked-of-torch
def split_lengths(length, width):
    return [len(p) for p in torch.empty(length, device="meta", dtype=torch.int8).split(width)]


def chunk_lengths(length, chunks):
    return [len(p) for p in torch.empty(length, device="meta", dtype=torch.int8).chunk(chunks)]


# %% right piece-lengths: tuples
def split_lengths(length, width):
    return tuple(min(width, length - start) for start in range(0, length, width)) or (0,)


def chunk_lengths(length, chunks):
    width = -(-length // chunks)
    return split_lengths(length, width) if width else (0,) * chunks


# %% right per-channel: view with -1
def normalise(images, mean, std):
    shape = (-1, 1, 1) if len(mean) else (0, 1, 1)
    return (images - mean.view(shape)) / std.view(shape)


# %% right per-channel: unsqueeze twice
def normalise(images, mean, std):
    mean = mean.unsqueeze(-1).unsqueeze(-1)
    std = std.unsqueeze(-1).unsqueeze(-1)
    return torch.div(torch.sub(images, mean), std)


# %% right per-channel: the channel moved to the right end and back
def normalise(images, mean, std):
    return ((images.movedim(-3, -1) - mean) / std).movedim(-1, -3)


# %% right per-channel: two operators by name, which promote by themselves
def normalise(images, mean, std):
    shifted = torch.sub(images, mean.reshape(-1, 1, 1))
    return torch.true_divide(shifted, std.reshape(-1, 1, 1))


# %% wrong per-channel: the right end -> the-right-end-is-the-channel
def normalise(images, mean, std):
    return (images - mean) / std


# %% wrong per-channel: channels first -> channels-come-first
def normalise(images, mean, std):
    shape = [-1] + [1] * (images.dim() - 1)
    return (images - mean.view(shape)) / std.view(shape)


# %% wrong per-channel: always a batch -> there-is-always-a-batch
def normalise(images, mean, std):
    return (images - mean.view(1, -1, 1, 1)) / std.view(1, -1, 1, 1)


# %% wrong per-channel: its own mean -> images-know-their-mean
def normalise(images, mean, std):
    mean = images.mean((-1, -2), keepdim=True)
    std = images.std((-1, -2), keepdim=True)
    return (images - mean) / std


# %% wrong per-channel: std is taken for the variance -> std-is-the-variance
def normalise(images, mean, std):
    return (images - mean[:, None, None]) / std[:, None, None].sqrt()


# %% wrong per-channel: divides first -> the-order-does-not-matter
def normalise(images, mean, std):
    return images / std[:, None, None] - mean[:, None, None]


# %% wrong per-channel: an epsilon -> a-small-number-does-no-harm
def normalise(images, mean, std):
    return (images - mean[:, None, None]) / (std[:, None, None] + 1e-8)


# %% wrong per-channel: detached -> the-history-comes-along
def normalise(images, mean, std):
    return ((images - mean[:, None, None]) / std[:, None, None]).detach()


# %% wrong per-channel: statistics without a gradient -> statistics-are-constants
def normalise(images, mean, std):
    return (images - mean.detach()[:, None, None]) / std.detach()[:, None, None]


# %% wrong per-channel: a loop over the channels -> channels-need-a-loop
def normalise(images, mean, std):
    channels = [(images[..., c, :, :] - mean[c]) / std[c] for c in range(images.shape[-3])]
    return torch.stack(channels, dim=-3) if channels else images - mean[:, None, None]


# %% wrong per-channel: repeated to the size of the images -> broadcasting-needs-equal-shapes
def normalise(images, mean, std):
    whole = images.shape
    mean = mean[:, None, None].expand(whole).clone()
    std = std[:, None, None].expand(whole).clone()
    return (images - mean) / std


# %% wrong per-channel: in place -> the-images-are-mine-to-change
def normalise(images, mean, std):
    with torch.no_grad():
        images -= mean[:, None, None]
        images /= std[:, None, None]
    return images


# %% right expand-strides: from the right
def expand_strides(shape, stride, new_shape):
    if len(new_shape) < len(shape):
        raise ValueError("fewer dimensions")
    result = []
    for back in range(1, len(new_shape) + 1):
        new = new_shape[-back]
        if back > len(shape):
            if new == -1:
                raise ValueError("-1 for a new dimension")
            result.append(0)
        elif new == -1 or new == shape[-back]:
            result.append(stride[-back])
        elif shape[-back] == 1:
            result.append(0)
        else:
            raise ValueError(f"{shape[-back]} cannot become {new}")
    return tuple(reversed(result))


# %% right expand-strides: padded, then one expression
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0 or any(new == -1 for new in new_shape[:added]):
        raise ValueError("impossible")
    wanted = [n if w == -1 else w for n, w in zip(shape, new_shape[added:])]
    if any(n != w and n != 1 for n, w in zip(shape, wanted)):
        raise ValueError("impossible")
    return (0,) * added + tuple(s if n == w else 0 for n, s, w in zip(shape, stride, wanted))


# %% right expand-strides: recursion over the last dimension
def expand_strides(shape, stride, new_shape):
    if not new_shape:
        if shape:
            raise ValueError("too few dimensions")
        return ()
    *front, last = new_shape
    if not shape:
        if last == -1:
            raise ValueError("a new dimension needs a size")
        return (*expand_strides((), (), tuple(front)), 0)
    if last in (-1, shape[-1]):
        step = stride[-1]
    elif shape[-1] == 1:
        step = 0
    else:
        raise ValueError("only a 1 can be stretched")
    return (*expand_strides(shape[:-1], stride[:-1], tuple(front)), step)


# %% right expand-strides: a list
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0 or -1 in new_shape[:added]:
        raise ValueError("impossible")
    strides = [0] * added
    for size, step, new in zip(shape, stride, new_shape[added:]):
        if new not in (-1, size) and size != 1:
            raise ValueError("impossible")
        strides.append(step if new in (-1, size) else 0)
    return strides


# %% wrong expand-strides: row-major strides of the new shape -> expanding-copies
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0 or -1 in new_shape[:added]:
        raise ValueError("impossible")
    whole = list(new_shape)
    for d, size in enumerate(shape):
        if whole[added + d] == -1:
            whole[added + d] = size
        elif size not in (1, whole[added + d]):
            raise ValueError("impossible")
    strides, step = [], 1
    for size in reversed(whole):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


# %% wrong expand-strides: -1 for a new dimension passes -> minus-one-works-everywhere
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0:
        raise ValueError("impossible")
    strides = [0] * added
    for size, step, new in zip(shape, stride, new_shape[added:]):
        if new not in (-1, size) and size != 1:
            raise ValueError("impossible")
        strides.append(step if new in (-1, size) else 0)
    return tuple(strides)


# %% wrong expand-strides: -1 is a size -> minus-one-is-a-size
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0 or any(n < 0 for n in new_shape):
        raise ValueError("impossible")
    strides = [0] * added
    for size, step, new in zip(shape, stride, new_shape[added:]):
        if new != size and size != 1:
            raise ValueError("impossible")
        strides.append(step if new == size else 0)
    return tuple(strides)


# %% wrong expand-strides: never a refusal for sizes -> any-exception-will-do
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0 or -1 in new_shape[:added]:
        raise IndexError("impossible")
    strides = [0] * added
    for size, step, new in zip(shape, stride, new_shape[added:]):
        if new not in (-1, size) and size != 1:
            raise RuntimeError("impossible")
        strides.append(step if new in (-1, size) else 0)
    return tuple(strides)


# %% wrong expand-strides: a stretched one keeps its stride -> a-stretched-one-keeps-its-stride
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0 or -1 in new_shape[:added]:
        raise ValueError("impossible")
    for size, new in zip(shape, new_shape[added:]):
        if new not in (-1, size) and size != 1:
            raise ValueError("impossible")
    return (0,) * added + tuple(stride)


# %% wrong expand-strides: every 1 gets 0 -> a-one-always-has-stride-zero
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0 or -1 in new_shape[:added]:
        raise ValueError("impossible")
    strides = [0] * added
    for size, step, new in zip(shape, stride, new_shape[added:]):
        if new not in (-1, size) and size != 1:
            raise ValueError("impossible")
        strides.append(0 if size == 1 else step)
    return tuple(strides)


# %% wrong expand-strides: new dimensions get 1 -> new-dimensions-have-stride-one
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0 or -1 in new_shape[:added]:
        raise ValueError("impossible")
    strides = [1] * added
    for size, step, new in zip(shape, stride, new_shape[added:]):
        if new not in (-1, size) and size != 1:
            raise ValueError("impossible")
        strides.append(step if new in (-1, size) else 0)
    return tuple(strides)


# %% wrong expand-strides: from the left -> shapes-align-at-the-left
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0 or -1 in new_shape[len(shape) :]:
        raise ValueError("impossible")
    strides = []
    for size, step, new in zip(shape, stride, new_shape):
        if new not in (-1, size) and size != 1:
            raise ValueError("impossible")
        strides.append(step if new in (-1, size) else 0)
    return tuple(strides) + (0,) * added


# %% wrong expand-strides: a multiple is stretched -> a-multiple-fits-too
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < 0 or -1 in new_shape[:added]:
        raise ValueError("impossible")
    strides = [0] * added
    for size, step, new in zip(shape, stride, new_shape[added:]):
        if new in (-1, size):
            strides.append(step)
        elif size and new % size == 0:
            strides.append(0)
        else:
            raise ValueError("impossible")
    return tuple(strides)


# %% wrong expand-strides: torch is asked -> sizes-may-be-asked-of-torch
def expand_strides(shape, stride, new_shape):
    x = torch.empty_strided(shape, stride)
    try:
        found = x.expand(new_shape)
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    added = len(new_shape) - len(shape)
    kept = [s if n == w else 0 for n, s, w in zip(shape, stride, found.shape[added:])]
    return (0,) * added + tuple(kept)


# %% right index-shares: everything that makes a copy, named
def shares(index):
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if isinstance(part, (bool, list)):
            return False
        if isinstance(part, torch.Tensor) and (part.dtype == torch.bool or part.ndim > 0):
            return False
    return True


# %% right index-shares: everything that makes a view, named
def shares(index):
    if type(index) is tuple:
        return all(shares(part) for part in index)
    if torch.is_tensor(index):
        return len(index.shape) == 0 and index.dtype == torch.int64
    return index is None or index is ... or type(index) in (int, slice)


# %% right index-shares: a match statement
def shares(index):
    match index:
        case tuple():
            return all(map(shares, index))
        case torch.Tensor():
            return not (index.dim() or index.dtype is torch.bool)
        case bool() | list():
            return False
        case _:
            return True


# %% wrong index-shares: everything shares -> everything-that-reads-shares
def shares(index):
    return True if index is not NotImplemented else False


# %% wrong index-shares: True is a number -> true-is-a-number
def shares(index):
    def plain(part):
        if isinstance(part, torch.Tensor):
            return part.dim() == 0 and part.dtype != torch.bool
        return part is None or part is ... or isinstance(part, (int, slice))

    return all(plain(p) for p in (index if isinstance(index, tuple) else (index,)))


# %% wrong index-shares: a 0-d mask is a number -> a-mask-without-dimensions-is-a-number
def shares(index):
    def plain(part):
        if isinstance(part, torch.Tensor):
            return part.dim() == 0
        return not isinstance(part, (bool, list))

    return all(plain(p) for p in (index if isinstance(index, tuple) else (index,)))


# %% wrong index-shares: nothing picked, nothing copied -> an-empty-list-picks-nothing
def shares(index):
    def plain(part):
        if isinstance(part, torch.Tensor):
            return part.numel() == 0 or (part.dim() == 0 and part.dtype != torch.bool)
        return not isinstance(part, bool) and (not isinstance(part, list) or not part)

    return all(plain(p) for p in (index if isinstance(index, tuple) else (index,)))


# %% wrong index-shares: every tensor copies -> an-index-tensor-always-copies
def shares(index):
    parts = index if isinstance(index, tuple) else (index,)
    return not any(isinstance(p, (bool, list, torch.Tensor)) for p in parts)


# %% wrong index-shares: a list of one is a number -> a-list-of-one-is-a-number
def shares(index):
    def plain(part):
        if isinstance(part, torch.Tensor):
            return part.numel() == 1 and part.dtype != torch.bool
        if isinstance(part, list):
            return len(part) == 1
        return not isinstance(part, bool)

    return all(plain(p) for p in (index if isinstance(index, tuple) else (index,)))


# %% wrong index-shares: None copies -> none-copies
def shares(index):
    def plain(part):
        if isinstance(part, torch.Tensor):
            return part.dim() == 0 and part.dtype != torch.bool
        return type(part) in (int, slice) or part is ...

    return all(plain(p) for p in (index if isinstance(index, tuple) else (index,)))


# %% wrong index-shares: only masks copy -> only-masks-copy
def shares(index):
    def mask(part):
        if isinstance(part, torch.Tensor):
            return part.dtype == torch.bool
        if isinstance(part, list):
            return any(isinstance(p, bool) for p in part)
        return isinstance(part, bool)

    return not any(mask(p) for p in (index if isinstance(index, tuple) else (index,)))


# %% wrong index-shares: only the first part counts -> a-copy-only-at-the-first-place
def shares(index):
    part = index[0] if isinstance(index, tuple) and index else index
    if isinstance(part, torch.Tensor):
        return part.dim() == 0 and part.dtype != torch.bool
    return not isinstance(part, (bool, list))


# %% wrong index-shares: index tensors share -> index-tensors-share
def shares(index):
    def plain(part):
        if isinstance(part, torch.Tensor):
            return part.dtype != torch.bool
        return not isinstance(part, (bool, list))

    return all(plain(p) for p in (index if isinstance(index, tuple) else (index,)))


# %% wrong index-shares: a tuple is a list -> a-tuple-is-a-list
def shares(index):
    if isinstance(index, torch.Tensor):
        return index.dim() == 0 and index.dtype != torch.bool
    return not isinstance(index, (bool, list, tuple))


# %% wrong index-shares: tried on a tensor -> indexing-must-be-tried
def shares(index):
    x = torch.zeros(2, 2, 2, 2, 2, 2)
    return same_storage(x, x[index])


# %% right gather-own: meshgrid of the places
def gather_own(x, dim, index):
    places = list(torch.meshgrid(*(torch.arange(n) for n in index.shape), indexing="ij"))
    places[dim] = index
    return x[tuple(places)]


# %% right gather-own: ogrid by reshape
def gather_own(x, dim, index):
    dim = dim % x.dim()
    places = [
        index if d == dim else torch.arange(n).reshape([-1] + [1] * (index.dim() - d - 1))
        for d, n in enumerate(index.shape)
    ]
    return x[tuple(places)]


# %% right gather-own: indices counts every place
def gather_own(x, dim, index):
    grids = torch.ones(index.shape).nonzero(as_tuple=True)
    places = [grid.view(index.shape) for grid in grids]
    places[dim] = index
    return x[tuple(places)]


# %% right gather-own: one place in the flattened tensor, worked out
def gather_own(x, dim, index):
    dim = dim % x.dim()
    place, step = 0, 1
    for d in reversed(range(x.dim())):
        along = [1] * x.dim()
        along[d] = -1
        part = index if d == dim else torch.arange(index.shape[d]).view(along)
        place = place + part * step
        step *= x.shape[d]
    return x.reshape(-1)[place]


# %% wrong gather-own: torch.gather -> another-name-is-another-way
def gather_own(x, dim, index):
    return torch.gather(x, dim, index)


# %% wrong gather-own: take_along_dim -> another-name-is-another-way
def gather_own(x, dim, index):
    dim = dim % x.dim()
    smaller = tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape))
    return torch.take_along_dim(x[smaller], index, dim)


# %% wrong gather-own: multiplied by one_hot -> multiplying-selects
def gather_own(x, dim, index):
    dim = dim % x.dim()
    moved = x.movedim(dim, -1)
    picked = index.movedim(dim, -1)
    moved = moved[tuple(slice(n) for n in picked.shape[:-1])]
    hot = (picked.unsqueeze(-1) == torch.arange(x.shape[dim])).to(x.dtype)
    return (hot * moved.unsqueeze(-2)).sum(-1).to(x.dtype).movedim(-1, dim)


# %% wrong gather-own: detached -> the-history-comes-along
def gather_own(x, dim, index):
    places = list(torch.meshgrid(*(torch.arange(n) for n in index.shape), indexing="ij"))
    places[dim] = index
    return x.detach()[tuple(places)]


# %% wrong gather-own: whole rows or columns -> gather-takes-whole-slices
def gather_own(x, dim, index):
    places = [slice(None)] * x.dim()
    places[dim] = index.reshape(-1)
    return x[tuple(places)]


# %% wrong gather-own: through the flattened tensor -> an-index-counts-through-everything
def gather_own(x, dim, index):
    return x.reshape(-1)[index]


# %% wrong gather-own: always along the last dimension -> gather-goes-along-the-last-dimension
def gather_own(x, dim, index):
    places = list(torch.meshgrid(*(torch.arange(n) for n in index.shape), indexing="ij"))
    places[-1] = index
    return x[tuple(places)]


# %% wrong gather-own: always along the first -> gather-goes-along-the-first-dimension
def gather_own(x, dim, index):
    places = list(torch.meshgrid(*(torch.arange(n) for n in index.shape), indexing="ij"))
    places[0] = index
    return x[tuple(places)]


# %% wrong gather-own: x[index] -> brackets-pick-along-dim
def gather_own(x, dim, index):
    return x[index]


# %% wrong gather-own: counted by the shape of x -> the-index-is-as-large-as-x
def gather_own(x, dim, index):
    dim = dim % x.dim()
    places = []
    for d, n in enumerate(x.shape):
        along = [1] * x.dim()
        along[d] = n
        places.append(index if d == dim else torch.arange(n).view(along))
    return x[tuple(places)]


# %% wrong gather-own: dim below 0 not met -> dimensions-are-never-negative
def gather_own(x, dim, index):
    places = []
    for d, n in enumerate(index.shape):
        along = [1] * index.dim()
        along[d] = n
        places.append(index if d == dim else torch.arange(n).view(along))
    return x[tuple(places)]


# %% wrong gather-own: matrices only -> everything-is-a-matrix
def gather_own(x, dim, index):
    rows, columns = index.shape
    if dim % 2 == 1:
        return x[torch.arange(rows)[:, None], index]
    return x[index, torch.arange(columns)]


# %% wrong gather-own: a loop over elements -> elements-come-one-by-one
import itertools


def gather_own(x, dim, index):
    out = torch.empty(index.shape, dtype=x.dtype)
    for place in itertools.product(*map(range, index.shape)):
        source = list(place)
        source[dim] = int(index[place])
        out[place] = x[tuple(source)]
    return out


# %% right argmax-last: the largest of the places
def argmax_last(x, dim, keepdim=False):
    top = x == x.amax(dim, keepdim=True)
    shape = [1] * x.dim()
    shape[dim] = -1
    places = torch.arange(x.shape[dim]).view(shape)
    return torch.where(top, places, -1).amax(dim, keepdim=keepdim)


# %% right argmax-last: a stable sort, its last place
def argmax_last(x, dim, keepdim=False):
    places = x.detach().sort(dim=dim, stable=True).indices
    found = places.narrow(dim, x.shape[dim] - 1, 1)
    return found if keepdim else found.squeeze(dim)


# %% right argmax-last: argmax of a 0/1 mask, flipped
def argmax_last(x, dim, keepdim=False):
    n = x.size(dim)
    top = (x == x.amax(dim, keepdim=True)).to(torch.uint8)
    return (n - 1) - torch.flip(top, dims=(dim,)).argmax(dim=dim, keepdim=keepdim)


# %% wrong argmax-last: argmax -> argmax-takes-the-last
def argmax_last(x, dim, keepdim=False):
    return x.argmax(dim, keepdim=keepdim)


# %% wrong argmax-last: max with indices -> argmax-takes-the-last
def argmax_last(x, dim, keepdim=False):
    return x.max(dim, keepdim=keepdim).indices


# %% wrong argmax-last: a place of the flipped tensor -> a-flipped-place-is-the-place
def argmax_last(x, dim, keepdim=False):
    return x.flip(dim).argmax(dim, keepdim=keepdim)


# %% wrong argmax-last: off by one -> places-count-from-one
def argmax_last(x, dim, keepdim=False):
    return x.shape[dim] - x.flip(dim).argmax(dim, keepdim=keepdim)


# %% wrong argmax-last: keepdim forgotten -> keepdim-is-for-sums
def argmax_last(x, dim, keepdim=False):
    return x.shape[dim] - 1 - x.flip(dim).argmax(dim)


# %% wrong argmax-last: a ramp -> a-small-ramp-breaks-ties
def argmax_last(x, dim, keepdim=False):
    shape = [1] * x.dim()
    shape[dim] = -1
    ramp = torch.arange(x.shape[dim]).view(shape) * 1e-6
    return (x + ramp).argmax(dim, keepdim=keepdim)


# %% wrong argmax-last: as float32 -> values-fit-into-a-float
def argmax_last(x, dim, keepdim=False):
    return x.shape[dim] - 1 - x.float().flip(dim).argmax(dim, keepdim=keepdim)


# %% wrong argmax-last: always the last dimension -> the-last-dimension-is-meant
def argmax_last(x, dim, keepdim=False):
    return x.shape[-1] - 1 - x.flip(-1).argmax(-1, keepdim=keepdim)


# %% wrong argmax-last: int32 -> an-index-is-any-number
def argmax_last(x, dim, keepdim=False):
    return (x.shape[dim] - 1 - x.flip(dim).argmax(dim, keepdim=keepdim)).int()


# %% wrong argmax-last: the flattened tensor -> without-dim-is-the-same
def argmax_last(x, dim, keepdim=False):
    return x.numel() - 1 - x.flatten().flip(0).argmax()


# %% wrong argmax-last: the smallest of the negative -> a-minimum-of-the-negative
def argmax_last(x, dim, keepdim=False):
    return (-x).argmin(dim, keepdim=keepdim)


# %% wrong argmax-last: negative dimensions fail -> dimensions-are-never-negative
def argmax_last(x, dim, keepdim=False):
    shape = [-1 if d == dim else 1 for d in range(x.dim())]
    places = torch.arange(x.shape[dim]).view(shape)
    top = x == x.amax(dim, keepdim=True)
    return torch.where(top, places, -1).amax(dim, keepdim=keepdim)


# %% same broadcast-shape: without shapes both ranges are empty
def broadcast_shape(*shapes):
    joined = []
    for back in range(1, max(map(len, shapes), default=-1) + 1):
        sizes = {shape[-back] for shape in shapes if len(shape) >= back} - {1}
        if len(sizes) > 1:
            raise ValueError("these shapes don't fit together")
        joined.insert(0, sizes.pop() if sizes else 1)
    return tuple(joined)


# %% same expand-strides: with fewer dimensions the strict zip raises the ValueError
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if -1 in new_shape[:added]:
        raise ValueError(f"{tuple(shape)} can't be expanded to {tuple(new_shape)}")
    strides = [0] * added
    for size, step, new in zip(shape, stride, new_shape[added:], strict=True):
        if new not in (-1, size) and size != 1:
            raise ValueError(f"a size of {size} can't be expanded to {new}")
        strides.append(step if new in (-1, size) else 0)
    return tuple(strides)


# %% same expand-strides: with one dimension fewer the strict zip raises the ValueError
def expand_strides(shape, stride, new_shape):
    added = len(new_shape) - len(shape)
    if added < -1 or -1 in new_shape[:added]:
        raise ValueError(f"{tuple(shape)} can't be expanded to {tuple(new_shape)}")
    strides = [0] * added
    for size, step, new in zip(shape, stride, new_shape[added:], strict=True):
        if new not in (-1, size) and size != 1:
            raise ValueError(f"a size of {size} can't be expanded to {new}")
        strides.append(step if new in (-1, size) else 0)
    return tuple(strides)


# %% same index-shares: there is one object for each dtype
def shares(index):
    def plain(part):
        if isinstance(part, torch.Tensor):
            return part.dim() == 0 and part.dtype is not torch.bool
        return not isinstance(part, bool | list)

    return all(plain(part) for part in (index if isinstance(index, tuple) else (index,)))


# %% same gather-own: a new vector can always be viewed, so reshape never copies here
def gather_own(x, dim, index):
    places = []
    for d, size in enumerate(index.shape):
        along = [1] * index.dim()
        along[d] = size
        places.append(torch.arange(size).reshape(along))
    places[dim] = index
    return x[tuple(places)]


# %% same gather-own: torch still reads a list of tensors like a tuple of them
def gather_own(x, dim, index):
    places = []
    for d, size in enumerate(index.shape):
        along = [1] * index.dim()
        along[d] = size
        places.append(torch.arange(size).view(along))
    places[dim] = index
    return x[places]


# %% right broadcast-shape: joins the shapes two by two
def broadcast_shape(*shapes):
    whole = ()
    for shape in shapes:
        rank = max(len(whole), len(shape))
        one, other = ((1,) * (rank - len(s)) + tuple(s) for s in (whole, shape))
        for back in range(1, rank + 1):
            if one[-back] != other[-back] and 1 not in (one[-back], other[-back]):
                raise ValueError(f"a clash at dimension {-back}")
        whole = tuple(b if a == 1 else a for a, b in zip(one, other, strict=True))
    return whole


# %% right per-channel: divides its own tensor in place
def normalise(images, mean, std):
    return (images - mean[:, None, None]).div_(std[:, None, None])


# %% wrong argmax-last: infinities become the largest numbers -> infinity-is-the-largest-number
def argmax_last(x, dim, keepdim=False):
    finite = torch.nan_to_num(x) if x.is_floating_point() else x
    return x.shape[dim] - 1 - finite.flip(dim).argmax(dim, keepdim=keepdim)


# %% right gather-own: places counted by NumPy
def gather_own(x, dim, index):
    import numpy as np

    places = [torch.from_numpy(place) for place in np.indices(tuple(index.shape))]
    places[dim] = index
    return x[tuple(places)]


# %% wrong broadcast-shape: compares neighbours -> neighbours-are-enough
def broadcast_shape(*shapes):
    from itertools import pairwise, zip_longest

    result = []
    columns = zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)
    for back, column in enumerate(columns, start=1):
        for one, other in pairwise(column):
            if one != other and 1 not in (one, other):
                raise ValueError(f"{one} and {other} clash at dimension {-back}")
        result.append(next((size for size in column if size != 1), 1))
    return tuple(result[::-1])


# %% right overwrite: the places of the mask, as an index
def overwrite(x, mask, value):
    places = torch.nonzero(mask.expand(x.shape))
    x[tuple(places.t())] = value
    return x


# %% right piece-lengths: a call for each piece
def split_lengths(length, width):
    if length <= width:
        return [length]
    return [width] + split_lengths(length - width, width)


def chunk_lengths(length, chunks):
    if not length:
        return [0 for _ in range(chunks)]
    return split_lengths(length, -(-length // chunks))


# %% right piece-lengths: one subtraction after the other
def split_lengths(length, width):
    pieces = []
    while length > width:
        pieces.append(width)
        length -= width
    return [*pieces, length]


def chunk_lengths(length, chunks):
    if length < 1:
        return chunks * [0]
    return split_lengths(length, 1 + (length - 1) // chunks)


# %% right gather-own: one row's pick, mapped by vmap
def gather_own(x, dim, index):
    dim = dim % x.dim()
    x = x[tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(index.shape))]

    def pick(row, places):
        return row[places]

    for _ in range(x.dim() - 1):
        pick = torch.vmap(pick)
    return pick(x.movedim(dim, -1), index.movedim(dim, -1)).movedim(-1, dim)


# %% wrong argmax-last: the negative of int8 -> a-minimum-of-the-negative
def argmax_last(x, dim, keepdim=False):
    turned = x.flip(dim)
    if x.dtype == torch.int8:
        place = (-turned).argmin(dim, keepdim=keepdim)
    else:
        place = turned.argmax(dim, keepdim=keepdim)
    return x.shape[dim] - 1 - place


# %% same broadcast-shape: a list will do as well
def broadcast_shape(*shapes):
    """The shape, as a tuple, that tensors of these shapes have when broadcast together.

    broadcast_shape((50, 1), (50,)) == (50, 50)
    broadcast_shape((3,), (4,))  ->  ValueError
    """
    joined = []
    for back in range(1, max(map(len, shapes), default=0) + 1):
        sizes = {shape[-back] for shape in shapes if len(shape) >= back} - {1}
        if len(sizes) > 1:
            raise ValueError("these shapes don't fit together")
        joined.insert(0, sizes.pop() if sizes else 1)
    return joined


# %% same expand-strides: a list will do as well
def expand_strides(shape, stride, new_shape):
    """The strides of a tensor of this shape and stride after expand(*new_shape).

    expand_strides((3, 1), (1, 1), (2, 3, 4)) == (0, 1, 0)
    """
    added = len(new_shape) - len(shape)
    if added < 0 or -1 in new_shape[:added]:
        raise ValueError(f"{tuple(shape)} can't be expanded to {tuple(new_shape)}")
    strides = [0] * added
    for size, step, new in zip(shape, stride, new_shape[added:], strict=True):
        if new not in (-1, size) and size != 1:
            raise ValueError(f"a size of {size} can't be expanded to {new}")
        strides.append(step if new in (-1, size) else 0)
    return strides


# %% wrong broadcast-shape: sizes compared with `is` -> is-compares-numbers
import itertools


def broadcast_shape(*shapes):
    result = []
    for sizes in itertools.zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1):
        known = 1
        for size in sizes:
            if size == 1:
                continue
            if known == 1:
                known = size
            elif known is not size:
                raise ValueError("the shapes don't fit together")
        result.append(known)
    return tuple(result[::-1])


# %% wrong overwrite: the value as a tensor -> a-number-is-float32-first
def overwrite(x, mask, value):
    return x.masked_fill_(mask, torch.tensor(value))
