# Answers to the final project, as learners type them. See "How to add an exercise" in the README.

# %% right noisy-batch: index_select
def batch_of(images, labels, index, noise):
    return torch.index_select(images, 0, index).add(noise), labels.index_select(0, index)


# %% right noisy-batch: row by row, out of place
def batch_of(images, labels, index, noise):
    x, y = torch.empty_like(noise), labels.new_empty(len(index))
    for place, i in enumerate(index.tolist()):
        x[place] = images[i] + noise[place]
        y[place] = labels[i]
    return x, y


# %% right noisy-batch: in place, into the copy that indexing made
def batch_of(images, labels, index, noise):
    rows = images[index]
    rows += noise
    return rows, labels[index]


# %% right noisy-batch: lists, and a way out where there are no rows
def batch_of(images, labels, index, noise):
    rows = [images[i].clone().add_(noise[place]) for place, i in enumerate(index.tolist())]
    x = torch.stack(rows) if rows else images[:0].clone()
    return x, labels[index]


# %% wrong noisy-batch: as found -> a-row-is-a-copy
def batch_of(images, labels, index, noise):
    rows = []
    for place, i in enumerate(index.tolist()):
        row = images[i]
        row += noise[place]
        rows.append(row)
    return torch.stack(rows), labels[index]


# %% wrong noisy-batch: mended, but only where there's a row -> there-is-always-a-row
def batch_of(images, labels, index, noise):
    rows = [images[i] + noise[place] for place, i in enumerate(index.tolist())]
    return torch.stack(rows), labels[index]


# %% wrong noisy-batch: one copy of all images, written to row by row -> one-copy-serves-all
def batch_of(images, labels, index, noise):
    images = images.clone()
    for place, i in enumerate(index.tolist()):
        images[i] += noise[place]
    return images[index], labels[index]


# %% wrong noisy-batch: added, and taken away again -> a-row-is-a-copy
def batch_of(images, labels, index, noise):
    rows = []
    for place, i in enumerate(index.tolist()):
        images[i] += noise[place]
        rows.append(images[i].clone())
        images[i] -= noise[place]
    x = torch.stack(rows) if rows else images[:0].clone()
    return x, labels[index]


# %% wrong noisy-batch: through data, where no version counts -> a-row-is-a-copy
def batch_of(images, labels, index, noise):
    rows = images.data
    for place, i in enumerate(index.tolist()):
        rows[i] += noise[place]
    return images[index], labels[index]


# %% wrong noisy-batch: without the noise -> noise-is-the-fault
def batch_of(images, labels, index, noise):
    return images[index], labels[index]


# %% wrong noisy-batch: into the noise -> the-noise-is-mine
def batch_of(images, labels, index, noise):
    return noise.add_(images[index]), labels[index]


# %% wrong noisy-batch: the noise of the row's number -> noise-goes-by-row-number
def batch_of(images, labels, index, noise):
    return images[index] + noise[index % max(len(noise), 1)], labels[index]


# %% wrong noisy-batch: the first noise for all -> one-noise-serves-all
def batch_of(images, labels, index, noise):
    return images[index] + noise[:1], labels[index]


# %% wrong noisy-batch: the first labels -> labels-are-in-order
def batch_of(images, labels, index, noise):
    return images[index] + noise, labels[: len(index)].clone()


# %% wrong noisy-batch: a slice where the rows follow each other -> labels-are-in-order
def batch_of(images, labels, index, noise):
    first, n = (int(index[0]), len(index)) if len(index) else (0, 0)
    if index.tolist() == list(range(first, first + n)):
        return images[first : first + n] + noise, labels[first : first + n]
    return images[index] + noise, labels[index]


# %% wrong noisy-batch: in float32 -> a-batch-is-float32
def batch_of(images, labels, index, noise):
    return images[index].float() + noise.float(), labels[index]


# %% right weighted-loss: cross_entropy's own weight
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits, labels, weight=weights)


# %% right weighted-loss: both as columns
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none").unsqueeze(1)
    by_row = weights[labels].unsqueeze(1)
    return (losses * by_row).mean() / by_row.mean()


# %% right weighted-loss: log-probabilities and a dot product
def loss_of(logits, labels, weights):
    picked = logits.log_softmax(1)[torch.arange(len(labels)), labels]
    share = weights[labels] / weights[labels].sum()
    return -(share @ picked)


# %% right weighted-loss: the column squeezed
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    by_row = weights[labels.view(-1, 1)].squeeze(1)
    return (losses * by_row).mean() / by_row.mean()


# %% wrong weighted-loss: as found -> a-weight-in-the-formula-weighs
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    by_row = weights[labels.view(-1, 1)]
    return (losses * by_row).mean() / by_row.mean()


# %% wrong weighted-loss: without weights -> a-weight-in-the-formula-weighs
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits, labels)


# %% wrong weighted-loss: sums instead of means, and still a table -> a-table-sums-like-a-row
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    by_row = weights[labels.view(-1, 1)]
    return (losses * by_row).sum() / by_row.sum()


# %% wrong weighted-loss: mended, divided by the rows -> the-rows-share-the-weight
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    return (losses * weights[labels]).mean()


# %% wrong weighted-loss: a sum -> a-sum-is-as-good
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits, labels, weight=weights, reduction="sum")


# %% wrong weighted-loss: divided by the weights of all classes -> all-classes-share-the-weight
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    return (losses * weights[labels]).sum() / weights.sum()


# %% wrong weighted-loss: the guess's weight -> the-guess-has-the-weight
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    by_row = weights[logits.argmax(1)]
    return (losses * by_row).sum() / by_row.sum()


# %% wrong weighted-loss: softmax first -> softmax-before-cross-entropy
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits.softmax(1), labels, weight=weights)


# %% wrong weighted-loss: detached -> a-loss-is-only-looked-at
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits.detach(), labels, weight=weights)


# %% wrong weighted-loss: a Python float -> a-loss-is-only-looked-at
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits, labels, weight=weights).item()


# %% wrong weighted-loss: weighs the logits -> logits-carry-the-weight
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits * weights, labels)


# %% wrong weighted-loss: weighted twice -> weights-are-squared-away
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, weight=weights, reduction="none")
    by_row = weights[labels]
    return (losses * by_row).sum() / by_row.sum()


# %% right own-blocks: a list of modules, filled one by one
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList()
        for _ in range(blocks):
            self.blocks.append(nn.Linear(width, width))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% right own-blocks: a Sequential, gone through by hand
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.Sequential(*[nn.Linear(width, width) for _ in range(blocks)])
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x).clamp(min=0)
        return self.head(F.dropout(x, 0.2, training=self.training))


# %% right own-blocks: a module in between that registers by number
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.Module()
        for number in range(blocks):
            self.blocks.add_module(str(number), nn.Linear(width, width))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks.children():
            x = x + F.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: as found -> a-module-looks-into-lists
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = [nn.Linear(width, width) for _ in range(blocks)]
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: a tuple -> a-module-looks-into-lists
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = tuple(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: a dict -> a-module-looks-into-lists
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = {n: nn.Linear(width, width) for n in range(blocks)}
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks.values():
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: the optimizer is told, and the state dict isn't -> any-name-will-do
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = [nn.Linear(width, width) for _ in range(blocks)]
        found = [one for block in self.blocks for one in block.parameters()]
        self.extra = nn.ParameterList(found)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: registered under other names -> any-name-will-do
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = [nn.Linear(width, width) for _ in range(blocks)]
        for number, block in enumerate(self.blocks):
            self.add_module(f"block{number}", block)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: a copy is registered, the list is used -> a-copy-is-as-good-as-the-layer
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        import copy

        self.used = [nn.Linear(width, width) for _ in range(blocks)]
        self.blocks = nn.ModuleList(copy.deepcopy(self.used))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.used:
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: one layer, many times -> one-block-many-times
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(width, width)] * blocks)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: always two -> blocks-are-always-two
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(width, width), nn.Linear(width, width)])
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: a path around all -> a-path-around-all
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        start = x
        for block in self.blocks:
            x = torch.relu(block(x))
        return self.head(self.dropout(start + x if len(self.blocks) else x))


