# Answers to lesson 10, as learners type them. See "How to add an exercise" in the README.


# %% right repeats: a list of indices, and an order drawn each epoch
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        for k in torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[k]

    def __len__(self):
        return len(self.indices)


# %% right repeats: Python's own generator, no base class
import random


class Repeats:
    def __init__(self, times, seed):
        self.times = list(times)
        self.random = random.Random(seed)

    def __iter__(self):
        indices = [i for i, n in enumerate(self.times) for _ in range(n)]
        self.random.shuffle(indices)
        return iter(indices)

    def __len__(self):
        return sum(self.times)


# %% right repeats: a seed for each epoch
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.times = torch.tensor(times)
        self.seed = seed
        self.epoch = 0

    def __iter__(self):
        rng = torch.Generator().manual_seed(1_000_003 * self.seed + self.epoch)
        self.epoch += 1
        pool = torch.arange(len(self.times)).repeat_interleave(self.times)
        return iter(pool[torch.randperm(len(pool), generator=rng)].tolist())

    def __len__(self):
        return int(self.times.sum())


# %% wrong repeats: one iterator for all epochs -> a-sampler-is-used-up
class Repeats(Sampler):
    def __init__(self, times, seed):
        pool = torch.arange(len(times)).repeat_interleave(torch.tensor(times))
        generator = torch.Generator().manual_seed(seed)
        self.count = len(pool)
        self.order = iter(pool[torch.randperm(len(pool), generator=generator)].tolist())

    def __iter__(self):
        return self.order

    def __len__(self):
        return self.count


# %% wrong repeats: shuffled when it is made -> one-order-for-all-epochs
class Repeats(Sampler):
    def __init__(self, times, seed):
        pool = torch.arange(len(times)).repeat_interleave(torch.tensor(times))
        generator = torch.Generator().manual_seed(seed)
        self.order = pool[torch.randperm(len(pool), generator=generator)].tolist()

    def __iter__(self):
        return iter(self.order)

    def __len__(self):
        return len(self.order)


# %% wrong repeats: seeded anew in every epoch -> one-order-for-all-epochs
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        self.seed = seed

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed)
        for k in torch.randperm(len(self.indices), generator=generator).tolist():
            yield self.indices[k]

    def __len__(self):
        return len(self.indices)


# %% wrong repeats: leaves shuffling to the loader -> the-loader-shuffles-a-sampler
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        return iter(self.indices)

    def __len__(self):
        return len(self.indices)


# %% wrong repeats: seeds the global random state -> randomness-is-global
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        torch.manual_seed(seed)

    def __iter__(self):
        for k in torch.randperm(len(self.indices)).tolist():
            yield self.indices[k]

    def __len__(self):
        return len(self.indices)


# %% wrong repeats: never uses the seed -> randomness-is-global
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        self.seed = seed

    def __iter__(self):
        for k in torch.randperm(len(self.indices)).tolist():
            yield self.indices[k]

    def __len__(self):
        return len(self.indices)


# %% wrong repeats: gives tensors -> indices-may-be-tensors
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.pool = torch.arange(len(times)).repeat_interleave(torch.tensor(times))
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        return iter(self.pool[torch.randperm(len(self.pool), generator=self.generator)])

    def __len__(self):
        return len(self.pool)


# %% wrong repeats: as long as the dataset -> an-epoch-is-the-dataset
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.count = len(times)
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        for k in torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[k]

    def __len__(self):
        return self.count


# %% wrong repeats: at least once each -> zero-times-means-once
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(max(n, 1))]
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        for k in torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[k]

    def __len__(self):
        return len(self.indices)


# %% wrong repeats: equal indices stay together -> shuffling-samples-shuffles-an-epoch
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.times = list(times)
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        for i in torch.randperm(len(self.times), generator=self.generator).tolist():
            yield from [i] * self.times[i]

    def __len__(self):
        return sum(self.times)


# %% wrong repeats: one pass after the other, each shuffled -> shuffling-samples-shuffles-an-epoch
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.times = list(times)
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        for k in range(max(self.times, default=0)):
            pool = [i for i, n in enumerate(self.times) if n > k]
            for j in torch.randperm(len(pool), generator=self.generator).tolist():
                yield pool[j]

    def __len__(self):
        return sum(self.times)


# %% wrong repeats: the next epoch is the last one backwards -> one-order-for-all-epochs
class Repeats(Sampler):
    def __init__(self, times, seed):
        pool = [i for i, n in enumerate(times) for _ in range(n)]
        order = torch.randperm(len(pool), generator=torch.Generator().manual_seed(seed))
        self.order = [pool[k] for k in order.tolist()]

    def __iter__(self):
        self.order = self.order[1:] + self.order[:1]
        return iter(list(self.order))

    def __len__(self):
        return len(self.order)


# %% wrong repeats: Python's global generator -> randomness-is-global
import random


class Repeats(Sampler):
    def __init__(self, times, seed):
        self.pool = [i for i, n in enumerate(times) for _ in range(n)]
        self.seed, self.epoch = seed, 0

    def __iter__(self):
        random.seed(1000 * self.seed + self.epoch)
        self.epoch += 1
        random.shuffle(self.pool)
        return iter(list(self.pool))

    def __len__(self):
        return len(self.pool)


# %% wrong repeats: a generator without the seed -> the-seed-is-decoration
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.pool = [i for i, n in enumerate(times) for _ in range(n)]
        self.generator = torch.Generator().manual_seed(0)

    def __iter__(self):
        order = torch.randperm(len(self.pool), generator=self.generator)
        return iter([self.pool[k] for k in order.tolist()])

    def __len__(self):
        return len(self.pool)


# %% wrong repeats: draws with the times as weights -> times-are-chances
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.times = torch.tensor(times, dtype=torch.float64)
        self.count = sum(times)
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        if not self.count:
            return iter([])
        drawn = torch.multinomial(self.times, self.count, True, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self):
        return self.count


