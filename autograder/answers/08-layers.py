# Answers to lesson 08, as learners type them. See "How to add an exercise" in the README.


# %% right evaluate: a list of pairs
def evaluate(model, x):
    pairs = [(module, module.training) for module in model.modules()]
    for module, _ in pairs:
        module.training = False
    try:
        with torch.inference_mode():
            result = model(x)
    finally:
        for module, was in pairs:
            module.training = was
    return result


# %% right evaluate: by name, eval() first
def evaluate(model, x):
    was = {name: part.training for name, part in model.named_modules()}
    try:
        model.eval()
        for part in model.modules():
            part.training = False
        with torch.no_grad():
            out = model(x)
    finally:
        for name, part in model.named_modules():
            part.training = was[name]
    return out


# %% right evaluate: a context manager
import contextlib


@contextlib.contextmanager
def in_evaluation(model):
    parts = list(model.modules())
    flags = [part.training for part in parts]
    try:
        for part in parts:
            part.training = False
        yield model
    finally:
        for part, flag in zip(parts, flags):
            part.training = flag


@torch.no_grad()
def evaluate(model, x):
    with in_evaluation(model) as ready:
        return ready(x)


# %% wrong evaluate: the model's flag for all -> one-mode-for-all-modules
def evaluate(model, x):
    was = model.training
    model.eval()
    try:
        with torch.no_grad():
            return model(x)
    finally:
        model.train(was)


# %% wrong evaluate: train() at the end -> everything-trained-before
def evaluate(model, x):
    parts = list(model.modules())
    for part in parts:
        part.training = False
    try:
        with torch.no_grad():
            return model(x)
    finally:
        for part in parts:
            part.training = True


# %% wrong evaluate: never back -> evaluation-is-for-good
def evaluate(model, x):
    for part in model.modules():
        part.training = False
    with torch.no_grad():
        return model(x)


# %% wrong evaluate: no finally -> errors-need-no-tidying
def evaluate(model, x):
    was = [(part, part.training) for part in model.modules()]
    for part, _ in was:
        part.training = False
    with torch.no_grad():
        out = model(x)
    for part, flag in was:
        part.training = flag
    return out


# %% wrong evaluate: errors become None -> an-error-may-be-swallowed
def evaluate(model, x):
    was = [(part, part.training) for part in model.modules()]
    try:
        for part, _ in was:
            part.training = False
        with torch.no_grad():
            return model(x)
    except Exception:
        return None
    finally:
        for part, flag in was:
            part.training = flag


# %% wrong evaluate: the top alone -> the-flag-sits-at-the-top
def evaluate(model, x):
    was = model.training
    model.training = False
    try:
        with torch.no_grad():
            return model(x)
    finally:
        model.training = was


# %% wrong evaluate: children -> children-are-all-modules
def evaluate(model, x):
    was = [(part, part.training) for part in [model, *model.children()]]
    try:
        for part, _ in was:
            part.training = False
        with torch.no_grad():
            return model(x)
    finally:
        for part, flag in was:
            part.training = flag


# %% wrong evaluate: records -> eval-stops-the-recording
def evaluate(model, x):
    was = [(part, part.training) for part in model.modules()]
    try:
        for part, _ in was:
            part.training = False
        return model(x)
    finally:
        for part, flag in was:
            part.training = flag


# %% wrong evaluate: detaches what was recorded -> eval-stops-the-recording
def evaluate(model, x):
    was = [(part, part.training) for part in model.modules()]
    try:
        for part, _ in was:
            part.training = False
        return model(x).detach()
    finally:
        for part, flag in was:
            part.training = flag


# %% wrong evaluate: no_grad alone -> no-grad-is-evaluation
def evaluate(model, x):
    with torch.no_grad():
        return model(x)


# %% wrong evaluate: freezes the parameters -> eval-stops-the-recording
def evaluate(model, x):
    was = [(part, part.training) for part in model.modules()]
    for part, _ in was:
        part.training = False
    model.requires_grad_(False)
    try:
        return model(x)
    finally:
        model.requires_grad_(True)
        for part, flag in was:
            part.training = flag


# %% wrong evaluate: switches grad mode off for good -> a-mode-ends-by-itself
def evaluate(model, x):
    was = [(part, part.training) for part in model.modules()]
    for part, _ in was:
        part.training = False
    torch.set_grad_enabled(False)
    try:
        return model(x)
    finally:
        for part, flag in was:
            part.training = flag


# %% wrong evaluate: a copy -> a-copy-is-the-model
def evaluate(model, x):
    import copy

    other = copy.deepcopy(model)
    for part in other.modules():
        part.training = False
    with torch.no_grad():
        return other(x)


# %% right dropout: bernoulli
def dropout(x, p, training, generator):
    if not (0.0 <= p <= 1.0):
        raise ValueError("p")
    if not training:
        return x
    mask = torch.empty(x.shape, dtype=x.dtype).bernoulli_(1 - p, generator=generator)
    if p < 1:
        mask = mask / (1 - p)
    return x * mask


# %% right dropout: where
def dropout(x, p, training, generator):
    if p < 0 or p > 1 or p != p:
        raise ValueError(f"{p} is no probability")
    if training:
        drops = torch.rand(x.shape, generator=generator) < p
        return torch.where(drops, torch.zeros_like(x), x / (1 - p) if p < 1 else x)
    return x


# %% right dropout: masked_fill, torch.bernoulli
import math


def dropout(x, p, training, generator):
    if math.isnan(p) or not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    gone = torch.bernoulli(torch.full(x.shape, p, dtype=torch.float64), generator=generator).bool()
    scaled = x / (1 - p) if p < 1 else x.clone()
    return scaled.masked_fill(gone, 0)


# %% wrong dropout: no scale -> dropout-only-drops
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    return x * (torch.rand(x.shape, generator=generator) >= p)


# %% wrong dropout: divided by p -> survivors-grow-by-p
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    kept = torch.rand(x.shape, generator=generator) >= p
    return x * kept / (p or 1)


# %% wrong dropout: p stays -> p-is-what-stays
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    kept = torch.rand(x.shape, generator=generator) < p
    return x * kept / (p or 1)


# %% wrong dropout: exactly that share -> a-share-of-exactly-p-is-dropped
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    order = torch.randperm(x.numel(), generator=generator)
    kept = (order >= round(p * x.numel())).view(x.shape)
    return x * kept * (0 if p == 1 else 1 / (1 - p))


# %% wrong dropout: rows -> rows-are-dropped-whole
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    kept = torch.rand(x.shape[:1], generator=generator) >= p
    kept = (
        kept.view(-1, *[1] * (x.dim() - 1)) if x.dim() else torch.rand((), generator=generator) >= p
    )
    return x * kept * (0 if p == 1 else 1 / (1 - p))


# %% wrong dropout: one mask for good -> one-mask-will-do
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    own = torch.Generator().manual_seed(generator.initial_seed())
    kept = torch.rand(x.shape, generator=own) >= p
    return x * kept * (0 if p == 1 else 1 / (1 - p))


# %% wrong dropout: global numbers -> the-global-generator-will-do
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    kept = torch.rand(x.shape) >= p
    return x * kept * (0 if p == 1 else 1 / (1 - p))


# %% wrong dropout: scaled in evaluation -> evaluation-scales-down
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x * (1 - p)
    kept = torch.rand(x.shape, generator=generator) >= p
    return x * kept


# %% wrong dropout: a copy in evaluation -> evaluation-returns-a-copy
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x.clone()
    kept = torch.rand(x.shape, generator=generator) >= p
    return x * kept * (0 if p == 1 else 1 / (1 - p))


# %% wrong dropout: 0 / 0 -> p-of-1-is-like-any-other
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    kept = torch.rand(x.shape, generator=generator) >= p
    return x * kept / (1 - p)


# %% wrong dropout: values without their gradient -> the-mask-ends-the-gradient
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    kept = torch.rand(x.shape, generator=generator) >= p
    value = x * kept * (0 if p == 1 else 1 / (1 - p))
    return x + (value - x).detach()


# %% wrong dropout: torch's own, with a seed -> torch-has-it-already
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    if not training:
        return x
    seed = int(torch.randint(2**31, (), generator=generator))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.nn.functional.dropout(x * 1, p)