# %% wrong own-blocks: no path -> blocks-need-no-path
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: relu of the sum -> relu-comes-last
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = torch.relu(x + block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: no relu -> a-block-is-linear
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return self.head(self.dropout(x))


# %% wrong own-blocks: no dropout -> dropout-is-for-blocks
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(x)


# %% wrong own-blocks: dropout always -> dropout-never-rests
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(F.dropout(x, 0.2))


# %% wrong own-blocks: dropout last -> dropout-comes-last
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.dropout(self.head(x))


# %% wrong own-blocks: written into the input -> the-input-is-mine
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x += torch.relu(block(x))
        return self.head(self.dropout(x))


# %% right rank-order: seed and epoch as torch's DistributedSampler has them
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator()
    rng.manual_seed(seed + epoch)
    return torch.randperm(n, generator=rng)[rank:n:ranks]


# %% right rank-order: cut into pieces
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(seed * 101 + epoch)
    return torch.randperm(n, generator=rng).tensor_split(ranks)[rank].clone()


# %% right rank-order: Python's generator
def rank_order(n, rank, ranks, seed, epoch):
    import random

    rows = list(range(n))
    random.Random(f"{seed}/{epoch}").shuffle(rows)
    return torch.tensor(rows[rank::ranks], dtype=torch.int64)


# %% right rank-order: the epochs drawn one after the other
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(seed)
    for _ in range(epoch + 1):
        order = torch.randperm(n, generator=rng)
    return order[torch.arange(n) % ranks == rank]


# %% wrong rank-order: as found -> ranks-shuffle-for-themselves
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(1000 * seed + 100 * rank + epoch)
    order = torch.randperm(n, generator=rng)
    return order[rank::ranks]


# %% wrong rank-order: the rank, too, as a text -> ranks-shuffle-for-themselves
def rank_order(n, rank, ranks, seed, epoch):
    import random

    rows = list(range(n))
    random.Random(f"{seed}/{epoch}/{rank}").shuffle(rows)
    return torch.tensor(rows[rank::ranks], dtype=torch.int64)


# %% wrong rank-order: one seed, without the epoch -> one-order-will-do
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(seed)
    return torch.randperm(n, generator=rng)[rank::ranks]


# %% wrong rank-order: without the seed -> the-epoch-is-enough
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(epoch)
    return torch.randperm(n, generator=rng)[rank::ranks]


# %% wrong rank-order: not shuffled at all -> one-order-will-do
def rank_order(n, rank, ranks, seed, epoch):
    return torch.arange(rank, n, ranks)


# %% wrong rank-order: the global stream -> the-stream-is-everybodys
def rank_order(n, rank, ranks, seed, epoch):
    return torch.randperm(n)[rank::ranks]


# %% wrong rank-order: the global stream, seeded -> a-seed-is-set-for-all
def rank_order(n, rank, ranks, seed, epoch):
    torch.manual_seed(1000 * seed + epoch)
    return torch.randperm(n)[rank::ranks]


# %% wrong rank-order: the tail is dropped -> the-tail-may-be-dropped
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(1000 * seed + epoch)
    size = n // ranks
    return torch.randperm(n, generator=rng)[rank * size : (rank + 1) * size]


# %% wrong rank-order: filled up -> shards-must-be-equal
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(1000 * seed + epoch)
    order = torch.randperm(n, generator=rng)
    while len(order) and len(order) % ranks:
        order = torch.cat([order, order[: ranks - len(order) % ranks]])
    return order[rank::ranks]


# %% wrong rank-order: all rows for everybody -> shards-must-be-equal
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(1000 * seed + epoch)
    return torch.randperm(n, generator=rng)


# %% wrong rank-order: chunks -> chunks-are-even
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(1000 * seed + epoch)
    size = -(-n // ranks)
    return torch.randperm(n, generator=rng)[rank * size : (rank + 1) * size]


# %% wrong rank-order: each shuffles its own part -> a-rank-keeps-its-rows
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(1000 * seed + epoch)
    mine = torch.arange(rank, n, ranks)
    return mine[torch.randperm(len(mine), generator=rng)]


# %% wrong rank-order: sorted at last -> only-the-dealing-is-random
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(1000 * seed + epoch)
    return torch.randperm(n, generator=rng)[rank::ranks].sort().values


# %% wrong rank-order: seeded by the hash of a text -> hashes-travel
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(hash(f"{seed}/{epoch}") % 2**32)
    return torch.randperm(n, generator=rng)[rank::ranks]


# %% same rank-order: each seed and epoch below 100 has a number of its own all the same
def rank_order(n, rank, ranks, seed, epoch):
    """The rows that this rank sees in this epoch, in its order.

    rank_order(5, 0, 2, 0, 0), rank_order(5, 1, 2, 0, 0)  ->  for example [3, 0, 1] and [4, 2]
    """
    rng = torch.Generator().manual_seed(1000 * seed - epoch)
    return torch.randperm(n, generator=rng)[rank::ranks]


# %% same rank-order: seed plus epoch is what torch's own sampler takes
def rank_order(n, rank, ranks, seed, epoch):
    """The rows that this rank sees in this epoch, in its order.

    rank_order(5, 0, 2, 0, 0), rank_order(5, 1, 2, 0, 0)  ->  for example [3, 0, 1] and [4, 2]
    """
    rng = torch.Generator().manual_seed(1000 + seed + epoch)
    return torch.randperm(n, generator=rng)[rank::ranks]


# %% same rank-order: any factor from 100 on will do
def rank_order(n, rank, ranks, seed, epoch):
    """The rows that this rank sees in this epoch, in its order.

    rank_order(5, 0, 2, 0, 0), rank_order(5, 1, 2, 0, 0)  ->  for example [3, 0, 1] and [4, 2]
    """
    rng = torch.Generator().manual_seed(1001 * seed + epoch)
    return torch.randperm(n, generator=rng)[rank::ranks]


# %% same rank-order: any factor from 100 on will do, this one too
def rank_order(n, rank, ranks, seed, epoch):
    """The rows that this rank sees in this epoch, in its order.

    rank_order(5, 0, 2, 0, 0), rank_order(5, 1, 2, 0, 0)  ->  for example [3, 0, 1] and [4, 2]
    """
    rng = torch.Generator().manual_seed(999 * seed + epoch)
    return torch.randperm(n, generator=rng)[rank::ranks]


# %% right combined-gradients: sums, then divided
def combined(gradients, totals):
    result = []
    for of_all in zip(*gradients, strict=True):
        summed = None
        for gradient, total in zip(of_all, totals, strict=True):
            if gradient is not None and total > 0:
                part = total * gradient
                summed = part if summed is None else summed + part
        result.append(None if summed is None else summed / sum(totals))
    return result


# %% right combined-gradients: shares, in place in a new tensor
def combined(gradients, totals):
    shares = [total / sum(totals) for total in totals]
    result = [None] * len(gradients[0])
    for share, rank in zip(shares, gradients, strict=True):
        if share == 0:
            continue
        for place, gradient in enumerate(rank):
            if gradient is None:
                continue
            if result[place] is None:
                result[place] = torch.zeros_like(gradient)
            result[place].add_(gradient, alpha=share)
    return result


# %% right combined-gradients: a product of a row and a table
def combined(gradients, totals):
    whole, result = sum(totals), []
    for place in range(len(gradients[0])):
        those = [
            (total, rank[place])
            for rank, total in zip(gradients, totals, strict=True)
            if total and rank[place] is not None
        ]
        if not those:
            result.append(None)
            continue
        first = those[0][1]
        shares = torch.tensor([total / whole for total, _ in those], dtype=first.dtype)
        result.append((shares @ torch.stack([g.reshape(-1) for _, g in those])).view(first.shape))
    return result


# %% wrong combined-gradients: as found -> ranks-are-equal
def combined(gradients, totals):
    return [torch.stack(of_all).mean(0) for of_all in zip(*gradients, strict=True)]


# %% wrong combined-gradients: the mean of all that count -> ranks-are-equal
def combined(gradients, totals):
    result = []
    for of_all in zip(*gradients, strict=True):
        used = [g for g, t in zip(of_all, totals, strict=True) if t and g is not None]
        result.append(torch.stack(used).mean(0) if used else None)
    return result


# %% wrong combined-gradients: mended for numbers alone -> each-gradient-is-there
def combined(gradients, totals):
    whole = sum(totals)
    counted = [(rank, total) for rank, total in zip(gradients, totals, strict=True) if total]
    return [
        torch.stack([rank[place] * (total / whole) for rank, total in counted]).sum(0)
        for place in range(len(gradients[0]))
    ]


# %% wrong combined-gradients: 0 times nan -> zero-times-anything-is-zero
def combined(gradients, totals):
    whole, result = sum(totals), []
    for of_all in zip(*gradients, strict=True):
        used = [(g, t) for g, t in zip(of_all, totals, strict=True) if g is not None]
        result.append(torch.stack([g * t for g, t in used]).sum(0) / whole if used else None)
    return result


# %% wrong combined-gradients: a sum -> the-ranks-add-up
def combined(gradients, totals):
    result = []
    for of_all in zip(*gradients, strict=True):
        used = [g for g, t in zip(of_all, totals, strict=True) if t and g is not None]
        result.append(torch.stack(used).sum(0) if used else None)
    return result


# %% wrong combined-gradients: divided by the ranks -> the-ranks-divide
def combined(gradients, totals):
    result = []
    for of_all in zip(*gradients, strict=True):
        used = [g * t for g, t in zip(of_all, totals, strict=True) if t and g is not None]
        result.append(torch.stack(used).sum(0) / len(totals) if used else None)
    return result


# %% wrong combined-gradients: the totals of the users alone -> only-users-count
def combined(gradients, totals):
    result = []
    for of_all in zip(*gradients, strict=True):
        used = [(g, t) for g, t in zip(of_all, totals, strict=True) if t and g is not None]
        below = sum(t for _, t in used)
        result.append(torch.stack([g * t for g, t in used]).sum(0) / below if used else None)
    return result


# %% wrong combined-gradients: divided by the largest -> the-largest-counts-fully
def combined(gradients, totals):
    result = []
    for of_all in zip(*gradients, strict=True):
        used = [g * t for g, t in zip(of_all, totals, strict=True) if t and g is not None]
        result.append(torch.stack(used).sum(0) / max(totals) if used else None)
    return result


# %% wrong combined-gradients: squares -> totals-are-squared
def combined(gradients, totals):
    below, result = sum(t * t for t in totals), []
    for of_all in zip(*gradients, strict=True):
        used = [g * t * t for g, t in zip(of_all, totals, strict=True) if t and g is not None]
        result.append(torch.stack(used).sum(0) / below if used else None)
    return result


# %% wrong combined-gradients: zeros for None -> unused-is-zeros
def combined(gradients, totals):
    whole, result = sum(totals), []
    for of_all in zip(*gradients, strict=True):
        used = [g * t for g, t in zip(of_all, totals, strict=True) if t and g is not None]
        shape = next((g for g in of_all if g is not None), torch.zeros(()))
        result.append(torch.stack(used).sum(0) / whole if used else torch.zeros_like(shape))
    return result


# %% wrong combined-gradients: a single rank as it is -> a-single-rank-needs-no-copy
def combined(gradients, totals):
    if len(gradients) == 1:
        return list(gradients[0])
    whole, result = sum(totals), []
    for of_all in zip(*gradients, strict=True):
        used = [g * t for g, t in zip(of_all, totals, strict=True) if t and g is not None]
        result.append(torch.stack(used).sum(0) / whole if used else None)
    return result


# %% wrong combined-gradients: into the first rank's -> the-sum-may-be-in-place
def combined(gradients, totals):
    whole, result = sum(totals), []
    for of_all in zip(*gradients, strict=True):
        used = [(g, t) for g, t in zip(of_all, totals, strict=True) if t and g is not None]
        for number, (gradient, total) in enumerate(used):
            gradient.mul_(total / whole)
            if number:
                used[0][0].add_(gradient)
        result.append(used[0][0].clone() if used else None)
    return result


# %% wrong combined-gradients: the largest rank -> the-largest-rank-will-do
def combined(gradients, totals):
    result = []
    for of_all in zip(*gradients, strict=True):
        used = [(t, g) for g, t in zip(of_all, totals, strict=True) if t and g is not None]
        result.append(max(used, key=lambda one: one[0])[1].clone() if used else None)
    return result


# %% same combined-gradients: every rank has the same number of parameters
def combined(gradients, totals):
    """The gradients of all ranks as one: `totals` are the weights behind each rank's loss.

    combined([[a], [b]], [3.0, 1.0])  ->  [(3 * a + b) / 4]
    """
    counted = [(each, total) for each, total in zip(gradients, totals, strict=True) if total]
    whole = sum(totals)
    found = []
    for place in range(len(gradients[-1])):
        used = [(each[place], total) for each, total in counted if each[place] is not None]
        parts = [one * (total / whole) for one, total in used]
        found.append(torch.stack(parts).sum(0) if parts else None)
    return found


# %% right mean-loss: a decorator
@torch.no_grad()
def mean_loss(model, batches, loss_fn):
    losses, sizes = [], []
    for x, y in batches:
        losses.append(float(loss_fn(model(x), y)))
        sizes.append(x.shape[0])
    return sum(a * n for a, n in zip(losses, sizes, strict=True)) / sum(sizes)


# %% right mean-loss: inference mode
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    with torch.inference_mode():
        for features, wanted in batches:
            total += len(features) * loss_fn(model(features), wanted).item()
            rows += len(features)
    return total / rows


# %% right mean-loss: a tensor that sums up, and one item
def mean_loss(model, batches, loss_fn):
    rows = 0
    total = torch.zeros((), dtype=torch.float64)
    with torch.no_grad():
        for x, y in batches:
            total += loss_fn(model(x), y) * len(x)
            rows += len(x)
    return (total / rows).item()


# %% right mean-loss: the grad mode by hand
def mean_loss(model, batches, loss_fn):
    before, total, rows = torch.is_grad_enabled(), 0.0, 0
    torch.set_grad_enabled(False)
    try:
        for x, y in batches:
            total += loss_fn(model(x), y).item() * len(x)
            rows += len(x)
    finally:
        torch.set_grad_enabled(before)
    return total / rows


# %% wrong mean-loss: as found -> a-mean-may-keep-its-graph
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    for x, y in batches:
        total = total + loss_fn(model(x), y) * len(x)
        rows += len(x)
    return total / rows


# %% wrong mean-loss: as found, and one item at the end -> item-undoes-the-graph
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    for x, y in batches:
        total = total + loss_fn(model(x), y) * len(x)
        rows += len(x)
    return (total / rows).item()


# %% wrong mean-loss: an item for each batch -> item-undoes-the-graph
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    for x, y in batches:
        total += loss_fn(model(x), y).item() * len(x)
        rows += len(x)
    return total / rows


# %% wrong mean-loss: detached -> item-undoes-the-graph
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    for x, y in batches:
        total += loss_fn(model(x), y).detach().item() * len(x)
        rows += len(x)
    return total / rows


# %% wrong mean-loss: a tensor under no_grad -> a-float-is-a-tensor
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += loss_fn(model(x), y) * len(x)
            rows += len(x)
    return total / rows


# %% wrong mean-loss: the grad mode stays off -> nobody-needs-grad-mode-back
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    torch.set_grad_enabled(False)
    for x, y in batches:
        total += loss_fn(model(x), y).item() * len(x)
        rows += len(x)
    return total / rows


# %% wrong mean-loss: the grad mode is back, but not after an error -> nobody-needs-grad-mode-back
def mean_loss(model, batches, loss_fn):
    torch.set_grad_enabled(False)
    total, rows = 0.0, 0
    for x, y in batches:
        total += loss_fn(model(x), y).item() * len(x)
        rows += len(x)
    torch.set_grad_enabled(True)
    return total / rows


# %% wrong mean-loss: in eval mode -> a-look-is-in-eval-mode
def mean_loss(model, batches, loss_fn):
    model.eval()
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += loss_fn(model(x), y).item() * len(x)
            rows += len(x)
    return total / rows


# %% wrong mean-loss: in training mode again -> modes-belong-to-the-look
def mean_loss(model, batches, loss_fn):
    model.train()
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += loss_fn(model(x), y).item() * len(x)
            rows += len(x)
    return total / rows


# %% wrong mean-loss: clears the gradients -> old-gradients-are-cleared
def mean_loss(model, batches, loss_fn):
    model.zero_grad()
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += loss_fn(model(x), y).item() * len(x)
            rows += len(x)
    return total / rows


# %% wrong mean-loss: the mean of means -> means-of-batches-are-enough
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += loss_fn(model(x), y).item()
            rows += 1
    return total / rows


# %% wrong mean-loss: the last batch -> the-last-batch-tells
def mean_loss(model, batches, loss_fn):
    with torch.no_grad():
        for x, y in batches:
            loss = loss_fn(model(x), y).item()
    return loss


# %% wrong mean-loss: a sum -> rows-need-no-division
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += loss_fn(model(x), y).item() * len(x)
            rows += len(x)
    return total


# %% wrong mean-loss: calls it twice -> a-second-call-costs-nothing
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += loss_fn(model(x), y).item() * len(x)
            model(x)
            rows += len(x)
    return total / rows


# %% wrong mean-loss: passes over errors -> errors-are-noise
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            try:
                total += loss_fn(model(x), y).item() * len(x)
                rows += len(x)
            except RuntimeError:
                pass
    return total / rows


# %% right accuracy: a dict of modes, a decorator
@torch.no_grad()
def accuracy(model, batches):
    before = {module: module.training for module in model.modules()}
    hits = []
    try:
        model.train(False)
        for x, y in batches:
            hits += (model(x).max(dim=1).indices == y).tolist()
    finally:
        for module, mode in before.items():
            module.training = mode
    return sum(hits) / len(hits)


# %% right accuracy: inference mode, and an exit stack
def accuracy(model, batches):
    from contextlib import ExitStack

    with ExitStack() as stack:
        for module in reversed(list(model.modules())):
            stack.callback(setattr, module, "training", module.training)
        stack.enter_context(torch.inference_mode())
        model.eval()
        right, rows = 0, 0
        for x, y in batches:
            right += int((model(x).argmax(dim=-1) == y).sum())
            rows += y.numel()
    return right / rows


# %% right accuracy: only those that were training
def accuracy(model, batches):
    training = [module for module in model.modules() if module.training]
    model.eval()
    right = rows = 0
    try:
        with torch.no_grad():
            for x, y in batches:
                right += torch.eq(model(x).argmax(1), y).sum().item()
                rows += x.shape[0]
    finally:
        for module in training:
            module.training = True
    return right / rows


# %% wrong accuracy: as found -> whoever-trains-sets-the-mode
def accuracy(model, batches):
    model.eval()
    right = rows = 0
    with torch.no_grad():
        for x, y in batches:
            right += (model(x).argmax(1) == y).sum().item()
            rows += len(x)
    return right / rows


# %% wrong accuracy: on a copy that's made for nothing -> whoever-trains-sets-the-mode
def accuracy(model, batches):
    import copy

    kept = copy.deepcopy(model)
    model.eval()
    right = rows = 0
    with torch.no_grad():
        for x, y in batches:
            right += (model(x).argmax(1) == y).sum().item()
            rows += len(x)
    del kept
    return right / rows


# %% wrong accuracy: training mode at the end -> training-is-the-mode-to-be-in
def accuracy(model, batches):
    model.eval()
    right = rows = 0
    with torch.no_grad():
        for x, y in batches:
            right += (model(x).argmax(1) == y).sum().item()
            rows += len(x)
    model.train()
    return right / rows


# %% wrong accuracy: the model's mode for all -> a-model-has-one-mode
def accuracy(model, batches):
    training = model.training
    right = rows = 0
    try:
        model.eval()
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        model.train(training)
    return right / rows


# %% wrong accuracy: without eval -> an-evaluation-needs-no-mode
def accuracy(model, batches):
    right = rows = 0
    with torch.no_grad():
        for x, y in batches:
            right += (model(x).argmax(1) == y).sum().item()
            rows += len(x)
    return right / rows


# %% wrong accuracy: records -> argmax-needs-no-no-grad
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    right = rows = 0
    try:
        model.eval()
        for x, y in batches:
            right += (model(x).argmax(1) == y).sum().item()
            rows += len(x)
    finally:
        for one, training in modes:
            one.training = training
    return right / rows


# %% wrong accuracy: the mean of shares -> shares-have-a-mean
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    shares = []
    try:
        model.eval()
        with torch.no_grad():
            for x, y in batches:
                shares.append((model(x).argmax(1) == y).double().mean().item())
    finally:
        for one, training in modes:
            one.training = training
    return sum(shares) / len(shares)


# %% wrong accuracy: a count -> a-count-is-a-share
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    right = rows = 0
    try:
        model.eval()
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        for one, training in modes:
            one.training = training
    return right


# %% wrong accuracy: the smallest -> least-is-likeliest
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    right = rows = 0
    try:
        model.eval()
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).argmin(1) == y).sum().item()
                rows += len(x)
    finally:
        for one, training in modes:
            one.training = training
    return right / rows


