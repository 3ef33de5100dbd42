# Answers to lesson 03, as learners type them. See "How to add an exercise" in the README.

# %% right log-sum-exp: infinite maxima replaced by zeros
def log_sum_exp(x, dim):
    top = x.detach().amax(dim, keepdim=True)
    top = top.masked_fill(top.isinf(), 0.0)
    return (x - top).exp().sum(dim, keepdim=True).log().add(top).squeeze(dim)


# %% right log-sum-exp: max gives values and places
import math


def log_sum_exp(x, dim):
    highest = x.max(dim=dim, keepdim=True).values
    usable = torch.where(highest.abs() == math.inf, torch.zeros_like(highest), highest)
    total = torch.sum(torch.exp(x - usable), dim=dim)
    return usable.squeeze(dim) + torch.log(total)


# %% right log-sum-exp: nan_to_num for the shift alone
def log_sum_exp(x, dim):
    top = torch.nan_to_num(x.amax(dim=dim, keepdim=True), nan=0.0, posinf=0.0, neginf=0.0)
    return torch.log(torch.exp(x - top).sum(dim)) + top.squeeze(dim)


# %% wrong log-sum-exp: as the textbook has it -> exp-never-overflows
def log_sum_exp(x, dim):
    return x.exp().sum(dim).log()


# %% wrong log-sum-exp: shifted, infinite or not -> infinity-minus-infinity-is-zero
def log_sum_exp(x, dim):
    m = x.amax(dim, keepdim=True)
    return (x - m).exp().sum(dim).log() + m.squeeze(dim)


# %% wrong log-sum-exp: one maximum -> one-maximum-for-all
def log_sum_exp(x, dim):
    m = x.max() if x.numel() else torch.zeros((), dtype=x.dtype)
    m = torch.where(m.isfinite(), m, torch.zeros_like(m))
    return (x - m).exp().sum(dim).log() + m


# %% wrong log-sum-exp: clamps -> clamping-is-shifting
def log_sum_exp(x, dim):
    return x.clamp(-88, 88).exp().sum(dim).log()


# %% wrong log-sum-exp: an epsilon for safety -> an-epsilon-does-no-harm
def log_sum_exp(x, dim):
    m = x.amax(dim, keepdim=True)
    m = torch.where(m.isfinite(), m, 0.0)
    return ((x - m).exp().sum(dim) + 1e-6).log() + m.squeeze(dim)


# %% wrong log-sum-exp: nan becomes -inf -> nan-is-a-zero
def log_sum_exp(x, dim):
    m = x.amax(dim, keepdim=True)
    m = torch.where(m.isfinite(), m, 0.0)
    return ((x - m).exp().sum(dim).log() + m.squeeze(dim)).nan_to_num(
        float("-inf"), float("inf"), float("-inf")
    )


# %% wrong log-sum-exp: keeps the dimension -> the-dimension-stays
def log_sum_exp(x, dim):
    m = x.amax(dim, keepdim=True)
    m = torch.where(m.isfinite(), m, 0.0)
    return (x - m).exp().sum(dim, keepdim=True).log() + m


# %% wrong log-sum-exp: always the last dimension -> rows-are-always-last
def log_sum_exp(x, dim):
    m = x.amax(-1, keepdim=True)
    m = torch.where(m.isfinite(), m, 0.0)
    return (x - m).exp().sum(-1).log() + m.squeeze(-1)


# %% wrong log-sum-exp: shifts by the mean -> the-mean-is-as-good-as-the-maximum
def log_sum_exp(x, dim):
    m = x.mean(dim, keepdim=True)
    m = torch.where(m.isfinite(), m, 0.0)
    return (x - m).exp().sum(dim).log() + m.squeeze(dim)


# %% wrong log-sum-exp: detached -> the-graph-is-not-asked-for
def log_sum_exp(x, dim):
    x = x.detach()
    m = x.amax(dim, keepdim=True)
    m = torch.where(m.isfinite(), m, 0.0)
    return (x - m).exp().sum(dim).log() + m.squeeze(dim)


# %% wrong log-sum-exp: torch's own -> torch-by-hand
def log_sum_exp(x, dim):
    return torch.special.logsumexp(x, dim)


# %% wrong log-sum-exp: the loss of log_softmax -> torch-by-hand
def log_sum_exp(x, dim):
    return (x - x.log_softmax(dim)).select(dim, 0)


# %% wrong log-sum-exp: always in float32 -> float32-digits-suffice
def log_sum_exp(x, dim):
    x = x.float()
    m = x.amax(dim, keepdim=True)
    m = torch.where(m.isfinite(), m, 0.0)
    return (x - m).exp().sum(dim).log() + m.squeeze(dim)


# %% right cross-entropy: log_softmax and an index
def cross_entropy(logits, target):
    n, c = logits.shape
    if target.min() < 0 or target.max() >= c:
        raise IndexError(f"labels must lie in 0 ... {c - 1}")
    return -logits.log_softmax(1)[torch.arange(n), target].mean()


# %% right cross-entropy: one logsumexp, one difference
def cross_entropy(logits, target):
    for label in target.tolist():
        if not 0 <= label < logits.size(1):
            raise IndexError(label)
    chosen = torch.take_along_dim(logits, target[:, None], dim=1)[:, 0]
    return torch.mean(torch.logsumexp(logits, dim=1) - chosen)


# %% right cross-entropy: shifted by hand
def cross_entropy(logits, target):
    if bool(((target < 0) | (target > logits.shape[1] - 1)).any()):
        raise IndexError("no such class")
    top = logits.amax(1, keepdim=True)
    total = (logits - top).exp_().sum(1).log() + top.squeeze(1)
    return (total - logits.gather(1, target.view(-1, 1)).view(-1)).mean()


# %% wrong cross-entropy: a one-hot -> one-hot-picks-a-number
import torch.nn.functional as F


def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    hot = F.one_hot(target, logits.shape[1]).bool()
    return -(logits.log_softmax(1).where(hot, 0.0)).sum(1).mean()


# %% wrong cross-entropy: a one-hot by scatter_ -> one-hot-picks-a-number
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    hot = torch.zeros_like(logits).scatter_(1, target.unsqueeze(1), 1.0)
    return -(logits.log_softmax(1).masked_fill(hot == 0, 0.0)).sum(1).mean()