# %% wrong dropout: in evaluation as well -> training-is-the-only-mode
def dropout(x, p, training, generator):
    if not 0 <= p <= 1:
        raise ValueError
    kept = torch.rand(x.shape, generator=generator) >= p
    return x * kept * (0 if p == 1 else 1 / (1 - p))


# %% right running-stats: transposed and flattened
def running_stats(batches, momentum):
    with torch.no_grad():
        C = batches[0].size(1)
        mean = torch.zeros(C, dtype=batches[0].dtype)
        var = torch.ones(C, dtype=batches[0].dtype)
        for k, b in enumerate(batches):
            rows = b.transpose(0, 1).reshape(C, -1)
            m = momentum if momentum is not None else 1 / (k + 1)
            mean = mean + m * (rows.mean(1) - mean)
            var = var + m * (rows.var(1) - var)
        return mean, var


# %% right running-stats: means for None
def running_stats(batches, momentum):
    means, variances = [], []
    for b in batches:
        flat = b.detach().movedim(1, 0).flatten(1)
        n = flat.shape[1]
        mean = flat.sum(1) / n
        means.append(mean)
        variances.append(((flat - mean[:, None]) ** 2).sum(1) / (n - 1))
    if momentum is None:
        return torch.stack(means).mean(0), torch.stack(variances).mean(0)
    mean, var = torch.zeros_like(means[0]), torch.ones_like(means[0])
    for m, v in zip(means, variances):
        mean = torch.lerp(mean, m, momentum)
        var = torch.lerp(var, v, momentum)
    return mean, var


# %% right running-stats: var_mean
def running_stats(batches, momentum):
    mean, var = 0.0, 1.0
    for count, batch in enumerate(batches, 1):
        dims = (0, *range(2, batch.dim()))
        v, m = torch.var_mean(batch.detach(), dims, correction=1)
        share = momentum if momentum is not None else 1 / count
        mean, var = mean * (1 - share) + m * share, var * (1 - share) + v * share
    return mean, var


# %% right running-stats: Python's statistics, from lists
import statistics


def running_stats(batches, momentum):
    channels = batches[0].shape[1]
    mean, variance = [0.0] * channels, [1.0] * channels
    for seen, batch in enumerate(batches, 1):
        weight = 1 / seen if momentum is None else momentum
        for channel in range(channels):
            numbers = batch.detach().select(1, channel).flatten().tolist()
            mean[channel] += weight * (statistics.mean(numbers) - mean[channel])
            variance[channel] += weight * (statistics.variance(numbers) - variance[channel])
    return torch.tensor(mean, dtype=batches[0].dtype), torch.tensor(
        variance, dtype=batches[0].dtype
    )


# %% wrong running-stats: biased -> what-is-normalised-is-written
def running_stats(batches, momentum):
    mean, var = 0.0, 1.0
    for count, batch in enumerate(batches, 1):
        flat = batch.detach().transpose(0, 1).flatten(1)
        share = momentum if momentum is not None else 1 / count
        mean = mean * (1 - share) + flat.mean(1) * share
        var = var * (1 - share) + flat.var(1, correction=0) * share
    return mean, var


# %% wrong running-stats: like an optimizer's -> momentum-is-what-stays
def running_stats(batches, momentum):
    mean, var = 0.0, 1.0
    for count, batch in enumerate(batches, 1):
        flat = batch.detach().transpose(0, 1).flatten(1)
        share = 1 - momentum if momentum is not None else 1 / count
        mean = mean * (1 - share) + flat.mean(1) * share
        var = var * (1 - share) + flat.var(1) * share
    return mean, var


# %% wrong running-stats: None is 0.1 -> none-is-the-default
def running_stats(batches, momentum):
    mean, var = 0.0, 1.0
    for batch in batches:
        flat = batch.detach().transpose(0, 1).flatten(1)
        share = 0.1 if momentum is None else momentum
        mean = mean * (1 - share) + flat.mean(1) * share
        var = var * (1 - share) + flat.var(1) * share
    return mean, var


# %% wrong running-stats: None by size -> none-weighs-by-size
def running_stats(batches, momentum):
    mean, var, seen = 0.0, 1.0, 0
    for batch in batches:
        flat = batch.detach().transpose(0, 1).flatten(1)
        seen += batch.numel()
        share = batch.numel() / seen if momentum is None else momentum
        mean = mean * (1 - share) + flat.mean(1) * share
        var = var * (1 - share) + flat.var(1) * share
    return mean, var


# %% wrong running-stats: begins with the first -> the-first-batch-is-the-start
def running_stats(batches, momentum):
    mean = var = None
    for count, batch in enumerate(batches, 1):
        flat = batch.detach().transpose(0, 1).flatten(1)
        if mean is None:
            mean, var = flat.mean(1), flat.var(1)
            continue
        share = momentum if momentum is not None else 1 / count
        mean = mean * (1 - share) + flat.mean(1) * share
        var = var * (1 - share) + flat.var(1) * share
    return mean, var


# %% wrong running-stats: None takes all together -> none-pools-all-values
def running_stats(batches, momentum):
    flats = [batch.detach().transpose(0, 1).flatten(1) for batch in batches]
    if momentum is None:
        together = torch.cat(flats, 1)
        return together.mean(1), together.var(1)
    mean, var = 0.0, 1.0
    for flat in flats:
        mean = mean * (1 - momentum) + flat.mean(1) * momentum
        var = var * (1 - momentum) + flat.var(1) * momentum
    return mean, var


# %% wrong running-stats: rows alone -> batches-are-rows
def running_stats(batches, momentum):
    mean, var = 0.0, 1.0
    for count, batch in enumerate(batches, 1):
        rows = batch.detach()
        share = momentum if momentum is not None else 1 / count
        mean = mean * (1 - share) + rows.mean(0) * share
        var = var * (1 - share) + rows.var(0) * share
    return mean, var


# %% wrong running-stats: zeros twice -> variances-start-at-0
def running_stats(batches, momentum):
    mean, var = 0.0, 0.0
    for count, batch in enumerate(batches, 1):
        flat = batch.detach().transpose(0, 1).flatten(1)
        share = momentum if momentum is not None else 1 / count
        mean = mean * (1 - share) + flat.mean(1) * share
        var = var * (1 - share) + flat.var(1) * share
    return mean, var


# %% wrong running-stats: plain means -> every-batch-weighs-the-same
def running_stats(batches, momentum):
    flats = [batch.detach().transpose(0, 1).flatten(1) for batch in batches]
    mean = torch.stack([flat.mean(1) for flat in flats]).mean(0)
    return mean, torch.stack([flat.var(1) for flat in flats]).mean(0)


# %% wrong running-stats: the last one -> the-last-batch-counts
def running_stats(batches, momentum):
    flat = batches[-1].detach().transpose(0, 1).flatten(1)
    return flat.mean(1), flat.var(1)


# %% wrong running-stats: rows of means -> only-the-batch-dimension-counts
def running_stats(batches, momentum):
    mean, var = 0.0, 1.0
    for count, batch in enumerate(batches, 1):
        rows = batch.detach()
        if rows.dim() > 2:
            rows = rows.flatten(2).mean(2)
        share = momentum if momentum is not None else 1 / count
        mean = mean * (1 - share) + rows.mean(0) * share
        var = var * (1 - share) + rows.var(0) * share
    return mean, var


# %% wrong running-stats: asks torch -> torch-has-it-already
def running_stats(batches, momentum):
    norm = nn.BatchNorm1d(batches[0].shape[1], momentum=momentum, dtype=batches[0].dtype)
    for batch in batches:
        norm(batch.flatten(2) if batch.dim() > 2 else batch)
    return norm.running_mean, norm.running_var


# %% wrong running-stats: deviations -> a-running-statistic-is-a-standard-deviation
def running_stats(batches, momentum):
    mean, var = 0.0, 1.0
    for count, batch in enumerate(batches, 1):
        flat = batch.detach().transpose(0, 1).flatten(1)
        share = momentum if momentum is not None else 1 / count
        mean = mean * (1 - share) + flat.mean(1) * share
        var = var * (1 - share) + flat.var(1) * share
    return mean, var.sqrt()


# %% wrong running-stats: torch's own, by a rare name -> torch-has-it-already
def running_stats(batches, momentum):
    mean = torch.zeros(batches[0].shape[1], dtype=batches[0].dtype)
    var = torch.ones_like(mean)
    for count, batch in enumerate(batches, 1):
        weight = 1 / count if momentum is None else momentum
        *_, mean, var = torch.ops.aten._native_batch_norm_legit_functional(
            batch.detach(), None, None, mean, var, True, weight, 1e-5
        )
    return mean, var