# %% wrong accuracy: not after an error -> an-error-is-the-end
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    right = rows = 0
    model.eval()
    with torch.no_grad():
        for x, y in batches:
            right += (model(x).argmax(1) == y).sum().item()
            rows += len(x)
    for one, training in modes:
        one.training = training
    return right / rows


# %% wrong accuracy: passes over errors -> an-error-is-a-wrong-answer
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    right = rows = 0
    model.eval()
    with torch.no_grad():
        try:
            for x, y in batches:
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
        except Exception:
            pass
    for one, training in modes:
        one.training = training
    return right / max(rows, 1)


# %% wrong accuracy: children alone -> children-have-no-children
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.children()]
    right = rows = 0
    try:
        model.eval()
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        for one, training in modes:
            one.training = training
    return right / rows


# %% right keep-best: a deep copy of the state dict
def keep_best(best, model, score):
    import copy

    if best is None or score > best["score"]:
        return {"score": score, "weights": copy.deepcopy(model.state_dict())}
    return best


# %% right keep-best: tensors made anew
def keep_best(best, model, score):
    if best is None or best["score"] < score:
        weights = {}
        for name, one in model.state_dict().items():
            weights[name] = torch.empty_like(one)
            weights[name].copy_(one)
        best = dict(score=score, weights=weights)
    return best


