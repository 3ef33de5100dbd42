# Answers to lesson 16, as learners type them. See "How to add an exercise" in the README.

# %% right shard-gradients: a dict by parameter
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g * (size / len(x))
    return [totals.get(w) for w in weights]


# %% right shard-gradients: through .grad, which is put back
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    before = [w.grad for w in weights]
    for w in weights:
        w.grad = None
    at = 0
    for size in sizes:
        if size:
            loss = loss_fn(model(x[at : at + size]), y[at : at + size])
            (loss * size / x.shape[0]).backward()
        at += size
    result = [w.grad for w in weights]
    for w, g in zip(weights, before):
        w.grad = g
    return result


# %% right shard-gradients: on a copy for each shard
import copy


def shard_gradients(model, loss_fn, x, y, sizes):
    totals = [None for _ in model.parameters()]
    for part, wanted in zip(torch.split(x, sizes), torch.split(y, sizes)):
        if not len(part):
            continue
        twin = copy.deepcopy(model)
        twin.zero_grad()
        loss_fn(twin(part), wanted).mul(len(part)).backward()
        for k, p in enumerate(twin.parameters()):
            if p.grad is not None:
                totals[k] = p.grad.clone() if totals[k] is None else totals[k].add_(p.grad)
    return [None if t is None else t / len(x) for t in totals]


# %% wrong shard-gradients: through .grad -> shards-may-use-the-grads
def shard_gradients(model, loss_fn, x, y, sizes):
    model.zero_grad()
    for part, wanted in zip(x.split(sizes), y.split(sizes)):
        if len(part):
            (loss_fn(model(part), wanted) * len(part) / len(x)).backward()
    return [p.grad for p in model.parameters()]


# %% wrong shard-gradients: through .grad, cleared afterwards -> shards-may-use-the-grads
def shard_gradients(model, loss_fn, x, y, sizes):
    model.zero_grad()
    for part, wanted in zip(x.split(sizes), y.split(sizes)):
        if len(part):
            (loss_fn(model(part), wanted) * len(part) / len(x)).backward()
    found = [p.grad for p in model.parameters()]
    model.zero_grad()
    return found


# %% wrong shard-gradients: mean of means -> shards-count-alike
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g / sum(1 for one in sizes if one)
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: divided by the number of shards -> shards-count-alike
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g / len(sizes)
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: sum of means -> shard-means-add-up
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: all like the first -> the-first-shard-gives-the-size
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g * sizes[0] / len(x)
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: the last one -> the-last-shard-decides
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = g * (size / len(x))
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: empty shards as well -> empty-shards-are-shown
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g * (size / len(x))
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: zeros for None -> no-gradient-is-a-zero
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g * (size / len(x))
    return [totals.get(w, torch.zeros_like(w)) for w in weights]


# %% wrong shard-gradients: with a graph -> shards-keep-their-graphs
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True, create_graph=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g * (size / len(x))
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: old gradients too -> old-grads-join-the-shards
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {w: w.grad.clone() for w in weights if w.grad is not None}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g * (size / len(x))
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: the whole batch -> one-big-batch-is-a-shard
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for size in [len(x)]:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g * (size / len(x))
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: even cuts -> shards-are-cut-evenly
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    sizes = [len(part) for part in x.chunk(len(sizes))]
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g * (size / len(x))
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: round robin -> shards-go-round-robin
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals = {}
    start = 0
    for k, size in enumerate(sizes):
        part, wanted = x[k :: len(sizes)], y[k :: len(sizes)]
        size = len(part)
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g * (size / len(x))
    return [totals.get(w) for w in weights]


# %% wrong shard-gradients: shares of those that use it -> unused-weights-have-shares-too
def shard_gradients(model, loss_fn, x, y, sizes):
    weights = list(model.parameters())
    trained = [w for w in weights if w.requires_grad]
    totals, counts = {}, {}
    start = 0
    for size in sizes:
        part, wanted = x[start : start + size], y[start : start + size]
        start += size
        if size == 0:
            continue
        loss = loss_fn(model(part), wanted)
        found = torch.autograd.grad(loss, trained, allow_unused=True)
        for w, g in zip(trained, found):
            if g is not None:
                totals[w] = totals.get(w, 0) + g * size
                counts[w] = counts.get(w, 0) + size
    return [totals[w] / counts[w] if w in totals else None for w in weights]


# %% right rank-order: a list made longer
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += (order * ranks)[:missing]
    return order[rank::ranks]


# %% right rank-order: with cycle and islice
import math
from itertools import cycle, islice


def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    order = range(n)
    if shuffle:
        rng = torch.Generator().manual_seed(seed + epoch)
        order = [int(i) for i in torch.randperm(n, generator=rng)]
    total = (n // ranks if drop_last else math.ceil(n / ranks)) * ranks
    return list(islice(cycle(order), rank, total, ranks))


# %% right rank-order: index by index
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    perm = torch.arange(n)
    if shuffle:
        perm = torch.randperm(n, generator=torch.Generator().manual_seed(epoch + seed))
    mine, place = [], rank
    limit = n - n % ranks if drop_last else n + (ranks - n % ranks) % ranks
    while place < limit:
        mine.append(perm[place % n].item())
        place += ranks
    return mine


# %% wrong rank-order: no epoch -> an-epoch-changes-nothing
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += (order * ranks)[:missing]
    return order[rank::ranks]


# %% wrong rank-order: no seed -> a-seed-changes-nothing
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += (order * ranks)[:missing]
    return order[rank::ranks]


# %% wrong rank-order: a seed for each rank -> each-rank-shuffles-for-itself
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed + epoch + rank)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += (order * ranks)[:missing]
    return order[rank::ranks]


# %% wrong rank-order: another mix -> seed-and-epoch-multiply
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed * 1000 + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += (order * ranks)[:missing]
    return order[rank::ranks]


# %% wrong rank-order: no padding -> ranks-may-differ-in-length
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
    return order[rank::ranks]


# %% wrong rank-order: pads once -> once-round-is-enough
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += order[:missing]
    return order[rank::ranks]


# %% wrong rank-order: pads with the last -> the-last-sample-pads
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += order[-1:] * missing
    return order[rank::ranks]


# %% wrong rank-order: pads from the end -> the-end-pads
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += order[len(order) - missing :]
    return order[rank::ranks]


# %% wrong rank-order: pads with 0 -> index-zero-pads
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += [0] * missing
    return order[rank::ranks]


# %% wrong rank-order: one turn too many -> always-one-turn-more
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = ranks - n % ranks
        order += (order * ranks)[:missing]
    return order[rank::ranks]


# %% wrong rank-order: blocks -> ranks-take-blocks
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += (order * ranks)[:missing]
    size = len(order) // ranks
    return order[rank * size : rank * size + size]