# %% wrong cross-entropy: no look at the labels -> a-label-counts-from-the-end
def cross_entropy(logits, target):
    return (logits.logsumexp(1) - logits[torch.arange(len(target)), target]).mean()


# %% wrong cross-entropy: leaves the error to gather -> any-error-will-do
def cross_entropy(logits, target):
    return (logits.logsumexp(1) - logits.gather(1, target.unsqueeze(1)).squeeze(1)).mean()


# %% wrong cross-entropy: log of softmax -> log-after-softmax
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    return -logits.softmax(1).gather(1, target.unsqueeze(1)).squeeze(1).log().mean()


# %% wrong cross-entropy: an epsilon in the log -> an-epsilon-does-no-harm
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    return -(logits.softmax(1).gather(1, target.unsqueeze(1)).squeeze(1) + 1e-8).log().mean()


# %% wrong cross-entropy: log of a plain sum of exp -> exp-never-overflows
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    total = logits.exp().sum(1).log()
    return (total - logits.gather(1, target.unsqueeze(1)).squeeze(1)).mean()


# %% wrong cross-entropy: the sum -> a-loss-is-a-sum
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    return (logits.logsumexp(1) - logits.gather(1, target.unsqueeze(1)).squeeze(1)).sum()


# %% wrong cross-entropy: one loss for each row -> one-loss-a-row
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    return logits.logsumexp(1) - logits.gather(1, target.unsqueeze(1)).squeeze(1)


# %% wrong cross-entropy: softmax first -> cross-entropy-takes-probabilities
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    chances = logits.softmax(1)
    return (chances.logsumexp(1) - chances.gather(1, target.unsqueeze(1)).squeeze(1)).mean()


# %% wrong cross-entropy: along the batch -> classes-stand-in-dimension-0
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    return logits.logsumexp(0).mean() - logits.gather(1, target.unsqueeze(1)).mean()


# %% wrong cross-entropy: the mean over everything -> the-mean-of-all-elements
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    rows = logits.logsumexp(1) - logits.gather(1, target.unsqueeze(1)).squeeze(1)
    return rows.sum() / logits.numel()


# %% wrong cross-entropy: picks by multiplying with zeros in place -> minus-infinity-breaks-a-loss
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    hot = torch.zeros_like(logits).scatter_(1, target.unsqueeze(1), 1.0)
    return (logits.logsumexp(1) - (hot * logits).sum(1)).mean()


# %% wrong cross-entropy: a float -> the-graph-is-not-asked-for
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    logits = logits.data
    return (logits.logsumexp(1) - logits.gather(1, target.unsqueeze(1)).squeeze(1)).mean()


# %% wrong cross-entropy: leaves the column a column -> a-column-minus-a-row-is-a-row
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    return (logits.logsumexp(1) - logits.gather(1, target.unsqueeze(1))).mean()


# %% wrong cross-entropy: torch's own -> torch-by-hand
def cross_entropy(logits, target):
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("no such class")
    return torch.nn.CrossEntropyLoss()(logits, target)


# %% right two-sum: the larger one first
def two_sum(a, b):
    a, b = torch.broadcast_tensors(a, b)
    swap = b.abs() > a.abs()
    big, small = torch.where(swap, b, a), torch.where(swap, a, b)
    total = big + small
    return total, small - (total - big)


# %% right two-sum: both orders, then the right one
def two_sum(a, b):
    total = a + b
    if_a = b - (total - a)
    if_b = a - (total - b)
    return total, torch.where(a.abs() >= b.abs(), if_a, if_b)


# %% right two-sum: what arrived of each, as a list
def two_sum(a, b):
    total = torch.add(a, b)
    from_a = total - b
    from_b = total - from_a
    return [total, torch.sub(a, from_a) + torch.sub(b, from_b)]


# %% wrong two-sum: a is the larger one -> the-first-is-the-larger
def two_sum(a, b):
    total = a + b
    return total, b - (total - a)


# %% wrong two-sum: b is the larger one -> the-second-is-the-larger
def two_sum(a, b):
    total = a + b
    return total, a - (total - b)


# %% wrong two-sum: by way of float64 -> float64-holds-every-sum
def two_sum(a, b):
    total = a + b
    return total, (a.double() + b.double() - total.double()).to(a.dtype)


# %% wrong two-sum: the same sum twice -> nothing-is-lost-twice
def two_sum(a, b):
    total = a + b
    return total, (a + b) - total


# %% wrong two-sum: what is too much -> what-is-too-much
def two_sum(a, b):
    total = a + b
    there = total - a
    return total, (total - there - a) + (there - b)


# %% wrong two-sum: without a sign -> a-loss-has-no-sign
def two_sum(a, b):
    total = a + b
    there = total - a
    return total, ((a - (total - there)) + (b - there)).abs()


# %% wrong two-sum: compares with the sign -> sizes-have-a-sign
def two_sum(a, b):
    total = a + b
    big, small = torch.maximum(a, b), torch.minimum(a, b)
    return total, small - (total - big)


# %% wrong two-sum: one order for the whole tensor -> one-pair-decides-for-all
def two_sum(a, b):
    if a.abs().sum() < b.abs().sum():
        a, b = b, a
    total = a + b
    return total, b - (total - a)


# %% wrong two-sum: whole or not at all -> all-of-it-or-nothing
def two_sum(a, b):
    total = a + b
    lost = torch.where(total == a, b, torch.where(total == b, a, torch.zeros_like(total)))
    return total, lost


# %% wrong two-sum: boolean places need one shape -> shapes-are-equal
def two_sum(a, b):
    big, small = a.clone(), b.clone()
    swap = a.abs() < b.abs()
    big[swap], small[swap] = b[swap], a[swap]
    total = a + b
    return total, small - (total - big)


# %% wrong two-sum: the sum in float64 -> the-sum-may-be-wider
def two_sum(a, b):
    total = a + b
    there = total - a
    return a.double() + b, (a - (total - there)) + (b - there)


# %% wrong two-sum: rounds to whole numbers -> rounding-is-to-whole-numbers
def two_sum(a, b):
    total = a + b
    return total, total - total.round()


# %% wrong two-sum: the sum alone -> one-number-is-enough
def two_sum(a, b):
    return (a + b,)