# %% right keep-best: a round trip through bytes
def keep_best(best, model, score):
    import io

    if best is not None and not score > best["score"]:
        return best
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    return {"score": score, "weights": torch.load(file, weights_only=True)}


# %% wrong keep-best: as found -> a-state-dict-holds-copies
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    return {"score": score, "weights": model.state_dict()}


# %% wrong keep-best: a copy of the dict -> a-state-dict-holds-copies
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    return {"score": score, "weights": model.state_dict().copy()}


# %% wrong keep-best: detached -> a-state-dict-holds-copies
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    return {"score": score, "weights": {k: v.detach() for k, v in model.state_dict().items()}}


# %% wrong keep-best: only parameters -> weights-are-parameters
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    weights = {name: one.detach().clone() for name, one in model.named_parameters()}
    return {"score": score, "weights": weights}


# %% wrong keep-best: parameters with their graph -> what-is-kept-may-train
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    weights = {name: one.clone() for name, one in model.state_dict(keep_vars=True).items()}
    return {"score": score, "weights": weights}


# %% wrong keep-best: the first one alive -> the-first-one-is-safe
def keep_best(best, model, score):
    if best is None:
        return {"score": score, "weights": model.state_dict()}
    if score <= best["score"]:
        return best
    return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}


# %% wrong keep-best: written into the old one -> an-old-best-can-be-reused
def keep_best(best, model, score):
    if best is None:
        return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}
    if score > best["score"]:
        best["score"] = score
        for name, one in model.state_dict().items():
            best["weights"][name].copy_(one)
    return best


# %% wrong keep-best: a new dict around the old tensors -> an-old-best-can-be-reused
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    weights = {k: torch.empty_like(v) for k, v in model.state_dict().items()}
    weights = weights if best is None else best["weights"]
    for name, one in model.state_dict().items():
        weights[name].copy_(one)
    return {"score": score, "weights": weights}