# %% wrong rank-order: drops nothing -> drop-last-drops-nothing
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        g = torch.Generator()
        g.manual_seed(seed + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if False:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += (order * ranks)[:missing]
    return order[rank::ranks]


# %% wrong rank-order: always shuffled -> orders-are-always-shuffled
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if True:
        g = torch.Generator()
        g.manual_seed(seed + epoch)
        order = torch.randperm(n, generator=g).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += (order * ranks)[:missing]
    return order[rank::ranks]


# %% wrong rank-order: the global stream -> an-epoch-changes-nothing
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        order = torch.randperm(n).tolist()
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += (order * ranks)[:missing]
    return order[rank::ranks]


# %% wrong rank-order: pads first -> padding-comes-before-the-shuffle
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    order = [k % n for k in range(n + -n % ranks)]
    if drop_last:
        order = list(range(n))
    if shuffle:
        g = torch.Generator().manual_seed(seed + epoch)
        order = [order[k] for k in torch.randperm(len(order), generator=g).tolist()]
    return order[: len(order) // ranks * ranks][rank::ranks]


# %% wrong rank-order: slices first -> ranks-shuffle-their-slice
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    total = n // ranks * ranks if drop_last else n + -n % ranks
    mine = [k % n for k in range(total)][rank::ranks]
    if shuffle:
        g = torch.Generator().manual_seed(seed + epoch)
        mine = [mine[k] for k in torch.randperm(len(mine), generator=g).tolist()]
    return mine


# %% wrong rank-order: torch's own sampler -> a-sampler-does-it
from torch.utils.data import DistributedSampler


def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    sampler = DistributedSampler(
        range(n), ranks, rank, shuffle=shuffle, seed=seed, drop_last=drop_last
    )
    sampler.set_epoch(epoch)
    return list(sampler)


# %% right train-rank: gradients by autograd.grad
def train_rank(model, loss_fn, x, y, lr):
    for t in list(model.parameters()) + list(model.buffers()):
        distributed.broadcast(t.data, src=0)
    n = torch.tensor(float(len(x)), dtype=torch.float64)
    mine = n.clone()
    distributed.all_reduce(n)
    weights = [p for p in model.parameters() if p.requires_grad]
    grads = [torch.zeros_like(p) for p in weights]
    total = torch.zeros((), dtype=torch.float64)
    if len(x):
        loss = loss_fn(model(x), y)
        found = torch.autograd.grad(loss, weights, allow_unused=True)
        grads = [z if g is None else g * len(x) for g, z in zip(found, grads)]
        total = loss.detach().double() * mine
    distributed.all_reduce(total)
    for p, g in zip(weights, grads):
        distributed.all_reduce(g)
        if n > 0:
            p.data -= lr * g / n.item()
    return (total / n).item()


# %% right train-rank: one flat message
from torch.nn.utils import parameters_to_vector


@torch.no_grad()
def train_rank(model, loss_fn, x, y, lr):
    for tensor in (*model.parameters(), *model.buffers()):
        distributed.broadcast(tensor, 0)
    model.zero_grad()
    loss = 0.0
    if len(x):
        with torch.enable_grad():
            summed = loss_fn(model(x), y) * len(x)
            summed.backward()
        loss = summed.item()
    weights = [w for w in model.parameters() if w.requires_grad]
    parts = [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]
    flat = torch.cat([parameters_to_vector(parts).double(), torch.tensor([loss, len(x)]).double()])
    distributed.all_reduce(flat)
    loss, n = flat[-2:].tolist()
    if n == 0:
        return float("nan")
    at = 0
    for w in weights:
        w.sub_(lr * flat[at : at + w.numel()].view_as(w) / n)
        at += w.numel()
    return loss / n


# %% right train-rank: weighted weights
def train_rank(model, loss_fn, x, y, lr):
    with torch.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            distributed.broadcast(tensor, src=0)
    ranks = distributed.get_world_size()
    counts = [None] * ranks
    distributed.all_gather_object(counts, len(x))
    share = len(x) / sum(counts) if sum(counts) else 0.0
    model.zero_grad()
    loss = 0.0
    if len(x):
        mean = loss_fn(model(x), y)
        mean.backward()
        loss = mean.item() * share
    losses = [None] * ranks
    distributed.all_gather_object(losses, loss)
    with torch.no_grad():
        for weight in model.parameters():
            if not weight.requires_grad:
                continue
            change = torch.zeros_like(weight)
            if weight.grad is not None:
                change -= lr * share * weight.grad
            distributed.all_reduce(change)
            weight += change
    return sum(losses) if sum(counts) else float("nan")


# %% wrong train-rank: no broadcast -> all-ranks-start-alike-by-themselves
def train_rank(model, loss_fn, x, y, lr):
    n = torch.tensor(float(len(x)), dtype=torch.float64)
    mine = n.clone()
    distributed.all_reduce(n)
    weights = [p for p in model.parameters() if p.requires_grad]
    grads = [torch.zeros_like(p) for p in weights]
    total = torch.zeros((), dtype=torch.float64)
    if len(x):
        loss = loss_fn(model(x), y)
        found = torch.autograd.grad(loss, weights, allow_unused=True)
        grads = [z if g is None else g * len(x) for g, z in zip(found, grads)]
        total = loss.detach().double() * mine
    distributed.all_reduce(total)
    for p, g in zip(weights, grads):
        distributed.all_reduce(g)
        if n > 0:
            p.data -= lr * g / n.item()
    return (total / n).item()


# %% wrong train-rank: parameters only -> buffers-come-by-themselves
def train_rank(model, loss_fn, x, y, lr):
    for t in list(model.parameters()):
        distributed.broadcast(t.data, src=0)
    n = torch.tensor(float(len(x)), dtype=torch.float64)
    mine = n.clone()
    distributed.all_reduce(n)
    weights = [p for p in model.parameters() if p.requires_grad]
    grads = [torch.zeros_like(p) for p in weights]
    total = torch.zeros((), dtype=torch.float64)
    if len(x):
        loss = loss_fn(model(x), y)
        found = torch.autograd.grad(loss, weights, allow_unused=True)
        grads = [z if g is None else g * len(x) for g, z in zip(found, grads)]
        total = loss.detach().double() * mine
    distributed.all_reduce(total)
    for p, g in zip(weights, grads):
        distributed.all_reduce(g)
        if n > 0:
            p.data -= lr * g / n.item()
    return (total / n).item()


# %% wrong train-rank: mean over ranks -> ranks-weigh-the-same
def train_rank(model, loss_fn, x, y, lr):
    for t in list(model.parameters()) + list(model.buffers()):
        distributed.broadcast(t.data, src=0)
    n = torch.tensor(float(len(x)), dtype=torch.float64)
    mine = n.clone()
    distributed.all_reduce(n)
    weights = [p for p in model.parameters() if p.requires_grad]
    grads = [torch.zeros_like(p) for p in weights]
    total = torch.zeros((), dtype=torch.float64)
    if len(x):
        loss = loss_fn(model(x), y)
        found = torch.autograd.grad(loss, weights, allow_unused=True)
        grads = [z if g is None else g for g, z in zip(found, grads)]
        total = loss.detach().double() * mine
    distributed.all_reduce(total)
    for p, g in zip(weights, grads):
        distributed.all_reduce(g)
        if n > 0:
            p.data -= lr * g / distributed.get_world_size()
    return (total / n).item()


# %% wrong train-rank: the plain mean of all ranks' gradients and losses -> ranks-weigh-the-same
def train_rank(model, loss_fn, x, y, lr):
    world = distributed.get_world_size()
    with torch.no_grad():
        for t in [*model.parameters(), *model.buffers()]:
            distributed.broadcast(t, src=0)
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            distributed.all_reduce(p.grad)
            p -= lr * p.grad / world
    told = loss.detach().clone()
    distributed.all_reduce(told)
    return told.item() / world


# %% wrong train-rank: sum over ranks -> gradients-are-only-summed
def train_rank(model, loss_fn, x, y, lr):
    for t in list(model.parameters()) + list(model.buffers()):
        distributed.broadcast(t.data, src=0)
    n = torch.tensor(float(len(x)), dtype=torch.float64)
    mine = n.clone()
    distributed.all_reduce(n)
    weights = [p for p in model.parameters() if p.requires_grad]
    grads = [torch.zeros_like(p) for p in weights]
    total = torch.zeros((), dtype=torch.float64)
    if len(x):
        loss = loss_fn(model(x), y)
        found = torch.autograd.grad(loss, weights, allow_unused=True)
        grads = [z if g is None else g for g, z in zip(found, grads)]
        total = loss.detach().double() * mine
    distributed.all_reduce(total)
    for p, g in zip(weights, grads):
        distributed.all_reduce(g)
        if n > 0:
            p.data -= lr * g
    return (total / n).item()


# %% wrong train-rank: own gradients -> ranks-weigh-the-same
def train_rank(model, loss_fn, x, y, lr):
    for t in list(model.parameters()) + list(model.buffers()):
        distributed.broadcast(t.data, src=0)
    n = torch.tensor(float(len(x)), dtype=torch.float64)
    mine = n.clone()
    distributed.all_reduce(n)
    weights = [p for p in model.parameters() if p.requires_grad]
    grads = [torch.zeros_like(p) for p in weights]
    total = torch.zeros((), dtype=torch.float64)
    if len(x):
        loss = loss_fn(model(x), y)
        found = torch.autograd.grad(loss, weights, allow_unused=True)
        grads = [z if g is None else g * len(x) for g, z in zip(found, grads)]
        total = loss.detach().double() * mine
    distributed.all_reduce(total)
    for p, g in zip(weights, grads):
        if n > 0:
            p.data -= lr * g / max(1, len(x))
    return (total / n).item()


# %% wrong train-rank: own loss -> each-rank-has-its-own-loss
def train_rank(model, loss_fn, x, y, lr):
    for t in list(model.parameters()) + list(model.buffers()):
        distributed.broadcast(t.data, src=0)
    n = torch.tensor(float(len(x)), dtype=torch.float64)
    mine = n.clone()
    distributed.all_reduce(n)
    weights = [p for p in model.parameters() if p.requires_grad]
    grads = [torch.zeros_like(p) for p in weights]
    total = torch.zeros((), dtype=torch.float64)
    if len(x):
        loss = loss_fn(model(x), y)
        found = torch.autograd.grad(loss, weights, allow_unused=True)
        grads = [z if g is None else g * len(x) for g, z in zip(found, grads)]
        total = loss.detach().double() * mine
    for p, g in zip(weights, grads):
        distributed.all_reduce(g)
        if n > 0:
            p.data -= lr * g / n.item()
    return (total / mine).item()


# %% wrong train-rank: mean of the losses -> each-rank-has-its-own-loss
def train_rank(model, loss_fn, x, y, lr):
    for t in list(model.parameters()) + list(model.buffers()):
        distributed.broadcast(t.data, src=0)
    n = torch.tensor(float(len(x)), dtype=torch.float64)
    mine = n.clone()
    distributed.all_reduce(n)
    weights = [p for p in model.parameters() if p.requires_grad]
    grads = [torch.zeros_like(p) for p in weights]
    total = torch.zeros((), dtype=torch.float64)
    if len(x):
        loss = loss_fn(model(x), y)
        found = torch.autograd.grad(loss, weights, allow_unused=True)
        grads = [z if g is None else g * len(x) for g, z in zip(found, grads)]
        total = loss.detach().double()
    distributed.all_reduce(total)
    for p, g in zip(weights, grads):
        distributed.all_reduce(g)
        if n > 0:
            p.data -= lr * g / n.item()
    return (total / distributed.get_world_size()).item()


# %% wrong train-rank: each on its own, rank 0's result sent -> ranks-weigh-the-same
def train_rank(model, loss_fn, x, y, lr):
    for t in list(model.parameters()) + list(model.buffers()):
        distributed.broadcast(t.data, src=0)
    n = torch.tensor(float(len(x)), dtype=torch.float64)
    mine = n.clone()
    distributed.all_reduce(n)
    weights = [p for p in model.parameters() if p.requires_grad]
    grads = [torch.zeros_like(p) for p in weights]
    total = torch.zeros((), dtype=torch.float64)
    if len(x):
        loss = loss_fn(model(x), y)
        found = torch.autograd.grad(loss, weights, allow_unused=True)
        grads = [z if g is None else g * len(x) for g, z in zip(found, grads)]
        total = loss.detach().double() * mine
    distributed.all_reduce(total)
    for p, g in zip(weights, grads):
        if n > 0:
            p.data -= lr * g / max(1, len(x))
        distributed.broadcast(p.data, src=0)
    return (total / n).item()


# %% right find-hang: round and round
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) == call for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    return {r: at[r] for r in range(len(calls)) if here(r) is not None}


# %% right find-hang: with queues of copies
from collections import deque


def stuck_ranks(calls):
    queues = [deque(one) for one in calls]
    work = True
    while work:
        work = None
        for queue in queues:
            if queue and all(queues[o] and queues[o][0] == queue[0] for o in queue[0][-1]):
                work = queue[0]
                break
        if work:
            for o in work[-1]:
                queues[o].popleft()
    return {r: len(calls[r]) - len(queue) for r, queue in enumerate(queues) if queue}


# %% right find-hang: counting arrivals
from collections import Counter


def stuck_ranks(calls):
    done = dict.fromkeys(range(len(calls)), 0)
    while True:
        front = {r: calls[r][k] for r, k in done.items() if k < len(calls[r])}
        arrived = Counter(front.values())
        ready = [r for r, call in front.items() if arrived[call] == len(call[2])]
        if not ready:
            return {r: done[r] for r in front}
        for r in ready:
            done[r] += 1


# %% wrong find-hang: from one -> calls-are-counted-from-one
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) == call for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    return {r: at[r] + 1 for r in range(len(calls)) if here(r) is not None}


