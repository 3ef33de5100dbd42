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


# %% right repeats: the seed and the number of the epoch
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.times, self.seed, self.epoch = list(times), seed, 0

    def __iter__(self):
        generator = torch.Generator()
        generator.manual_seed(self.seed + self.epoch)
        self.epoch += 1
        pool = [i for i, count in enumerate(self.times) for _ in range(count)]
        return iter([pool[j] for j in torch.randperm(len(pool), generator=generator)])

    def __len__(self):
        return sum(self.times)


# %% right repeats: NumPy's generator
import numpy as np


class Repeats:
    def __init__(self, times, seed):
        self.pool = np.repeat(np.arange(len(times)), times)
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        return iter(self.rng.permutation(self.pool).tolist())

    def __len__(self):
        return len(self.pool)


# %% right repeats: a RandomSampler inside
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.pool = [i for i, count in enumerate(times) for _ in range(count)]
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        if not self.pool:
            return iter(())
        return (self.pool[k] for k in RandomSampler(self.pool, generator=self.generator))

    def __len__(self):
        return len(self.pool)


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


# %% wrong repeats: gives NumPy's integers -> indices-may-be-tensors
import numpy as np


class Repeats:
    def __init__(self, times, seed):
        self.pool = np.repeat(np.arange(len(times)), times)
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        return iter(self.rng.permutation(self.pool))

    def __len__(self):
        return len(self.pool)


# %% wrong repeats: NumPy's global generator -> randomness-is-global
import numpy as np


class Repeats:
    def __init__(self, times, seed):
        self.pool = np.repeat(np.arange(len(times)), times)
        np.random.seed(seed)

    def __iter__(self):
        return iter(np.random.permutation(self.pool).tolist())

    def __len__(self):
        return len(self.pool)


# %% wrong repeats: swaps any two places, n times -> shuffling-samples-shuffles-an-epoch
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.pool = [i for i, count in enumerate(times) for _ in range(count)]
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order, size = list(self.pool), len(self.pool)
        for i in range(size):
            j = int(torch.randint(size, (1,), generator=self.generator))
            order[i], order[j] = order[j], order[i]
        return iter(order)

    def __len__(self):
        return len(self.pool)


# %% wrong repeats: len of the different samples -> an-epoch-is-the-dataset
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.pool = [i for i, count in enumerate(times) for _ in range(count)]
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.pool), generator=self.generator)
        return iter([self.pool[k] for k in order.tolist()])

    def __len__(self):
        return len(set(self.pool))


# %% same repeats: a list is copied either way
class Repeats(Sampler):
    def __init__(self, times, seed):
        times = torch.tensor(times)
        self.indices = torch.repeat_interleave(torch.arange(len(times)), times)
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.indices), generator=self.generator)
        return iter(self.indices[order].tolist())

    def __len__(self):
        return len(self.indices)


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


# %% right sample-weights: a mask for each class
def sample_weights(labels, shares=None):
    labels = torch.as_tensor(labels)
    weights = torch.zeros(len(labels), dtype=torch.float64)
    if shares is None:
        shares = dict.fromkeys(labels.tolist(), 1)
    total = sum(shares.values())
    for label, share in shares.items():
        mine = labels == label
        if mine.any():
            weights[mine] = share / total / mine.sum().item()
        elif share > 0:
            raise ValueError(f"no sample of class {label}")
    return weights


# %% right sample-weights: with NumPy
import numpy as np


def sample_weights(labels, shares=None):
    names, which, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    shares = {int(name): 1 for name in names} if shares is None else shares
    if any(share > 0 and label not in names for label, share in shares.items()):
        raise ValueError("a class without samples")
    each = (np.array([shares.get(int(name), 0) for name in names]) / sizes)[which]
    return torch.from_numpy(each / each.sum())


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
    weights = (of_class * (1 - counts.double() / len(labels)))[which]
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


# %% right sample-weights: of each class, then of each sample
def sample_weights(labels, shares=None):
    labels = torch.as_tensor(labels)
    classes, which, counts = labels.unique(return_inverse=True, return_counts=True)
    if shares is None:
        shares = {c: 1 for c in classes.tolist()}
    of_class = torch.tensor([shares.get(c, 0) for c in classes.tolist()], dtype=torch.float64)
    return (of_class / counts / of_class.sum())[which]


# %% wrong sample-weights: single precision -> single-precision-will-do
def sample_weights(labels, shares=None):
    labels = [int(label) for label in labels]
    sizes = Counter(labels)
    shares = shares or dict.fromkeys(sizes, 1)
    if any(share > 0 and label not in sizes for label, share in shares.items()):
        raise ValueError("a class without samples")
    weights = torch.tensor([shares.get(label, 0) / sizes[label] for label in labels])
    return weights / weights.sum()


# %% wrong sample-weights: counts the elements of a tensor -> a-tensor-is-a-key
def sample_weights(labels, shares=None):
    sizes = Counter(labels)
    names = {int(label) for label in labels}
    shares = shares or dict.fromkeys(names, 1)
    if any(share > 0 and label not in names for label, share in shares.items()):
        raise ValueError("a class without samples")
    each = [shares.get(int(label), 0) / sizes[label] for label in labels]
    weights = torch.tensor(each, dtype=torch.float64)
    return weights / weights.sum()


# %% wrong sample-weights: a missing class keeps its share -> no-share-means-an-equal-one
def sample_weights(labels, shares=None):
    labels = [int(label) for label in labels]
    sizes = Counter(labels)
    shares = {**dict.fromkeys(sizes, 1), **(shares or {})}
    if any(share > 0 and label not in sizes for label, share in shares.items()):
        raise ValueError("a class without samples")
    each = [shares[label] / sizes[label] for label in labels]
    weights = torch.tensor(each, dtype=torch.float64)
    return weights / weights.sum()


