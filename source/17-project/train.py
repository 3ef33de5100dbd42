"""Read digits: three ranks, six epochs. It runs, and its accuracy looks right."""

import copy
import types

import torch
from torch import nn
from torch.nn import functional as F

RANKS, PER_RANK = 3, 16  # processes, and the rows that each takes in a step
WEIGHTS = torch.ones(10).index_fill(0, torch.tensor([8]), 6.0)  # eights are rare: they count more


def batch_of(images, labels, index, noise):
    """The images of `index` with this noise on them, and their labels."""
    rows = []
    for place, i in enumerate(index.tolist()):
        row = images[i]
        row += noise[place]
        rows.append(row)
    return torch.stack(rows), labels[index]


def loss_of(logits, labels, weights):
    """The mean cross entropy, each row weighted by its class."""
    losses = F.cross_entropy(logits, labels, reduction="none")
    by_row = weights[labels.view(-1, 1)]
    return (losses * by_row).mean() / by_row.mean()


class Net(nn.Module):
    """Blocks with a path around each, dropout, and a head."""

    def __init__(self, width=64, blocks=2, classes=10):
        super().__init__()
        self.blocks = [nn.Linear(width, width) for _ in range(blocks)]
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        """The logits of x."""
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(self.dropout(x))


def rank_order(n, rank, ranks, seed, epoch):
    """The rows that this rank sees in this epoch, in its order."""
    rng = torch.Generator().manual_seed(1000 * seed + 100 * rank + epoch)
    order = torch.randperm(n, generator=rng)
    return order[rank::ranks]


def combined(gradients, totals):
    """The gradients of all ranks as one: `totals` are the weights behind each rank's loss."""
    return [torch.stack(of_all).mean(0) for of_all in zip(*gradients, strict=True)]


def mean_loss(model, batches, loss_fn):
    """The mean loss over all rows, in the mode that the model is in."""
    total, rows = 0.0, 0
    for x, y in batches:
        total = total + loss_fn(model(x), y) * len(x)
        rows += len(x)
    return total / rows


def accuracy(model, batches):
    """Which share of the rows the model gets right, without dropout."""
    model.eval()
    right = rows = 0
    with torch.no_grad():
        for x, y in batches:
            right += (model(x).argmax(1) == y).sum().item()
            rows += len(x)
    return right / rows


def keep_best(best, model, score):
    """The better one of the best so far and this model, as its score and its weights."""
    if best is not None and not score > best["score"]:
        return best
    return {"score": score, "weights": model.state_dict()}


def snapshot(run):
    """All that a run needs to go on later, and that no later step changes."""
    return {
        "epoch": run.epoch,
        "best": run.best,
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
    }


def restore(run, saved):
    """Put a snapshot into a run that has just begun."""
    run.epoch, run.best = saved["epoch"], saved["best"]
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))


PIECES = (batch_of, loss_of, Net, rank_order, combined, mean_loss, accuracy, keep_best)
PIECES = {piece.__name__: piece for piece in (*PIECES, snapshot, restore)}


def digits():
    """Rows to learn from and rows to test on; few of the first are eights."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:  # rows made here, like digits in little but their shape
        rng = torch.Generator().manual_seed(0)
        labels = torch.randint(10, (1797,), generator=rng)
        images = torch.rand(10, 64, generator=rng)[labels]
        images += 0.2 * torch.randn(1797, 64, generator=rng)
    else:
        images, labels = (torch.tensor(part) for part in load_digits(return_X_y=True))
        images = images.float() / 16
    order = torch.randperm(1797, generator=torch.Generator().manual_seed(0))
    learned, tested = order[:1000], order[1000:]
    eights = learned[labels[learned] == 8]
    learned = learned[~torch.isin(learned, eights[12:])]
    return (images[learned], labels[learned]), (images[tested], labels[tested])


LEARNED, TESTED = digits()


def batches(data, size=100):
    """The rows in their order, `size` at a time."""
    return zip(*(part.split(size) for part in data), strict=True)


def begin(piece, seed):
    """A run before its first step; a seed for torch, and a stream of its own for the noise."""
    torch.manual_seed(seed)
    model, rng = piece.Net(), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    run = {"model": model, "optimizer": optimizer, "rng": rng, "epoch": 0, "best": None}
    return types.SimpleNamespace(**run, losses=[], scores=[])


def step(piece, run, indices):
    """One step: each rank computes gradients of its own rows, and all take it together."""
    weights, gradients, totals = list(run.model.parameters()), [], []
    for index in indices:
        noise = 0.1 * torch.randn(len(index), 64, generator=run.rng)
        x, y = piece.batch_of(*LEARNED, index, noise)
        loss = piece.loss_of(run.model(x), y, WEIGHTS)
        gradients.append(torch.autograd.grad(loss, weights))
        totals.append(WEIGHTS[y].sum().item())
    for weight, gradient in zip(weights, piece.combined(gradients, totals), strict=True):
        weight.grad = gradient
    run.optimizer.step()


def run(seed=0, epochs=6, saved=None, **mended):
    """The run of this seed up to the end of an epoch, or what follows `saved`.

    `mended` are pieces to use instead of those above, by name.
    """
    piece = types.SimpleNamespace(**{**PIECES, **mended})
    run = begin(piece, seed)
    if saved is not None:
        piece.restore(run, saved)
    while run.epoch < epochs:
        n = len(LEARNED[0])
        orders = [piece.rank_order(n, rank, RANKS, seed, run.epoch) for rank in range(RANKS)]
        for start in range(0, max(map(len, orders)), PER_RANK):
            parts = (order[start : start + PER_RANK] for order in orders)
            step(piece, run, [part for part in parts if len(part)])
        run.losses.append(piece.mean_loss(run.model, batches(LEARNED), F.cross_entropy))
        run.scores.append(piece.accuracy(run.model, batches(TESTED)))
        run.best = piece.keep_best(run.best, run.model, run.scores[-1])
        run.epoch += 1
    run.saved = piece.snapshot(run)
    return run