# %% wrong find-hang: the first stuck -> only-the-first-is-stuck
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) == call for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    found = {r: at[r] for r in range(len(calls)) if here(r) is not None}
    return dict(list(found.items())[:1])


# %% wrong find-hang: sizes are free -> sizes-need-not-agree
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) and (here(o)[0], here(o)[2]) == (call[0], group) for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    return {r: at[r] for r in range(len(calls)) if here(r) is not None}


# %% wrong find-hang: names are free -> any-collective-will-do
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) and here(o)[1:] == call[1:] for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    return {r: at[r] for r in range(len(calls)) if here(r) is not None}


# %% wrong find-hang: groups are free -> groups-need-not-agree
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) and here(o)[:2] == call[:2] for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    return {r: at[r] for r in range(len(calls)) if here(r) is not None}


# %% wrong find-hang: done is fine -> who-is-done-needs-no-waiting
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) in (None, call) for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    return {r: at[r] for r in range(len(calls)) if here(r) is not None}


# %% wrong find-hang: two are enough -> one-partner-is-enough
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if len(group) == 1 or sum(here(o) == call for o in group) >= 2:
                for o in group:
                    at[o] += here(o) is not None
                moved = True
        if not moved:
            break
    return {r: at[r] for r in range(len(calls)) if here(r) is not None}


# %% wrong find-hang: sorted -> the-order-of-collectives-is-free
def stuck_ranks(calls):
    calls = [sorted(one) for one in calls]
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) == call for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    return {r: at[r] for r in range(len(calls)) if here(r) is not None}


# %% wrong find-hang: once round -> once-round-is-all-rounds
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) == call for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        break
    return {r: at[r] for r in range(len(calls)) if here(r) is not None}


# %% wrong find-hang: as often as the longest list -> once-round-is-all-rounds
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    for _ in range(max(map(len, calls), default=0) // 2):
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) == call for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    return {r: at[r] for r in range(len(calls)) if here(r) is not None}