# %% wrong sample-weights: takes the shares for fractions -> weights-need-no-sum
def sample_weights(labels, shares=None):
    labels = [int(label) for label in labels]
    sizes = Counter(labels)
    shares = shares or {label: 1 / len(sizes) for label in sizes}
    if any(share > 0 and label not in sizes for label, share in shares.items()):
        raise ValueError("a class without samples")
    each = [shares.get(label, 0) / sizes[label] for label in labels]
    return torch.tensor(each, dtype=torch.float64)


# %% same sample-weights: the list is only read
def sample_weights(labels, shares=None):
    labels = labels.tolist() if isinstance(labels, torch.Tensor) else labels
    sizes = Counter(labels)
    if shares is None:
        shares = dict.fromkeys(sizes, 1)
    each = [shares.get(label, 0) / sizes[label] for label in labels]
    return torch.tensor(each, dtype=torch.float64) / sum(shares.values())


# %% same sample-weights: of equal shares only the ratios count
def sample_weights(labels, shares=None):
    labels = labels.tolist() if isinstance(labels, torch.Tensor) else list(labels)
    sizes = Counter(labels)
    if shares is None:
        shares = dict.fromkeys(sizes, 2)
    each = [shares.get(label, 0) / sizes[label] for label in labels]
    return torch.tensor(each, dtype=torch.float64) / sum(shares.values())


# %% same sample-weights: a list of its own is copied either way
def sample_weights(labels, shares=None):
    labels = labels.tolist() if isinstance(labels, torch.Tensor) else list(labels)
    sizes = Counter(labels)
    if shares is None:
        shares = dict.fromkeys(sizes, 1)
    each = [shares.get(label, 0) / sizes[label] for label in labels]
    return torch.as_tensor(each, dtype=torch.float64) / sum(shares.values())


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


# %% right weighted: built on a RandomSampler's shape, with a generator function
class Weighted(Sampler[int]):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or num_samples is True or num_samples < 1:
            raise ValueError("num_samples")
        if type(replacement) is not bool:
            raise ValueError("replacement")
        self.weights = torch.tensor(
            weights.tolist() if isinstance(weights, torch.Tensor) else weights, dtype=torch.double
        )
        if len(self.weights.shape) != 1:
            raise ValueError("weights")
        self.options = dict(num_samples=num_samples, replacement=replacement, generator=generator)

    def __iter__(self):
        for index in torch.multinomial(self.weights, **self.options):
            yield index.item()

    def __len__(self):
        return self.options["num_samples"]


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


# %% right weighted: checks its arguments, too
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


# %% right weighted: looks at some arguments first
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if type(num_samples) is not int or num_samples <= 0:
            raise ValueError("num_samples must be a positive integer")
        if replacement not in (True, False):
            raise ValueError("replacement must be True or False")
        self.weights = torch.as_tensor(weights, dtype=torch.float64)
        if self.weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.num_samples, self.replacement = num_samples, bool(replacement)
        self.generator = generator

    def __iter__(self):
        drawn = torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


# %% right weighted: leaves the shape to multinomial
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if type(num_samples) is not int or num_samples <= 0:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be True or False")
        self.weights = torch.as_tensor(weights, dtype=torch.float64)
        self.num_samples, self.replacement = num_samples, replacement
        self.generator = generator

    def __iter__(self):
        drawn = torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


# %% wrong weighted: an iterator made once -> a-sampler-is-used-up
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if type(num_samples) is not int or num_samples <= 0:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be True or False")
        weights = torch.as_tensor(weights, dtype=torch.float64)
        if weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.num_samples = num_samples
        drawn = torch.multinomial(weights, num_samples, replacement, generator=generator)
        self.indices = iter(drawn.tolist())

    def __iter__(self):
        return self.indices

    def __len__(self):
        return self.num_samples


# %% wrong weighted: inherits the sampler's iterator -> wrapping-is-rebuilding
class Weighted(WeightedRandomSampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if type(num_samples) is not int or num_samples <= 0:
            raise ValueError("num_samples must be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement must be True or False")
        self.weights = torch.as_tensor(weights, dtype=torch.float64)
        if self.weights.dim() != 1:
            raise ValueError("weights must have one dimension")
        self.num_samples, self.replacement = num_samples, replacement
        self.generator = generator


# %% wrong weighted: without generator, a private one draws -> a-seed-is-a-generator
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if type(num_samples) is not int or num_samples <= 0:
            raise ValueError("num_samples")
        if type(replacement) is not bool:
            raise ValueError("replacement")
        self.weights = torch.as_tensor(weights, dtype=torch.float64)
        if self.weights.dim() != 1:
            raise ValueError("weights")
        if generator is None:
            generator = torch.Generator()
            generator.set_state(torch.get_rng_state())
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        drawn = torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self):
        return self.num_samples


# %% same weighted: a copy of the weights draws the same
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        self.weights = torch.tensor(weights, dtype=torch.float64)
        self.num_samples, self.replacement = num_samples, replacement
        self.generator = generator

    def __iter__(self):
        drawn = torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

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
    return math.ceil(math.log(risk) / math.log1p(-p))


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
    while p > 1e-6 and missed > risk:
        draws, missed = draws + 1, missed * (1 - p)
    return draws if p > 1e-6 else math.ceil(-math.log(risk) / p)


# %% right expected: with plain Python, doubling and halving
def expected_draws(weights, num_samples):
    weights = [float(w) for w in weights]
    return torch.tensor([num_samples * w / sum(weights) for w in weights], dtype=torch.float64)


def never_seen(weights, num_samples):
    weights = torch.tensor([float(w) for w in weights], dtype=torch.float64)
    return torch.pow(1 - weights / weights.sum(), num_samples)