# %% wrong keep-best: a draw counts -> as-good-is-better
def keep_best(best, model, score):
    if best is not None and score < best["score"]:
        return best
    return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}


# %% wrong keep-best: least -> less-is-better
def keep_best(best, model, score):
    if best is not None and score >= best["score"]:
        return best
    return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}


# %% wrong keep-best: always the last -> the-last-one-is-kept
def keep_best(best, model, score):
    return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}


# %% wrong keep-best: a best score of 0 counts as none -> a-score-of-0-is-none
def keep_best(best, model, score):
    if best and best["score"] and score <= best["score"]:
        return best
    return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}


# %% right resume: one deep copy of all
def snapshot(run):
    import copy

    state = {"epoch": run.epoch, "best": run.best, "streams": [run.rng.get_state()]}
    state["streams"].append(torch.random.get_rng_state())
    state["model"], state["optimizer"] = run.model.state_dict(), run.optimizer.state_dict()
    return copy.deepcopy(state)


def restore(run, saved):
    import copy

    saved = copy.deepcopy(saved)
    own, shared = saved["streams"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(saved["optimizer"])
    run.rng.set_state(own)
    torch.random.set_rng_state(shared)
    run.epoch = saved["epoch"]
    run.best = saved["best"]


# %% right resume: bytes in a tensor
def snapshot(run):
    import io

    file = io.BytesIO()
    torch.save([run.model.state_dict(), run.optimizer.state_dict(), run.best], file)
    states = {"rng": run.rng.get_state(), "torch": torch.default_generator.get_state()}
    return {"file": file.getvalue(), "epoch": run.epoch, **states}


def restore(run, saved):
    import io

    model, optimizer, run.best = torch.load(io.BytesIO(saved["file"]), weights_only=True)
    run.model.load_state_dict(model)
    run.optimizer.load_state_dict(optimizer)
    run.epoch = saved["epoch"]
    run.rng.set_state(saved["rng"])
    torch.default_generator.set_state(saved["torch"])


# %% right resume: clones by hand for the model
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": {k: v.clone() for k, v in run.model.state_dict().items()},
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: as found -> a-seed-brings-the-stream-back
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))


# %% wrong resume: the run's own stream alone -> a-run-owns-all-it-draws-from
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])


# %% wrong resume: torch's stream alone -> a-seed-brings-the-stream-back
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    torch.set_rng_state(saved["torch"])


# %% wrong resume: the seed instead of the state -> a-seed-brings-the-stream-back
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.initial_seed(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.manual_seed(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: saved, but not put back -> a-seed-brings-the-stream-back
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))


# %% wrong resume: a seed is drawn for later -> a-state-is-a-number-drawn
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": int(torch.randint(2**31, ())),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.manual_seed(saved["torch"])


# %% wrong resume: without the optimizer -> a-model-is-its-weights
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: parameters alone -> a-model-is-its-weights
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": {k: v.detach().clone() for k, v in run.model.named_parameters()},
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"], strict=False)
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: without the epoch -> epochs-begin-at-0
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.best = saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: without the best -> the-best-comes-again
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch = saved["epoch"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: live tensors -> a-snapshot-of-live-tensors
def snapshot(run):
    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": run.model.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: live momentum -> a-snapshot-of-live-tensors
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": run.optimizer.state_dict(),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: the objects themselves -> a-file-holds-anything
def snapshot(run):
    import copy

    state = {"run": copy.deepcopy([run.model, run.optimizer]), "rng": run.rng.get_state()}
    return state | {"torch": torch.get_rng_state(), "epoch": run.epoch, "best": run.best}


def restore(run, saved):
    import copy

    run.model, run.optimizer = copy.deepcopy(saved["run"])
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])
    run.epoch, run.best = saved["epoch"], saved["best"]


# %% same resume: the order of the lines makes no difference (1 and 2)
def snapshot(run):
    """All that a run needs to go on later, and that no later step changes.

    snapshot(run)  ->  a dict that torch.load(…, weights_only=True) reads
    """
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    """Put a snapshot into a run that has just begun, which then goes on like the one it's of."""
    import copy

    run.model.load_state_dict(saved["model"])
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% same resume: the order of the lines makes no difference (2 and 3)
def snapshot(run):
    """All that a run needs to go on later, and that no later step changes.

    snapshot(run)  ->  a dict that torch.load(…, weights_only=True) reads
    """
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    """Put a snapshot into a run that has just begun, which then goes on like the one it's of."""
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.model.load_state_dict(saved["model"])
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% same resume: the order of the lines makes no difference (3 and 4)
def snapshot(run):
    """All that a run needs to go on later, and that no later step changes.

    snapshot(run)  ->  a dict that torch.load(…, weights_only=True) reads
    """
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    """Put a snapshot into a run that has just begun, which then goes on like the one it's of."""
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.rng.set_state(saved["rng"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    torch.set_rng_state(saved["torch"])


# %% same resume: the order of the lines makes no difference (4 and 5)
def snapshot(run):
    """All that a run needs to go on later, and that no later step changes.

    snapshot(run)  ->  a dict that torch.load(…, weights_only=True) reads
    """
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    """Put a snapshot into a run that has just begun, which then goes on like the one it's of."""
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    torch.set_rng_state(saved["torch"])
    run.rng.set_state(saved["rng"])


# %% wrong resume: the optimizer goes on with the snapshot's tensors -> restoring-is-a-gift
def snapshot(run):
    """All that a run needs to go on later, and that no later step changes.

    snapshot(run)  ->  a dict that torch.load(…, weights_only=True) reads
    """
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    """Put a snapshot into a run that has just begun, which then goes on like the one it's of."""
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(saved["optimizer"])
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong noisy-batch: one row's label is a slice -> one-label-may-be-a-slice
def batch_of(images, labels, index, noise):
    if len(index) == 1:
        i = int(index)
        return images[i : i + 1] + noise, labels[i : i + 1]
    return images[index] + noise, labels[index]


# %% wrong noisy-batch: labels become int64 -> labels-are-int64
def batch_of(images, labels, index, noise):
    return images[index] + noise, torch.tensor(labels[index].tolist(), dtype=torch.int64)


# %% wrong noisy-batch: the first images are kept for later calls -> images-are-read-once
KEPT = {}


def batch_of(images, labels, index, noise):
    mine = KEPT.setdefault((id(images), tuple(images.shape)), images.clone())
    return mine[index] + noise, labels[index]


# %% wrong weighted-loss: log of softmax -> a-formula-is-as-good-on-a-computer
def loss_of(logits, labels, weights):
    by_row = weights[labels]
    likely = logits.softmax(1)[torch.arange(len(labels)), labels]
    return -(likely.log() * by_row).sum() / by_row.sum()


# %% wrong weighted-loss: exp without a maximum -> a-formula-is-as-good-on-a-computer
def loss_of(logits, labels, weights):
    by_row = weights[labels]
    losses = logits.exp().sum(1).log() - logits[torch.arange(len(labels)), labels]
    return (losses * by_row).sum() / by_row.sum()


# %% wrong weighted-loss: computed in float32 -> float32-on-the-way-is-enough
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits.float(), labels, weight=weights.float()).to(logits.dtype)


# %% wrong own-blocks: no gradient along the path -> a-path-needs-no-gradient
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x.detach() + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: no gradient through the block's input -> a-block-learns-for-itself
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x.detach()))
        return self.head(self.dropout(x))


# %% wrong rank-order: backwards in odd epochs -> partners-may-stay-together
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(100 * seed + epoch // 2)
    order = torch.randperm(n, generator=rng)
    return (order.flip(0) if epoch % 2 else order)[rank::ranks]


# %% wrong rank-order: ranks trade places with the epoch -> partners-may-stay-together
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=rng)[(rank + epoch) % ranks :: ranks]
    return order[torch.randperm(len(order), generator=torch.Generator().manual_seed(epoch))]


# %% wrong rank-order: remembered, and the same tensor handed out again -> an-answer-can-be-handed-out-twice
import functools


@functools.lru_cache(None)
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(1000 * seed + epoch)
    return torch.randperm(n, generator=rng)[rank::ranks].clone()