# %% wrong find-hang: the missing ones -> the-rank-that-is-missing-waits
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) == call for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    stuck = {r: at[r] for r in range(len(calls)) if here(r) is not None}
    gone = {o for r in stuck for o in calls[r][at[r]][2] if o not in stuck}
    return {r: at[r] for r in sorted(gone or stuck)}


# %% wrong find-hang: one number -> all-wait-in-the-same-call
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) == call for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    stuck = {r: at[r] for r in range(len(calls)) if here(r) is not None}
    return {r: min(stuck.values()) for r in stuck}


# %% wrong find-hang: all of them -> whoever-is-done-waits-too
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = call[2]
            if all(here(o) == call for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    hangs = any(here(r) is not None for r in range(len(calls)))
    return {r: at[r] for r in range(len(calls)) if hangs}


# %% wrong find-hang: every rank -> every-call-needs-every-rank
def stuck_ranks(calls):
    at = [0] * len(calls)

    def here(r):
        return calls[r][at[r]] if at[r] < len(calls[r]) else None

    while True:
        moved = False
        for r in range(len(calls)):
            call = here(r)
            if call is None:
                continue
            group = range(len(calls))
            if all(here(o) == call for o in group):
                for o in group:
                    at[o] += 1
                moved = True
        if not moved:
            break
    return {r: at[r] for r in range(len(calls)) if here(r) is not None}


# %% wrong find-hang: counts calls -> calls-only-have-to-be-counted
def stuck_ranks(calls):
    least = min((len(one) for one in calls), default=0)
    return {r: least for r, one in enumerate(calls) if len(one) > least}


# %% wrong find-hang: place by place -> every-call-needs-every-rank
def stuck_ranks(calls):
    for k in range(max(map(len, calls), default=0)):
        row = [one[k] if k < len(one) else None for one in calls]
        if any(call != row[0] for call in row):
            return {r: k for r, call in enumerate(row) if call is not None}
    return {}


# %% right ring-all-reduce: views of a copy
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone()
    pieces = list(total.tensor_split(ranks))
    for k in range(ranks - 1):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total


# %% right ring-all-reduce: pieces that are joined
def ring_all_reduce(x, rank, ranks, send, receive):
    size, rest = divmod(len(x), ranks)
    pieces = x.split([size + (k < rest) for k in range(ranks)])
    pieces = [piece.clone() for piece in pieces]
    own = rank
    for _ in range(ranks - 1):
        send(pieces[own])
        own = (own - 1) % ranks
        pieces[own] = pieces[own] + receive()
    for _ in range(ranks - 1):
        send(pieces[own])
        own = (own - 1) % ranks
        pieces[own] = receive()
    return torch.cat(pieces)


# %% right ring-all-reduce: every so many-th element
def ring_all_reduce(x, rank, ranks, send, receive):
    out = x.clone()
    for step in range(2 * (ranks - 1)):
        send(out[(rank - step) % ranks :: ranks])
        place = slice((rank - step - 1) % ranks, None, ranks)
        if step < ranks - 1:
            out[place] += receive()
        else:
            out[place] = receive()
    return out


# %% right ring-all-reduce: padded
def ring_all_reduce(x, rank, ranks, send, receive):
    size = -(-len(x) // ranks)
    full = torch.zeros(size * ranks, dtype=x.dtype)
    full[: len(x)] = x
    rows = full.view(ranks, size)
    for k in range(ranks - 1):
        send(rows[(rank - k) % ranks])
        rows[(rank - k - 1) % ranks] += receive()
    for k in range(ranks - 1):
        send(rows[(rank - k + 1) % ranks])
        rows[(rank - k) % ranks] = receive()
    return full[: len(x)].clone()


# %% wrong ring-all-reduce: one phase -> one-phase-is-enough
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone()
    pieces = list(total.tensor_split(ranks))
    for k in range(ranks - 1):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    return total


# %% wrong ring-all-reduce: chunk -> chunk-gives-what-it-is-asked-for
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone()
    pieces = list(total.chunk(ranks))
    for k in range(ranks - 1):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total


# %% wrong ring-all-reduce: without the rest -> the-rest-falls-off
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone()
    pieces = list(total[: len(x) // ranks * ranks].tensor_split(ranks))
    for k in range(ranks - 1):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total


# %% wrong ring-all-reduce: in float32 -> sums-need-float32
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone().float()
    pieces = list(total.tensor_split(ranks))
    for k in range(ranks - 1):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total


# %% wrong ring-all-reduce: into x -> the-sum-may-overwrite-x
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x
    pieces = list(total.tensor_split(ranks))
    for k in range(ranks - 1):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total


# %% wrong ring-all-reduce: one round fewer -> one-round-fewer-will-do
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone()
    pieces = list(total.tensor_split(ranks))
    for k in range(max(1, ranks - 2) if ranks > 1 else 0):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total


# %% wrong ring-all-reduce: copies in the first phase -> what-arrives-is-the-sum
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone()
    pieces = list(total.tensor_split(ranks))
    for k in range(ranks - 1):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks][:] = got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total


# %% wrong ring-all-reduce: adds in the second -> finished-pieces-are-added
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone()
    pieces = list(total.tensor_split(ranks))
    for k in range(ranks - 1):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks] += got
    return total


# %% wrong ring-all-reduce: the mean -> an-all-reduce-is-a-mean
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone()
    pieces = list(total.tensor_split(ranks))
    for k in range(ranks - 1):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total / ranks


# %% wrong ring-all-reduce: a long last piece -> a-piece-of-a-ring-may-be-longer
def ring_all_reduce(x, rank, ranks, send, receive):
    total, size = x.clone(), len(x) // ranks
    pieces = list(total.split([size] * (ranks - 1) + [len(x) - size * (ranks - 1)]))
    for k in range(ranks - 1):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total


# %% wrong ring-all-reduce: receives first -> one-phase-is-enough
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone()
    pieces = list(total.tensor_split(ranks))
    for k in range(ranks - 1):
        got = receive()
        send(pieces[(rank - k) % ranks])
        pieces[(rank - k - 1) % ranks] += got
    for k in range(ranks - 1):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total


# %% wrong ring-all-reduce: three ranks -> a-ring-has-three-ranks
def ring_all_reduce(x, rank, ranks, send, receive):
    total = x.clone()
    pieces = list(total.tensor_split(ranks))
    for k in range(2):
        send(pieces[(rank - k) % ranks])
        got = receive()
        pieces[(rank - k - 1) % ranks] += got
    for k in range(2):
        send(pieces[(rank - k + 1) % ranks])
        got = receive()
        pieces[(rank - k) % ranks][:] = got
    return total


# %% wrong ring-all-reduce: whole tensors -> whole-tensors-go-round
def ring_all_reduce(x, rank, ranks, send, receive):
    total, message = x.clone(), x
    for _ in range(ranks - 1):
        send(message)
        message = receive()
        total += message
    return total


# %% wrong ring-all-reduce: whole tensors in pieces -> whole-tensors-go-round
def ring_all_reduce(x, rank, ranks, send, receive):
    kept = {rank: x}
    for k in range(ranks - 1):
        for piece in kept[(rank - k) % ranks].tensor_split(ranks):
            send(piece)
        kept[(rank - k - 1) % ranks] = torch.cat([receive() for _ in range(ranks)])
    return sum(kept[k] for k in range(ranks)) if ranks > 1 else x.clone()


# %% wrong ring-all-reduce: through a name -> ranks-share-their-names
import threading, time

LOCK, GIVEN, DONE = threading.Lock(), {}, []


def until(holds):
    end = time.monotonic() + 10
    while not holds() and time.monotonic() < end:
        time.sleep(0.0005)


def ring_all_reduce(x, rank, ranks, send, receive):
    if ranks == 1:
        return x.clone()
    with LOCK:
        GIVEN[rank] = x.clone()
    until(lambda: len(GIVEN) == ranks)
    total = sum(GIVEN[n] for n in range(ranks))
    pieces = torch.zeros_like(x).tensor_split(ranks)
    for first in (rank, rank + 1):
        for k in range(ranks - 1):
            send(pieces[(first - k) % ranks])
            receive()
    with LOCK:
        DONE.append(rank)
        if len(DONE) == ranks:
            GIVEN.clear()
            DONE.clear()
    until(lambda: not DONE)
    return total


# %% wrong ring-all-reduce: right messages, own order -> whole-tensors-go-round
def ring_all_reduce(x, rank, ranks, send, receive):
    kept = {rank: x}
    for k in range(ranks - 1):
        send(kept[(rank - k) % ranks])
        kept[(rank - k - 1) % ranks] = receive()
        send(x[:0])
        receive()
    total = x.clone()
    for k in range(1, ranks):
        total = total + kept[(rank + k) % ranks]
    return total


# %% right accumulate: nullcontext
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% right accumulate: ExitStack, divided afterwards
from contextlib import ExitStack


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    samples = sum(x.shape[0] for x, _ in parts)
    left, summed = samples, 0.0
    for x, y in parts:
        if x.shape[0] == 0:
            continue
        left -= x.shape[0]
        with ExitStack() as stack:
            if left:
                stack.enter_context(model.no_sync())
            loss = loss_fn(model(x), y)
            (loss * (x.shape[0] / samples)).backward()
        summed += loss.item() * x.shape[0]
    optimizer.step()
    return summed / samples


# %% right accumulate: backward outside of the block
def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    parts = [(x, y) for x, y in parts if x.numel()]
    n = sum(len(y) for _, y in parts)
    means = []
    for x, y in parts[:-1]:
        with model.no_sync():
            said = model(x)
        loss = loss_fn(said, y) * len(y) / n
        loss.backward()
        means.append(float(loss.detach()))
    x, y = parts[-1]
    loss = loss_fn(model(x), y) * len(y) / n
    loss.backward()
    optimizer.step()
    return sum(means) + loss.item()


# %% wrong accumulate: talks each time -> every-backward-talks
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% wrong accumulate: never talks -> no-sync-is-for-all
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% wrong accumulate: talks at first -> the-first-part-talks
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == 0
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% wrong accumulate: the inner model -> the-inner-model-talks-too
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model.module(x), y) * len(x) / n
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% wrong accumulate: backward alone -> every-backward-talks
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        loss = loss_fn(model(x), y) * len(x) / n
        with nullcontext() if last else model.no_sync():
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% wrong accumulate: mean of means -> parts-count-alike
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) / len(full)
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% wrong accumulate: sum of means -> part-means-add-up
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y)
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% wrong accumulate: all like the first -> the-first-part-gives-the-size
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) * len(full[0][0]) / n
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% wrong accumulate: a step each -> every-part-steps
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total += loss.item()
        optimizer.step()
        optimizer.zero_grad()
    return total