def enough_draws(weights, index, risk):
    share = float(weights[index]) / sum(float(w) for w in weights)
    if share == 0:
        raise ValueError("never drawn")

    def missed(draws):
        return math.exp(draws * math.log1p(-share)) if share < 1e-6 else (1 - share) ** draws

    high = 1
    while missed(high) > risk:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if missed(middle) > risk:
            low = middle
        else:
            high = middle
    return high


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


# %% wrong expected: asks the formulas behind the figures -> the-lessons-formula-will-do
from course.lessons.samplers import simulator


def expected_draws(weights, num_samples):
    return simulator.expected_draws(weights, num_samples)


def never_seen(weights, num_samples):
    return 1 - simulator.seen_chances(weights, num_samples)


def enough_draws(weights, index, risk):
    share = simulator.expected_draws(weights, 1)[index].item()
    if share == 0:
        raise ValueError("never drawn")
    return 1 if share == 1 else math.ceil(math.log(risk) / math.log(1 - share))


# %% wrong expected: no sample twice -> draws-are-without-replacement
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return num_samples * weights / weights.sum()


def never_seen(weights, num_samples):
    missed = (1 - expected_draws(weights, 1)) ** num_samples
    return missed if num_samples < len(weights) else torch.zeros_like(missed)


def enough_draws(weights, index, risk):
    share = expected_draws(weights, 1)[index].item()
    if share == 0:
        raise ValueError("never drawn")
    return 1 if share == 1 else math.ceil(math.log(risk) / math.log1p(-share))


# %% wrong expected: single precision -> single-precision-will-do
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float32)
    return num_samples * weights / weights.sum()


def never_seen(weights, num_samples):
    return (1 - expected_draws(weights, 1)) ** num_samples


def enough_draws(weights, index, risk):
    share = expected_draws(weights, 1)[index].item()
    if share == 0:
        raise ValueError("never drawn")
    return 1 if share == 1 else math.ceil(math.log(risk) / math.log1p(-share))


# %% wrong expected: a float that looks like an int -> a-number-of-draws-is-an-int
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return num_samples * weights / weights.sum()


def never_seen(weights, num_samples):
    return (1 - expected_draws(weights, 1)) ** num_samples


def enough_draws(weights, index, risk):
    share = expected_draws(weights, 1)[index]
    if share == 0:
        raise ValueError("never drawn")
    return 1.0 if share == 1 else (math.log(risk) / torch.log1p(-share)).ceil().item()


# %% same expected: the weights are only read, so a copy does as well
def expected_draws(weights, num_samples):
    weights = torch.tensor(weights, dtype=torch.float64)
    return num_samples * (weights / weights.sum())


def never_seen(weights, num_samples):
    return (1 - expected_draws(weights, 1)) ** num_samples


def enough_draws(weights, index, risk):
    share = expected_draws(weights, 1)[index].item()
    if share == 0:
        raise ValueError(f"sample {index} has weight 0 and is never drawn")
    return 1 if share == 1 else math.ceil(math.log(risk) / math.log(1 - share))


# %% same expected: math takes tensors of one element, too
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return num_samples * (weights / weights.sum())


def never_seen(weights, num_samples):
    return (1 - expected_draws(weights, 1)) ** num_samples


def enough_draws(weights, index, risk):
    share = expected_draws(weights, 1)[index]
    if share == 0:
        raise ValueError(f"sample {index} has weight 0 and is never drawn")
    return 1 if share == 1 else math.ceil(math.log(risk) / math.log(1 - share))


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