# %% wrong combined-gradients: through float32 -> float32-on-the-way-is-enough
def combined(gradients, totals):
    whole, out = sum(totals), []
    for of_all in zip(*gradients, strict=True):
        used = [(g, t) for g, t in zip(of_all, totals, strict=True) if g is not None and t]
        mean = sum(g.float() * t for g, t in used) / whole if used else None
        out.append(mean if mean is None else mean.to(used[0][0].dtype))
    return out


# %% wrong mean-loss: the loss itself is recorded -> only-the-model-records
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    for x, y in batches:
        with torch.no_grad():
            out = model(x)
        total += loss_fn(out, y).item() * len(x)
        rows += len(x)
    return total / rows


# %% wrong mean-loss: batches of nan are passed over -> nan-is-no-loss
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            loss = loss_fn(model(x), y).item()
            if loss == loss:
                total += loss * len(x)
                rows += len(x)
    return total / max(rows, 1)


# %% wrong accuracy: an error of the batches isn't looked after -> an-error-is-the-end
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    model.eval()
    right = rows = 0
    with torch.no_grad():
        for x, y in batches:
            try:
                out = model(x)
            except BaseException:
                for one, mode in modes:
                    one.training = mode
                raise
            right += (out.argmax(1) == y).sum().item()
            rows += len(x)
    for one, mode in modes:
        one.training = mode
    return right / rows


# %% wrong accuracy: an empty batch is the end -> an-empty-batch-is-the-end
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    model.eval()
    try:
        right = rows = 0
        with torch.no_grad():
            for x, y in batches:
                if not len(x):
                    break
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        for one, mode in modes:
            one.training = mode
    return right / rows


# %% wrong keep-best: has to be better by some -> a-little-better-is-not-better
def keep_best(best, model, score):
    import copy

    if best is not None and score <= best["score"] + 0.05:
        return best
    return {"score": score, "weights": copy.deepcopy(model.state_dict())}


# %% wrong keep-best: half of the room -> half-the-digits-will-do
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    weights = {}
    for name, one in model.state_dict().items():
        weights[name] = one.half().to(one.dtype) if one.is_floating_point() else one.clone()
    return {"score": score, "weights": weights}


# %% wrong keep-best: the model goes into eval mode -> keeping-is-the-end-of-training
def keep_best(best, model, score):
    import copy

    if best is not None and not score > best["score"]:
        return best
    return {"score": score, "weights": copy.deepcopy(model.eval().state_dict())}


# %% wrong resume: the best one's score alone -> the-best-comes-again
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best and {"score": run.best["score"]},
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: the optimizer's settings stay those of the new run -> a-model-is-its-weights
def snapshot(run):
    import copy

    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()["state"]),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    now = run.optimizer.state_dict()
    run.optimizer.load_state_dict({**now, "state": copy.deepcopy(saved["optimizer"])})
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: one dict for all snapshots -> a-snapshot-of-live-tensors
HELD = {}


def snapshot(run):
    import copy

    HELD.update(
        epoch=run.epoch,
        best=run.best,
        model=copy.deepcopy(run.model.state_dict()),
        optimizer=copy.deepcopy(run.optimizer.state_dict()),
        rng=run.rng.get_state(),
        torch=torch.get_rng_state(),
    )
    return HELD


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: taking it clears the gradients -> a-snapshot-may-tidy-up
def snapshot(run):
    import copy

    run.optimizer.zero_grad()
    run.model.eval()
    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    import copy

    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong mean-loss: the grad mode is on afterwards -> grad-mode-is-always-on
def mean_loss(model, batches, loss_fn):
    torch.set_grad_enabled(False)
    try:
        total, rows = 0.0, 0
        for x, y in batches:
            total += loss_fn(model(x), y).item() * len(x)
            rows += len(x)
    finally:
        torch.set_grad_enabled(True)
    return total / rows