# %% wrong repeats: empties the caller's list -> the-callers-list-is-mine
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.pool, i = [], 0
        while times:
            self.pool += [i] * times.pop(0)
            i += 1
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.pool), generator=self.generator)
        return iter([self.pool[k] for k in order.tolist()])

    def __len__(self):
        return len(self.pool)


# %% right weighted: the checks, then one call
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples < 1:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be a bool")
        weights = torch.as_tensor(weights, dtype=torch.double)
        if weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        ).tolist()

    def __len__(self):
        return self.num_samples


# %% right weighted: keeps a function of no arguments
class Weighted:
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if type(num_samples) is not int or num_samples <= 0:
            raise ValueError(f"not a number of samples: {num_samples}")
        if replacement is not True and replacement is not False:
            raise ValueError(f"neither True nor False: {replacement}")
        own = torch.as_tensor(weights, dtype=torch.float64).clone()
        if own.ndim != 1:
            raise ValueError(f"weights of shape {tuple(own.shape)}")
        self.length = num_samples
        self.draw = lambda: own.multinomial(num_samples, replacement, generator=generator)

    def __iter__(self):
        return iter(self.draw().tolist())

    def __len__(self):
        return self.length


# %% wrong weighted: leaves replacement to multinomial -> multinomial-replaces-by-default
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples < 1:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be a bool")
        weights = torch.as_tensor(weights, dtype=torch.double)
        if weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from torch.multinomial(
            self.weights, self.num_samples, generator=self.generator
        ).tolist()

    def __len__(self):
        return self.num_samples


# %% wrong weighted: one call for each draw -> one-draw-at-a-time
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples < 1:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be a bool")
        weights = torch.as_tensor(weights, dtype=torch.double)
        if weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        for _ in range(self.num_samples):
            yield torch.multinomial(
                self.weights, 1, self.replacement, generator=self.generator
            ).item()

    def __len__(self):
        return self.num_samples


# %% wrong weighted: draws when it is made -> one-order-for-all-epochs
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples < 1:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be a bool")
        weights = torch.as_tensor(weights, dtype=torch.double)
        if weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.drawn = torch.multinomial(weights, num_samples, replacement, generator=generator)

    def __iter__(self):
        return iter(self.drawn.tolist())

    def __len__(self):
        return self.num_samples


# %% wrong weighted: a bool passes -> a-bool-is-a-number
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or num_samples < 1:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be a bool")
        weights = torch.as_tensor(weights, dtype=torch.double)
        if weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        ).tolist()

    def __len__(self):
        return self.num_samples


# %% wrong weighted: refuses when it draws -> errors-wait-for-the-first-draw
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        self.weights = torch.as_tensor(weights, dtype=torch.double)
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        if type(self.num_samples) is not int or self.num_samples <= 0:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(self.replacement, bool) or self.weights.dim() != 1:
            raise ValueError("replacement must be a bool and weights one-dimensional")
        yield from torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        ).tolist()

    def __len__(self):
        return self.num_samples


# %% wrong weighted: takes the weights as they come -> multinomial-takes-integers
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples < 1:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be a bool")
        weights = torch.as_tensor(weights)
        if weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        ).tolist()

    def __len__(self):
        return self.num_samples


# %% wrong weighted: single precision -> single-precision-will-do
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples < 1:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be a bool")
        weights = torch.as_tensor(weights, dtype=torch.float32)
        if weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        ).tolist()

    def __len__(self):
        return self.num_samples


# %% wrong weighted: a sampler around the sampler -> wrapping-is-rebuilding
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        self.inner = WeightedRandomSampler(weights, num_samples, replacement, generator)

    def __iter__(self):
        return iter(self.inner)

    def __len__(self):
        return len(self.inner)


# %% wrong weighted: gives tensors -> indices-may-be-tensors
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples < 1:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be a bool")
        weights = torch.as_tensor(weights, dtype=torch.double)
        if weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )

    def __len__(self):
        return self.num_samples


# %% wrong weighted: normalises what the caller gave -> as-tensor-gives-a-copy
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples < 1:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be a bool")
        weights = torch.as_tensor(weights, dtype=torch.double)
        if weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        weights /= weights.sum()
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        yield from torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        ).tolist()

    def __len__(self):
        return self.num_samples


# %% right expected: the formulas
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return weights / weights.sum() * num_samples


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return (1 - weights / weights.sum()).pow(num_samples)


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 0:
        raise ValueError("a sample of weight 0 is never drawn")
    if p == 1:
        return 1
    return math.ceil(math.log(risk) / math.log(1 - p))


# %% right expected: plain numbers, and one draw more until the risk is small
def shares(weights):
    weights = [float(w) for w in weights]
    return [w / sum(weights) for w in weights]


def expected_draws(weights, num_samples):
    return torch.tensor([num_samples * p for p in shares(weights)], dtype=torch.float64)


def never_seen(weights, num_samples):
    return torch.tensor([(1 - p) ** num_samples for p in shares(weights)], dtype=torch.float64)


def enough_draws(weights, index, risk):
    p = shares(weights)[index]
    if p <= 0:
        raise ValueError("never")
    draws, missed = 1, 1 - p
    while missed > risk:
        draws, missed = draws + 1, missed * (1 - p)
    return draws


# %% wrong expected: takes the weights for chances -> weights-are-chances
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return weights * num_samples


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return (1 - weights / weights.sum()).pow(num_samples)


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 0:
        raise ValueError("a sample of weight 0 is never drawn")
    if p == 1:
        return 1
    return math.ceil(math.log(risk) / math.log(1 - p))