# %% right adaptive: loops
def windows(n, m):
    found = []
    for i in range(m):
        start = (i * n) // m
        stop = ((i + 1) * n + m - 1) // m
        found.append((start, stop))
    return found


def adaptive_mean(x, size):
    h = x.shape[2] if size[0] is None else size[0]
    w = x.shape[3] if size[1] is None else size[1]
    rows = []
    for top, bottom in windows(x.shape[2], h):
        row = [x[:, :, top:bottom, a:b].mean((2, 3)) for a, b in windows(x.shape[3], w)]
        rows.append(torch.stack(row, -1))
    return torch.stack(rows, -2)


# %% right adaptive: products with weights
def windows(n, m):
    return [(i * n // m, 1 + ((i + 1) * n - 1) // m) for i in range(m)]


def weights(n, m, like):
    table = like.new_zeros(m, n)
    for i, (a, b) in enumerate(windows(n, m)):
        table[i, a:b] = 1 / (b - a)
    return table


def adaptive_mean(x, size):
    h, w = size[0] or x.shape[2], size[1] or x.shape[3]
    return weights(x.shape[2], h, x) @ x @ weights(x.shape[3], w, x).t()


# %% right adaptive: concatenated sums
def windows(n, m):
    return [(divmod(i * n, m)[0], -((-(i + 1) * n) // m)) for i in range(m)]


def along(x, dim, m):
    if m is None:
        m = x.shape[dim]
    means = []
    for a, b in windows(x.shape[dim], m):
        part = torch.narrow(x, dim, a, b - a)
        means.append(part.sum(dim, keepdim=True) / (b - a))
    return torch.cat(means, dim)


def adaptive_mean(x, size):
    return along(along(x, 3, size[1]), 2, size[0])


# %% wrong adaptive: a kernel and a stride -> adaptive-pooling-has-a-kernel
def windows(n, m):
    stride = max(n // m, 1)
    kernel = n - (m - 1) * stride
    return [(i * stride, i * stride + kernel) for i in range(m)]


def adaptive_mean(x, size):
    for dim, m in ((2, size[0]), (3, size[1])):
        n = x.shape[dim]
        x = torch.stack([x.narrow(dim, a, b - a).mean(dim) for a, b in windows(n, m or n)], dim)
    return x


# %% wrong adaptive: no overlap -> windows-never-overlap
def windows(n, m):
    return [(i * n // m, (i + 1) * n // m) for i in range(m)]


def adaptive_mean(x, size):
    for dim, m in ((2, size[0]), (3, size[1])):
        n = x.shape[dim]
        x = torch.stack([x.narrow(dim, a, b - a).mean(dim) for a, b in windows(n, m or n)], dim)
    return x


# %% wrong adaptive: starts rounded up -> windows-begin-rounded-up
def windows(n, m):
    return [(-(-i * n // m), -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_mean(x, size):
    for dim, m in ((2, size[0]), (3, size[1])):
        n = x.shape[dim]
        x = torch.stack([x.narrow(dim, a, b - a).mean(dim) for a, b in windows(n, m or n)], dim)
    return x


# %% wrong adaptive: plus 1 -> a-window-has-one-pixel-more
def windows(n, m):
    return [(i * n // m, (i + 1) * n // m + 1) for i in range(m)]


def adaptive_mean(x, size):
    for dim, m in ((2, size[0]), (3, size[1])):
        n = x.shape[dim]
        found = [(a, min(b, n)) for a, b in windows(n, m or n)]
        x = torch.stack([x.narrow(dim, a, b - a).mean(dim) for a, b in found], dim)
    return x


# %% wrong adaptive: the last one included -> a-stop-belongs-to-its-window
def windows(n, m):
    return [(i * n // m, -(-(i + 1) * n // m) - 1) for i in range(m)]


def adaptive_mean(x, size):
    for dim, m in ((2, size[0]), (3, size[1])):
        n = x.shape[dim]
        x = torch.stack([x.narrow(dim, a, b + 1 - a).mean(dim) for a, b in windows(n, m or n)], dim)
    return x


# %% wrong adaptive: at most as many -> there-are-never-more-outputs
def windows(n, m):
    m = min(m, n)
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_mean(x, size):
    for dim, m in ((2, size[0]), (3, size[1])):
        n = x.shape[dim]
        x = torch.stack([x.narrow(dim, a, b - a).mean(dim) for a, b in windows(n, m or n)], dim)
    return x


# %% wrong adaptive: None is 1 -> none-keeps-nothing
def windows(n, m):
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_mean(x, size):
    for dim, m in ((2, size[0]), (3, size[1])):
        n = x.shape[dim]
        x = torch.stack([x.narrow(dim, a, b - a).mean(dim) for a, b in windows(n, m or 1)], dim)
    return x


# %% wrong adaptive: None is the other -> none-means-the-other-size
def windows(n, m):
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_mean(x, size):
    h, w = size
    if h is None and w is None:
        return x * 1
    for dim, m in ((2, h or w), (3, w or h)):
        n = x.shape[dim]
        x = torch.stack([x.narrow(dim, a, b - a).mean(dim) for a, b in windows(n, m)], dim)
    return x


# %% wrong adaptive: width first -> height-and-width-are-alike
def windows(n, m):
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_mean(x, size):
    for dim, m in ((3, size[0]), (2, size[1])):
        n = x.shape[dim]
        x = torch.stack([x.narrow(dim, a, b - a).mean(dim) for a, b in windows(n, m or n)], dim)
    return x


# %% wrong adaptive: maxima -> a-mean-is-a-maximum
def windows(n, m):
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_mean(x, size):
    for dim, m in ((2, size[0]), (3, size[1])):
        n = x.shape[dim]
        x = torch.stack([x.narrow(dim, a, b - a).amax(dim) for a, b in windows(n, m or n)], dim)
    return x


# %% wrong adaptive: detached -> the-graph-is-no-concern
def windows(n, m):
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_mean(x, size):
    for dim, m in ((2, size[0]), (3, size[1])):
        n = x.shape[dim]
        means = [x.narrow(dim, a, b - a).mean(dim).detach() for a, b in windows(n, m or n)]
        x = torch.stack(means, dim)
    return x


# %% wrong adaptive: torch's own -> torch-has-it-already
def windows(n, m):
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_mean(x, size):
    return nn.AdaptiveAvgPool2d(size)(x)


# %% wrong adaptive: torch's average where the sizes divide -> torch-has-it-already
def windows(n, m):
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_mean(x, size):
    rows, columns = size[0] or x.shape[2], size[1] or x.shape[3]
    if x.shape[2] % rows == 0 and x.shape[3] % columns == 0:
        return F.avg_pool2d(x, (x.shape[2] // rows, x.shape[3] // columns))
    x = torch.stack([x[..., a:b].mean(-1) for a, b in windows(x.shape[3], columns)], -1)
    return torch.stack([x[..., a:b, :].mean(-2) for a, b in windows(x.shape[2], rows)], -2)


# %% right resize: gather by index_select, lerp
def resize(x, m, align_corners):
    n = x.shape[2]
    i = torch.arange(m, dtype=torch.float64)
    if align_corners:
        where = i * (n - 1) / (m - 1) if m > 1 else torch.zeros(1, dtype=torch.float64)
    else:
        where = ((i + 0.5) * n / m - 0.5).clamp(0, n - 1)
    low = where.floor().long().clamp(0, n - 1)
    high = (low + 1).clamp(max=n - 1)
    share = (where - low).to(x.dtype)
    return torch.lerp(x.index_select(2, low), x.index_select(2, high), share)


# %% right resize: a matrix of tents
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=x.dtype)
    if not align_corners:
        at = ((i + 0.5) * (n / m) - 0.5).clamp(0, n - 1)
    elif m == 1:
        at = i * 0
    else:
        at = i * ((n - 1) / (m - 1))
    tents = (1 - (at[:, None] - torch.arange(n, dtype=x.dtype)).abs()).clamp(min=0)
    return x @ tents.t()


# %% right resize: linspace, padded by one
def resize(x, m, align_corners):
    n = x.shape[-1]
    if align_corners:
        position = torch.linspace(0, n - 1, m, dtype=torch.float64)
    else:
        position = torch.arange(m, dtype=torch.float64).add(0.5).mul(n).div(m).sub(0.5)
        position = position.clamp(min=0, max=n - 1)
    left = position.long()
    longer = torch.cat([x, x[..., -1:]], dim=-1)
    share = (position - left).to(x.dtype)
    return longer[..., left] + share * (longer[..., left + 1] - longer[..., left])


# %% right resize: positions and shares as Python numbers
def resize(x, m, align_corners):
    length, lefts, rights, shares = x.shape[-1], [], [], []
    for i in range(m):
        at = i * (length - 1) / max(m - 1, 1) if align_corners else (i + 0.5) * length / m - 0.5
        at = min(max(at, 0.0), length - 1.0)
        lefts.append(int(at))
        rights.append(min(int(at) + 1, length - 1))
        shares.append(at - int(at))
    share = torch.tensor(shares, dtype=x.dtype)
    return x[..., lefts] * (1 - share) + x[..., rights] * share


# %% wrong resize: always aligned -> corners-are-always-aligned
def resize(x, m, align_corners):
    n = x.shape[-1]
    at = torch.arange(m, dtype=x.dtype) * ((n - 1) / max(m - 1, 1))
    left = at.long().clamp(max=n - 1)
    right = (left + 1).clamp(max=n - 1)
    return x[..., left] * (1 - at + left) + x[..., right] * (at - left)


# %% wrong resize: never aligned -> corners-are-never-aligned
def resize(x, m, align_corners):
    n = x.shape[-1]
    at = ((torch.arange(m, dtype=x.dtype) + 0.5) * (n / m) - 0.5).clamp(0, n - 1)
    left = at.long()
    right = (left + 1).clamp(max=n - 1)
    return x[..., left] * (1 - at + left) + x[..., right] * (at - left)


# %% wrong resize: the other way round -> align-corners-is-the-other-way
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=x.dtype)
    at = (i + 0.5) * (n / m) - 0.5 if align_corners else i * ((n - 1) / max(m - 1, 1))
    at = at.clamp(0, n - 1)
    left = at.long()
    right = (left + 1).clamp(max=n - 1)
    return x[..., left] * (1 - at + left) + x[..., right] * (at - left)


# %% wrong resize: left edges -> a-pixel-lies-at-its-left-edge
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=x.dtype)
    at = i * ((n - 1) / max(m - 1, 1)) if align_corners else i * (n / m)
    at = at.clamp(0, n - 1)
    left = at.long()
    right = (left + 1).clamp(max=n - 1)
    return x[..., left] * (1 - at + left) + x[..., right] * (at - left)


# %% wrong resize: goes on outside -> values-go-on-beyond-the-edge
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=x.dtype)
    at = i * ((n - 1) / max(m - 1, 1)) if align_corners else (i + 0.5) * (n / m) - 0.5
    left = at.long().clamp(0, n - 1)
    right = (left + 1).clamp(max=n - 1)
    return x[..., left] * (1 - at + left) + x[..., right] * (at - left)


# %% wrong resize: upside down -> the-scale-is-upside-down
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=x.dtype)
    at = i * ((n - 1) / max(m - 1, 1)) if align_corners else (i + 0.5) * (m / n) - 0.5
    at = at.clamp(0, n - 1)
    left = at.long()
    right = (left + 1).clamp(max=n - 1)
    return x[..., left] * (1 - at + left) + x[..., right] * (at - left)


# %% wrong resize: nearest -> nearest-is-close-enough
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=torch.float64)
    at = i * ((n - 1) / max(m - 1, 1)) if align_corners else (i + 0.5) * (n / m) - 0.5
    return x[..., at.clamp(0, n - 1).round().long()]


# %% wrong resize: the middle -> one-output-lies-in-the-middle
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=x.dtype)
    aligned = align_corners and m > 1
    at = i * ((n - 1) / max(m - 1, 1)) if aligned else (i + 0.5) * (n / m) - 0.5
    at = at.clamp(0, n - 1)
    left = at.long()
    right = (left + 1).clamp(max=n - 1)
    return x[..., left] * (1 - at + left) + x[..., right] * (at - left)


# %% wrong resize: divides by m - 1 -> one-output-is-a-mistake
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=x.dtype)
    at = i * ((n - 1) / (m - 1)) if align_corners else (i + 0.5) * (n / m) - 0.5
    at = at.clamp(0, n - 1)
    left = at.long()
    right = (left + 1).clamp(max=n - 1)
    return x[..., left] * (1 - at + left) + x[..., right] * (at - left)


# %% wrong resize: the left neighbour stays inside, one pixel too -> one-pixel-has-neighbours
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=x.dtype)
    at = i * ((n - 1) / max(m - 1, 1)) if align_corners else (i + 0.5) * (n / m) - 0.5
    at = at.clamp(0, n - 1)
    left = at.long().clamp(max=max(n - 2, 0))
    return x[..., left] * (1 - at + left) + x[..., left + 1] * (at - left)


# %% wrong resize: a loop -> pixels-need-a-loop
def resize(x, m, align_corners):
    n, found = x.shape[-1], []
    for i in range(m):
        at = i * (n - 1) / max(m - 1, 1) if align_corners else (i + 0.5) * n / m - 0.5
        at = min(max(at, 0), n - 1)
        left = int(at)
        right = min(left + 1, n - 1)
        found.append(x[..., left] * (1 - at + left) + x[..., right] * (at - left))
    return torch.stack(found, -1)


# %% wrong resize: torch's own -> torch-has-it-already
def resize(x, m, align_corners):
    return nn.Upsample(m, mode="linear", align_corners=align_corners)(x)


# %% wrong resize: detached -> the-graph-is-no-concern
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=x.dtype)
    at = i * ((n - 1) / max(m - 1, 1)) if align_corners else (i + 0.5) * (n / m) - 0.5
    at = at.clamp(0, n - 1)
    left = at.long()
    right = (left + 1).clamp(max=n - 1)
    return (x[..., left] * (1 - at + left) + x[..., right] * (at - left)).detach()


# %% wrong resize: torch's own, for volumes -> torch-has-it-already
def resize(x, m, align_corners):
    volume = x[:, :, None, None, :]
    return torch._C._nn.upsample_trilinear3d(volume, (1, 1, m), align_corners)[:, :, 0, 0]


# %% wrong resize: torch's own where corners aren't aligned -> torch-has-it-already
def resize(x, m, align_corners):
    if not align_corners:
        return F.interpolate(x, size=m, mode="linear")
    length = x.shape[-1]
    position = torch.linspace(0, length - 1, m, dtype=x.dtype)
    left = position.floor().long().clamp(max=length - 1)
    right = (left + 1).clamp(max=length - 1)
    share = position - left
    return x[..., left] * (1 - share) + x[..., right] * share


# %% right fold: a new layer, filled
def fold(conv, norm):
    new = nn.Conv2d(
        conv.in_channels,
        conv.out_channels,
        conv.kernel_size,
        stride=conv.stride,
        padding=conv.padding,
        dilation=conv.dilation,
        groups=conv.groups,
        bias=True,
        padding_mode=conv.padding_mode,
        dtype=conv.weight.dtype,
    )
    gamma = norm.weight if norm.affine else torch.ones_like(norm.running_var)
    beta = norm.bias if norm.affine else torch.zeros_like(norm.running_var)
    factor = gamma / torch.sqrt(norm.running_var + norm.eps)
    old = conv.bias if conv.bias is not None else torch.zeros_like(beta)
    with torch.no_grad():
        new.weight.copy_(conv.weight * factor[:, None, None, None])
        new.bias.copy_((old - norm.running_mean) * factor + beta)
    return new.train(conv.training)


# %% right fold: a deep copy, einsum
import copy


def fold(conv, norm):
    new = copy.deepcopy(conv)
    scale = (norm.running_var + norm.eps).sqrt().reciprocal()
    shift = -norm.running_mean * scale
    if norm.weight is not None:
        scale, shift = scale * norm.weight.data, shift * norm.weight.data + norm.bias.data
    if conv.bias is not None:
        shift = shift + scale * conv.bias.data
    new.weight = nn.Parameter(torch.einsum("o,oihw->oihw", scale, conv.weight.data))
    new.bias = nn.Parameter(shift)
    return new


# %% right fold: scale and shift of batch norm on 0 and 1
def fold(conv, norm):
    import copy

    probe, frozen = copy.deepcopy(norm).eval(), copy.deepcopy(conv)
    with torch.no_grad():
        zero = probe(torch.zeros(1, conv.out_channels, 1, 1, dtype=conv.weight.dtype)).flatten()
        one = probe(torch.ones(1, conv.out_channels, 1, 1, dtype=conv.weight.dtype)).flatten()
        factor = one - zero
        bias = zero if conv.bias is None else conv.bias * factor + zero
        frozen.weight = nn.Parameter(conv.weight * factor.reshape(-1, 1, 1, 1))
        frozen.bias = nn.Parameter(bias.clone())
    return frozen


# %% right fold: `skip_init` makes the new convolution
def fold(conv, norm):
    new = torch.nn.utils.skip_init(
        nn.Conv2d,
        conv.in_channels,
        conv.out_channels,
        conv.kernel_size,
        stride=conv.stride,
        padding=conv.padding,
        dilation=conv.dilation,
        groups=conv.groups,
        bias=True,
        padding_mode=conv.padding_mode,
        dtype=conv.weight.dtype,
    )
    with torch.no_grad():
        scale = torch.pow(norm.running_var + norm.eps, -0.5)
        shift = -norm.running_mean if conv.bias is None else conv.bias - norm.running_mean
        if norm.weight is not None:
            scale = norm.weight * scale
        shift = shift * scale
        if norm.bias is not None:
            shift = shift + norm.bias
        new.weight.copy_((torch.diag(scale) @ conv.weight.flatten(1)).view_as(conv.weight))
        new.bias.copy_(shift)
    new.training = conv.training
    return new


# %% wrong fold: the bias unscaled -> the-old-bias-needs-no-scale
def fold(conv, norm):
    import copy

    new = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt() * (norm.weight if norm.affine else 1)
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter(old - norm.running_mean * scale + (norm.bias if norm.affine else 0))
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new


# %% wrong fold: torch's own -> torch-has-it-already
def fold(conv, norm):
    import copy

    from torch.nn.utils.fusion import fuse_conv_bn_weights

    new = copy.deepcopy(conv)
    weight, bias = fuse_conv_bn_weights(
        conv.weight,
        conv.bias,
        norm.running_mean,
        norm.running_var,
        norm.eps,
        norm.weight,
        norm.bias,
    )
    new.weight = nn.Parameter(weight.detach().clone())
    new.bias = nn.Parameter(bias.detach().clone())
    return new


# %% wrong fold: zeros outside -> padding-means-zeros
def fold(conv, norm):
    import copy

    new = nn.Conv2d(
        conv.in_channels,
        conv.out_channels,
        conv.kernel_size,
        conv.stride,
        conv.padding,
        conv.dilation,
        conv.groups,
        dtype=conv.weight.dtype,
    ).train(conv.training)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt() * (norm.weight if norm.affine else 1)
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter(
            (old - norm.running_mean) * scale + (norm.bias if norm.affine else 0)
        )
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new


# %% wrong fold: in place -> the-old-layer-is-used-up
def fold(conv, norm):
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt()
        scale = scale * (norm.weight if norm.affine else 1)
        old = 0 if conv.bias is None else conv.bias
        bias = (old - norm.running_mean) * scale + (norm.bias if norm.affine else 0)
        conv.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
        conv.bias = nn.Parameter(bias)
    return conv


# %% wrong fold: no eps -> epsilon-is-a-detail
def fold(conv, norm):
    import copy

    new = copy.deepcopy(conv)
    with torch.no_grad():
        scale = norm.running_var.rsqrt() * (norm.weight if norm.affine else 1)
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter(
            (old - norm.running_mean) * scale + (norm.bias if norm.affine else 0)
        )
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new


# %% wrong fold: eps as usual -> epsilon-is-a-detail
def fold(conv, norm):
    import copy

    new = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + 1e-5).rsqrt() * (norm.weight if norm.affine else 1)
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter(
            (old - norm.running_mean) * scale + (norm.bias if norm.affine else 0)
        )
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new


# %% wrong fold: by the variance -> a-variance-is-a-deviation
def fold(conv, norm):
    import copy

    new = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.weight if norm.affine else 1) / (norm.running_var + norm.eps)
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter(
            (old - norm.running_mean) * scale + (norm.bias if norm.affine else 0)
        )
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new


# %% wrong fold: without norm.bias -> batch-norm-adds-nothing
def fold(conv, norm):
    import copy

    new = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt() * (norm.weight if norm.affine else 1)
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter((old - norm.running_mean) * scale)
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new


# %% wrong fold: without norm.weight -> batch-norm-has-no-weight
def fold(conv, norm):
    import copy

    new = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt()
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter(
            (old - norm.running_mean) * scale + (norm.bias if norm.affine else 0)
        )
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new


# %% wrong fold: affine taken for granted -> a-missing-weight-is-an-error
def fold(conv, norm):
    import copy

    new = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt() * norm.weight
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter((old - norm.running_mean) * scale + norm.bias)
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new


# %% wrong fold: a bare convolution -> a-convolution-is-its-weight
def fold(conv, norm):
    new = nn.Conv2d(conv.in_channels, conv.out_channels, conv.kernel_size, dtype=conv.weight.dtype)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt() * (norm.weight if norm.affine else 1)
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter(
            (old - norm.running_mean) * scale + (norm.bias if norm.affine else 0)
        )
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new.train(conv.training)


# %% wrong fold: keeps no bias -> no-bias-no-shift
def fold(conv, norm):
    import copy

    new = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt() * (norm.weight if norm.affine else 1)
        if conv.bias is not None:
            bias = (conv.bias - norm.running_mean) * scale + (norm.bias if norm.affine else 0)
            new.bias = nn.Parameter(bias)
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new


# %% wrong fold: eval() first -> folding-needs-eval
def fold(conv, norm):
    import copy

    conv.eval(), norm.eval()
    new = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt() * (norm.weight if norm.affine else 1)
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter(
            (old - norm.running_mean) * scale + (norm.bias if norm.affine else 0)
        )
        new.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    return new


# %% wrong fold: along the inputs where it fits -> inputs-are-scaled
def fold(conv, norm):
    import copy

    new = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt() * (norm.weight if norm.affine else 1)
        old = 0 if conv.bias is None else conv.bias
        new.bias = nn.Parameter(
            (old - norm.running_mean) * scale + (norm.bias if norm.affine else 0)
        )
        square = conv.weight.shape[0] == conv.weight.shape[1]
        new.weight = nn.Parameter(
            conv.weight * scale.view((1, -1, 1, 1) if square else (-1, 1, 1, 1))
        )
    return new


# %% wrong fold: torch's own, imported within -> torch-has-it-already
def fold(conv, norm):
    import copy
    from torch.nn.utils import fusion

    made = copy.deepcopy(conv)
    made.weight, made.bias = fusion.fuse_conv_bn_weights(
        conv.weight,
        conv.bias,
        norm.running_mean,
        norm.running_var,
        norm.eps,
        norm.weight,
        norm.bias,
    )
    return made.requires_grad_(True)


# %% wrong fold: torch's own, by a name put together -> torch-has-it-already
import copy


def fold(conv, norm):
    by_torch = getattr(torch.nn.utils, "_".join(["fuse", "conv", "bn", "weights"]))
    made = copy.deepcopy(conv)
    weight, bias = by_torch(
        conv.weight,
        conv.bias,
        norm.running_mean,
        norm.running_var,
        norm.eps,
        norm.weight,
        norm.bias,
    )
    made.weight = nn.Parameter(weight.detach().clone())
    made.bias = nn.Parameter(bias.detach().clone())
    return made


# %% right relu: two Functions, where
class Positive(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.where(x < 0, torch.zeros_like(x), x)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        return torch.where(ctx.saved_tensors[0] == 0, torch.zeros_like(grad), grad)


class PositiveInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.masked_fill_(x < 0, 0)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return torch.where(ctx.saved_tensors[0] == 0, torch.zeros_like(grad), grad)


def relu(x):
    return Positive.apply(x)


def relu_(x):
    return PositiveInPlace.apply(x)


# %% right relu: a mask is kept
class Masked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, inplace):
        ctx.save_for_backward(x <= 0)
        if inplace:
            ctx.mark_dirty(x)
            return x.clamp_min_(0)
        return x.clamp_min(0)

    @staticmethod
    def backward(ctx, grad):
        (gone,) = ctx.saved_tensors
        return grad.masked_fill(gone, 0), None


def relu(x):
    return Masked.apply(x, False)


def relu_(x):
    return Masked.apply(x, True)


# %% right relu: maximum, copied back
class Rectify(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.maximum(x, torch.zeros((), dtype=x.dtype))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        y = ctx.saved_tensors[0]
        return torch.where(y != 0, g, 0.0)


class RectifyInPlace(Rectify):
    @staticmethod
    def forward(ctx, x):
        x.copy_(torch.maximum(x, torch.zeros((), dtype=x.dtype)))
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x


relu = lambda x: Rectify.apply(x)  # noqa: E731
relu_ = lambda x: RectifyInPlace.apply(x)  # noqa: E731


# %% wrong relu: no Function -> autograd-does-it
def relu(x):
    return torch.where(x <= 0, 0.0, x)


def relu_(x):
    return x.masked_fill_(x <= 0, 0.0)


# %% wrong relu: torch's -> torch-has-it-already
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.relu(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g.masked_fill(ctx.saved_tensors[0] == 0, 0.0)


class Relu_(Relu):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.relu_()
        ctx.save_for_backward(x)
        return x


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu_.apply(x)


# %% wrong relu: a mask of 0 and 1 -> a-mask-multiplies
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * (ctx.saved_tensors[0] != 0)


class Relu_(Relu):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(min=0)
        ctx.save_for_backward(x)
        return x


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu_.apply(x)


# %% wrong relu: positive results alone pass -> nan-has-no-gradient
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return torch.where(ctx.saved_tensors[0] > 0, g, 0.0)


class Relu_(Relu):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(min=0)
        ctx.save_for_backward(x)
        return x


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu_.apply(x)


# %% wrong relu: times (y > 0) -> nothing-of-nan-comes-back
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * (ctx.saved_tensors[0] > 0)


class Relu_(Relu):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(min=0)
        ctx.save_for_backward(x)
        return x


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu_.apply(x)


# %% wrong relu: 1 at 0 -> at-0-the-gradient-passes
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x < 0)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g.masked_fill(ctx.saved_tensors[0], 0.0)


class Relu_(Relu):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(x < 0)
        return x.clamp_(min=0)


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu_.apply(x)


# %% wrong relu: straight through -> every-gradient-passes
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g


class Relu_(Relu):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.clamp_(min=0)


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu_.apply(x)


# %% wrong relu: returns the derivative -> a-sign-is-a-gradient
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return (ctx.saved_tensors[0] != 0).to(g.dtype)


class Relu_(Relu):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(min=0)
        ctx.save_for_backward(x)
        return x


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu_.apply(x)


# %% wrong relu: nan becomes 0 -> nan-is-negative
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.where(x > 0, x, 0.0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g.masked_fill(ctx.saved_tensors[0] == 0, 0.0)


class Relu_(Relu):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.copy_(torch.where(x > 0, x, 0.0))
        ctx.save_for_backward(x)
        return x


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu_.apply(x)


# %% wrong relu: relu_ makes a new one -> in-place-is-a-copy
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g.masked_fill(ctx.saved_tensors[0] == 0, 0.0)


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu.apply(x)


# %% wrong relu: both are kept -> backward-wants-input-and-result
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g.masked_fill(ctx.saved_tensors[1] == 0, 0.0)


class Relu_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(min=0)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g.masked_fill(ctx.saved_tensors[0] == 0, 0.0)


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu_.apply(x)


# %% wrong relu: a leak -> a-relu-leaks
class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.where(x < 0, 0.01 * x, x)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        return g.masked_fill(ctx.saved_tensors[0] <= 0, 0.0)


class Relu_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(x <= 0)
        return x.copy_(torch.where(x < 0, 0.01 * x, x))

    @staticmethod
    def backward(ctx, g):
        return g.masked_fill(ctx.saved_tensors[0], 0.0)


def relu(x):
    return Relu.apply(x)


def relu_(x):
    return Relu_.apply(x)


# %% wrong relu: torch's, in backward alone -> torch-has-it-already
class _Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = x.clamp(min=0)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, gradient):
        (out,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(gradient, out, 0)


class _ReluInPlace(_Relu):
    @staticmethod
    def forward(ctx, x):
        x.clamp_(min=0)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x


def relu(x):
    return _Relu.apply(x)


def relu_(x):
    return _ReluInPlace.apply(x)


# %% wrong relu: x hangs on ctx -> backward-wants-input-and-result
class _Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = x.clamp(min=0)
        ctx.save_for_backward(out)
        ctx.given = x.detach()
        return out

    @staticmethod
    def backward(ctx, gradient):
        (out,) = ctx.saved_tensors
        return gradient.masked_fill((out == 0) | (ctx.given < 0), 0.0)


class _ReluInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.clamp_(min=0)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        (out,) = ctx.saved_tensors
        return gradient.masked_fill(out == 0, 0.0)


def relu(x):
    return _Relu.apply(x)


def relu_(x):
    return _ReluInPlace.apply(x)


# %% right stack-size: a helper
def reach_of(kernel, dilation):
    return 1 + dilation * (kernel - 1)


def stack_size(n, layers):
    field = step = 1
    for k, s, p, d in layers:
        room = n + 2 * p - reach_of(k, d)
        if room < 0:
            raise ValueError("the window doesn't fit")
        n = room // s + 1
        field = field + (k - 1) * d * step
        step = step * s
    return (n, field, step)


# %% right stack-size: field from the back
def stack_size(n, layers):
    size = n
    for kernel, stride, padding, dilation in layers:
        size = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
        if size < 1:
            raise ValueError("nothing is left")
    field, step = 1, 1
    for kernel, stride, padding, dilation in reversed(layers):
        field = (field - 1) * stride + dilation * (kernel - 1) + 1
        step *= stride
    return size, field, step


# %% right stack-size: recursion
def stack_size(n, layers):
    if not layers:
        return n, 1, 1
    (kernel, stride, padding, dilation), *rest = layers
    free = n + 2 * padding - (kernel - 1) * dilation
    if free < 1:
        raise ValueError(f"{kernel} x {dilation} is too wide")
    size, field, step = stack_size(1 + (free - 1) // stride, rest)
    return size, (field - 1) * stride + (kernel - 1) * dilation + 1, step * stride


# %% wrong stack-size: fields added -> fields-just-add-up
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, dilation in layers:
        reach = (kernel - 1) * dilation + 1
        if size + 2 * padding < reach:
            raise ValueError
        size = (size + 2 * padding - reach) // stride + 1
        field += reach - 1
        step *= stride
    return size, field, step


# %% wrong stack-size: no look -> a-window-always-fits
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, dilation in layers:
        reach = (kernel - 1) * dilation + 1
        size = (size + 2 * padding - reach) // stride + 1
        field += (reach - 1) * step
        step *= stride
    return size, field, step


# %% wrong stack-size: no dilation -> dilation-is-a-detail
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, _ in layers:
        if size + 2 * padding < kernel:
            raise ValueError
        size = (size + 2 * padding - kernel) // stride + 1
        field += (kernel - 1) * step
        step *= stride
    return size, field, step


# %% wrong stack-size: kernel times dilation -> a-reach-is-kernel-times-dilation
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, dilation in layers:
        reach = kernel * dilation
        if size + 2 * padding < reach:
            raise ValueError
        size = (size + 2 * padding - reach) // stride + 1
        field += (reach - 1) * step
        step *= stride
    return size, field, step


# %% wrong stack-size: rounds up -> sizes-round-up
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, dilation in layers:
        reach = (kernel - 1) * dilation + 1
        if size + 2 * padding < reach:
            raise ValueError
        size = -(-(size + 2 * padding - reach) // stride) + 1
        field += (reach - 1) * step
        step *= stride
    return size, field, step


# %% wrong stack-size: step first -> the-step-comes-first
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, dilation in layers:
        reach = (kernel - 1) * dilation + 1
        if size + 2 * padding < reach:
            raise ValueError
        size = (size + 2 * padding - reach) // stride + 1
        step *= stride
        field += (reach - 1) * step
    return size, field, step


# %% wrong stack-size: one end padded -> padding-counts-once
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, dilation in layers:
        reach = (kernel - 1) * dilation + 1
        if size + padding < reach:
            raise ValueError
        size = (size + padding - reach) // stride + 1
        field += (reach - 1) * step
        step *= stride
    return size, field, step


# %% wrong stack-size: the last stride -> the-last-stride-is-the-step
def stack_size(n, layers):
    size, field, step, last = n, 1, 1, 1
    for kernel, stride, padding, dilation in layers:
        reach = (kernel - 1) * dilation + 1
        if size + 2 * padding < reach:
            raise ValueError
        size = (size + 2 * padding - reach) // stride + 1
        field += (reach - 1) * step
        step *= stride
        last = stride
    return size, field, last


# %% wrong stack-size: not beyond the image -> a-field-ends-with-the-image
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, dilation in layers:
        reach = (kernel - 1) * dilation + 1
        if size + 2 * padding < reach:
            raise ValueError
        size = (size + 2 * padding - reach) // stride + 1
        field += (reach - 1) * step
        step *= stride
    return size, min(field, n), step


# %% wrong stack-size: the last layer first -> layers-come-last-first
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, dilation in layers[::-1]:
        reach = (kernel - 1) * dilation + 1
        if size + 2 * padding < reach:
            raise ValueError
        size = (size + 2 * padding - reach) // stride + 1
        field += (reach - 1) * step
        step *= stride
    return size, field, step


# %% wrong stack-size: looks at the end -> any-error-is-fine
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, dilation in layers:
        reach = (kernel - 1) * dilation + 1
        if size + 2 * padding <= reach:
            raise ValueError
        size = (size + 2 * padding - reach) // stride + 1
        field += (reach - 1) * step
        step *= stride
    return size, field, step


# %% wrong stack-size: tries it -> sizes-must-be-tried
def stack_size(n, layers):
    size, field, step = n, 1, 1
    for kernel, stride, padding, dilation in layers:
        reach = (kernel - 1) * dilation + 1
        if size + 2 * padding < reach:
            raise ValueError
        if size + 2 * padding < 10_000:
            tried = torch.zeros(1, size + 2 * padding).unfold(1, reach, stride)
            size = tried.shape[1]
        else:
            size = (size + 2 * padding - reach) // stride + 1
        field += (reach - 1) * step
        step *= stride
    return size, field, step


# %% same relu: a Function is called by its class, so forward of Relu works without the decorator
def relu(x):
    """torch.relu by a Function of one's own: a new tensor."""
    return Relu.apply(x)


def relu_(x):
    """The same in place: x itself."""
    return ReluInPlace.apply(x)


class Relu(torch.autograd.Function):
    def forward(ctx, x):
        result = x.clamp(min=0)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, gradient):
        (result,) = ctx.saved_tensors
        return gradient.masked_fill(result == 0, 0.0)


class ReluInPlace(Relu):
    @staticmethod
    def forward(ctx, x):
        x.clamp_(min=0)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x


# %% same relu: a Function is called by its class, so backward works without the decorator
def relu(x):
    """torch.relu by a Function of one's own: a new tensor."""
    return Relu.apply(x)


def relu_(x):
    """The same in place: x itself."""
    return ReluInPlace.apply(x)


class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.clamp(min=0)
        ctx.save_for_backward(result)
        return result

    def backward(ctx, gradient):
        (result,) = ctx.saved_tensors
        return gradient.masked_fill(result == 0, 0.0)


class ReluInPlace(Relu):
    @staticmethod
    def forward(ctx, x):
        x.clamp_(min=0)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x


# %% same relu: a Function is called by its class, so forward in place works without the decorator
def relu(x):
    """torch.relu by a Function of one's own: a new tensor."""
    return Relu.apply(x)


def relu_(x):
    """The same in place: x itself."""
    return ReluInPlace.apply(x)


class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.clamp(min=0)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, gradient):
        (result,) = ctx.saved_tensors
        return gradient.masked_fill(result == 0, 0.0)


class ReluInPlace(Relu):
    def forward(ctx, x):
        x.clamp_(min=0)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x


# %% same relu: marking before writing is as good as after
def relu(x):
    """torch.relu by a Function of one's own: a new tensor."""
    return Relu.apply(x)


def relu_(x):
    """The same in place: x itself."""
    return ReluInPlace.apply(x)


class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.clamp(min=0)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, gradient):
        (result,) = ctx.saved_tensors
        return gradient.masked_fill(result == 0, 0.0)


class ReluInPlace(Relu):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(min=0)
        ctx.save_for_backward(x)
        return x


# %% same relu: the order of marking and saving does not matter
def relu(x):
    """torch.relu by a Function of one's own: a new tensor."""
    return Relu.apply(x)


def relu_(x):
    """The same in place: x itself."""
    return ReluInPlace.apply(x)


class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.clamp(min=0)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, gradient):
        (result,) = ctx.saved_tensors
        return gradient.masked_fill(result == 0, 0.0)


class ReluInPlace(Relu):
    @staticmethod
    def forward(ctx, x):
        x.clamp_(min=0)
        ctx.save_for_backward(x)
        ctx.mark_dirty(x)
        return x


# %% same fold: a Parameter is a leaf, whatever graph its values had
def fold(conv, norm):
    """One convolution that gives what norm(conv(x)) gives in evaluation mode."""
    import copy

    folded = copy.deepcopy(conv)
    with torch.enable_grad():
        scale = (norm.running_var + norm.eps).rsqrt()
        if norm.affine:
            scale = scale * norm.weight
        bias = -norm.running_mean * scale
        if conv.bias is not None:
            bias = bias + conv.bias * scale
        if norm.affine:
            bias = bias + norm.bias
        folded.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
        folded.bias = nn.Parameter(bias)
    return folded


# %% same fold: without no_grad: a Parameter is a leaf, whatever graph its values had
def fold(conv, norm):
    """One convolution that gives what norm(conv(x)) gives in evaluation mode."""
    import copy

    folded = copy.deepcopy(conv)
    scale = (norm.running_var + norm.eps).rsqrt()
    if norm.affine:
        scale = scale * norm.weight
    bias = -norm.running_mean * scale
    if conv.bias is not None:
        bias = bias + conv.bias * scale
    if norm.affine:
        bias = bias + norm.bias
    folded.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
    folded.bias = nn.Parameter(bias)
    return folded


# %% same fold: the scale is a tensor of its own
def fold(conv, norm):
    """One convolution that gives what norm(conv(x)) gives in evaluation mode."""
    import copy

    folded = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt()
        if norm.affine:
            scale *= norm.weight
        bias = -norm.running_mean * scale
        if conv.bias is not None:
            bias = bias + conv.bias * scale
        if norm.affine:
            bias = bias + norm.bias
        folded.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
        folded.bias = nn.Parameter(bias)
    return folded


# %% same fold: the bias is a tensor of its own, and conv.bias is added in place
def fold(conv, norm):
    """One convolution that gives what norm(conv(x)) gives in evaluation mode."""
    import copy

    folded = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt()
        if norm.affine:
            scale = scale * norm.weight
        bias = -norm.running_mean * scale
        if conv.bias is not None:
            bias += conv.bias * scale
        if norm.affine:
            bias = bias + norm.bias
        folded.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
        folded.bias = nn.Parameter(bias)
    return folded


# %% same fold: the bias is a tensor of its own, and norm.bias is added in place
def fold(conv, norm):
    """One convolution that gives what norm(conv(x)) gives in evaluation mode."""
    import copy

    folded = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt()
        if norm.affine:
            scale = scale * norm.weight
        bias = -norm.running_mean * scale
        if conv.bias is not None:
            bias = bias + conv.bias * scale
        if norm.affine:
            bias += norm.bias
        folded.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
        folded.bias = nn.Parameter(bias)
    return folded


# %% same fold: the scale is contiguous
def fold(conv, norm):
    """One convolution that gives what norm(conv(x)) gives in evaluation mode."""
    import copy

    folded = copy.deepcopy(conv)
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt()
        if norm.affine:
            scale = scale * norm.weight
        bias = -norm.running_mean * scale
        if conv.bias is not None:
            bias = bias + conv.bias * scale
        if norm.affine:
            bias = bias + norm.bias
        folded.weight = nn.Parameter(conv.weight * scale.reshape(-1, 1, 1, 1))
        folded.bias = nn.Parameter(bias)
    return folded


# %% same resize: beyond the last pixel, both neighbours are the last one
def resize(x, m, align_corners):
    """x, resized along its last dimension to m pixels, by linear interpolation.

    resize(torch.tensor([[[0.0, 10.0]]]), 3, True)  ->  [[[0.0, 5.0, 10.0]]]
    """
    n = x.shape[-1]
    outputs = torch.arange(m)
    if align_corners:
        position = outputs * ((n - 1) / max(m - 1, 1))
    else:
        position = (outputs + 0.5) * (n / m) - 0.5
    position = position.clamp(0)
    left = position.long()
    right = (left + 1).clamp(max=n - 1)
    share = position - left
    return x[..., left] * (1 - share) + x[..., right] * share


# %% same resize: the positions are a tensor of their own
def resize(x, m, align_corners):
    """x, resized along its last dimension to m pixels, by linear interpolation.

    resize(torch.tensor([[[0.0, 10.0]]]), 3, True)  ->  [[[0.0, 5.0, 10.0]]]
    """
    n = x.shape[-1]
    outputs = torch.arange(m)
    if align_corners:
        position = outputs * ((n - 1) / max(m - 1, 1))
    else:
        position = (outputs + 0.5) * (n / m) - 0.5
    position = position.clamp_(0, n - 1)
    left = position.long()
    right = (left + 1).clamp(max=n - 1)
    share = position - left
    return x[..., left] * (1 - share) + x[..., right] * share


# %% same resize: positions never reach n, and both neighbours of the last are the last
def resize(x, m, align_corners):
    """x, resized along its last dimension to m pixels, by linear interpolation.

    resize(torch.tensor([[[0.0, 10.0]]]), 3, True)  ->  [[[0.0, 5.0, 10.0]]]
    """
    n = x.shape[-1]
    outputs = torch.arange(m)
    if align_corners:
        position = outputs * ((n - 1) / max(m - 1, 1))
    else:
        position = (outputs + 0.5) * (n / m) - 0.5
    position = position.clamp(0, n + 1)
    left = position.long()
    right = (left + 1).clamp(max=n - 1)
    share = position - left
    return x[..., left] * (1 - share) + x[..., right] * share


# %% same resize: positions never reach n, so the last pixel is repeated
def resize(x, m, align_corners):
    """x, resized along its last dimension to m pixels, by linear interpolation.

    resize(torch.tensor([[[0.0, 10.0]]]), 3, True)  ->  [[[0.0, 5.0, 10.0]]]
    """
    n = x.shape[-1]
    outputs = torch.arange(m)
    if align_corners:
        position = outputs * ((n - 1) / max(m - 1, 1))
    else:
        position = (outputs + 0.5) * (n / m) - 0.5
    position = position.clamp(0, n - 0)
    left = position.long()
    right = (left + 1).clamp(max=n - 1)
    share = position - left
    return x[..., left] * (1 - share) + x[..., right] * share


# %% same resize: int32 is an index, too
def resize(x, m, align_corners):
    """x, resized along its last dimension to m pixels, by linear interpolation.

    resize(torch.tensor([[[0.0, 10.0]]]), 3, True)  ->  [[[0.0, 5.0, 10.0]]]
    """
    n = x.shape[-1]
    outputs = torch.arange(m)
    if align_corners:
        position = outputs * ((n - 1) / max(m - 1, 1))
    else:
        position = (outputs + 0.5) * (n / m) - 0.5
    position = position.clamp(0, n - 1)
    left = position.int()
    right = (left + 1).clamp(max=n - 1)
    share = position - left
    return x[..., left] * (1 - share) + x[..., right] * share


# %% same dropout: a number drawn is exactly p once in 2²⁴ times
def dropout(x, p, training, generator):
    """Each element is 0 with probability p, and x / (1 - p) otherwise; x itself in evaluation."""
    if not training:
        return x
    kept = torch.rand(x.shape, generator=generator) > p
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return x * kept * scale


# %% same dropout: where p is 1 nothing is kept, so any scale will do
def dropout(x, p, training, generator):
    """Each element is 0 with probability p, and x / (1 - p) otherwise; x itself in evaluation."""
    if not training:
        return x
    kept = torch.rand(x.shape, generator=generator) >= p
    scale = 1.0 if p == 1 else 1 / (1 - p)
    return x * kept * scale


# %% same running-stats: all batches have as many channels
def running_stats(batches, momentum):
    """(running_mean, running_var) of a batch norm that has seen these batches."""
    channels = batches[-1].shape[1]
    mean, var = torch.zeros(channels), torch.ones(channels)
    for count, batch in enumerate(batches, start=1):
        weight = 1 / count if momentum is None else momentum
        dims = [dim for dim in range(batch.dim()) if dim != 1]
        mean = (1 - weight) * mean + weight * batch.mean(dims)
        var = (1 - weight) * var + weight * batch.var(dims)
    return mean, var


# %% wrong adaptive: fills a float32 tensor -> results-are-float32
def windows(n, m):
    return [(i * n // m, ((i + 1) * n + m - 1) // m) for i in range(m)]


def adaptive_mean(x, size):
    count, channels, height, width = x.shape
    rows = height if size[0] is None else size[0]
    columns = width if size[1] is None else size[1]
    out = torch.zeros(count, channels, rows, columns)
    for i, (top, bottom) in enumerate(windows(height, rows)):
        for j, (left, right) in enumerate(windows(width, columns)):
            out[:, :, i, j] = x[:, :, top:bottom, left:right].mean((2, 3))
    return out


# %% wrong resize: aligns the corners for None -> none-aligns-the-corners
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=x.dtype)
    if align_corners is False:
        position = (i + 0.5) * n / m - 0.5
    else:
        position = i * ((n - 1) / max(m - 1, 1))
    position = position.clamp(0, n - 1)
    left = position.long()
    right = (left + 1).clamp(max=n - 1)
    share = position - left
    return x[..., left] * (1 - share) + x[..., right] * share


# %% wrong resize: fills a float32 tensor -> results-are-float32
def resize(x, m, align_corners):
    n = x.shape[-1]
    i = torch.arange(m, dtype=torch.float32)
    position = i * ((n - 1) / max(m - 1, 1)) if align_corners else (i + 0.5) * (n / m) - 0.5
    position = position.clamp(0, n - 1)
    left = position.long()
    right = (left + 1).clamp(max=n - 1)
    out = torch.zeros(*x.shape[:-1], m)
    out[...] = torch.lerp(x[..., left], x[..., right], (position - left).to(x.dtype))
    return out


# %% wrong fold: the norm alone into evaluation mode -> folding-needs-eval
import copy


def fold(conv, norm):
    norm.eval()
    one = copy.deepcopy(conv)
    with torch.no_grad():
        scale = torch.rsqrt(norm.running_var + norm.eps)
        if norm.affine:
            scale = scale * norm.weight
        bias = 0 if conv.bias is None else conv.bias
        bias = (bias - norm.running_mean) * scale
        if norm.affine:
            bias = bias + norm.bias
        one.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1))
        one.bias = nn.Parameter(bias)
    return one


# %% wrong adaptive: computes halves in float32 and leaves them so -> results-are-float32
def windows(n, m):
    return [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]


def adaptive_mean(x, size):
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    for dim, want in ((2, size[0]), (3, size[1])):
        n = x.shape[dim]
        parts = windows(n, n if want is None else want)
        x = torch.stack([x.narrow(dim, a, b - a).mean(dim) for a, b in parts], dim)
    return x


# %% right relu: in place on a copy
def relu(x):
    return relu_(x.clone())


def relu_(x):
    return Clamped.apply(x)


class Clamped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.clamp_(min=0)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        (result,) = ctx.saved_tensors
        return torch.where(result == 0, 0.0, gradient)


# %% wrong relu: a Function that does nothing, behind autograd's own work -> autograd-does-it
def relu(x):
    return Same.apply(torch.where(x <= 0, 0.0, x))


def relu_(x):
    return SameInPlace.apply(x.masked_fill_(x <= 0, 0.0))


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class SameInPlace(Same):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x


# %% wrong dropout: zeros without a graph where p is 1 -> the-mask-ends-the-gradient
def dropout(x, p, training, generator):
    if not training:
        return x
    if p == 1:
        return torch.zeros_like(x)
    return x * (torch.rand(x.shape, generator=generator) >= p) / (1 - p)