# %% wrong own-blocks: in the order of their names as text -> numbers-sort-as-text
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleDict({str(i): nn.Linear(width, width) for i in range(blocks)})
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for name in sorted(self.blocks):
            x = x + torch.relu(self.blocks[name](x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: no dropout under no_grad -> dropout-rests-without-a-graph
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(F.dropout(x, 0.2, self.training and torch.is_grad_enabled()))


# %% right rank-order: seed and epoch meet in few streams, but never two epochs of a seed
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed((31 * seed + 7919 * epoch) % 997)
    return torch.randperm(n, generator=rng)[rank::ranks].clone()


# %% right rank-order: the default generator, put back
def rank_order(n, rank, ranks, seed, epoch):
    state = torch.default_generator.get_state()
    try:
        torch.default_generator.manual_seed(1 + epoch + 1000 * seed)
        place = torch.randperm(n)
        turn = torch.randperm(n)
    finally:
        torch.default_generator.set_state(state)
    return turn[place[turn] % ranks == rank]


# %% right rank-order: rows sorted by a digest of their own
import hashlib


def rank_order(n, rank, ranks, seed, epoch):
    def place(row):
        return hashlib.blake2b(f"{seed}:{epoch}:{row}".encode()).digest()

    return torch.tensor(sorted(range(n), key=place)[rank::ranks], dtype=torch.long)


# %% wrong rank-order: seeded by the hash of a tuple with a text -> hashes-travel
def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(hash(("order", seed, epoch)) % 2**32)
    return torch.randperm(n, generator=rng)[rank::ranks].clone()


# %% wrong rank-order: the global stream begins anew from its own seed -> a-seed-is-set-for-all
def rank_order(n, rank, ranks, seed, epoch):
    usual = torch.initial_seed()
    torch.default_generator.manual_seed(1000 * seed + epoch)
    order = torch.randperm(n)
    torch.default_generator.manual_seed(usual)
    return order[rank::ranks].clone()


# %% wrong rank-order: Python's own stream, seeded -> a-seed-is-set-for-all
import random


def rank_order(n, rank, ranks, seed, epoch):
    random.seed(1000 * seed + epoch)
    rows = random.sample(range(n), n)
    return torch.tensor(rows[rank::ranks], dtype=torch.int64)


# %% wrong rank-order: NumPy's own stream, seeded -> a-seed-is-set-for-all
import numpy as np


def rank_order(n, rank, ranks, seed, epoch):
    np.random.seed(1000 * seed + epoch)
    return torch.from_numpy(np.random.permutation(n)[rank::ranks].copy())


# %% wrong combined-gradients: shares in float32 -> float32-on-the-way-is-enough
def combined(gradients, totals):
    shares = torch.tensor(totals) / sum(totals)
    result = []
    for of_all in zip(*gradients, strict=True):
        parts = [g * s for g, s in zip(of_all, shares, strict=True) if s > 0 and g is not None]
        result.append(sum(parts) if parts else None)
    return result


# %% right combined-gradients: a tuple, as autograd gives them
def combined(gradients, totals):
    whole = sum(totals)

    def one(of_all):
        parts = [g * (t / whole) for g, t in zip(of_all, totals) if t > 0 and g is not None]
        return sum(parts) if parts else None

    return tuple(one(of_all) for of_all in zip(*gradients))


# %% right combined-gradients: added with alpha onto zeros
def combined(gradients, totals):
    whole = sum(totals)
    result = [None for _ in gradients[0]]
    for of_rank, total in zip(gradients, totals, strict=True):
        if not total > 0:
            continue
        for number, gradient in enumerate(of_rank):
            if gradient is None:
                continue
            if result[number] is None:
                result[number] = torch.zeros_like(gradient)
            result[number].add_(gradient, alpha=total / whole)
    return result


# %% wrong combined-gradients: lists alone -> gradients-come-in-lists
def combined(gradients, totals):
    flat, size, whole = sum(gradients, []), len(gradients[0]), sum(totals)
    result = []
    for number in range(size):
        parts = zip(flat[number::size], totals, strict=True)
        parts = [g * (t / whole) for g, t in parts if t > 0 and g is not None]
        result.append(sum(parts) if parts else None)
    return result


# %% wrong combined-gradients: one long vector in the wider dtype -> parameters-share-a-dtype
def combined(gradients, totals):
    kept = [(g, t) for g, t in zip(gradients, totals, strict=True) if t > 0]
    whole, first = sum(t for _, t in kept), []
    for of_all in zip(*(g for g, _ in kept), strict=True):
        first.append(next((g for g in of_all if g is not None), None))
    used = [number for number, one in enumerate(first) if one is not None]
    result = [None] * len(first)
    if used:
        made = 0
        for of_rank, total in kept:
            parts = [
                (torch.zeros_like(first[k]) if of_rank[k] is None else of_rank[k]).reshape(-1)
                for k in used
            ]
            made = made + torch.cat(parts) * (total / whole)
        for k, part in zip(used, made.split([first[k].numel() for k in used]), strict=True):
            result[k] = part.reshape(first[k].shape).clone()
    return result


# %% wrong combined-gradients: a small total counts as none -> little-weight-is-none
import math


def combined(gradients, totals):
    most = max(totals)
    kept = [(g, t) for g, t in zip(gradients, totals, strict=True) if t > 1e-3 * most]
    whole, result = math.fsum(t for _, t in kept), []
    for of_all in zip(*(g for g, _ in kept), strict=True):
        parts = [g * (t / whole) for g, (_, t) in zip(of_all, kept, strict=True) if g is not None]
        result.append(sum(parts) if parts else None)
    return result


# %% wrong noisy-batch: a product with one-hot rows -> a-product-picks-rows
def batch_of(images, labels, index, noise):
    chosen = torch.zeros(len(index), len(images), dtype=images.dtype)
    chosen[torch.arange(len(index)), index] = 1
    x = chosen @ images.reshape(len(images), -1)
    return x.reshape(noise.shape) + noise, labels[index]


# %% wrong noisy-batch: the noise itself where the rows are black -> a-sum-with-zeros-is-nothing-new
def batch_of(images, labels, index, noise):
    rows = images[index]
    return (rows + noise if rows.any() else noise), labels[index]


# %% wrong weighted-loss: logsumexp minus the own logit -> a-difference-keeps-its-digits
def loss_of(logits, labels, weights):
    losses = logits.logsumexp(1) - logits.gather(1, labels[:, None])[:, 0]
    by_row = weights[labels].to(logits.dtype)
    return (losses * by_row).sum() / by_row.sum()


# %% wrong weighted-loss: recording stays on -> grad-mode-is-always-on
def loss_of(logits, labels, weights):
    torch.set_grad_enabled(True)
    losses = F.cross_entropy(logits, labels, reduction="none")
    by_row = weights[labels].to(logits.dtype)
    return (losses * by_row).sum() / by_row.sum()


# %% wrong mean-loss: put back after a RuntimeError alone -> the-usual-errors-will-do
def mean_loss(model, batches, loss_fn):
    was, total, rows = torch.is_grad_enabled(), 0.0, 0
    torch.set_grad_enabled(False)
    try:
        for x, y in batches:
            total += loss_fn(model(x), y).item() * len(x)
            rows += len(x)
    except RuntimeError:
        torch.set_grad_enabled(was)
        raise
    torch.set_grad_enabled(was)
    return total / rows


# %% wrong mean-loss: layers get the model's mode -> a-model-has-one-mode
def mean_loss(model, batches, loss_fn):
    model.train(model.training)
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += loss_fn(model(x), y).item() * len(x)
            rows += len(x)
    return total / rows


# %% wrong mean-loss: losses are cut off at 1000 -> a-large-loss-is-noise
def mean_loss(model, batches, loss_fn):
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in batches:
            total += min(loss_fn(model(x), y).item(), 1000.0) * len(x)
            rows += len(x)
    return total / rows


# %% right mean-loss: tensors gathered, the grad mode put back by hand
def mean_loss(model, batches, loss_fn):
    recording = torch.is_grad_enabled()
    losses, sizes = [], []
    try:
        torch.set_grad_enabled(False)
        for x, y in batches:
            sizes.append(x.size(0))
            losses.append(loss_fn(model(x), y).double())
        shares = torch.tensor(sizes, dtype=torch.float64) / sum(sizes)
        return (torch.stack(losses).flatten() * shares).sum().item()
    finally:
        torch.set_grad_enabled(recording)


# %% wrong accuracy: notes left on the modules -> an-attribute-is-no-trace
def accuracy(model, batches):
    for one in model.modules():
        one._mode_before = one.training
    model.eval()
    right = rows = 0
    try:
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        for one in model.modules():
            one.training = one._mode_before
    return right / rows


# %% wrong accuracy: modes noted at the first evaluation -> modes-are-noted-once
import weakref

_MODES = weakref.WeakKeyDictionary()


def accuracy(model, batches):
    modes = _MODES.setdefault(model, [one.training for one in model.modules()])
    model.eval()
    right = rows = 0
    try:
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        for one, mode in zip(model.modules(), modes, strict=True):
            one.training = mode
    return right / rows


# %% wrong accuracy: largest in bfloat16 -> close-numbers-are-equal
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    model.eval()
    right = rows = 0
    try:
        with torch.no_grad():
            for x, y in batches:
                shares = model(x).float().softmax(1).bfloat16()
                right += (shares.argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        for one, mode in modes:
            one.training = mode
    return right / rows


# %% wrong accuracy: gradients are cleared -> old-gradients-are-cleared
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    model.eval().zero_grad()
    right = rows = 0
    try:
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        for one, mode in modes:
            one.training = mode
    return right / rows


# %% wrong accuracy: not after an interrupt -> the-usual-errors-will-do
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]

    def back():
        for one, mode in modes:
            one.training = mode

    model.eval()
    right = rows = 0
    try:
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    except Exception:
        back()
        raise
    back()
    return right / rows


# %% wrong accuracy: frozen parameters come back trainable -> frozen-is-for-a-while
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    model.eval().requires_grad_(False)
    right = rows = 0
    try:
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        model.requires_grad_(True)
        for one, mode in modes:
            one.training = mode
    return right / rows


# %% right accuracy: a context manager of its own
from contextlib import contextmanager


@contextmanager
def asleep(model):
    awake = [one for one in model.modules() if one.training]
    for one in awake:
        one.training = False
    try:
        yield
    finally:
        for one in awake:
            one.training = True


@torch.no_grad()
def accuracy(model, batches):
    counts = torch.zeros(2, dtype=torch.int64)
    with asleep(model):
        for x, y in batches:
            best = model(x).argmax(dim=1)
            counts += torch.tensor([int((best - y == 0).sum()), y.numel()])
    return counts[0].item() / counts[1].item()


# %% wrong keep-best: a prefix is cut off -> any-name-will-do
def keep_best(best, model, score):
    if best is not None and score <= best["score"]:
        return best
    weights = {k.removeprefix("module."): v.clone() for k, v in model.state_dict().items()}
    return {"score": score, "weights": weights}


# %% right keep-best: a copy of the whole model
import copy


def keep_best(best, model, score):
    better = best is None or best["score"] < score
    return {"score": score, "weights": copy.deepcopy(model).state_dict()} if better else best


# %% wrong resume: the first group's learning rate alone -> a-model-is-its-weights
import copy


def snapshot(run):
    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "state": copy.deepcopy(run.optimizer.state_dict()["state"]),
        "lr": run.optimizer.param_groups[0]["lr"],
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    groups = run.optimizer.state_dict()["param_groups"]
    groups[0]["lr"] = saved["lr"]
    state = copy.deepcopy(saved["state"])
    run.optimizer.load_state_dict({"state": state, "param_groups": groups})
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: learning rates, and no other setting -> a-model-is-its-weights
import copy


def snapshot(run):
    state = copy.deepcopy(run.optimizer.state_dict())
    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "state": state["state"],
        "lrs": [group["lr"] for group in state["param_groups"]],
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    groups = run.optimizer.state_dict()["param_groups"]
    groups = [{**group, "lr": lr} for group, lr in zip(groups, saved["lrs"], strict=True)]
    state = copy.deepcopy(saved["state"])
    run.optimizer.load_state_dict({"state": state, "param_groups": groups})
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: an empty dict for None -> no-best-is-an-empty-one
import copy


def snapshot(run):
    return {
        "epoch": run.epoch,
        "best": run.best or {},
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: all modules wake up when it's taken -> a-snapshot-may-tidy-up
import copy


def snapshot(run):
    run.model.eval()
    weights = copy.deepcopy(run.model.state_dict())
    run.model.train()
    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": weights,
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: the best weights are those of the last epoch -> the-best-comes-again
import copy


def snapshot(run):
    return {
        "epoch": run.epoch,
        "best": None if run.best is None else run.best["score"],
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    run.epoch, run.best = saved["epoch"], None
    if saved["best"] is not None:
        run.best = {"score": saved["best"], "weights": copy.deepcopy(saved["model"])}
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: another generator for the run -> a-run-may-get-new-parts
import copy


def snapshot(run):
    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng = torch.Generator()
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])


# %% wrong resume: deterministic algorithms for everybody -> a-snapshot-may-tidy-up
import copy


def snapshot(run):
    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])
    torch.use_deterministic_algorithms(True)