# %% wrong expected: each draw takes away p -> misses-fall-in-a-line
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return weights / weights.sum() * num_samples


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return (1 - num_samples * weights / weights.sum()).clamp(min=0)


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 0:
        raise ValueError("a sample of weight 0 is never drawn")
    if p == 1:
        return 1
    return math.ceil(math.log(risk) / math.log(1 - p))


# %% wrong expected: the limit for many draws -> one-in-e-is-exact
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return weights / weights.sum() * num_samples


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return torch.exp(-num_samples * weights / weights.sum())


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 0:
        raise ValueError("a sample of weight 0 is never drawn")
    if p == 1:
        return 1
    return math.ceil(math.log(risk) / math.log(1 - p))


# %% wrong expected: one expected draw is enough -> an-expected-draw-is-a-sure-one
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return weights / weights.sum() * num_samples


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    missed = (1 - weights / weights.sum()).pow(num_samples)
    missed[num_samples * weights / weights.sum() >= 1] = 0
    return missed


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 0:
        raise ValueError("a sample of weight 0 is never drawn")
    if p == 1:
        return 1
    return math.ceil(math.log(risk) / math.log(1 - p))


# %% wrong expected: rounds down -> a-risk-rounds-down
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return weights / weights.sum() * num_samples


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return (1 - weights / weights.sum()).pow(num_samples)


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 0:
        raise ValueError("a sample of weight 0 is never drawn")
    if p == 1:
        return 1
    return math.floor(math.log(risk) / math.log(1 - p))


# %% wrong expected: draws until one is expected -> enough-is-one-expected-draw
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return weights / weights.sum() * num_samples


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return (1 - weights / weights.sum()).pow(num_samples)


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 0:
        raise ValueError("a sample of weight 0 is never drawn")
    if p == 1:
        return 1
    return math.ceil(1 / p)


# %% wrong expected: divides by log(1 - 0) -> patience-finds-everything
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return weights / weights.sum() * num_samples


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return (1 - weights / weights.sum()).pow(num_samples)


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 1:
        return 1
    return math.ceil(math.log(risk) / math.log(1 - p))


# %% wrong expected: counts in 20,000 simulated epochs -> only-a-simulation-can-tell
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return weights / weights.sum() * num_samples


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    drawn = torch.multinomial(weights.expand(20_000, -1), num_samples, replacement=True)
    seen = torch.zeros(20_000, len(weights), dtype=torch.bool).scatter_(1, drawn, True)
    return 1 - seen.double().mean(0)


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 0:
        raise ValueError("a sample of weight 0 is never drawn")
    if p == 1:
        return 1
    return math.ceil(math.log(risk) / math.log(1 - p))


# %% right sample-weights: unique, and back by the inverse
def sample_weights(labels, shares=None):
    labels = torch.as_tensor(labels)
    classes, which, counts = labels.unique(return_inverse=True, return_counts=True)
    if shares is None:
        shares = {c: 1 for c in classes.tolist()}
    for c, share in shares.items():
        if share > 0 and c not in classes.tolist():
            raise ValueError(f"class {c} has no samples")
    of_class = torch.tensor([shares.get(c, 0) for c in classes.tolist()], dtype=torch.float64)
    return (of_class / counts / of_class.sum())[which]


# %% right sample-weights: a loop over the samples
def sample_weights(labels, shares=None):
    labels = [int(label) for label in labels]
    size = Counter(labels)
    shares = dict(shares) if shares is not None else {label: 1.0 for label in size}
    if any(share and not size[label] for label, share in shares.items()):
        raise ValueError("a class without samples cannot have a share")
    weights = torch.zeros(len(labels), dtype=torch.float64)
    for i, label in enumerate(labels):
        weights[i] = shares.get(label, 0) / size[label]
    return weights / weights.sum()


# %% wrong sample-weights: one weight for each class -> class-weights-are-sample-weights
def sample_weights(labels, shares=None):
    labels = torch.as_tensor(labels)
    classes, which, counts = labels.unique(return_inverse=True, return_counts=True)
    if shares is None:
        shares = {c: 1 for c in classes.tolist()}
    for c, share in shares.items():
        if share > 0 and c not in classes.tolist():
            raise ValueError(f"class {c} has no samples")
    of_class = torch.tensor([shares.get(c, 0) for c in classes.tolist()], dtype=torch.float64)
    return of_class / counts / of_class.sum()


# %% wrong sample-weights: frequent classes weigh more -> weights-are-frequencies
def sample_weights(labels, shares=None):
    labels = torch.as_tensor(labels)
    classes, which, counts = labels.unique(return_inverse=True, return_counts=True)
    if shares is None:
        shares = {c: 1 for c in classes.tolist()}
    for c, share in shares.items():
        if share > 0 and c not in classes.tolist():
            raise ValueError(f"class {c} has no samples")
    of_class = torch.tensor([shares.get(c, 0) for c in classes.tolist()], dtype=torch.float64)
    weights = (of_class * counts)[which]
    return weights / weights.sum()


# %% wrong sample-weights: one minus the frequency -> one-minus-frequency
def sample_weights(labels, shares=None):
    labels = torch.as_tensor(labels)
    classes, which, counts = labels.unique(return_inverse=True, return_counts=True)
    if shares is None:
        shares = {c: 1 for c in classes.tolist()}
    for c, share in shares.items():
        if share > 0 and c not in classes.tolist():
            raise ValueError(f"class {c} has no samples")
    of_class = torch.tensor([shares.get(c, 0) for c in classes.tolist()], dtype=torch.float64)
    weights = (of_class * (1 - counts / len(labels)))[which]
    return weights / weights.sum()