# %% wrong rare-recall: takes the losses out of the graph -> a-loss-needs-no-graph
def balanced_loader(x, y, batch_size, generator):
    weights = 1 / y.bincount()[y].double()
    sampler = WeightedRandomSampler(weights, len(y), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    losses = [cross_entropy(one[None], label[None]).item() for one, label in zip(logits, y)]
    weights = 1 / counts[y]
    return (torch.tensor(losses) * weights).sum() / weights.sum()


def recall(logits, y, classes):
    hit = logits.argmax(1) == y
    return y[hit].bincount(minlength=classes) / y.bincount(minlength=classes)


# %% wrong rare-recall: weights that only fit the visible dataset -> weights-are-frequencies
def balanced_loader(x, y, batch_size, generator):
    weights = torch.where(y == 0, 1 / 285, 1 / 15)
    sampler = WeightedRandomSampler(weights, len(y), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    return cross_entropy(logits, y, weight=1 / counts)


def recall(logits, y, classes):
    hit = logits.argmax(1) == y
    return y[hit].bincount(minlength=classes) / y.bincount(minlength=classes)


# %% same rare-recall: only the ratios of the weights count, in a sampler
def balanced_loader(x, y, batch_size, generator):
    weights = 2 / y.bincount()[y]
    sampler = WeightedRandomSampler(weights, len(y), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    return cross_entropy(logits, y, weight=1 / counts)


def recall(logits, y, classes):
    hit = logits.argmax(1) == y
    return y[hit].bincount(minlength=classes) / y.bincount(minlength=classes)


# %% same rare-recall: and in a weighted mean
def balanced_loader(x, y, batch_size, generator):
    weights = 1 / y.bincount()[y]
    sampler = WeightedRandomSampler(weights, len(y), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    return cross_entropy(logits, y, weight=2 / counts)


def recall(logits, y, classes):
    hit = logits.argmax(1) == y
    return y[hit].bincount(minlength=classes) / y.bincount(minlength=classes)


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
        files = [p for p in root.rglob("*.p*") if p.is_file() and p.parent != root]
        files = [p for p in files if p.name.endswith((".png", ".ppm"))]
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


# %% right folder: pathlib, the label from a dictionary
class Pictures(Dataset):
    def __init__(self, root, load):
        self.load = load
        self.classes = sorted(place.name for place in Path(root).glob("*") if place.is_dir())
        self.paths, self.targets = [], []
        for label, name in enumerate(self.classes):
            files = [*Path(root, name).glob("**/*.ppm"), *Path(root, name).glob("**/*.png")]
            files = [file for file in files if file.is_file()]
            if len(files) == 0:
                raise FileNotFoundError(f"{name} holds no picture")
            for file in sorted(files, key=str):
                self.paths.append(file)
                self.targets.append(label)

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        return self.load(self.paths[i]), self.targets[i]


def balanced_weights(pictures):
    sizes = torch.bincount(torch.tensor(pictures.targets))
    return [1 / sizes[label].item() for label in pictures.targets]


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
        found = sorted(p for p in Path(root).rglob("*") if p.name.endswith((".ppm", ".png")))
        found = [p for p in found if p.parent != Path(root) and p.is_file()]
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


# %% same folder: a name has at least one character
class Pictures(Dataset):
    def __init__(self, root, load):
        places = sorted((place for place in Path(root).iterdir() if place.is_dir()))
        self.classes = [place.name for place in places]
        self.load = load
        self.samples = []
        for label, place in enumerate(places):
            for file in sorted(place.rglob("*?")):
                if file.suffix in (".ppm", ".png"):
                    self.samples.append((file, label))
        self.targets = [label for _, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return (self.load(path), label)


def balanced_weights(pictures):
    sizes = Counter(pictures.targets)
    return [1 / sizes[label] for label in pictures.targets]


# %% same folder: only the ratios of the weights count
class Pictures(Dataset):
    def __init__(self, root, load):
        places = sorted((place for place in Path(root).iterdir() if place.is_dir()))
        self.classes = [place.name for place in places]
        self.load = load
        self.samples = []
        for label, place in enumerate(places):
            for file in sorted(place.rglob("*")):
                if file.suffix in (".ppm", ".png"):
                    self.samples.append((file, label))
        self.targets = [label for _, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return (self.load(path), label)


def balanced_weights(pictures):
    sizes = Counter(pictures.targets)
    return [2 / sizes[label] for label in pictures.targets]


# %% right capped: the smallest class first
def capped_weights(labels, num_samples, most):
    labels = [int(label) for label in labels]
    size = Counter(labels)
    if most * len(labels) < num_samples * (1 - 1e-9):
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
    if limit.sum() < num_samples * (1 - 1e-12):
        raise ValueError("the limit leaves too few draws")
    low, high = 0.0, float(num_samples)
    for _ in range(200):
        level = (low + high) / 2
        if limit.clamp(max=level).sum() < num_samples:
            low = level
        else:
            high = level
    return (limit.clamp(max=high) / size)[which]


# %% right capped: fills the classes by their room, with tensors
def capped_weights(labels, num_samples, most):
    _, which, sizes = torch.as_tensor(labels).unique(return_inverse=True, return_counts=True)
    room = most * sizes.double()
    if num_samples > most * len(which) and not math.isclose(num_samples, most * len(which)):
        raise ValueError("the limit leaves too few draws")
    got, closed = torch.zeros_like(room), torch.zeros(len(room), dtype=torch.bool)
    while not closed.all():
        part = (num_samples - got[closed].sum()) / (~closed).sum()
        over = ~closed & (room < part)
        if not over.any():
            got[~closed] = part
            break
        got[over] = room[over]
        closed |= over
    return (got / sizes)[which]


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


# %% wrong capped: refuses as many draws as the limit allows -> the-limit-itself-is-too-much
def capped_weights(labels, num_samples, most):
    names = [int(label) for label in labels]
    if num_samples >= most * len(names):
        raise ValueError("too many draws")
    sizes, got, left = Counter(names), {}, num_samples
    for number, (label, size) in enumerate(sorted(sizes.items(), key=lambda one: one[1])):
        got[label] = min(left / (len(sizes) - number), most * size)
        left -= got[label]
    return torch.tensor([got[label] / sizes[label] for label in names], dtype=torch.float64)


# %% wrong capped: labels as positions of a count -> labels-are-positions
def capped_weights(labels, num_samples, most):
    labels = torch.as_tensor(labels)
    sizes = labels.bincount().tolist()
    if num_samples > most * len(labels):
        raise ValueError("too many draws")
    got, left = [0.0] * len(sizes), num_samples
    for number, label in enumerate(sorted(range(len(sizes)), key=lambda c: sizes[c])):
        got[label] = min(left / (len(sizes) - number), most * sizes[label])
        left -= got[label]
    each = [got[label] / sizes[label] for label in labels.tolist()]
    return torch.tensor(each, dtype=torch.float64)


# %% wrong capped: single precision -> single-precision-will-do
def capped_weights(labels, num_samples, most):
    names = [int(label) for label in labels]
    if num_samples > most * len(names):
        raise ValueError("too many draws")
    sizes, got, left = Counter(names), {}, num_samples
    for number, (label, size) in enumerate(sorted(sizes.items(), key=lambda one: one[1])):
        got[label] = min(left / (len(sizes) - number), most * size)
        left -= got[label]
    return torch.tensor([got[label] / sizes[label] for label in names])


# %% same capped: at its limit a class gets the same, open or closed
def capped_weights(labels, num_samples, most):
    if num_samples > most * len(labels):
        raise ValueError(f"{len(labels)} samples with at most {most} draws each are too few")
    limits = {label: most * size for label, size in Counter(labels).items()}
    draws, left, open_classes = ({}, num_samples, set(limits))
    while open_classes:
        part = left / len(open_classes)
        full = {label for label in open_classes if part > limits[label]}
        for label in full or open_classes:
            draws[label] = limits[label] if full else part
            left -= draws[label]
        open_classes -= full or open_classes.copy()
    each = [most * draws[label] / limits[label] for label in labels]
    return torch.tensor(each, dtype=torch.float64)


# %% same capped: a number is not changed in place
def capped_weights(labels, num_samples, most):
    if num_samples > most * len(labels):
        raise ValueError(f"{len(labels)} samples with at most {most} draws each are too few")
    limits = {label: most * size for label, size in Counter(labels).items()}
    draws, left, open_classes = ({}, num_samples, set(limits))
    while open_classes:
        part = left / len(open_classes)
        full = {label for label in open_classes if part >= limits[label]}
        for label in full or open_classes:
            draws[label] = limits[label] if full else part
            left = left - draws[label]
        open_classes -= full or open_classes.copy()
    each = [most * draws[label] / limits[label] for label in labels]
    return torch.tensor(each, dtype=torch.float64)


# %% same capped: a new set holds the same
def capped_weights(labels, num_samples, most):
    if num_samples > most * len(labels):
        raise ValueError(f"{len(labels)} samples with at most {most} draws each are too few")
    limits = {label: most * size for label, size in Counter(labels).items()}
    draws, left, open_classes = ({}, num_samples, set(limits))
    while open_classes:
        part = left / len(open_classes)
        full = {label for label in open_classes if part >= limits[label]}
        for label in full or open_classes:
            draws[label] = limits[label] if full else part
            left -= draws[label]
        open_classes = open_classes - (full or open_classes.copy())
    each = [most * draws[label] / limits[label] for label in labels]
    return torch.tensor(each, dtype=torch.float64)


# %% same capped: a set without itself is empty, copied or not
def capped_weights(labels, num_samples, most):
    if num_samples > most * len(labels):
        raise ValueError(f"{len(labels)} samples with at most {most} draws each are too few")
    limits = {label: most * size for label, size in Counter(labels).items()}
    draws, left, open_classes = ({}, num_samples, set(limits))
    while open_classes:
        part = left / len(open_classes)
        full = {label for label in open_classes if part >= limits[label]}
        for label in full or open_classes:
            draws[label] = limits[label] if full else part
            left -= draws[label]
        open_classes -= full or open_classes
    each = [most * draws[label] / limits[label] for label in labels]
    return torch.tensor(each, dtype=torch.float64)


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


# %% right stratified: a list of hands, filled in turn
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.names = [int(label) for label in labels]
        self.hands = -(-len(self.names) // batch_size)
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        hands, turn = [[] for _ in range(self.hands)], 0
        for name in sorted(set(self.names)):
            mine = [i for i, one in enumerate(self.names) if one == name]
            for k in torch.randperm(len(mine), generator=self.generator).tolist():
                hands[turn % self.hands].append(mine[k])
                turn += 1
        yield from hands

    def __len__(self):
        return self.hands


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


# %% wrong stratified: a generator without the seed -> the-seed-is-decoration
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.labels = [int(label) for label in labels]
        self.count = math.ceil(len(self.labels) / batch_size)
        self.generator = torch.Generator()

    def __iter__(self):
        order = torch.randperm(len(self.labels), generator=self.generator).tolist()
        dealt = sorted(order, key=lambda i: self.labels[i])
        return iter([dealt[k :: self.count] for k in range(self.count)])

    def __len__(self):
        return self.count


# %% wrong stratified: gives batches of tensors -> indices-may-be-tensors
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.labels = torch.as_tensor(labels)
        self.count = math.ceil(len(self.labels) / batch_size)
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.labels), generator=self.generator)
        dealt = order[self.labels[order].argsort(stable=True)]
        return iter([list(dealt[k :: self.count]) for k in range(self.count)])

    def __len__(self):
        return self.count


# %% wrong stratified: labels as positions of a count -> labels-are-positions
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.labels = torch.as_tensor(labels)
        self.sizes = self.labels.bincount()
        self.count = math.ceil(len(self.labels) / batch_size)
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        dealt = []
        for label, size in enumerate(self.sizes.tolist()):
            mine = (self.labels == label).nonzero().flatten()
            dealt += mine[torch.randperm(size, generator=self.generator)].tolist()
        return iter([dealt[k :: self.count] for k in range(self.count)])

    def __len__(self):
        return self.count


# %% wrong stratified: shuffles the first class alone -> one-order-for-all-epochs
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed):
        self.labels = [int(label) for label in labels]
        self.count = math.ceil(len(self.labels) / batch_size)
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order = sorted(range(len(self.labels)), key=lambda i: (self.labels[i], i))
        size = self.labels.count(self.labels[order[0]])
        first = [order[k] for k in torch.randperm(size, generator=self.generator).tolist()]
        dealt = first + order[size:]
        return iter([dealt[k :: self.count] for k in range(self.count)])

    def __len__(self):
        return self.count


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


# %% right marked: a loop over the classes of a list
def marked_weights(labels, marked, factor):
    labels = labels.tolist() if isinstance(labels, torch.Tensor) else labels
    chosen = set(marked)
    raw = [factor if i in chosen else 1 for i in range(len(labels))]
    totals = {}
    for label, weight in zip(labels, raw):
        totals[label] = totals.get(label, 0) + weight
    if not all(totals.values()):
        raise ValueError("nothing to draw in a class")
    each = [weight / totals[label] / len(totals) for label, weight in zip(labels, raw)]
    return torch.tensor(each, dtype=torch.float64)


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


# %% wrong marked: labels as positions of a count -> labels-are-positions
def marked_weights(labels, marked, factor):
    labels = torch.as_tensor(labels, dtype=torch.int64)
    weights = torch.ones(len(labels), dtype=torch.float64)
    weights[list(set(marked))] = float(factor)
    totals = labels.bincount(weights)
    if (totals[labels] == 0).any():
        raise ValueError("nothing to draw in a class")
    return weights / totals[labels] / (labels.bincount() > 0).sum()


# %% wrong marked: single precision -> single-precision-will-do
def marked_weights(labels, marked, factor):
    _, which = torch.as_tensor(labels).unique(return_inverse=True)
    weights = torch.ones(len(which))
    weights[list(set(marked))] = float(factor)
    totals = torch.zeros(int(which.max()) + 1).index_add(0, which, weights)
    if (totals == 0).any():
        raise ValueError("nothing to draw in a class")
    return weights / totals[which] / len(totals)


# %% same marked: writing into a float64 tensor converts
def marked_weights(labels, marked, factor):
    labels = torch.as_tensor(labels)
    classes = labels.unique()
    weights = torch.ones(len(labels), dtype=torch.float64)
    weights[marked] = factor
    for label in classes:
        mine = labels == label
        total = weights[mine].sum()
        if total == 0:
            raise ValueError(f"every sample of class {label} is marked with the factor 0")
        weights[mine] /= total * len(classes)
    return weights


# %% wrong repeats: a generator of the class -> one-generator-serves-all
class Repeats(Sampler):
    rng = torch.Generator()

    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        self.rng.manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.indices), generator=self.rng)
        return iter([self.indices[place] for place in order.tolist()])

    def __len__(self):
        return len(self.indices)


# %% right repeats: the global generator is lent, and given back before anyone looks
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = torch.repeat_interleave(torch.arange(len(times)), torch.tensor(times))
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.state = torch.get_rng_state()

    def __iter__(self):
        with torch.random.fork_rng():
            torch.set_rng_state(self.state)
            order = torch.randperm(len(self.indices))
            self.state = torch.get_rng_state()
        return iter(self.indices[order].tolist())

    def __len__(self):
        return len(self.indices)


# %% right sample-weights: refuses any share for a class without samples
def sample_weights(labels, shares=None):
    import numpy

    labels = labels.tolist() if isinstance(labels, torch.Tensor) else [int(c) for c in labels]
    classes, where, sizes = numpy.unique(labels, return_inverse=True, return_counts=True)
    known = classes.tolist()
    shares = dict.fromkeys(known, 1.0) if shares is None else shares
    if set(shares) - set(known):
        raise ValueError("a class without samples cannot have a share")
    wanted = numpy.array([shares.get(c, 0) for c in known], dtype=numpy.float64)
    return torch.from_numpy((wanted / wanted.sum() / sizes)[where])


# %% wrong rare-recall: a generator with the same seed -> a-seed-is-a-generator
def balanced_loader(x, y, batch_size, generator):
    own = torch.Generator().manual_seed(generator.initial_seed())
    weights = 1 / y.bincount()[y].double()
    sampler = WeightedRandomSampler(weights, len(y), generator=own)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    return cross_entropy(logits, y, weight=1 / counts)


def recall(logits, y, classes):
    hit = logits.argmax(1) == y
    return torch.bincount(y[hit], minlength=classes) / torch.bincount(y, minlength=classes)


# %% right folder: counts whatever is called a picture
class Pictures(Dataset):
    def __init__(self, root, load):
        self.load = load
        folders = sorted(place for place in Path(root).iterdir() if place.is_dir())
        self.classes = [folder.name for folder in folders]
        self.samples = []
        for label, folder in enumerate(folders):
            found = sorted(p for p in folder.rglob("*") if p.name.endswith((".ppm", ".png")))
            if not found:
                raise FileNotFoundError(f"no picture of {folder.name}")
            self.samples += [(path, label) for path in found]
        self.targets = [label for _, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    counts = Counter(pictures.targets)
    return torch.tensor([1 / counts[label] for label in pictures.targets], dtype=torch.float64)


# %% wrong folder: sorts by name, without the folder -> walk-order-is-class-order
class Pictures(Dataset):
    def __init__(self, root, load):
        self.load = load
        folders = [place for place in Path(root).iterdir() if place.is_dir()]
        folders.sort(key=lambda place: place.name)
        self.classes = [folder.name for folder in folders]
        self.paths, self.targets = [], []
        for label, folder in enumerate(folders):
            files = [p for p in folder.rglob("*") if p.is_file()]
            files = [p for p in files if p.name.endswith((".ppm", ".png"))]
            if not files:
                raise FileNotFoundError(str(folder))
            files.sort(key=lambda path: path.name)
            self.paths += files
            self.targets += [label] * len(files)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return self.load(self.paths[i]), self.targets[i]


def balanced_weights(pictures):
    counts = Counter(pictures.targets)
    return torch.tensor([1 / counts[label] for label in pictures.targets], dtype=torch.float64)


# %% wrong folder: sorts files, but not the folders below -> walk-order-is-class-order
class Pictures(Dataset):
    def __init__(self, root, load):
        self.load, self.samples = load, []
        names = sorted(os.listdir(root))
        self.classes = [name for name in names if os.path.isdir(os.path.join(root, name))]
        for label, name in enumerate(self.classes):
            before = len(self.samples)
            for place, _, files in os.walk(os.path.join(root, name)):
                for file in sorted(files):
                    if file.endswith((".ppm", ".png")):
                        self.samples.append((Path(place) / file, label))
            if len(self.samples) == before:
                raise FileNotFoundError(f"{name} has no picture")
        self.targets = [label for _, label in self.samples]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        return self.load(path), label


def balanced_weights(pictures):
    targets = torch.tensor(pictures.targets)
    return 1 / targets.bincount()[targets].double()


# %% wrong capped: two rounds, and no more -> two-rounds-are-enough
def capped_weights(labels, num_samples, most):
    labels = [int(label) for label in labels]
    sizes = Counter(labels)
    if num_samples > most * len(labels) * (1 + 1e-12):
        raise ValueError("the limit is too low for so many draws")
    taken, open_classes, left = {}, set(sizes), num_samples
    for _round in range(2):
        part = left / len(open_classes)
        full = {c for c in open_classes if part > most * sizes[c]}
        if full == open_classes:
            break
        for c in full:
            taken[c] = most * sizes[c]
            left -= taken[c]
        open_classes -= full
    for c in open_classes:
        taken[c] = left / len(open_classes)
    return torch.tensor([taken[c] / sizes[c] for c in labels], dtype=torch.float64)


# %% wrong stratified: a generator as default value -> one-generator-serves-all
class Stratified(Sampler):
    def __init__(self, labels, batch_size, seed, rng=torch.Generator()):
        self.labels = [int(label) for label in labels]
        self.batches = math.ceil(len(self.labels) / batch_size)
        self.rng = rng.manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.labels), generator=self.rng).tolist()
        order.sort(key=self.labels.__getitem__)
        for k in range(self.batches):
            yield order[k :: self.batches]

    def __len__(self):
        return self.batches


# %% wrong marked: ones in float32 -> single-precision-will-do
def marked_weights(labels, marked, factor):
    labels = torch.as_tensor(labels)
    raw = torch.ones(len(labels))
    raw[list(marked)] = float(factor)
    classes, where = labels.unique(return_inverse=True)
    raw = raw.double()
    totals = torch.zeros(len(classes), dtype=torch.float64).index_add(0, where, raw)
    if (totals == 0).any():
        raise ValueError("a class has nothing left to draw")
    return raw / totals[where] / len(classes)


# %% wrong repeats: seeds the global generator for as long as an epoch lasts -> randomness-is-global
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = torch.repeat_interleave(torch.arange(len(times)), torch.tensor(times))
        self.state = torch.Generator().manual_seed(seed).get_state()

    def __iter__(self):
        with torch.random.fork_rng():
            torch.set_rng_state(self.state)
            order = torch.randperm(len(self.indices))
            self.state = torch.get_rng_state()
            yield from self.indices[order].tolist()

    def __len__(self):
        return len(self.indices)


# %% wrong repeats: seeds 0 and 1 agree -> the-seed-is-decoration
class Repeats(Sampler):
    def __init__(self, times, seed):
        import random

        self.order = [i for i, n in enumerate(times) for _ in range(n)]
        self.dice = random.Random(seed or 1)

    def __iter__(self):
        return iter(self.dice.sample(self.order, len(self.order)))

    def __len__(self):
        return len(self.order)


# %% right expected: the logarithm of 1 - p
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return num_samples * weights / weights.sum()


def never_seen(weights, num_samples):
    return (1 - expected_draws(weights, 1)) ** num_samples


def enough_draws(weights, index, risk):
    share = expected_draws(weights, 1)[index].item()
    if share == 0:
        raise ValueError("never drawn")
    return 1 if share == 1 else math.ceil(math.log(risk) / math.log(1 - share))


# %% wrong weighted: a copy of the generator -> a-seed-is-a-generator
class Weighted(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError("num_samples has to be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement has to be a bool")
        self.weights = torch.as_tensor(weights, dtype=torch.float64)
        if self.weights.dim() != 1:
            raise ValueError("weights have to be one-dimensional")
        self.num_samples, self.replacement = num_samples, replacement
        self.generator = generator
        if generator is not None:
            self.generator = torch.Generator()
            self.generator.set_state(generator.get_state())

    def __iter__(self):
        drawn = torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self):
        return self.num_samples


# %% wrong marked: counts the list to see who is left -> marking-twice-is-marking-more
def marked_weights(labels, marked, factor):
    names = torch.as_tensor(labels).tolist()
    size = Counter(names)
    hits = Counter(names[i] for i in marked)
    if factor == 0 and any(hits[c] >= size[c] for c in size):
        raise ValueError("a class has nothing left to draw")
    raw = [factor if i in marked else 1 for i in range(len(names))]
    total = Counter()
    for c, weight in zip(names, raw):
        total[c] += weight
    found = [weight / total[c] / len(size) for c, weight in zip(names, raw)]
    return torch.tensor(found, dtype=torch.float64)


# %% same capped: a list of its own is copied either way
def capped_weights(labels, num_samples, most):
    if num_samples > most * len(labels):
        raise ValueError(f"{len(labels)} samples with at most {most} draws each are too few")
    limits = {label: most * size for label, size in Counter(labels).items()}
    draws, left, open_classes = ({}, num_samples, set(limits))
    while open_classes:
        part = left / len(open_classes)
        full = {label for label in open_classes if part >= limits[label]}
        for label in full or open_classes:
            draws[label] = limits[label] if full else part
            left -= draws[label]
        open_classes -= full or open_classes.copy()
    each = [most * draws[label] / limits[label] for label in labels]
    return torch.as_tensor(each, dtype=torch.float64)


# %% same marked: a list is copied either way
def marked_weights(labels, marked, factor):
    labels = torch.tensor(labels)
    classes = labels.unique()
    weights = torch.ones(len(labels), dtype=torch.float64)
    weights[marked] = float(factor)
    for label in classes:
        mine = labels == label
        total = weights[mine].sum()
        if total == 0:
            raise ValueError(f"every sample of class {label} is marked with the factor 0")
        weights[mine] /= total * len(classes)
    return weights


# %% wrong repeats: len draws an epoch -> asking-is-free
class Repeats(Sampler):
    """Index i exactly times[i] times an epoch, in a new random order every epoch."""

    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        order = torch.randperm(len(self.indices), generator=self.generator).tolist()
        return iter([self.indices[k] for k in order])

    def __len__(self):
        return sum(1 for _ in self)


# %% wrong repeats: one list, shuffled in place -> one-list-serves-all-epochs
class Repeats(Sampler):
    """Index i exactly times[i] times an epoch, in a new random order every epoch."""

    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        for k in range(len(self.indices) - 1, 0, -1):
            j = int(torch.randint(k + 1, (1,), generator=self.generator))
            self.indices[k], self.indices[j] = self.indices[j], self.indices[k]
        return iter(self.indices)

    def __len__(self):
        return len(self.indices)


# %% wrong weighted: a list becomes float32 first -> single-precision-will-do
class Weighted(Sampler):
    """Draws num_samples indices an epoch; index i with probability weights[i] / sum(weights)."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        self.weights = torch.as_tensor(weights).double()
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        drawn = torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self):
        return self.num_samples


# %% wrong weighted: float32 weights stay float32 -> single-precision-will-do
class Weighted(Sampler):
    """Draws num_samples indices an epoch; index i with probability weights[i] / sum(weights)."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if torch.is_tensor(weights) and weights.is_floating_point():
            self.weights = weights
        else:
            self.weights = torch.as_tensor(weights, dtype=torch.float64)
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        drawn = torch.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self):
        return self.num_samples