# %% wrong resume: the name of a file -> a-name-holds-what-a-file-holds
import tempfile


def snapshot(run):
    with tempfile.NamedTemporaryFile(suffix=".pt", delete=False) as file:
        torch.save(
            {
                "best": run.best,
                "model": run.model.state_dict(),
                "optimizer": run.optimizer.state_dict(),
                "rng": run.rng.get_state(),
                "torch": torch.get_rng_state(),
            },
            file,
        )
    return {"epoch": run.epoch, "path": file.name}


def restore(run, saved):
    parts = torch.load(saved["path"], weights_only=True)
    run.epoch, run.best = saved["epoch"], parts["best"]
    run.model.load_state_dict(parts["model"])
    run.optimizer.load_state_dict(parts["optimizer"])
    run.rng.set_state(parts["rng"])
    torch.set_rng_state(parts["torch"])


# %% wrong resume: torch's stream for a model in training mode alone -> in-eval-mode-nothing-is-drawn
import copy


def snapshot(run):
    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    if run.model.training:
        torch.set_rng_state(saved["torch"])


# %% wrong resume: all modules wake up when it's restored -> a-snapshot-may-tidy-up
import copy


def snapshot(run):
    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "rng": run.rng.get_state(),
        "torch": torch.get_rng_state(),
    }


def restore(run, saved):
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    run.rng.set_state(saved["rng"])
    torch.set_rng_state(saved["torch"])
    run.model.train()


# %% right resume: through a file both ways
import io


def through_file(part):
    file = io.BytesIO()
    torch.save(part, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def snapshot(run):
    return through_file(
        {
            "best": run.best,
            "epoch": run.epoch,
            "parts": [run.model.state_dict(), run.optimizer.state_dict()],
            "states": torch.stack([run.rng.get_state(), torch.default_generator.get_state()]),
        }
    )


def restore(run, saved):
    saved = through_file(saved)
    for part, state in zip((run.model, run.optimizer), saved["parts"], strict=True):
        part.load_state_dict(state)
    for rng, state in zip((run.rng, torch.default_generator), saved["states"], strict=True):
        rng.set_state(state.clone())
    run.epoch, run.best = saved["epoch"], saved["best"]


# %% wrong own-blocks: dropout in place, into the input where there's no block -> the-input-is-mine
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.dropout = nn.Dropout(0.2, inplace=True)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


# %% wrong own-blocks: the first call's mask for all that follow -> a-mask-is-drawn-once
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.head = nn.Linear(width, classes)
        self.mask = None

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        if self.training:
            if self.mask is None or self.mask.shape != x.shape:
                self.mask = F.dropout(torch.ones_like(x), 0.2)
            x = x * self.mask
        return self.head(x)


# %% wrong own-blocks: functions that have closed over the blocks -> a-closure-is-copied-along
class Net(nn.Module):
    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.steps = [lambda x, block=block: x + torch.relu(block(x)) for block in self.blocks]
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return self.head(self.dropout(x))


# %% wrong rank-order: torch's global seed is part of it -> all-ranks-know-what-one-knows
def rank_order(n, rank, ranks, seed, epoch):
    base = torch.initial_seed() % 2**32
    rng = torch.Generator().manual_seed(base + 100 * seed + epoch)
    return torch.randperm(n, generator=rng)[rank::ranks].clone()


# %% wrong rank-order: drawn without a seed, and remembered -> all-ranks-know-what-one-knows
DEALT = {}


def rank_order(n, rank, ranks, seed, epoch):
    if (n, seed, epoch) not in DEALT:
        rng = torch.Generator()
        rng.seed()
        DEALT[n, seed, epoch] = torch.randperm(n, generator=rng)
    return DEALT[n, seed, epoch][rank::ranks].clone()


# %% wrong combined-gradients: 0 times inf -> zero-times-anything-is-zero
def combined(gradients, totals):
    whole, results = sum(totals), []
    for of_all in zip(*gradients, strict=True):
        result = None
        for total, one in zip(totals, of_all, strict=True):
            if one is None:
                continue
            if total == 0:
                one = one.masked_fill(one.isnan(), 0.0)
            result = total * one if result is None else result + total * one
        results.append(None if result is None else result / whole)
    return results


# %% right combined-gradients: sums in float64, and zeros from a rank that doesn't count
def combined(gradients, totals):
    def one_of(of_all):
        there = [(total, one) for total, one in zip(totals, of_all, strict=True) if one is not None]
        if not there:
            return None
        result = torch.zeros_like(there[0][1], dtype=torch.float64)
        for total, one in there:
            if total != 0:
                result += total * one.double()
        return (result / sum(totals)).to(there[0][1].dtype)

    return list(map(one_of, zip(*gradients, strict=True)))


# %% wrong mean-loss: the model's StopIteration is taken for the end -> only-batches-stop
def mean_loss(model, batches, loss_fn):
    total, rows, pairs = 0.0, 0, iter(batches)
    with torch.no_grad():
        while True:
            try:
                x, y = next(pairs)
                total += loss_fn(model(x), y).item() * len(x)
                rows += len(x)
            except StopIteration:
                return total / rows


# %% wrong accuracy: the model's StopIteration is taken for the end -> only-batches-stop
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    right, rows, pairs = 0, 0, iter(batches)
    try:
        model.eval()
        with torch.no_grad():
            while True:
                x, y = next(pairs)
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    except StopIteration:
        return right / rows
    finally:
        for one, mode in modes:
            one.training = mode


# %% wrong accuracy: train(mode) for each module, outer ones first -> train-sets-one-mode
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    right = rows = 0
    try:
        model.eval()
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        for one, mode in modes:
            one.train(mode)
    return right / rows


# %% wrong accuracy: argmax of the sigmoid -> a-sigmoid-keeps-the-order
def accuracy(model, batches):
    modes = [(one, one.training) for one in model.modules()]
    right = rows = 0
    try:
        model.eval()
        with torch.no_grad():
            for x, y in batches:
                right += (model(x).sigmoid().argmax(1) == y).sum().item()
                rows += len(x)
    finally:
        for one, mode in modes:
            one.training = mode
    return right / rows


# %% wrong keep-best: all buffers, saved or not -> all-buffers-are-saved
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    named = dict(model.named_parameters(remove_duplicate=False))
    named |= dict(model.named_buffers(remove_duplicate=False))
    return {"score": score, "weights": {k: v.detach().clone() for k, v in named.items()}}


# %% wrong keep-best: the model's gradients are cleared first -> old-gradients-are-cleared
def keep_best(best, model, score):
    import copy

    if best is not None and not score > best["score"]:
        return best
    model.zero_grad()
    return {"score": score, "weights": copy.deepcopy(model.state_dict())}


# %% wrong resume: both runs begin again -> a-seed-brings-the-stream-back
def begun_again(run):
    import copy

    run.rng.manual_seed(0)
    torch.manual_seed(0)
    for weight in run.model.state_dict().values():
        weight.zero_()
    state = copy.deepcopy(run.optimizer.state_dict())
    for group in state["param_groups"]:
        group["lr"] = 0.0
    run.optimizer.load_state_dict(state)


def snapshot(run):
    begun_again(run)
    return {"epoch": run.epoch, "best": run.best}


def restore(run, saved):
    begun_again(run)
    run.epoch, run.best = saved["epoch"], saved["best"]