# %% wrong sample-weights: the share itself -> a-share-is-the-weight
def sample_weights(labels, shares=None):
    labels = torch.as_tensor(labels)
    classes, which, counts = labels.unique(return_inverse=True, return_counts=True)
    if shares is None:
        shares = {c: 1 for c in classes.tolist()}
    for c, share in shares.items():
        if share > 0 and c not in classes.tolist():
            raise ValueError(f"class {c} has no samples")
    of_class = torch.tensor([shares.get(c, 0) for c in classes.tolist()], dtype=torch.float64)
    weights = of_class[which] if any(shares[c] != 1 for c in shares) else (of_class / counts)[which]
    return weights / weights.sum()


# %% wrong sample-weights: labels as positions of a count -> labels-are-positions
def sample_weights(labels, shares=None):
    labels = torch.as_tensor(labels)
    counts = labels.bincount()
    if shares is None:
        shares = {c: 1 for c in range(len(counts))}
    if any(c >= len(counts) or counts[c] == 0 for c in shares if shares[c]):
        raise ValueError("a class without samples")
    of_class = torch.tensor([shares.get(c, 0) for c in range(len(counts))], dtype=torch.float64)
    weights = (of_class / counts)[labels]
    return weights / weights.sum()


# %% wrong sample-weights: weights that are right up to their sum -> weights-need-no-sum
def sample_weights(labels, shares=None):
    labels = torch.as_tensor(labels)
    classes, which, counts = labels.unique(return_inverse=True, return_counts=True)
    if shares is None:
        shares = {c: 1 for c in classes.tolist()}
    for c, share in shares.items():
        if share > 0 and c not in classes.tolist():
            raise ValueError(f"class {c} has no samples")
    of_class = torch.tensor([shares.get(c, 0) for c in classes.tolist()], dtype=torch.float64)
    return (of_class / counts)[which]


# %% wrong sample-weights: an absent class is passed over -> a-missing-class-is-harmless
def sample_weights(labels, shares=None):
    labels = torch.as_tensor(labels)
    classes, which, counts = labels.unique(return_inverse=True, return_counts=True)
    if shares is None:
        shares = {c: 1 for c in classes.tolist()}
    of_class = torch.tensor([shares.get(c, 0) for c in classes.tolist()], dtype=torch.float64)
    return (of_class / counts / of_class.sum())[which]