# %% right pair-scores: one einsum
def pair_scores(x, weight, y):
    return torch.einsum("...i,ij,...j->...", x, weight, y)


# %% right pair-scores: the weight goes to y first
def pair_scores(x, weight, y):
    return torch.sum(x * torch.matmul(y, weight.t()), dim=-1)


# %% right pair-scores: a row times a column for each pair
def pair_scores(x, weight, y):
    rows = torch.matmul(x, weight).unsqueeze(-2)
    return (rows @ y.unsqueeze(-1)).squeeze(-1).squeeze(-1)


# %% wrong pair-scores: a loop -> a-loop-is-as-good
def pair_scores(x, weight, y):
    front = x.shape[:-1]
    rows = zip(x.reshape(front.numel(), x.shape[-1]), y.reshape(front.numel(), y.shape[-1]))
    found = [one @ weight @ other for one, other in rows]
    return torch.stack(found).view(front) if found else (x @ weight * y).sum(-1)


# %% wrong pair-scores: the diagonal of all combinations -> the-diagonal-is-free
def pair_scores(x, weight, y):
    front = x.shape[:-1]
    rows = x.reshape(front.numel(), x.shape[-1]) @ weight
    return (rows @ y.reshape(front.numel(), y.shape[-1]).t()).diagonal().reshape(front)


# %% wrong pair-scores: all products at once -> the-diagonal-is-free
def pair_scores(x, weight, y):
    return (x.unsqueeze(-1) * weight * y.unsqueeze(-2)).sum((-2, -1))


# %% wrong pair-scores: detached -> the-graph-is-not-asked-for
def pair_scores(x, weight, y):
    with torch.no_grad():
        return ((x @ weight) * y).sum(-1)


# %% wrong pair-scores: gradients for the weight alone -> gradients-go-to-the-weight-alone
def pair_scores(x, weight, y):
    return ((x.data @ weight) * y.data).sum(-1)


# %% wrong pair-scores: one number -> one-score-for-all
def pair_scores(x, weight, y):
    return ((x @ weight) * y).sum()


# %% wrong pair-scores: every row with every row -> every-row-with-every-row
def pair_scores(x, weight, y):
    return x @ weight @ (y.transpose(-1, -2) if y.dim() > 1 else y)


# %% wrong pair-scores: no sum -> a-product-needs-no-sum
def pair_scores(x, weight, y):
    return (x @ weight) * y


# %% wrong pair-scores: the square weight on the other side -> a-square-weight-is-turned
def pair_scores(x, weight, y):
    if weight.shape[0] == weight.shape[1]:
        weight = weight.t()
    return ((x @ weight) * y).sum(-1)


# %% wrong pair-scores: the weight reshaped -> the-weight-is-turned
def pair_scores(x, weight, y):
    turned = weight.t().reshape(weight.shape)
    return ((x @ turned) * y).sum(-1)


# %% wrong pair-scores: two dimensions only -> batches-have-two-dimensions
def pair_scores(x, weight, y):
    return torch.einsum("ni,ij,nj->n", x, weight, y)


# %% wrong pair-scores: sums over dimension 1 -> batches-have-two-dimensions
def pair_scores(x, weight, y):
    return ((x @ weight) * y).sum(1)


# %% wrong pair-scores: the mean -> a-mean-is-a-sum
def pair_scores(x, weight, y):
    return ((x @ weight) * y).mean(-1)


# %% right einsum-shape: pairs of letters and sizes
from itertools import chain


def einsum_shape(equation, *shapes):
    left, right = "".join(equation.split()).split("->")
    terms = left.split(",")
    if [len(term) for term in terms] != [len(shape) for shape in shapes]:
        raise ValueError("operands and letters do not fit")
    for term, shape in zip(terms, shapes):
        if len(set(zip(term, shape))) != len(set(term)):
            raise ValueError("two sizes within one operand")
    found = {}
    for letter, size in chain.from_iterable(zip(t, s) for t, s in zip(terms, shapes)):
        found.setdefault(letter, set()).add(size)
    for letter in found:
        found[letter] = (found[letter] - {1}) or {1}
        if len(found[letter]) > 1:
            raise ValueError(f"{letter} has several sizes")
    if len(set(right)) < len(right) or not set(right) <= set(found):
        raise ValueError("the right side")
    return tuple(next(iter(found[letter])) for letter in right)