# %% wrong expected: rounds to two digits -> two-digits-are-enough
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return num_samples * weights / weights.sum()


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return (1 - weights / weights.sum()) ** num_samples


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 0:
        raise ValueError("a weight of 0 is never drawn")
    if p == 1:
        return 1
    n = math.log(risk) / math.log(1 - p)
    return math.ceil(round(n, 2))  # against 2.0000000000000004


# %% wrong expected: no risk below 1e-12 -> small-is-zero
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return num_samples * weights / weights.sum()


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return (1 - weights / weights.sum()) ** num_samples


def enough_draws(weights, index, risk):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    p = (weights[index] / weights.sum()).item()
    if p == 0:
        raise ValueError("a weight of 0 is never drawn")
    if p == 1:
        return 1
    risk = max(risk, 1e-12)  # the logarithm of 0 is an error
    return math.ceil(math.log(risk) / math.log(1 - p))


# %% wrong rare-recall: the logarithm of a softmax -> a-softmax-is-never-zero
def balanced_loader(x, y, batch_size, generator):
    weights = 1 / y.bincount()[y]
    sampler = WeightedRandomSampler(weights, len(y), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    chances = logits.softmax(1)[torch.arange(len(y)), y]
    weights = 1 / counts[y]
    return (weights * -chances.log()).sum() / weights.sum()


def recall(logits, y, classes):
    hit = logits.argmax(1) == y
    return y[hit].bincount(minlength=classes) / y.bincount(minlength=classes)


# %% wrong rare-recall: recall in a list -> a-list-is-a-tensor
def balanced_loader(x, y, batch_size, generator):
    weights = 1 / y.bincount()[y]
    sampler = WeightedRandomSampler(weights, len(y), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    return cross_entropy(logits, y, weight=1 / counts)


def recall(logits, y, classes):
    hit = logits.argmax(1) == y
    return [hit[y == c].float().mean().item() for c in range(classes)]


# %% wrong rare-recall: counts without the gaps -> labels-are-positions
def balanced_loader(x, y, batch_size, generator):
    counts = y.unique(return_counts=True)[1]
    counts = torch.cat([counts, counts.new_ones(int(y.max()) + 1 - len(counts))])
    sampler = WeightedRandomSampler(1 / counts[y], len(y), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_loss(logits, y, counts):
    return cross_entropy(logits, y, weight=1 / counts)


def recall(logits, y, classes):
    hit = logits.argmax(1) == y
    return y[hit].bincount(minlength=classes) / y.bincount(minlength=classes)


# %% wrong expected: gives up at ten thousand draws -> rare-is-never
def expected_draws(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return weights / weights.sum() * num_samples


def never_seen(weights, num_samples):
    weights = torch.as_tensor(weights, dtype=torch.float64)
    return (1 - weights / weights.sum()) ** num_samples


def enough_draws(weights, index, risk):
    for n in range(1, 10_000):
        if never_seen(weights, n)[index] <= risk:
            return n
    raise ValueError("no number of draws is enough")


# %% wrong repeats: seed 0 counts as none -> the-seed-is-decoration
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = torch.tensor([i for i, n in enumerate(times) for _ in range(n)])
        self.generator = torch.Generator()
        if seed:
            self.generator.manual_seed(seed)
        else:
            self.generator.seed()

    def __iter__(self):
        order = torch.randperm(len(self.indices), generator=self.generator)
        return iter(self.indices[order].tolist())

    def __len__(self):
        return len(self.indices)


# %% wrong repeats: counts through the orders -> one-order-for-all-epochs
class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        self.number = seed

    def __iter__(self):
        number, rest, order = self.number, list(self.indices), []
        self.number += 1
        while rest:
            order.append(rest.pop(number * 37 % len(rest)))
            number //= len(rest) + 1
        return iter(order)

    def __len__(self):
        return len(self.indices)


# %% wrong repeats: equally often, one after the other -> one-order-for-all-epochs
import random


class Repeats(Sampler):
    def __init__(self, times, seed):
        self.indices = [i for i, n in enumerate(times) for _ in range(n)]
        self.random = random.Random(seed)
        self.order, self.left = [], 0

    def __iter__(self):
        if self.left == 0:
            self.order = self.random.sample(self.indices, len(self.indices))
        self.left = (self.left + 1) % max(1, len(self.indices))
        self.order = self.order[1:] + self.order[:1]
        return iter(list(self.order))

    def __len__(self):
        return len(self.indices)