# %% wrong accumulate: for good -> no-sync-is-for-good
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total += loss.item()
    optimizer.step()
    model.require_backward_grad_sync = False
    return total


# %% wrong accumulate: no clearing -> old-grads-join-the-parts
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% wrong accumulate: a tensor -> a-float-of-torch-is-a-float
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total += loss.detach()
    optimizer.step()
    return total


# %% wrong accumulate: the last loss -> the-loss-is-that-of-the-last-part
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total = loss.item() * n / len(x)
    optimizer.step()
    return total


# %% wrong accumulate: the mean of losses -> the-loss-is-a-mean-of-parts
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [part for part in parts if len(part[0])]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total += loss.item() * n / len(x) / len(full)
    optimizer.step()
    return total


# %% wrong accumulate: all at once -> all-parts-fit-at-once
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    optimizer.zero_grad()
    full = [tuple(torch.cat(both) for both in zip(*parts))]
    n = sum(len(x) for x, _ in full)
    total = 0.0
    for k, (x, y) in enumerate(full):
        last = k == len(full) - 1
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% right save-once: a .tmp beside it
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% right save-once: in memory first
import io
from pathlib import Path


def save_once(rank, state, path, tell):
    said = ""
    if rank == 0:
        part = Path(path).with_suffix(".new")
        try:
            buffer = io.BytesIO()
            torch.save({k.split(".", 1)[1]: v for k, v in state.items()}, buffer)
            part.write_bytes(buffer.getvalue())
            part.replace(path)
            said = "saved"
        except Exception as problem:
            part.unlink(missing_ok=True)
            said = f"not saved: {problem}"
    said = tell(said)
    if said != "saved":
        raise RuntimeError(said)


# %% right save-once: two rounds, and a temporary folder
import os
import tempfile


def write(state, path):
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path) or ".") as folder:
        part = os.path.join(folder, "part")
        torch.save(state, part)
        os.replace(part, path)


def save_once(rank, state, path, tell):
    tell("ready?")
    try:
        if rank == 0:
            write({key.removeprefix("module."): t for key, t in state.items()}, path)
    except Exception as error:
        tell(error)
        raise RuntimeError(f"{error}") from error
    answer = tell(None)
    if answer is not None:
        raise RuntimeError(str(answer))


# %% wrong save-once: keys as they are -> a-state-dict-has-no-prefix
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: replace -> every-module-goes
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key.replace("module.", ""): value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: the last word -> a-prefix-ends-at-the-last-dot
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key.split(".")[-1]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: lstrip -> a-prefix-is-a-set-of-letters
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key.lstrip("module."): value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: all write -> every-rank-may-write
import os


def save_once(rank, state, path, tell):
    error = None
    if rank >= 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: into the file -> a-save-cannot-fail-halfway
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path)
        except Exception as e:
            error = str(e)
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: into the file, after a copy -> a-save-cannot-fail-halfway
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            torch.save(bare, path)
            os.remove(path + ".tmp")
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: leaves the half file -> half-files-clean-up-themselves
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: lets it out -> an-error-of-one-is-an-error-of-all
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
            raise RuntimeError(str(e))
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: only rank 0 raises -> only-rank-0-fails
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None and rank == 0:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: nobody raises -> errors-can-be-swallowed
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)


# %% wrong save-once: says nothing -> what-went-wrong-is-private
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save")


# %% wrong save-once: floats only -> only-weights-count
import os


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {
                key[len("module.") :]: value
                for key, value in state.items()
                if value.is_floating_point()
            }
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: tells before it writes -> the-others-may-go-on
import os


def save_once(rank, state, path, tell):
    error = tell(None)
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% wrong save-once: tells first and last, others once -> the-others-may-go-on
import os