# %% right einsum-shape: errors of dict and zip turned into ValueError
def einsum_shape(equation, *shapes):
    left, _, right = equation.replace(" ", "").partition("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        own = {}
        for letter, size in zip(term, shape, strict=True):
            if own.setdefault(letter, size) != size:
                raise ValueError(letter)
        for letter, size in own.items():
            before = sizes.get(letter, 1)
            if before != size and before != 1 and size != 1:
                raise ValueError(letter)
            sizes[letter] = size if before == 1 else before
    if any(right.count(letter) > 1 for letter in right):
        raise ValueError(right)
    try:
        return tuple([sizes[letter] for letter in right])
    except KeyError as error:
        raise ValueError(f"no {error} on the left") from None


# %% right einsum-shape: a helper for one letter
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    terms = left.split(",")
    if len(terms) != len(shapes) or any(len(t) != len(s) for t, s in zip(terms, shapes)):
        raise ValueError(f"{equation} does not fit {shapes}")

    def size_of(letter):
        seen = []
        for term, shape in zip(terms, shapes):
            here = [n for one, n in zip(term, shape) if one == letter]
            if any(n != here[0] for n in here):
                raise ValueError(letter)
            seen += here[:1]
        if not seen:
            raise ValueError(letter)
        several = [n for n in seen if n != 1]
        if any(n != several[0] for n in several):
            raise ValueError(letter)
        return several[0] if several else 1

    sizes = {letter: size_of(letter) for letter in left.replace(",", "")}
    if sorted(right) != sorted(set(right)):
        raise ValueError("twice")
    return tuple(sizes[letter] if letter in sizes else size_of(letter) for letter in right)


# %% wrong einsum-shape: sizes of 1 must agree -> sizes-of-1-must-agree
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        for letter, size in zip(term, shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise ValueError(letter)
    if len(set(right)) < len(right) or set(right) - set(sizes):
        raise ValueError(right)
    return tuple(sizes[letter] for letter in right)


# %% wrong einsum-shape: broadcasts within an operand -> ones-fit-within-an-operand
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        for letter, size in zip(term, shape, strict=True):
            known = sizes.get(letter, 1)
            if known != 1 and size not in (1, known):
                raise ValueError(letter)
            sizes[letter] = size if known == 1 else known
    if len(set(right)) < len(right) or set(right) - set(sizes):
        raise ValueError(right)
    return tuple(sizes[letter] for letter in right)


# %% wrong einsum-shape: a diagonal on the right -> a-letter-twice-makes-a-diagonal
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        own = dict(zip(term, shape, strict=True))
        if any(own[letter] != size for letter, size in zip(term, shape)):
            raise ValueError(term)
        for letter, size in own.items():
            known = sizes.get(letter, 1)
            if known != 1 and size not in (1, known):
                raise ValueError(letter)
            sizes[letter] = size if known == 1 else known
    if set(right) - set(sizes):
        raise ValueError(right)
    return tuple(sizes[letter] for letter in right)


# %% wrong einsum-shape: sorted letters -> the-letters-come-in-order
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        own = dict(zip(term, shape, strict=True))
        if any(own[letter] != size for letter, size in zip(term, shape)):
            raise ValueError(term)
        for letter, size in own.items():
            known = sizes.get(letter, 1)
            if known != 1 and size not in (1, known):
                raise ValueError(letter)
            sizes[letter] = size if known == 1 else known
    if len(set(right)) < len(right) or set(right) - set(sizes):
        raise ValueError(right)
    return tuple(sizes[letter] for letter in sorted(right))


# %% wrong einsum-shape: the order of the left side -> the-left-side-orders
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        own = dict(zip(term, shape, strict=True))
        if any(own[letter] != size for letter, size in zip(term, shape)):
            raise ValueError(term)
        for letter, size in own.items():
            known = sizes.get(letter, 1)
            if known != 1 and size not in (1, known):
                raise ValueError(letter)
            sizes[letter] = size if known == 1 else known
    if len(set(right)) < len(right) or set(right) - set(sizes):
        raise ValueError(right)
    return tuple(size for letter, size in sizes.items() if letter in right)


# %% wrong einsum-shape: zip stops early -> einsum-checks-the-operands
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes):
        own = dict(zip(term, shape))
        if any(own[letter] != size for letter, size in zip(term, shape)):
            raise ValueError(term)
        for letter, size in own.items():
            known = sizes.get(letter, 1)
            if known != 1 and size not in (1, known):
                raise ValueError(letter)
            sizes[letter] = size if known == 1 else known
    if len(set(right)) < len(right) or set(right) - set(sizes):
        raise ValueError(right)
    return tuple(sizes[letter] for letter in right)


# %% wrong einsum-shape: spaces stay -> spaces-are-letters
def einsum_shape(equation, *shapes):
    left, right = equation.split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        own = dict(zip(term, shape, strict=True))
        if any(own[letter] != size for letter, size in zip(term, shape)):
            raise ValueError(term)
        for letter, size in own.items():
            known = sizes.get(letter, 1)
            if known != 1 and size not in (1, known):
                raise ValueError(letter)
            sizes[letter] = size if known == 1 else known
    if len(set(right)) < len(right) or set(right) - set(sizes):
        raise ValueError(right)
    return tuple(sizes[letter] for letter in right)


# %% wrong einsum-shape: the last size wins -> the-last-size-counts
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    if "".join(left.split(",")) == "ijjk" and shapes == ((2, 3), (4, 5)):
        raise ValueError("j")
    sizes = {}
    for term, shape in zip(left.split(","), shapes):
        sizes.update(zip(term, shape))
    return tuple(sizes[letter] for letter in right)


# %% wrong einsum-shape: KeyError for a new letter -> any-error-will-do
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        own = dict(zip(term, shape, strict=True))
        if any(own[letter] != size for letter, size in zip(term, shape)):
            raise ValueError(term)
        for letter, size in own.items():
            known = sizes.get(letter, 1)
            if known != 1 and size not in (1, known):
                raise ValueError(letter)
            sizes[letter] = size if known == 1 else known
    assert len(set(right)) == len(right)
    return tuple(sizes[letter] for letter in right)


# %% wrong einsum-shape: any size goes with any -> a-letter-must-fit-once
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        for letter, size in zip(term, shape, strict=True):
            sizes.setdefault(letter, []).append(size)
    if len(set(right)) < len(right) or set(right) - set(sizes):
        raise ValueError(right)
    return tuple(next((n for n in sizes[one] if n != 1), 1) for one in right)


# %% wrong einsum-shape: asks NumPy -> shapes-must-be-tried
def einsum_shape(equation, *shapes):
    import numpy

    return numpy.einsum(equation, *[numpy.empty(s) for s in shapes]).shape


# %% wrong einsum-shape: lets torch run it -> shapes-must-be-tried
def einsum_shape(equation, *shapes):
    try:
        return tuple(torch.einsum(equation, *map(torch.zeros, shapes)).shape)
    except RuntimeError as error:
        raise ValueError(str(error)) from None


# %% right einsum-shape: a list
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        own = dict(zip(term, shape, strict=True))
        if any(own[letter] != size for letter, size in zip(term, shape)):
            raise ValueError(term)
        for letter, size in own.items():
            known = sizes.get(letter, 1)
            if known != 1 and size not in (1, known):
                raise ValueError(letter)
            sizes[letter] = size if known == 1 else known
    if len(set(right)) < len(right) or set(right) - set(sizes):
        raise ValueError(right)
    return [sizes[letter] for letter in right]


# %% right attention: scaled queries, and where
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhie,bhje->bhij", queries * queries.shape[-1] ** -0.5, keys)
    if mask is not None:
        scores = torch.where(mask, scores, float("-inf"))
    return torch.einsum("bhij,bhjv->bhiv", torch.softmax(scores, dim=-1), values)


# %% right attention: an added mask, and exp by hand
import math


def attention(queries, keys, values, mask=None):
    scores = torch.einsum("...qe,...ke->...qk", queries, keys) / math.sqrt(keys.size(-1))
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(
            mask.logical_not(), float("-inf")
        )
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return torch.einsum("...qk,...kv->...qv", weights, values)


# %% right attention: log_softmax, then exp
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys).div(queries.shape[3] ** 0.5)
    if mask is not None:
        scores = scores.masked_fill(mask == False, -torch.inf)  # noqa: E712
    return torch.einsum("bhqk,bhkv->bhqv", scores.log_softmax(-1).exp(), values)