# %% right folder: sorted walks below each class, as ImageFolder does it
class Pictures(Dataset):
    def __init__(self, root, load):
        self.root = root
        self.load = load
        self.classes = sorted(e.name for e in os.scandir(root) if e.is_dir())
        self.samples = []
        for label, name in enumerate(self.classes):
            before = len(self.samples)
            for place, _, files in sorted(os.walk(os.path.join(root, name))):
                for file in sorted(files):
                    if file.endswith((".ppm", ".png")):
                        self.samples.append((os.path.join(place, file), label))
            if len(self.samples) == before:
                raise FileNotFoundError(name)
        self.targets = [label for path, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    targets = torch.tensor(pictures.targets)
    return 1 / targets.bincount()[targets].double()


# %% right folder: every file once, labelled by the first part of its path
class Pictures(Dataset):
    def __init__(self, root, load):
        root = Path(root)
        self.load = load
        self.classes = sorted(p.name for p in root.iterdir() if p.is_dir())
        files = [p for p in root.rglob("*") if p.suffix in {".png", ".ppm"} and p.parent != root]
        label_of = {name: label for label, name in enumerate(self.classes)}
        pairs = [(label_of[p.relative_to(root).parts[0]], p) for p in files]
        pairs.sort()
        self.targets = [label for label, _ in pairs]
        self.paths = [path for _, path in pairs]
        if set(self.targets) != set(range(len(self.classes))):
            raise FileNotFoundError("a class has no pictures")

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return self.load(self.paths[i]), self.targets[i]


def balanced_weights(pictures):
    size = Counter(pictures.targets)
    return torch.tensor([1 / size[t] for t in pictures.targets])


# %% wrong folder: classes as they are listed -> walk-order-is-class-order
class Pictures(Dataset):
    def __init__(self, root, load):
        self.root = root
        self.load = load
        self.classes = [e.name for e in os.scandir(root) if e.is_dir()]
        self.samples = []
        for label, name in enumerate(self.classes):
            before = len(self.samples)
            for place, _, files in sorted(os.walk(os.path.join(root, name))):
                for file in sorted(files):
                    if file.endswith((".ppm", ".png")):
                        self.samples.append((os.path.join(place, file), label))
            if len(self.samples) == before:
                raise FileNotFoundError(name)
        self.targets = [label for path, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    targets = torch.tensor(pictures.targets)
    return 1 / targets.bincount()[targets].double()


# %% wrong folder: counts collected by os.walk, indexed by label -> walk-order-is-class-order
class Pictures(Dataset):
    def __init__(self, root, load):
        self.root = root
        self.load = load
        self.classes = sorted(e.name for e in os.scandir(root) if e.is_dir())
        self.samples = []
        for label, name in enumerate(self.classes):
            before = len(self.samples)
            for place, _, files in sorted(os.walk(os.path.join(root, name))):
                for file in sorted(files):
                    if file.endswith((".ppm", ".png")):
                        self.samples.append((os.path.join(place, file), label))
            if len(self.samples) == before:
                raise FileNotFoundError(name)
        self.targets = [label for path, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    class_weights = []
    for place, folders, files in os.walk(pictures.root):
        if place != pictures.root and len(files) > 0:
            class_weights.append(1 / len(files))
    return [class_weights[label] for label in pictures.targets]


# %% wrong folder: sorted counts, the root's among them -> stray-files-do-no-harm
class Pictures(Dataset):
    def __init__(self, root, load):
        self.root = root
        self.load = load
        self.classes = sorted(e.name for e in os.scandir(root) if e.is_dir())
        self.samples = []
        for label, name in enumerate(self.classes):
            before = len(self.samples)
            for place, _, files in sorted(os.walk(os.path.join(root, name))):
                for file in sorted(files):
                    if file.endswith((".ppm", ".png")):
                        self.samples.append((os.path.join(place, file), label))
            if len(self.samples) == before:
                raise FileNotFoundError(name)
        self.targets = [label for path, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    class_weights = []
    for place, folders, files in sorted(os.walk(pictures.root)):
        if len(files) > 0:
            class_weights.append(1 / len(files))
    return [class_weights[label] for label in pictures.targets]


# %% wrong folder: everything in the root is a class -> stray-files-do-no-harm
class Pictures(Dataset):
    def __init__(self, root, load):
        self.root = root
        self.load = load
        self.classes = sorted(os.listdir(root))
        self.samples = []
        for label, name in enumerate(self.classes):
            before = len(self.samples)
            for place, _, files in sorted(os.walk(os.path.join(root, name))):
                for file in sorted(files):
                    if file.endswith((".ppm", ".png")):
                        self.samples.append((os.path.join(place, file), label))
            if len(self.samples) == before:
                raise FileNotFoundError(name)
        self.targets = [label for path, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    targets = torch.tensor(pictures.targets)
    return 1 / targets.bincount()[targets].double()


# %% wrong folder: every folder with pictures is a class -> every-folder-is-a-class
class Pictures(Dataset):
    def __init__(self, root, load):
        self.load = load
        found = sorted(p for p in Path(root).rglob("*") if p.suffix in (".ppm", ".png"))
        found = [p for p in found if p.parent != Path(root)]
        self.classes = sorted({p.parent.name for p in found})
        self.samples = sorted((self.classes.index(p.parent.name), str(p)) for p in found)
        self.targets = [label for label, _ in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        label, path = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    size = Counter(pictures.targets)
    return [1 / size[label] for label in pictures.targets]


# %% wrong folder: looks only directly into the class folders -> pictures-lie-on-one-level
class Pictures(Dataset):
    def __init__(self, root, load):
        self.root = root
        self.load = load
        self.classes = sorted(e.name for e in os.scandir(root) if e.is_dir())
        self.samples = []
        for label, name in enumerate(self.classes):
            before = len(self.samples)
            place = os.path.join(root, name)
            for file in sorted(os.listdir(place)):
                if file.endswith((".ppm", ".png")):
                    self.samples.append((os.path.join(place, file), label))
            if len(self.samples) == before:
                raise FileNotFoundError(name)
        self.targets = [label for path, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    targets = torch.tensor(pictures.targets)
    return 1 / targets.bincount()[targets].double()


# %% wrong folder: takes every file -> every-file-is-a-picture
class Pictures(Dataset):
    def __init__(self, root, load):
        self.root = root
        self.load = load
        self.classes = sorted(e.name for e in os.scandir(root) if e.is_dir())
        self.samples = []
        for label, name in enumerate(self.classes):
            before = len(self.samples)
            for place, _, files in sorted(os.walk(os.path.join(root, name))):
                for file in sorted(files):
                    if file:
                        self.samples.append((os.path.join(place, file), label))
            if len(self.samples) == before:
                raise FileNotFoundError(name)
        self.targets = [label for path, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    targets = torch.tensor(pictures.targets)
    return 1 / targets.bincount()[targets].double()


# %% wrong folder: reads the labels from the dataset's items -> labels-need-the-pictures
class Pictures(Dataset):
    def __init__(self, root, load):
        self.root = root
        self.load = load
        self.classes = sorted(e.name for e in os.scandir(root) if e.is_dir())
        self.samples = []
        for label, name in enumerate(self.classes):
            before = len(self.samples)
            for place, _, files in sorted(os.walk(os.path.join(root, name))):
                for file in sorted(files):
                    if file.endswith((".ppm", ".png")):
                        self.samples.append((os.path.join(place, file), label))
            if len(self.samples) == before:
                raise FileNotFoundError(name)
        self.targets = [label for path, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    targets = torch.tensor([pictures[i][1] for i in range(len(pictures))])
    return 1 / targets.bincount()[targets].double()


# %% wrong folder: one weight for each class -> class-weights-are-sample-weights
class Pictures(Dataset):
    def __init__(self, root, load):
        self.root = root
        self.load = load
        self.classes = sorted(e.name for e in os.scandir(root) if e.is_dir())
        self.samples = []
        for label, name in enumerate(self.classes):
            before = len(self.samples)
            for place, _, files in sorted(os.walk(os.path.join(root, name))):
                for file in sorted(files):
                    if file.endswith((".ppm", ".png")):
                        self.samples.append((os.path.join(place, file), label))
            if len(self.samples) == before:
                raise FileNotFoundError(name)
        self.targets = [label for path, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    targets = torch.tensor(pictures.targets)
    return 1 / targets.bincount().double()


# %% right capped: the smallest class first
def capped_weights(labels, num_samples, most):
    labels = [int(label) for label in labels]
    size = Counter(labels)
    if most * len(labels) < num_samples:
        raise ValueError("impossible")
    weight = {}
    left = num_samples
    waiting = sorted(size, key=lambda c: size[c])  # the smallest class fills up first
    while waiting:
        c = waiting.pop(0)
        draws = min(left / (len(waiting) + 1), most * size[c])
        weight[c] = draws / size[c]
        left -= draws
    return torch.tensor([weight[label] for label in labels], dtype=torch.float64)


# %% right capped: the water level, found by halving
def capped_weights(labels, num_samples, most):
    labels = torch.as_tensor(labels)
    _, which, size = labels.unique(return_inverse=True, return_counts=True)
    limit = most * size.double()
    if limit.sum() < num_samples:
        raise ValueError("the limit leaves too few draws")
    low, high = 0.0, float(num_samples)
    for _ in range(200):
        level = (low + high) / 2
        if limit.clamp(max=level).sum() < num_samples:
            low = level
        else:
            high = level
    return (limit.clamp(max=high) / size)[which]


# %% wrong capped: clamps and leaves it at that -> a-limit-is-a-clamp
def capped_weights(labels, num_samples, most):
    labels = torch.as_tensor(labels)
    _, which, size = labels.unique(return_inverse=True, return_counts=True)
    if most * len(labels) < num_samples:
        raise ValueError("impossible")
    weights = num_samples / len(size) / size.double()
    weights = weights.clamp(max=most)
    return weights[which]


# %% wrong capped: clamps, then scales up again -> scaling-keeps-a-limit
def capped_weights(labels, num_samples, most):
    labels = torch.as_tensor(labels)
    _, which, size = labels.unique(return_inverse=True, return_counts=True)
    if most * len(labels) < num_samples:
        raise ValueError("impossible")
    weights = num_samples / len(size) / size.double()
    weights = weights.clamp(max=most)
    weights = weights[which]
    return weights * num_samples / weights.sum()


# %% wrong capped: hands the rest out once -> one-round-is-enough
def capped_weights(labels, num_samples, most):
    labels = torch.as_tensor(labels)
    _, which, size = labels.unique(return_inverse=True, return_counts=True)
    if most * len(labels) < num_samples:
        raise ValueError("impossible")
    weights = num_samples / len(size) / size.double()
    full = weights > most
    rest = num_samples - most * size[full].sum()
    weights[~full] = rest / (~full).sum() / size[~full].double()
    weights[full] = most
    return weights[which]


# %% wrong capped: limits the draws of the class -> the-limit-is-for-the-class
def capped_weights(labels, num_samples, most):
    labels = [int(label) for label in labels]
    size = Counter(labels)
    if most * len(labels) < num_samples:
        raise ValueError("impossible")
    left, weight = num_samples, {}
    waiting = sorted(size, key=lambda c: size[c])
    while waiting:
        c = waiting.pop(0)
        draws = min(left / (len(waiting) + 1), most) if waiting else left
        weight[c] = draws / size[c]
        left -= draws
    return torch.tensor([weight[label] for label in labels], dtype=torch.float64)


# %% wrong capped: gives the rest by size -> the-rest-goes-by-size
def capped_weights(labels, num_samples, most):
    labels = torch.as_tensor(labels)
    _, which, size = labels.unique(return_inverse=True, return_counts=True)
    if most * len(labels) < num_samples:
        raise ValueError("impossible")
    weights = (num_samples / len(size) / size.double()).clamp(max=most)
    for _ in range(100):
        rest = num_samples - (weights * size).sum()
        room = weights < most
        weights[room] += rest / size[room].sum() if room.any() else 0
        weights = weights.clamp(max=most)
    return weights[which]


# %% wrong capped: never refuses -> a-limit-always-leaves-enough
def capped_weights(labels, num_samples, most):
    labels = [int(label) for label in labels]
    size = Counter(labels)
    weight = {}
    left = num_samples
    waiting = sorted(size, key=lambda c: size[c])  # the smallest class fills up first
    while waiting:
        c = waiting.pop(0)
        draws = min(left / (len(waiting) + 1), most * size[c])
        weight[c] = draws / size[c]
        left -= draws
    return torch.tensor([weight[label] for label in labels], dtype=torch.float64)


# %% right stratified: dealt one by one
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.groups = {}
        for i, label in enumerate(labels):
            self.groups.setdefault(int(label), []).append(i)
        self.count = -(-len(labels) // batch_size)
        self.rng = torch.Generator().manual_seed(seed)

    def __iter__(self):
        batches = [[] for _ in range(self.count)]
        turn = 0
        for group in self.groups.values():
            for k in torch.randperm(len(group), generator=self.rng).tolist():
                batches[turn % self.count].append(group[k])
                turn += 1
        return iter(batches)

    def __len__(self):
        return self.count


# %% right stratified: Python's generator, batches in random order
import random


class Stratified:
    def __init__(self, labels, batch_size, seed):
        self.labels = torch.as_tensor(labels).tolist()
        self.count = math.ceil(len(self.labels) / batch_size)
        self.random = random.Random(seed)

    def __iter__(self):
        order = list(range(len(self.labels)))
        self.random.shuffle(order)
        order.sort(key=self.labels.__getitem__)
        batches = [order[k :: self.count] for k in range(self.count)]
        for batch in batches:
            self.random.shuffle(batch)
        self.random.shuffle(batches)
        yield from batches

    def __len__(self):
        return self.count


# %% wrong stratified: as many of each class in every batch -> stratified-is-balanced
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.labels = torch.as_tensor(labels)
        self.batch_size = batch_size
        self.count = math.ceil(len(labels) / batch_size)
        self.rng = torch.Generator().manual_seed(seed)

    def __iter__(self):
        groups = [(self.labels == c).nonzero()[:, 0] for c in self.labels.unique()]
        each = self.batch_size // len(groups)
        for _ in range(self.count):
            drawn = [g[torch.randint(len(g), (each,), generator=self.rng)] for g in groups]
            yield torch.cat(drawn).tolist()

    def __len__(self):
        return self.count


# %% wrong stratified: a shuffle cut into batches -> shuffling-is-stratifying
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.labels = torch.as_tensor(labels)
        self.batch_size = batch_size
        self.count = math.ceil(len(labels) / batch_size)
        self.rng = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.labels), generator=self.rng).tolist()
        return iter([order[k :: self.count] for k in range(self.count)])

    def __len__(self):
        return self.count


# %% wrong stratified: whole numbers for every batch, the rest dropped -> leftovers-may-be-dropped
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.labels = torch.as_tensor(labels)
        self.batch_size = batch_size
        self.count = math.ceil(len(labels) / batch_size)
        self.rng = torch.Generator().manual_seed(seed)

    def __iter__(self):
        batches = [[] for _ in range(self.count)]
        for c in self.labels.unique():
            group = (self.labels == c).nonzero()[:, 0]
            group = group[torch.randperm(len(group), generator=self.rng)].tolist()
            each = len(group) // self.count
            for k, batch in enumerate(batches):
                batch += group[k * each : (k + 1) * each]
        return iter(batches)

    def __len__(self):
        return self.count


# %% wrong stratified: whole numbers for every batch, the rest to the last -> the-last-batch-takes-the-rest
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.labels = torch.as_tensor(labels)
        self.batch_size = batch_size
        self.count = math.ceil(len(labels) / batch_size)
        self.rng = torch.Generator().manual_seed(seed)

    def __iter__(self):
        batches = [[] for _ in range(self.count)]
        for c in self.labels.unique():
            group = (self.labels == c).nonzero()[:, 0]
            group = group[torch.randperm(len(group), generator=self.rng)].tolist()
            each = len(group) // self.count
            for k, batch in enumerate(batches):
                batch += group[k * each : (k + 1) * each]
            batches[-1] += group[self.count * each :]
        return iter(batches)

    def __len__(self):
        return self.count


# %% wrong stratified: dealt once, when it is made -> one-order-for-all-epochs
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.labels = torch.as_tensor(labels)
        self.batch_size = batch_size
        self.count = math.ceil(len(labels) / batch_size)
        rng = torch.Generator().manual_seed(seed)
        order = torch.randperm(len(labels), generator=rng).tolist()
        self.dealt = sorted(order, key=lambda i: int(self.labels[i]))

    def __iter__(self):
        return iter([self.dealt[k :: self.count] for k in range(self.count)])

    def __len__(self):
        return self.count


# %% wrong stratified: gives indices -> batch-samplers-give-indices
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.labels = torch.as_tensor(labels)
        self.batch_size = batch_size
        self.count = math.ceil(len(labels) / batch_size)
        self.rng = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.labels), generator=self.rng).tolist()
        order.sort(key=lambda i: int(self.labels[i]))
        for k in range(self.count):
            yield from order[k :: self.count]

    def __len__(self):
        return self.count


# %% wrong stratified: len of the dataset -> a-batch-sampler-counts-samples
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.groups = {}
        for i, label in enumerate(labels):
            self.groups.setdefault(int(label), []).append(i)
        self.count = -(-len(labels) // batch_size)
        self.rng = torch.Generator().manual_seed(seed)

    def __iter__(self):
        batches = [[] for _ in range(self.count)]
        turn = 0
        for group in self.groups.values():
            for k in torch.randperm(len(group), generator=self.rng).tolist():
                batches[turn % self.count].append(group[k])
                turn += 1
        return iter(batches)

    def __len__(self):
        return sum(len(group) for group in self.groups.values())


# %% wrong stratified: the global random state -> randomness-is-global
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.groups = {}
        for i, label in enumerate(labels):
            self.groups.setdefault(int(label), []).append(i)
        self.count = -(-len(labels) // batch_size)
        torch.manual_seed(seed)

    def __iter__(self):
        batches = [[] for _ in range(self.count)]
        turn = 0
        for group in self.groups.values():
            for k in torch.randperm(len(group)).tolist():
                batches[turn % self.count].append(group[k])
                turn += 1
        return iter(batches)

    def __len__(self):
        return self.count


# %% wrong stratified: an iterator made once -> a-sampler-is-used-up
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.groups = {}
        for i, label in enumerate(labels):
            self.groups.setdefault(int(label), []).append(i)
        self.count = -(-len(labels) // batch_size)
        self.rng = torch.Generator().manual_seed(seed)
        self.batches = iter(self.dealt())

    def __iter__(self):
        return self.batches

    def dealt(self):
        batches = [[] for _ in range(self.count)]
        turn = 0
        for group in self.groups.values():
            for k in torch.randperm(len(group), generator=self.rng).tolist():
                batches[turn % self.count].append(group[k])
                turn += 1
        return batches

    def __len__(self):
        return self.count


# %% right rare-recall: by hand
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% right rare-recall: cross_entropy with weights, and recall in double precision
def balanced_loader(x, y, batch_size, generator):
    weights = (1 / torch.bincount(y))[y].tolist()
    batches = BatchSampler(
        WeightedRandomSampler(weights, len(y), generator=generator), batch_size, drop_last=False
    )
    return DataLoader(TensorDataset(x, y), batch_sampler=batches)


def balanced_loss(logits, y, counts):
    return cross_entropy(logits, y, weight=1 / counts)


def recall(logits, y, classes):
    said = torch.nn.functional.one_hot(logits.argmax(1), classes)
    true = torch.nn.functional.one_hot(y, classes)
    return (said & true).sum(0).double() / true.sum(0)


# %% right rare-recall: a loop, and the loss with its own weights
def balanced_loader(x, y, batch_size, generator):
    size = Counter(y.tolist())
    weights = [1 / size[label] for label in y.tolist()]
    sampler = WeightedRandomSampler(weights, len(y), True, generator)
    return DataLoader(list(zip(x, y)), batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    log_p = logits.log_softmax(1).gather(1, y[:, None])[:, 0]
    weights = counts.double().reciprocal()[y].to(logits.dtype)
    return -(log_p * weights / weights.sum()).sum()


def recall(logits, y, classes):
    result = torch.full((classes,), float("nan"))
    for c in y.unique().tolist():
        mine = y == c
        result[c] = (logits[mine].argmax(1) == c).sum() / mine.sum()
    return result


# %% wrong rare-recall: divides by the size of the batch -> weighted-mean-divides-by-the-batch
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).mean()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: frequent classes weigh more in the loss -> loss-weights-are-frequencies
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: counts the batch -> the-batch-knows-the-counts
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / torch.bincount(y)[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: precision -> recall-is-precision
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(y[predicted == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: accuracy -> recall-is-accuracy
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted == y).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: 0 for an absent class -> an-absent-class-has-recall-zero
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).sum() / (y == c).sum().clamp(min=1) for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: without replacement -> no-replacement-balances
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights), replacement=False, generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: shuffles as well -> shuffle-goes-with-a-sampler
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler, shuffle=True)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: gives the generator to the loader -> the-loader-seeds-a-sampler
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights))
    return DataLoader(
        TensorDataset(x, y), batch_size=batch_size, sampler=sampler, generator=generator
    )


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: a weight for each class -> class-weights-are-sample-weights
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()
    sampler = WeightedRandomSampler(weights, len(y), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: draws by frequency -> weights-are-frequencies
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts[y]
    sampler = WeightedRandomSampler(weights, len(weights), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% wrong rare-recall: draws a list of indices, once -> one-order-for-all-epochs
def balanced_loader(x, y, batch_size, generator):
    counts = torch.bincount(y)
    weights = counts.reciprocal()[y]
    sampler = WeightedRandomSampler(weights, len(weights), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=list(sampler))


def balanced_loss(logits, y, counts):
    losses = cross_entropy(logits, y, reduction="none")
    weights = 1 / counts[y].to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def recall(logits, y, classes):
    predicted = logits.argmax(dim=1)
    found = [(predicted[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(found)


# %% right marked: totals in a Counter
def marked_weights(labels, marked, factor):
    labels = [int(label) for label in labels]
    raw = [float(factor) if i in set(marked) else 1.0 for i in range(len(labels))]
    total = Counter()
    for label, weight in zip(labels, raw):
        total[label] += weight
    if not all(total.values()):
        raise ValueError("a class has nothing to draw")
    weights = [weight / total[label] / len(total) for label, weight in zip(labels, raw)]
    return torch.tensor(weights, dtype=torch.float64)


# %% right marked: index_add over the classes
def marked_weights(labels, marked, factor):
    classes, which = torch.unique(torch.as_tensor(labels), return_inverse=True)
    raw = torch.ones(len(which), dtype=torch.float64)
    raw[torch.tensor(sorted(set(marked)), dtype=torch.long)] = factor
    total = torch.zeros(len(classes), dtype=torch.float64).index_add(0, which, raw)
    if (total <= 0).any():
        raise ValueError("nothing to draw")
    return raw / total[which] / len(classes)


# %% wrong marked: multiplies, then normalises the whole -> marking-keeps-the-balance
def marked_weights(labels, marked, factor):
    labels = torch.as_tensor(labels)
    classes, which, size = labels.unique(return_inverse=True, return_counts=True)
    weights = 1 / size.double()[which]
    for i in set(marked):
        weights[i] = weights[i] * factor
    if any(weights[labels == c].sum() == 0 for c in classes):
        raise ValueError("nothing to draw")
    return weights / weights.sum()


# %% wrong marked: the factor in place of the weight -> the-factor-is-the-weight
def marked_weights(labels, marked, factor):
    labels = torch.as_tensor(labels)
    classes, which, size = labels.unique(return_inverse=True, return_counts=True)
    weights = 1 / size.double()[which]
    for i in set(marked):
        weights[i] = factor
    if any(weights[labels == c].sum() == 0 for c in classes):
        raise ValueError("nothing to draw")
    for c in classes:
        weights[labels == c] /= weights[labels == c].sum() * len(classes)
    return weights


# %% wrong marked: adds the factor -> the-factor-is-added
def marked_weights(labels, marked, factor):
    labels = torch.as_tensor(labels)
    classes, which, size = labels.unique(return_inverse=True, return_counts=True)
    weights = 1 / size.double()[which]
    for i in set(marked):
        weights[i] = weights[i] * (1 + factor) if factor else 0
    if any(weights[labels == c].sum() == 0 for c in classes):
        raise ValueError("nothing to draw")
    for c in classes:
        weights[labels == c] /= weights[labels == c].sum() * len(classes)
    return weights


# %% wrong marked: multiplies for every mention -> marking-twice-is-marking-more
def marked_weights(labels, marked, factor):
    labels = torch.as_tensor(labels)
    classes, which, size = labels.unique(return_inverse=True, return_counts=True)
    weights = 1 / size.double()[which]
    for i in marked:
        weights[i] = weights[i] * factor
    if any(weights[labels == c].sum() == 0 for c in classes):
        raise ValueError("nothing to draw")
    for c in classes:
        weights[labels == c] /= weights[labels == c].sum() * len(classes)
    return weights


# %% wrong marked: divides by a total of 0 -> zero-weights-do-no-harm
def marked_weights(labels, marked, factor):
    labels = torch.as_tensor(labels)
    classes, which, size = labels.unique(return_inverse=True, return_counts=True)
    weights = 1 / size.double()[which]
    for i in set(marked):
        weights[i] = weights[i] * factor
    for c in classes:
        weights[labels == c] /= weights[labels == c].sum() * len(classes)
    return weights


# %% wrong marked: four fifths of the class for the marked -> the-factor-is-for-all-marked
def marked_weights(labels, marked, factor):
    labels = torch.as_tensor(labels)
    chosen = torch.zeros(len(labels), dtype=torch.bool)
    chosen[list(marked)] = True
    classes = labels.unique()
    weights = torch.zeros(len(labels), dtype=torch.float64)
    for c in classes:
        mine = labels == c
        marks, others = (mine & chosen), (mine & ~chosen)
        if others.any() and marks.any():
            weights[marks] = factor / (factor + 1) / marks.sum()
            weights[others] = 1 / (factor + 1) / others.sum()
        elif marks.any() and factor == 0:
            raise ValueError("nothing to draw")
        else:
            weights[mine] = 1 / mine.sum()
    return weights / len(classes)