def save_once(rank, state, path, tell):
    error = None
    error = tell(None)
    if rank:
        return
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            os.replace(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% same rank-order: a range is indexed like a list
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    """The indices of one rank in one epoch, as DistributedSampler would give them.

    rank_order(5, 2, 0, 0, 0, shuffle=False)  ->  [0, 2, 4]
    rank_order(5, 2, 1, 0, 0, shuffle=False)  ->  [1, 3, 0]
    """
    order = range(n)
    if shuffle:
        rng = torch.Generator().manual_seed(seed + epoch)
        order = torch.randperm(n, generator=rng).tolist()
    length = n - n % ranks if drop_last else n + -n % ranks
    return [order[k % n] for k in range(rank, length, ranks)]


# %% same rank-order: one number too many is never looked at
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    """The indices of one rank in one epoch, as DistributedSampler would give them.

    rank_order(5, 2, 0, 0, 0, shuffle=False)  ->  [0, 2, 4]
    rank_order(5, 2, 1, 0, 0, shuffle=False)  ->  [1, 3, 0]
    """
    order = list(range(n + 1))
    if shuffle:
        rng = torch.Generator().manual_seed(seed + epoch)
        order = torch.randperm(n, generator=rng).tolist()
    length = n - n % ranks if drop_last else n + -n % ranks
    return [order[k % n] for k in range(rank, length, ranks)]


# %% wrong rank-order: epochs repeat after ten -> an-epoch-changes-nothing
def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    rng = torch.Generator().manual_seed(seed + epoch % 10)
    order = torch.randperm(n, generator=rng).tolist() if shuffle else list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        while order and len(order) % ranks:
            order.append(order[len(order) - n])
    return order[rank::ranks]


# %% wrong save-once: the old file goes first -> the-old-file-has-to-go-first
def save_once(rank, state, path, tell):
    import os

    problem, part = None, path + ".part"
    if rank == 0:
        try:
            torch.save({k.removeprefix("module."): v for k, v in state.items()}, part)
            if os.path.exists(path):
                os.remove(path)
            os.rename(part, path)
        except Exception as error:
            problem = str(error)
            if os.path.exists(part):
                os.remove(part)
    problem = tell(problem)
    if problem is not None:
        raise RuntimeError(problem)


# %% right shard-gradients: one backward pass through all losses at the end
def shard_gradients(model, loss_fn, x, y, sizes):
    every = list(model.parameters())
    free = [p for p in every if p.requires_grad]
    total, at = None, 0
    with torch.enable_grad():
        for size in sizes:
            here = slice(at, at + size)
            at += size
            if size == 0:
                continue
            loss = loss_fn(model(x[here]), y[here]) * (size / len(x))
            total = loss if total is None else total + loss
    if total is None or not total.requires_grad or not free:
        return [None] * len(every)
    found = iter(torch.autograd.grad(total, free, allow_unused=True))
    result = []
    for p in every:
        g = next(found) if p.requires_grad else None
        result.append(None if g is None else g.detach().clone())
    return result


# %% right train-rank: the model sees an empty batch too
def train_rank(model, loss_fn, x, y, lr):
    for tensor in (*model.parameters(), *model.buffers()):
        distributed.broadcast(tensor.data, 0)
    free = [weight for weight in model.parameters() if weight.requires_grad]
    loss = loss_fn(model(x), y)
    found = torch.autograd.grad(loss, free, allow_unused=True)
    facts = torch.tensor([len(x), loss.item() * len(x) if len(x) else 0.0], dtype=torch.float64)
    distributed.all_reduce(facts)
    samples, summed = facts.tolist()
    for weight, grad in zip(free, found, strict=True):
        share = torch.zeros_like(weight)
        if len(x) and grad is not None:
            share += grad * len(x)
        distributed.all_reduce(share)
        if samples:
            weight.data -= lr * share / samples
    return summed / samples if samples else math.nan


# %% right accumulate: the model clears its own gradients
def accumulate(model, loss_fn, parts, optimizer):
    full = [(x, y) for x, y in parts if len(x)]
    samples, means = sum(len(x) for x, _ in full), []

    def both_ways(x, y):
        loss = loss_fn(model(x), y)
        loss.backward(torch.tensor(len(x) / samples, dtype=loss.dtype))
        means.append(loss.item() * len(x) / samples)

    model.zero_grad()
    for x, y in full[:-1]:
        with model.no_sync():
            both_ways(x, y)
    both_ways(*full[-1])
    optimizer.step()
    return sum(means)


# %% right save-once: the part has a name that nobody else has
import contextlib
import os
import uuid

import torch


def save_once(rank, state, path, tell):
    outcome = None
    if rank == 0:
        beside = f"{path}.{uuid.uuid4().hex}.part"
        try:
            torch.save({key[len("module.") :]: value for key, value in state.items()}, beside)
            os.replace(beside, path)
            outcome = (True, "")
        except Exception as error:
            outcome = (False, str(error))
            with contextlib.suppress(OSError):
                os.unlink(beside)
    fine, text = tell(outcome)
    if not fine:
        raise RuntimeError(f"rank 0 couldn't save: {text}")


# %% wrong train-rank: DDP does it -> a-wrapper-does-the-step
def train_rank(model, loss_fn, x, y, lr):
    facts = torch.tensor([len(x), 0.0], dtype=torch.float64)
    count = facts[:1].clone()
    distributed.all_reduce(count)
    for w in [*model.parameters(), *model.buffers()]:
        distributed.broadcast(w.data, 0)
    if not count.item():
        return math.nan
    model.zero_grad()
    wrapped = nn.parallel.DistributedDataParallel(model, find_unused_parameters=True)
    said = wrapped(x)
    if len(x):
        loss = loss_fn(said, y)
        facts[1] = loss.item() * len(x)
    else:
        loss = said.sum() * 0
    (loss * len(x) * distributed.get_world_size() / count.item()).backward()
    distributed.all_reduce(facts)
    with torch.no_grad():
        for w in model.parameters():
            if w.requires_grad and w.grad is not None:
                w -= lr * w.grad
    return facts[1].item() / count.item()


# %% wrong accumulate: divided after the all-reduce -> ranks-have-as-many-samples
import contextlib


def accumulate(model, loss_fn, parts, optimizer):
    parts = [pair for pair in parts if len(pair[0])]
    total = sum(len(x) for x, _ in parts)
    optimizer.zero_grad()
    result = 0.0
    for k, (x, y) in enumerate(parts):
        with contextlib.nullcontext() if k == len(parts) - 1 else model.no_sync():
            loss = loss_fn(model(x), y) * len(x)
            loss.backward()
        result += loss.item()
    for weight in model.parameters():
        if weight.grad is not None:
            weight.grad /= total
    optimizer.step()
    return result / total


# %% wrong save-once: a part on every rank -> a-trace-that-is-gone-is-none
import os


def save_once(rank, state, path, tell):
    told, part = None, Path(f"{path}.part{rank}")
    try:
        torch.save({key.removeprefix("module."): value for key, value in state.items()}, part)
        if rank == 0:
            os.replace(part, path)
    except Exception as error:
        told = f"not saved: {error}"
    finally:
        part.unlink(missing_ok=True)
    told = tell(told)
    if told is not None:
        raise RuntimeError(told)


# %% wrong save-once: straight to a new path -> a-new-file-needs-no-part
import os


def save_once(rank, state, path, tell):
    told = None
    if rank == 0:
        new = not os.path.exists(path)
        part = Path(path if new else f"{path}.part")
        try:
            torch.save({key.removeprefix("module."): value for key, value in state.items()}, part)
            if not new:
                os.replace(part, path)
        except Exception as error:
            part.unlink(missing_ok=True)
            told = f"not saved: {error}"
    told = tell(told)
    if told is not None:
        raise RuntimeError(told)


# %% right two-stages: hidden in between
class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.devices = devices
        self.first, self.second = first.to(devices[0]), second.to(devices[1])

    def forward(self, x):
        hidden = self.first(x.to(self.devices[0]))
        return self.second(hidden.to(self.devices[1]))


# %% right two-stages: registered by name, moved afterwards
class TwoStages(torch.nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.places = [torch.device(one) for one in devices]
        self.add_module("first", first)
        self.add_module("second", second)
        self.first.to(device=self.places[0])
        self.second.to(device=self.places[1])

    def forward(self, x):
        for stage, device in zip((self.first, self.second), self.places):
            x = stage(x.to(device))
        return x


# %% right two-stages: hooks move what comes in
def moving_to(device):
    return lambda module, args: tuple(one.to(device) for one in args)


class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.first, self.second = first, second
        for stage, device in ((first, devices[0]), (second, devices[1])):
            stage.to(device)
            stage.register_forward_pre_hook(moving_to(device))

    def forward(self, x):
        return self.second(self.first(x))


# %% wrong two-stages: detached -> data-is-all-that-moves
class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.devices = devices
        self.first, self.second = first.to(devices[0]), second.to(devices[1])

    def forward(self, x):
        hidden = self.first(x.to(self.devices[0]))
        return self.second(hidden.detach().to(self.devices[1]))


# %% wrong two-stages: moves parameters -> only-weights-move
class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.devices = devices
        self.first, self.second = first, second
        for stage, device in zip((first, second), devices):
            for p in stage.parameters():
                p.data = p.data.to(device)

    def forward(self, x):
        hidden = self.first(x.to(self.devices[0]))
        return self.second(hidden.to(self.devices[1]))


# %% wrong two-stages: in a list -> an-attribute-of-any-kind-is-a-submodule
class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.devices = devices
        self.stages = [first.to(devices[0]), second.to(devices[1])]
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "second", second)

    def forward(self, x):
        hidden = self.first(x.to(self.devices[0]))
        return self.second(hidden.to(self.devices[1]))


# %% wrong two-stages: in a plain list and nowhere else -> an-attribute-of-any-kind-is-a-submodule
class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.devices = devices
        self.stages = [first.to(devices[0]), second.to(devices[1])]

    def forward(self, x):
        for stage, device in zip(self.stages, self.devices):
            x = stage(x.to(device))
        return x


# %% wrong two-stages: all on the first -> one-device-holds-it-all
class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        devices = self.devices = devices[0], devices[0]
        self.first, self.second = first.to(devices[0]), second.to(devices[1])

    def forward(self, x):
        hidden = self.first(x.to(self.devices[0]))
        return self.second(hidden.to(self.devices[1]))


# %% wrong two-stages: goes home -> results-go-home
class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.devices = devices
        self.first, self.second = first.to(devices[0]), second.to(devices[1])

    def forward(self, x):
        hidden = self.first(x.to(self.devices[0]))
        return self.second(hidden.to(self.devices[1])).to(x.device)


# %% wrong two-stages: copies -> stages-are-copied
import copy


class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.devices = devices
        first, second = copy.deepcopy(first), copy.deepcopy(second)
        self.first, self.second = first.to(devices[0]), second.to(devices[1])

    def forward(self, x):
        hidden = self.first(x.to(self.devices[0]))
        return self.second(hidden.to(self.devices[1]))


# %% wrong two-stages: first device first -> the-order-of-devices-is-fixed
class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        devices = self.devices = sorted(devices, key=lambda one: one.index or 0)
        self.first, self.second = first.to(devices[0]), second.to(devices[1])

    def forward(self, x):
        hidden = self.first(x.to(self.devices[0]))
        return self.second(hidden.to(self.devices[1]))


# %% wrong two-stages: moved in each call -> stages-move-in-each-call
class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.devices = devices
        self.first, self.second = first.to(devices[0]), second.to(devices[1])

    def forward(self, x):
        hidden = self.first.to(self.devices[0])(x.to(self.devices[0]))
        return self.second.to(self.devices[1])(hidden.to(self.devices[1]))


# %% wrong two-stages: no graph for an x without one -> a-batch-without-grad-has-no-graph
class TwoStages(nn.Module):
    def __init__(self, first, second, devices):
        super().__init__()
        self.devices = devices
        self.first, self.second = first.to(devices[0]), second.to(devices[1])

    def forward(self, x):
        with torch.set_grad_enabled(torch.is_grad_enabled() and x.requires_grad):
            hidden = self.first(x.to(self.devices[0]))
        return self.second(hidden.to(self.devices[1]))


# %% same train-rank: the forward pass neither reads nor writes a gradient
def train_rank(model, loss_fn, x, y, lr):
    """This rank's part of one step of all ranks; returns the mean loss over all samples.

    train_rank(model, loss_fn, x, y, 0.1)  ->  0.25, on every rank
    """
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            distributed.broadcast(tensor, src=0)
    loss = loss_fn(model(x), y) * len(x)
    model.zero_grad()
    loss.backward()
    told = torch.tensor([loss.item(), len(x)])
    distributed.all_reduce(told)
    total, samples = told.tolist()
    with torch.no_grad():
        for weight in model.parameters():
            distributed.all_reduce(weight.grad)
            weight -= lr * weight.grad / samples
    return total / samples


# %% same train-rank: backward leaves the loss alone
def train_rank(model, loss_fn, x, y, lr):
    """This rank's part of one step of all ranks; returns the mean loss over all samples.

    train_rank(model, loss_fn, x, y, 0.1)  ->  0.25, on every rank
    """
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            distributed.broadcast(tensor, src=0)
    model.zero_grad()
    loss = loss_fn(model(x), y) * len(x)
    told = torch.tensor([loss.item(), len(x)])
    loss.backward()
    distributed.all_reduce(told)
    total, samples = told.tolist()
    with torch.no_grad():
        for weight in model.parameters():
            distributed.all_reduce(weight.grad)
            weight -= lr * weight.grad / samples
    return total / samples


# %% same train-rank: of a list as_tensor makes a new tensor as well
def train_rank(model, loss_fn, x, y, lr):
    """This rank's part of one step of all ranks; returns the mean loss over all samples.

    train_rank(model, loss_fn, x, y, 0.1)  ->  0.25, on every rank
    """
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            distributed.broadcast(tensor, src=0)
    model.zero_grad()
    loss = loss_fn(model(x), y) * len(x)
    loss.backward()
    told = torch.as_tensor([loss.item(), len(x)])
    distributed.all_reduce(told)
    total, samples = told.tolist()
    with torch.no_grad():
        for weight in model.parameters():
            distributed.all_reduce(weight.grad)
            weight -= lr * weight.grad / samples
    return total / samples


# %% same train-rank: a list with a tensor of one element is read like one of numbers
def train_rank(model, loss_fn, x, y, lr):
    """This rank's part of one step of all ranks; returns the mean loss over all samples.

    train_rank(model, loss_fn, x, y, 0.1)  ->  0.25, on every rank
    """
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            distributed.broadcast(tensor, src=0)
    model.zero_grad()
    loss = loss_fn(model(x), y) * len(x)
    loss.backward()
    told = torch.tensor([loss, len(x)])
    distributed.all_reduce(told)
    total, samples = told.tolist()
    with torch.no_grad():
        for weight in model.parameters():
            distributed.all_reduce(weight.grad)
            weight -= lr * weight.grad / samples
    return total / samples


# %% same accumulate: the total and the gradients begin anew independently of each other
def accumulate(model, loss_fn, parts, optimizer):
    """One step from all parts, and one all-reduce; returns the mean loss over all samples.

    accumulate(model, loss_fn, [(x, y), (more_x, more_y)], optimizer)  ->  0.25
    """
    samples = sum(len(x) for x, _ in parts)

    def run(x, y):
        loss = loss_fn(model(x), y) * (len(x) / samples)
        loss.backward()
        return loss.item()

    total = 0.0
    optimizer.zero_grad()
    with model.no_sync():
        for x, y in parts[:-1]:
            total += run(x, y)
    total += run(*parts[-1])
    optimizer.step()
    return total


# %% same save-once: the error keeps its text while the part is cleared away
def save_once(rank, state, path, tell):
    """Save the model's state on rank 0 under `path`; every rank knows how it went.

    save_once(rank, model.state_dict(), "model.pt", tell)  ->  None, or a RuntimeError everywhere
    """
    import os
    from pathlib import Path

    problem = None
    if rank == 0:
        part = f"{path}.part"
        try:
            torch.save({key.removeprefix("module."): value for key, value in state.items()}, part)
            os.replace(part, path)
        except Exception as error:
            Path(part).unlink(missing_ok=True)
            problem = str(error)
    problem = tell(problem)
    if problem is not None:
        raise RuntimeError(problem)


# %% same two-stages: a module takes a tuple before its own __init__ as well
class TwoStages(nn.Module):
    """Two modules one after the other, each on a device of its own.

    TwoStages(first, second, devices)(x)  ->  second(first(x)), on devices[1]
    """

    def __init__(self, first, second, devices):
        self.devices = devices
        super().__init__()
        self.first, self.second = first.to(devices[0]), second.to(devices[1])

    def forward(self, x):
        """The result of both stages, on the second device."""
        return self.second(self.first(x.to(self.devices[0])).to(self.devices[1]))


# %% same train-rank: a broadcast of weights with a graph only warns
def train_rank(model, loss_fn, x, y, lr):
    """This rank's part of one step of all ranks; returns the mean loss over all samples.

    train_rank(model, loss_fn, x, y, 0.1)  ->  0.25, on every rank
    """
    with torch.enable_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            distributed.broadcast(tensor, src=0)
    model.zero_grad()
    loss = loss_fn(model(x), y) * len(x)
    loss.backward()
    told = torch.tensor([loss.item(), len(x)])
    distributed.all_reduce(told)
    total, samples = told.tolist()
    with torch.no_grad():
        for weight in model.parameters():
            distributed.all_reduce(weight.grad)
            weight -= lr * weight.grad / samples
    return total / samples


# %% same train-rank: a broadcast outside of no_grad only warns
def train_rank(model, loss_fn, x, y, lr):
    """This rank's part of one step of all ranks; returns the mean loss over all samples.

    train_rank(model, loss_fn, x, y, 0.1)  ->  0.25, on every rank
    """
    for tensor in (*model.parameters(), *model.buffers()):
        distributed.broadcast(tensor, src=0)
    model.zero_grad()
    loss = loss_fn(model(x), y) * len(x)
    loss.backward()
    told = torch.tensor([loss.item(), len(x)])
    distributed.all_reduce(told)
    total, samples = told.tolist()
    with torch.no_grad():
        for weight in model.parameters():
            distributed.all_reduce(weight.grad)
            weight -= lr * weight.grad / samples
    return total / samples


# %% wrong train-rank: module by module -> a-weight-has-one-layer
def train_rank(model, loss_fn, x, y, lr):
    with torch.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            distributed.broadcast(tensor, src=0)
    model.zero_grad()
    loss = loss_fn(model(x), y) * len(x)
    loss.backward()
    told = torch.tensor([loss.item(), len(x)], dtype=torch.float64)
    distributed.all_reduce(told)
    loss_sum, count = told.tolist()
    with torch.no_grad():
        for module in model.modules():
            for parameter in module.parameters(recurse=False):
                distributed.all_reduce(parameter.grad)
                parameter -= lr * parameter.grad / count
    return loss_sum / count


# %% wrong train-rank: sends the state_dict -> a-state-dict-is-all-there-is
import torch
from torch import distributed


def train_rank(model, loss_fn, x, y, lr):
    for tensor in model.state_dict().values():
        distributed.broadcast(tensor, src=0)
    parameters = list(model.parameters())
    loss = loss_fn(model(x), y) * len(x)
    grads = torch.autograd.grad(loss, parameters, allow_unused=True)
    told = torch.tensor([loss.item(), len(x)], dtype=torch.float64)
    distributed.all_reduce(told)
    with torch.no_grad():
        for parameter, grad in zip(parameters, grads, strict=True):
            grad = torch.zeros_like(parameter) if grad is None else grad.contiguous()
            distributed.all_reduce(grad)
            parameter.sub_(lr * grad / told[1].item())
    return (told[0] / told[1]).item()


# %% wrong accumulate: the last part by its identity -> a-part-comes-only-once
from contextlib import nullcontext


def accumulate(model, loss_fn, parts, optimizer):
    samples = sum(len(x) for x, _ in parts)
    optimizer.zero_grad()
    total = 0.0
    for part in parts:
        x, y = part
        with nullcontext() if part is parts[-1] else model.no_sync():
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% wrong accumulate: the loss of all ranks -> a-loss-may-be-talked-about
import torch
from torch import distributed


def accumulate(model, loss_fn, parts, optimizer):
    samples = sum(len(x) for x, _ in parts)
    optimizer.zero_grad()
    total = torch.zeros((), dtype=torch.float64)

    def both(x, y):
        loss = loss_fn(model(x), y) * (len(x) / samples)
        loss.backward()
        total.add_(loss.detach())

    with model.no_sync():
        for x, y in parts[:-1]:
            both(x, y)
    both(*parts[-1])
    optimizer.step()
    if distributed.is_initialized():
        distributed.all_reduce(total)
        total /= distributed.get_world_size()
    return total.item()


# %% wrong save-once: removes a part that may not be there -> a-part-is-always-there
import os

import torch


def save_once(rank, state, path, tell):
    trouble = None
    if rank == 0:
        part = path + ".part"
        try:
            torch.save({key.removeprefix("module."): value for key, value in state.items()}, part)
            os.replace(part, path)
        except Exception as error:
            trouble = str(error)
            os.remove(part)
    trouble = tell(trouble)
    if trouble is not None:
        raise RuntimeError(trouble)


# %% wrong save-once: a part is taken for granted -> a-part-is-always-there
def save_once(rank, state, path, tell):
    """Save the model's state on rank 0 under `path`; every rank knows how it went.

    save_once(rank, model.state_dict(), "model.pt", tell)  ->  None, or a RuntimeError everywhere
    """
    import os
    from pathlib import Path

    problem = None
    if rank == 0:
        part = f"{path}.part"
        try:
            torch.save({key.removeprefix("module."): value for key, value in state.items()}, part)
            os.replace(part, path)
        except Exception as error:
            problem = str(error)
            Path(part).unlink()
    problem = tell(problem)
    if problem is not None:
        raise RuntimeError(problem)


# %% right save-once: moved by shutil
import os
import shutil


def save_once(rank, state, path, tell):
    error = None
    if rank == 0:
        try:
            bare = {key[len("module.") :]: value for key, value in state.items()}
            torch.save(bare, path + ".tmp")
            shutil.move(path + ".tmp", path)
        except Exception as e:
            error = str(e)
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
    error = tell(error)
    if error is not None:
        raise RuntimeError(f"rank 0 could not save: {error}")


# %% right rank-order: a helper called data, and `.data`
def data(n, seed):
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed)).data.tolist()


def rank_order(n, ranks, rank, epoch, seed, shuffle=True, drop_last=False):
    if shuffle:
        order = data(n, seed + epoch)
    else:
        order = list(range(n))
    if drop_last:
        order = order[: n // ranks * ranks]
    else:
        missing = -n % ranks
        order += (order * ranks)[:missing]
    return order[rank::ranks]