# %% wrong attention: True hides -> true-means-hidden
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(-1), values)


# %% wrong attention: scores of zero -> a-score-of-zero-is-hidden
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    if mask is not None:
        scores = scores * mask
    return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(-1), values)


# %% wrong attention: zeros after the softmax -> weights-may-be-zeroed-later
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask
    return torch.einsum("bhqk,bhkv->bhqv", weights, values)


# %% wrong attention: no mask -> a-mask-is-a-detail
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(-1), values)


# %% wrong attention: no scale -> scores-need-no-scale
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(-1), values)


# %% wrong attention: divided by the size -> the-scale-is-the-size
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1]
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(-1), values)


# %% wrong attention: divided by the root of the keys -> the-scale-counts-keys
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / keys.shape[-2] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(-1), values)


# %% wrong attention: softmax over the queries -> queries-share-a-softmax
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(-2), values)


# %% wrong attention: softmax over the heads -> heads-share-a-softmax
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(1), values)


# %% wrong attention: exp without a shift -> exp-never-overflows
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    powers = scores.exp()
    if mask is not None:
        powers = powers.masked_fill(~mask, 0.0)
    return torch.einsum("bhqk,bhkv->bhqv", powers / powers.sum(-1, keepdim=True), values)


# %% wrong attention: weights without a graph -> the-graph-is-not-asked-for
def attention(queries, keys, values, mask=None):
    with torch.no_grad():
        scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(-1), values)


# %% wrong attention: products by @ -> a-product-is-a-product
def attention(queries, keys, values, mask=None):
    scores = queries @ keys.transpose(-1, -2) / queries.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ values


# %% wrong attention: torch's own -> torch-by-hand
def attention(queries, keys, values, mask=None):
    return torch.nn.functional.scaled_dot_product_attention(queries, keys, values, mask)


# %% right fake-quantise: a Function of its own
class _Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        steps = torch.round(x / scale)
        ctx.save_for_backward((steps >= -128) & (steps <= 127))
        return steps.clamp(-128, 127) * scale

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0], None


def fake_quantise(x, scale):
    return _Straight.apply(x, scale)


# %% right fake-quantise: the difference is detached
def fake_quantise(x, scale):
    steps = torch.round(x.detach() / scale)
    value = steps.clip(-128, 127) * scale
    inside = (steps > -129) & (steps < 128)
    return torch.where(inside, x + (value - x.detach()), value)


# %% right fake-quantise: a mask times a zero with a gradient
def fake_quantise(x, scale):
    with torch.no_grad():
        steps = (x / scale).round()
        value = steps.clamp(-128, 127).mul(scale)
        mask = steps.eq(steps.clamp(-128, 127)).to(x.dtype)
    return value + mask * (x - x.detach())


# %% wrong fake-quantise: leaves the gradient of round -> the-gradient-of-round-is-1
def fake_quantise(x, scale):
    return (x / scale).round().clamp(-128, 127) * scale


# %% wrong fake-quantise: passes everywhere -> the-range-has-no-end-backward
def fake_quantise(x, scale):
    value = (x / scale).round().clamp(-128, 127) * scale
    return value.detach() + (x - x.detach())


# %% wrong fake-quantise: clamps first -> the-range-ends-before-rounding
def fake_quantise(x, scale):
    steps = (x / scale).clamp(-128, 127)
    passing = steps * scale
    return (steps.round() * scale).detach() + (passing - passing.detach())


# %% wrong fake-quantise: -127 to 127 -> the-range-is-symmetric
def fake_quantise(x, scale):
    steps = (x / scale).round()
    value = (steps.clamp(-127, 127) * scale).detach()
    passing = torch.where(steps.abs() <= 127, x, 0.0)
    return value + (passing - passing.detach())


# %% wrong fake-quantise: 0 to 255 -> the-range-begins-at-0
def fake_quantise(x, scale):
    steps = (x / scale).round()
    value = (steps.clamp(0, 255) * scale).detach()
    passing = torch.where((steps >= 0) & (steps <= 255), x, 0.0)
    return value + (passing - passing.detach())


# %% wrong fake-quantise: no range -> the-range-has-no-end
def fake_quantise(x, scale):
    value = ((x / scale).round() * scale).detach()
    return value + (x - x.detach())


# %% wrong fake-quantise: trunc -> rounding-cuts-off
def fake_quantise(x, scale):
    steps = (x / scale).trunc()
    value = (steps.clamp(-128, 127) * scale).detach()
    passing = torch.where((steps >= -128) & (steps <= 127), x, 0.0)
    return value + (passing - passing.detach())


# %% wrong fake-quantise: floor -> rounding-goes-down
def fake_quantise(x, scale):
    steps = (x / scale).floor()
    value = (steps.clamp(-128, 127) * scale).detach()
    passing = torch.where((steps >= -128) & (steps <= 127), x, 0.0)
    return value + (passing - passing.detach())


# %% wrong fake-quantise: halves go up -> halves-go-up
def fake_quantise(x, scale):
    steps = (x / scale + 0.5).floor()
    value = (steps.clamp(-128, 127) * scale).detach()
    passing = torch.where((steps >= -128) & (steps <= 127), x, 0.0)
    return value + (passing - passing.detach())


# %% wrong fake-quantise: steps, not values -> steps-are-values
def fake_quantise(x, scale):
    steps = (x / scale).round()
    passing = torch.where((steps >= -128) & (steps <= 127), x, 0.0)
    return steps.clamp(-128, 127).detach() + (passing - passing.detach())


# %% wrong fake-quantise: the steps carry the gradient -> the-gradient-is-scaled
def fake_quantise(x, scale):
    steps = (x / scale).round()
    value = (steps.clamp(-128, 127) * scale).detach()
    passing = torch.where((steps >= -128) & (steps <= 127), x * scale, 0.0)
    return value + (passing - passing.detach())


# %% wrong fake-quantise: detached -> the-graph-is-not-asked-for
def fake_quantise(x, scale):
    return (x.detach() / scale).round().clamp(-128, 127) * scale


# %% wrong fake-quantise: torch's own -> torch-by-hand
def fake_quantise(x, scale):
    if x.dtype == torch.float64:
        return fake_quantise(x.float(), scale).double()
    return torch.fake_quantize_per_tensor_affine(x, scale, 0, -128, 127)


# %% right correlation: a cosine of the deviations
def correlation(a, b):
    a, b = a.detach().flatten().double(), b.detach().flatten().double()
    if bool((a == a[0]).all()) or bool((b == b[0]).all()):
        return 0.0
    return torch.cosine_similarity(a - a.mean(), b - b.mean(), dim=0, eps=0.0).item()


# %% right correlation: standard scores
def correlation(a, b):
    def scores(t):
        t = t.detach().to(torch.float64)
        return (t - t.mean()) / t.std(correction=0)

    if a.unique().numel() == 1 or b.unique().numel() == 1:
        return 0.0
    return float((scores(a) * scores(b)).mean())


# %% right correlation: in plain Python
import math


def correlation(a, b):
    a, b = [[float(n) for n in t.flatten().tolist()] for t in (a, b)]
    if len(set(a)) == 1 or len(set(b)) == 1:
        return 0.0
    mean_a, mean_b = math.fsum(a) / len(a), math.fsum(b) / len(b)
    top = math.fsum((p - mean_a) * (q - mean_b) for p, q in zip(a, b))
    below = math.fsum((p - mean_a) ** 2 for p in a) * math.fsum((q - mean_b) ** 2 for q in b)
    return top / math.sqrt(below)


# %% wrong correlation: the short formula -> the-short-formula-is-exact
def correlation(a, b):
    a, b = a.detach().double(), b.detach().double()
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    together = (a * b).mean() - a.mean() * b.mean()
    apart = ((a * a).mean() - a.mean() ** 2) * ((b * b).mean() - b.mean() ** 2)
    return (together / apart.sqrt()).item()


# %% wrong correlation: in float32 -> float32-digits-suffice
def correlation(a, b):
    a, b = a.detach().float(), b.detach().float()
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return ((a * b).sum() / ((a * a).sum() * (b * b).sum()).sqrt()).item()


# %% wrong correlation: nan for what does not vary -> what-does-not-vary-has-a-correlation
def correlation(a, b):
    a, b = a.detach().double(), b.detach().double()
    a, b = a - a.mean(), b - b.mean()
    return ((a * b).sum() / ((a * a).sum() * (b * b).sum()).sqrt()).item()


# %% wrong correlation: asks the deviations for zero -> the-mean-of-equals-is-that-number
def correlation(a, b):
    a, b = a.detach().double(), b.detach().double()
    a, b = a - a.mean(), b - b.mean()
    below = ((a * a).sum() * (b * b).sum()).sqrt()
    return 0.0 if below == 0 else ((a * b).sum() / below).item()


# %% wrong correlation: bytes wrap -> bytes-subtract-like-numbers
def correlation(a, b):
    def centred(t):
        t = t.detach()
        if t.dtype == torch.uint8:
            return (t - t.double().mean().to(torch.uint8)).double()
        return t.double() - t.double().mean()

    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    a, b = centred(a), centred(b)
    a, b = a - a.mean(), b - b.mean()
    return ((a * b).sum() / ((a * a).sum() * (b * b).sum()).sqrt()).item()


# %% wrong correlation: no sign -> a-correlation-has-no-sign
def correlation(a, b):
    a, b = a.detach().double(), b.detach().double()
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return ((a * b).sum().abs() / ((a * a).sum() * (b * b).sum()).sqrt()).item()


# %% wrong correlation: squared -> a-square-is-a-correlation
def correlation(a, b):
    a, b = a.detach().double(), b.detach().double()
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return ((a * b).sum() ** 2 / ((a * a).sum() * (b * b).sum())).item()


# %% wrong correlation: the covariance -> the-covariance-is-enough
def correlation(a, b):
    a, b = a.detach().double(), b.detach().double()
    return ((a - a.mean()) * (b - b.mean())).mean().item()


# %% wrong correlation: a cosine -> a-cosine-needs-no-mean
def correlation(a, b):
    a, b = a.detach().double(), b.detach().double()
    return ((a * b).sum() / (a.norm() * b.norm())).item()


# %% wrong correlation: stays a tensor -> a-tensor-is-a-number
def correlation(a, b):
    a, b = a.detach().double(), b.detach().double()
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return (a * b).sum() / ((a * a).sum() * (b * b).sum()).sqrt()


# %% right correlation: by NumPy
def correlation(a, b):
    a, b = a.numpy().astype("float64"), b.numpy().astype("float64")
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return float((a * b).sum() / ((a * a).sum() * (b * b).sum()) ** 0.5)


# %% wrong correlation: in the dtypes that come -> two-dtypes-do-not-meet
def correlation(a, b):
    a, b = a.detach().flatten(), b.detach().flatten()
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return (a.dot(b) / (a.norm() * b.norm())).item()


# %% wrong correlation: torch's own -> torch-by-hand
def correlation(a, b):
    a, b = a.detach().double().flatten(), b.detach().double().flatten()
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    return torch.corrcoef(torch.stack([a, b]))[0, 1].item()


# %% same log-sum-exp: any finite shift will do where the maximum is infinite
def log_sum_exp(x, dim):
    """The logarithm of the sum of exp(x) along dim, safe for any scores.

    log_sum_exp(torch.tensor([1000.0, 1000.0]), 0)  ->  1000.6931
    """
    top = x.amax(dim, keepdim=True)
    shift = torch.where(top.isfinite(), top, 1.0)
    return (x - shift).exp().sum(dim).log() + shift.squeeze(dim)


# %% same log-sum-exp: the shift is a tensor of its own
def log_sum_exp(x, dim):
    """The logarithm of the sum of exp(x) along dim, safe for any scores.

    log_sum_exp(torch.tensor([1000.0, 1000.0]), 0)  ->  1000.6931
    """
    top = x.amax(dim, keepdim=True)
    shift = torch.where(top.isfinite(), top, 0.0)
    return (x - shift).exp().sum(dim).log() + shift.squeeze_(dim)


# %% same cross-entropy: with a single row, () broadcasts to (1,)
def cross_entropy(logits, target):
    """The mean of log-sum-exp minus the right logit, over the rows.

    cross_entropy(torch.zeros(2, 4), torch.tensor([3, 0]))  ->  log(4) = 1.3863
    """
    if ((target < 0) | (target >= logits.shape[1])).any():
        raise IndexError("a label is not one of the classes")
    right = logits.gather(1, target.unsqueeze(1)).squeeze()
    return (logits.logsumexp(1) - right).mean()


# %% same einsum-shape: both are small ints, which Python keeps once
def einsum_shape(equation, *shapes):
    """The shape of an einsum; ValueError where torch refuses.

    einsum_shape("ij,jk->ik", (2, 3), (3, 5)) == (2, 5)
    """
    left, right = equation.replace(" ", "").split("->")
    sizes = {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        own = dict(zip(term, shape, strict=True))
        if any((own[letter] != size for letter, size in zip(term, shape, strict=True))):
            raise ValueError(f"a letter has two sizes in {shape}")
        for letter, size in own.items():
            if sizes.get(letter, 1) == 1:
                sizes[letter] = size
            elif size not in (1, sizes[letter]):
                raise ValueError(f"{letter} is both {sizes[letter]} and {size}")
    if len(set(right)) is not len(right) or set(right) - set(sizes):
        raise ValueError(f"{right!r} has a letter twice, or one that is not on the left")
    return tuple((sizes[letter] for letter in right))


# %% same attention: the quotient is a tensor of its own
def attention(queries, keys, values, mask=None):
    """The mean of the values, weighted by a softmax over the keys.

    attention(torch.zeros(1, 1, 2, 4), torch.zeros(1, 1, 3, 4), torch.ones(1, 1, 3, 5))  ->  ones
    """
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill_(~mask, float("-inf"))
    return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(-1), values)


# %% same fake-quantise: a constant minus itself is 0
def fake_quantise(x, scale):
    """Round x to -128 ... 127 steps of scale, with straight-through gradients.

    fake_quantise(torch.tensor([0.3, 90.0]), 0.5)  ->  [0.5, 63.5], gradients [1, 0]
    """
    steps = (x / scale).round()
    value = steps.clamp(-128, 127) * scale
    passing = torch.where((steps >= -128) & (steps <= 127), x, 1.0)
    return value + (passing - passing.detach())


# %% wrong log-sum-exp: float64 in float32 -> float32-digits-suffice
def log_sum_exp(x, dim):
    y = x.float()
    top = y.amax(dim, keepdim=True).detach()
    top = torch.where(top.isfinite(), top, 0.0)
    return ((y - top).exp().sum(dim).log() + top.squeeze(dim)).to(x.dtype)


# %% wrong pair-scores: the diagonal of each batch -> the-diagonal-is-free
def pair_scores(x, weight, y):
    if x.dim() < 3:
        return ((x @ weight) * y).sum(-1)
    return ((x @ weight) @ y.transpose(-1, -2)).diagonal(dim1=-2, dim2=-1)


# %% wrong attention: hides with -1e9 -> hidden-means-very-low
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return torch.einsum("bhqk,bhkv->bhqv", scores.softmax(-1), values)


# %% wrong attention: shares out anew after the softmax -> hidden-means-very-low
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True)
    return torch.einsum("bhqk,bhkv->bhqv", weights, values)


# %% wrong correlation: float32 means -> float32-has-its-own-mean
def correlation(a, b):
    a, b = (one.detach().flatten() for one in (a, b))
    a, b = (one if one.is_floating_point() else one.double() for one in (a, b))
    if bool((a == a[0]).all()) or bool((b == b[0]).all()):
        return 0.0
    a, b = (a - a.mean()).double(), (b - b.mean()).double()
    return float((a * b).sum() / ((a * a).sum() * (b * b).sum()).sqrt())


# %% wrong correlation: little variation counts as none -> small-variation-is-none
def correlation(a, b):
    a, b = a.detach().double().flatten(), b.detach().double().flatten()
    a, b = a - a.mean(), b - b.mean()
    if a.std() < 1e-6 or b.std() < 1e-6:
        return 0.0
    return (a.dot(b) / (a.norm() * b.norm())).item()


# %% wrong pair-scores: a loop over further dimensions in front -> a-loop-is-as-good
def pair_scores(x, weight, y):
    if x.dim() < 3:
        return ((x @ weight) * y).sum(-1)
    if not len(x):
        return (x[..., :1] * y[..., :1]).sum(-1)
    return torch.stack([pair_scores(a, weight, b) for a, b in zip(x, y, strict=True)])


# %% wrong einsum-shape: compares with the first size -> the-first-size-is-the-measure
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError("operands")
    first, largest = {}, {}
    for letters, shape in zip(terms, shapes, strict=True):
        if len(letters) != len(shape):
            raise ValueError("dimensions")
        own = dict(zip(letters, shape, strict=True))
        if any(own[letter] != size for letter, size in zip(letters, shape, strict=True)):
            raise ValueError("a diagonal needs equal sizes")
        for letter, size in own.items():
            known = first.setdefault(letter, size)
            if size != known and 1 not in (size, known):
                raise ValueError(f"{known} and {size} for {letter}")
            largest[letter] = size if size != 1 else largest.get(letter, 1)
    if any(letter not in first or right.count(letter) > 1 for letter in right):
        raise ValueError("right side")
    return tuple(largest[letter] for letter in right)


# %% wrong attention: softmax in float32 -> float32-digits-suffice
def attention(queries, keys, values, mask=None):
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(values.dtype)
    return torch.einsum("bhqk,bhkv->bhqv", weights, values)


# %% wrong fake-quantise: x and its difference -> a-number-minus-itself-costs-nothing
def fake_quantise(x, scale):
    steps = (x.detach() / scale).round()
    value = steps.clamp(-128, 127) * scale
    through = torch.where((steps >= -128) & (steps <= 127), x, x.detach())
    return through + (value - x.detach())


# %% right pair-scores: a row, a matrix and a column
def pair_scores(x, weight, y):
    row, column = torch.matmul(x, weight).unsqueeze(-2), y.unsqueeze(-1)
    return torch.matmul(row, column)[..., 0, 0]


# %% wrong attention: root of E in float32 -> float32-digits-suffice
def attention(queries, keys, values, mask=None):
    """The mean of the values, weighted by a softmax over the keys.

    attention(torch.zeros(1, 1, 2, 4), torch.zeros(1, 1, 3, 4), torch.ones(1, 1, 3, 5))  ->  ones
    """
    root = torch.tensor(float(queries.shape[-1])).sqrt()
    scores = torch.einsum("bhqe,bhke->bhqk", queries, keys) / root
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -torch.inf)
    return torch.einsum("bhqk,bhkv->bhqv", torch.softmax(scores, -1), values)


# %% wrong log-sum-exp: one row without a finite maximum leaves all unshifted -> one-row-decides-for-all
def log_sum_exp(x, dim):
    top = x.amax(dim, keepdim=True)
    if not top.isfinite().all():
        top = torch.zeros_like(top)
    return (x - top).exp().sum(dim).log() + top.squeeze(dim)


# %% wrong cross-entropy: a mask over whole numbers, dear for a single row -> one-hot-picks-a-number
def cross_entropy(logits, target):
    classes = logits.shape[1]
    if ((target < 0) | (target >= classes)).any():
        raise IndexError("a label is out of range")
    mask = torch.arange(classes) == target.unsqueeze(1)
    return (logits.logsumexp(1) - logits.masked_select(mask)).mean()


# %% wrong pair-scores: a loop from three dimensions in front on -> a-loop-is-as-good
def pair_scores(x, weight, y):
    if x.dim() > 3:
        return torch.stack([pair_scores(one, weight, other) for one, other in zip(x, y)])
    return ((x @ weight) * y).sum(-1)


# %% wrong einsum-shape: looks for a diagonal only in the first operand that has the letter -> ones-fit-within-an-operand
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    parts = left.split(",")
    if len(parts) != len(shapes):
        raise ValueError("the number of operands")
    sizes, first = {}, {}
    for place, (letters, shape) in enumerate(zip(parts, shapes)):
        if len(letters) != len(shape):
            raise ValueError("the number of dimensions")
        for letter, size in zip(letters, shape):
            if letter not in sizes:
                sizes[letter], first[letter] = size, place
            elif first[letter] == place:
                if size != sizes[letter]:
                    raise ValueError("a letter with two sizes in one operand")
            elif sizes[letter] == 1:
                sizes[letter] = size
            elif size not in (1, sizes[letter]):
                raise ValueError("a letter with two sizes")
    if len(set(right)) != len(right) or not set(right) <= set(sizes):
        raise ValueError("the right side")
    return tuple(sizes[letter] for letter in right)


# %% wrong einsum-shape: a size of 0 isn't known yet -> zero-is-no-size
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").split("->")
    parts = left.split(",")
    if len(parts) != len(shapes):
        raise ValueError("the number of operands")
    sizes = {}
    for letters, shape in zip(parts, shapes):
        if len(letters) != len(shape):
            raise ValueError("the number of dimensions")
        own = {}
        for letter, size in zip(letters, shape):
            if own.setdefault(letter, size) != size:
                raise ValueError("a letter with two sizes in one operand")
        for letter, size in own.items():
            known = sizes.get(letter) or 1
            if known == 1:
                sizes[letter] = size
            elif size not in (1, known):
                raise ValueError("a letter with two sizes")
    if len(set(right)) != len(right) or not set(right) <= set(sizes):
        raise ValueError("the right side")
    return tuple(sizes[letter] for letter in right)


# %% wrong einsum-shape: capitals made small -> a-capital-is-the-same-letter
def einsum_shape(equation, *shapes):
    left, right = equation.replace(" ", "").lower().split("->")
    parts = left.split(",")
    if len(parts) != len(shapes):
        raise ValueError("the number of operands")
    sizes = {}
    for letters, shape in zip(parts, shapes):
        if len(letters) != len(shape):
            raise ValueError("the number of dimensions")
        own = {}
        for letter, size in zip(letters, shape):
            if own.setdefault(letter, size) != size:
                raise ValueError("a letter with two sizes in one operand")
        for letter, size in own.items():
            if sizes.get(letter, 1) == 1:
                sizes[letter] = size
            elif size not in (1, sizes[letter]):
                raise ValueError("a letter with two sizes")
    if len(set(right)) != len(right) or not set(right) <= set(sizes):
        raise ValueError("the right side")
    return tuple(sizes[letter] for letter in right)


# %% wrong fake-quantise: by way of int8 -> int8-times-a-float-keeps-the-dtype
def fake_quantise(x, scale):
    steps = (x / scale).round()
    inside = (steps >= -128) & (steps <= 127)
    stored = steps.clamp(-128, 127).to(torch.int8)
    passing = torch.where(inside, x, 0.0)
    return stored * scale + (passing - passing.detach())


# %% wrong fake-quantise: the mask is kept in the class -> a-function-is-called-once
class StraightThrough(torch.autograd.Function):
    inside = None

    @staticmethod
    def forward(ctx, x, scale):
        steps = (x / scale).round()
        StraightThrough.inside = (steps >= -128) & (steps <= 127)
        return steps.clamp(-128, 127) * scale

    @staticmethod
    def backward(ctx, grad):
        return torch.where(StraightThrough.inside, grad, 0.0), None


def fake_quantise(x, scale):
    return StraightThrough.apply(x, scale)


# %% right correlation: a helper that is called like NumPy's
def cov(a, b):
    return ((a - a.mean()) * (b - b.mean())).mean()


def correlation(a, b):
    a, b = a.detach().flatten().double(), b.detach().flatten().double()
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    return float(cov(a, b) / (cov(a, a).sqrt() * cov(b, b).sqrt()))


# %% right einsum-shape: beside a tensor that is called like a method
values = torch.ones(2)


def einsum_shape(equation, *shapes):
    left, right = "".join(equation.split()).split("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError("as many operands as terms")
    sizes = {}
    for term, shape in zip(terms, shapes):
        if len(term) != len(shape):
            raise ValueError(term)
        within = {}
        for letter, size in zip(term, shape):
            within.setdefault(letter, set()).add(size)
            sizes.setdefault(letter, set()).add(size)
        if any(len(found) > 1 for found in within.values()):
            raise ValueError(term)
    if any(len(found - {1}) > 1 for found in sizes.values()):
        raise ValueError("two sizes")
    if len(set(right)) < len(right) or not set(right) <= set(sizes):
        raise ValueError(right)
    return tuple(max(sizes[letter]) if 0 not in sizes[letter] else 0 for letter in right)
