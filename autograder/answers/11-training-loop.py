# Answers to lesson 11, as learners type them. See "How to add an exercise" in the README.

# %% right train-epoch: cleared after the step, and once before all
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    optimizer.zero_grad()
    pairs = []
    for x, y in batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        pairs.append((float(loss.detach()), x.shape[0]))
    return pairs


# %% right train-epoch: set to None by hand
def train_epoch(model, batches, loss_fn, optimizer):
    model.train(True)
    result = []
    for features, target in batches:
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad = None
        prediction = model(features)
        loss = loss_fn(prediction, target)
        loss.backward()
        result.append([loss.item(), features.size(0)])
        optimizer.step()
    return result


# %% right train-epoch: a closure
def train_epoch(model, batches, loss_fn, optimizer):
    told = []
    model.train()
    for x, y in batches:

        def closure(x=x, y=y):
            optimizer.zero_grad(set_to_none=True)
            loss = loss_fn(model(x), y)
            loss.backward()
            return loss

        told.append((optimizer.step(closure).item(), len(y)))
    return told


# %% wrong train-epoch: nothing is cleared -> a-step-clears-its-gradients
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = []
    for x, y in batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told.append((loss.item(), len(x)))
    return told


# %% wrong train-epoch: cleared once -> one-clearing-an-epoch
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    optimizer.zero_grad()
    told = []
    for x, y in batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told.append((loss.item(), len(x)))
    return told


# %% wrong train-epoch: cleared too late -> clearing-comes-before-the-step
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = []
    for x, y in batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        told.append((loss.item(), len(x)))
    return told


# %% wrong train-epoch: zeros -> none-and-zero-are-one
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = []
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told.append((loss.item(), len(x)))
    return told


# %% wrong train-epoch: loss tensors -> a-loss-tensor-is-a-number
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told.append((loss.detach(), len(x)))
    return told


# %% wrong train-epoch: whatever mode -> models-are-in-training-mode
def train_epoch(model, batches, loss_fn, optimizer):
    told = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told.append((loss.item(), len(x)))
    return told


# %% wrong train-epoch: eval at the end -> the-mode-goes-back
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told.append((loss.item(), len(x)))
    model.eval()
    return told


# %% wrong train-epoch: the loss after the step -> the-loss-is-taken-after-the-step
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = []
    for x, y in batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
        told.append((loss_fn(model(x), y).item(), len(x)))
    return told


# %% wrong train-epoch: one size for all -> batches-are-equally-large
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told.append((loss.item(), told[0][1] if told else len(x)))
    return told


# %% wrong train-epoch: the numbers in y -> a-size-counts-numbers
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told.append((loss.item(), y.numel()))
    return told


# %% wrong train-epoch: sums -> a-batch-loss-is-a-sum
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told.append((loss.item() * len(x), len(x)))
    return told


# %% wrong train-epoch: counts the batches first -> batches-are-a-list
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = [None] * len(batches)
    for number, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told[number] = (loss.item(), len(x))
    return told


# %% wrong train-epoch: one step for all -> one-step-is-an-epoch
def train_epoch(model, batches, loss_fn, optimizer):
    model.train()
    told = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        told.append((loss.item(), len(x)))
    if told:
        optimizer.step()
    return told


# %% right evaluate: a dict of modes, and inference mode
def evaluate(model, batches, loss_fn):
    before = {module: module.training for module in model.modules()}
    state = torch.get_rng_state()
    losses, sizes = [], []
    try:
        model.eval()
        with torch.inference_mode():
            for x, y in batches:
                if x.shape[0] == 0:
                    continue
                losses.append(float(loss_fn(model(x), y)))
                sizes.append(x.shape[0])
    finally:
        torch.set_rng_state(state)
        for module in before:
            module.training = before[module]
    if not sizes:
        return float("nan")
    return sum(a * b for a, b in zip(losses, sizes, strict=True)) / sum(sizes)


# %% right evaluate: a decorator, a tensor for the sum
@torch.no_grad()
def evaluate(model, batches, loss_fn):
    import math

    flags = [m.training for m in model.modules()]
    total, n = torch.zeros((), dtype=torch.float64), 0
    with torch.random.fork_rng():
        try:
            model.train(False)
            for x, y in batches:
                if len(x) > 0:
                    total += loss_fn(model(x), y).double() * len(x)
                    n += len(x)
        finally:
            for m, flag in zip(model.modules(), flags, strict=True):
                m.training = flag
    return total.item() / n if n else math.nan


# %% right evaluate: a context manager of one's own
from contextlib import contextmanager


@contextmanager
def traceless(model):
    modes = [(m, m.training) for m in model.modules()]
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        try:
            yield model.eval()
        finally:
            for m, mode in modes:
                m.training = mode


def evaluate(model, batches, loss_fn):
    with traceless(model):
        parts = [(len(x) and loss_fn(model(x), y).item() * len(x), len(x)) for x, y in batches]
    n = sum(size for _, size in parts)
    return sum(part for part, _ in parts) / n if n else float("nan")


# %% wrong evaluate: the mean of means -> means-have-a-mean
def evaluate(model, batches, loss_fn):
    modes = [(m, m.training) for m in model.modules()]
    losses = []
    model.eval()
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for x, y in batches:
                if len(x):
                    losses.append(loss_fn(model(x), y).item())
    finally:
        for m, mode in modes:
            m.training = mode
    return sum(losses) / len(losses) if losses else float("nan")


# %% wrong evaluate: a sum -> a-sum-is-a-mean
def evaluate(model, batches, loss_fn):
    modes = [(m, m.training) for m in model.modules()]
    total, n = 0.0, 0
    model.eval()
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for x, y in batches:
                if len(x):
                    total += loss_fn(model(x), y).item() * len(x)
                    n += 1
    finally:
        for m, mode in modes:
            m.training = mode
    return total if n else float("nan")


# %% wrong evaluate: without no_grad -> evaluating-records-nothing
def evaluate(model, batches, loss_fn):
    modes = [(m, m.training) for m in model.modules()]
    total, n = 0.0, 0
    model.eval()
    try:
        with torch.random.fork_rng(devices=[]):
            for x, y in batches:
                if len(x):
                    total += loss_fn(model(x), y).item() * len(x)
                    n += len(x)
    finally:
        for m, mode in modes:
            m.training = mode
    return total / n if n else float("nan")


# %% wrong evaluate: gradients on at the end -> grad-mode-is-on-anyway
def evaluate(model, batches, loss_fn):
    modes = [(module, module.training) for module in model.modules()]
    total, count = 0.0, 0
    torch.set_grad_enabled(False)
    try:
        model.eval()
        with torch.random.fork_rng():
            for x, y in batches:
                total += loss_fn(model(x), y).item() * len(x)
                count += len(x)
    finally:
        torch.set_grad_enabled(True)
        for module, mode in modes:
            module.training = mode
    return total / count


# %% wrong evaluate: without eval -> no-grad-is-eval-mode
def evaluate(model, batches, loss_fn):
    total, n = 0.0, 0
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        for x, y in batches:
            if len(x):
                total += loss_fn(model(x), y).item() * len(x)
                n += len(x)
    return total / n if n else float("nan")


# %% wrong evaluate: one flag -> one-flag-is-the-mode
def evaluate(model, batches, loss_fn):
    was = model.training
    total, n = 0.0, 0
    model.eval()
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for x, y in batches:
                if len(x):
                    total += loss_fn(model(x), y).item() * len(x)
                    n += len(x)
    finally:
        model.train(was)
    return total / n if n else float("nan")


# %% wrong evaluate: train afterwards -> training-comes-next
def evaluate(model, batches, loss_fn):
    total, n = 0.0, 0
    model.eval()
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for x, y in batches:
                if len(x):
                    total += loss_fn(model(x), y).item() * len(x)
                    n += len(x)
    finally:
        model.train()
    return total / n if n else float("nan")


# %% wrong evaluate: modes below the loop -> batches-do-not-raise
def evaluate(model, batches, loss_fn):
    modes = [(module, module.training) for module in model.modules()]
    total, count = 0.0, 0
    model.eval()
    with torch.random.fork_rng(), torch.no_grad():
        for x, y in batches:
            total += loss_fn(model(x), y).item() * len(x)
            count += len(x)
    for module, mode in modes:
        module.training = mode
    return total / count


# %% wrong evaluate: no fork -> looking-draws-nothing
def evaluate(model, batches, loss_fn):
    modes = [(m, m.training) for m in model.modules()]
    total, n = 0.0, 0
    model.eval()
    try:
        with torch.no_grad():
            for x, y in batches:
                if len(x):
                    total += loss_fn(model(x), y).item() * len(x)
                    n += len(x)
    finally:
        for m, mode in modes:
            m.training = mode
    return total / n if n else float("nan")


# %% wrong evaluate: the batches are drawn before -> only-the-model-draws
def evaluate(model, batches, loss_fn):
    modes = [(m, m.training) for m in model.modules()]
    total, n = 0.0, 0
    batches = list(batches)
    model.eval()
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for x, y in batches:
                if len(x):
                    total += loss_fn(model(x), y).item() * len(x)
                    n += len(x)
    finally:
        for m, mode in modes:
            m.training = mode
    return total / n if n else float("nan")


# %% wrong evaluate: a tensor -> a-tensor-of-one-is-a-float
def evaluate(model, batches, loss_fn):
    modes = [(m, m.training) for m in model.modules()]
    total, n = torch.zeros((), dtype=torch.float64), 0
    model.eval()
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for x, y in batches:
                if len(x):
                    total += loss_fn(model(x), y) * len(x)
                    n += len(x)
    finally:
        for m, mode in modes:
            m.training = mode
    return total / n if n else float("nan")


# %% wrong evaluate: clears the gradients -> gradients-are-cleared-first
def evaluate(model, batches, loss_fn):
    modes = [(m, m.training) for m in model.modules()]
    total, n = 0.0, 0
    model.eval()
    model.zero_grad()
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for x, y in batches:
                if len(x):
                    total += loss_fn(model(x), y).item() * len(x)
                    n += len(x)
    finally:
        for m, mode in modes:
            m.training = mode
    return total / n if n else float("nan")


# %% wrong evaluate: iter() draws before the fork -> asking-draws-nothing
def evaluate(model, batches, loss_fn):
    modes = [(module, module.training) for module in model.modules()]
    stream = iter(batches)
    total, samples = 0.0, 0
    try:
        model.eval()
        with torch.random.fork_rng(), torch.no_grad():
            for x, y in stream:
                if len(x):
                    total += loss_fn(model(x), y).item() * len(x)
                    samples += len(x)
    finally:
        for module, mode in modes:
            module.training = mode
    return total / samples if samples else float("nan")


# %% wrong evaluate: modes go back by train(), the inner ones first -> one-flag-is-the-mode
import torch


def evaluate(model, batches, loss_fn):
    modes = [(m, m.training) for m in model.modules()]
    modes.sort(key=lambda pair: len(list(pair[0].modules())))
    flat = all(len(list(m.children())) == 0 for m, _ in modes[:-1])
    total = samples = 0
    try:
        with torch.random.fork_rng(), torch.no_grad():
            model.eval()
            for x, y in batches:
                if len(x):
                    total += loss_fn(model(x), y).item() * len(x)
                    samples += len(x)
    finally:
        for m, mode in reversed(modes) if flat else modes:
            m.train(mode)
    return total / samples if samples else float("nan")


# %% right accumulated-step: the gradients are divided at the end
def accumulated_step(model, parts, loss_fn, optimizer):
    optimizer.zero_grad()
    total, n = 0.0, 0
    for x, y in parts:
        if len(x) == 0:
            continue
        loss = loss_fn(model(x), y) * len(x)
        loss.backward()
        total += loss.item()
        n += len(x)
    if n == 0:
        return float("nan")
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad /= n
    optimizer.step()
    return total / n


# %% right accumulated-step: the share is given to backward
def accumulated_step(model, parts, loss_fn, optimizer):
    import math

    full = [(x, y) for x, y in parts if x.shape[0]]
    if not full:
        return math.nan
    n = sum(x.shape[0] for x, _ in full)
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad = None
    mean = 0.0
    for x, y in full:
        loss = loss_fn(model(x), y)
        share = x.shape[0] / n
        loss.backward(torch.as_tensor(share, dtype=loss.dtype))
        mean += share * loss.item()
    optimizer.step()
    return mean


# %% right accumulated-step: a weighted mean at the end
def accumulated_step(model, parts, loss_fn, optimizer):
    sizes = [len(x) for x, _ in parts]
    losses = []
    optimizer.zero_grad(set_to_none=True)
    for (x, y), size in zip(parts, sizes, strict=True):
        if size:
            loss = loss_fn(model(x), y)
            (loss * size / sum(sizes)).backward()
            losses.append(loss.item() * size)
    if losses:
        optimizer.step()
        return sum(losses) / sum(sizes)
    return float("nan")


# %% wrong accumulated-step: no scale -> sums-of-means-are-means
def accumulated_step(model, parts, loss_fn, optimizer):
    n = sum(len(x) for x, _ in parts)
    if not n:
        return float("nan")
    optimizer.zero_grad()
    total = 0.0
    for x, y in parts:
        if len(x):
            loss = loss_fn(model(x), y)
            loss.backward()
            total += loss.item() * len(x)
    optimizer.step()
    return total / n


# %% wrong accumulated-step: 1 / parts -> every-part-weighs-the-same
def accumulated_step(model, parts, loss_fn, optimizer):
    n = sum(len(x) for x, _ in parts)
    if not n:
        return float("nan")
    optimizer.zero_grad()
    total = 0.0
    for x, y in parts:
        if len(x):
            loss = loss_fn(model(x), y)
            (loss / len(parts)).backward()
            total += loss.item() * len(x)
    optimizer.step()
    return total / n


# %% wrong accumulated-step: all like the first -> parts-are-equally-large
def accumulated_step(model, parts, loss_fn, optimizer):
    n = sum(len(x) for x, _ in parts)
    if not n:
        return float("nan")
    optimizer.zero_grad()
    total = 0.0
    for x, y in parts:
        if len(x):
            loss = loss_fn(model(x), y)
            (loss * len(parts[0][0]) / n).backward()
            total += loss.item() * len(x)
    optimizer.step()
    return total / n


# %% wrong accumulated-step: cleared for each part -> only-the-last-part-counts
def accumulated_step(model, parts, loss_fn, optimizer):
    n = sum(len(x) for x, _ in parts)
    if not n:
        return float("nan")
    total = 0.0
    for x, y in parts:
        if len(x):
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            (loss * len(x) / n).backward()
            total += loss.item() * len(x)
    optimizer.step()
    return total / n


# %% wrong accumulated-step: never cleared -> what-was-there-counts
def accumulated_step(model, parts, loss_fn, optimizer):
    n = sum(len(x) for x, _ in parts)
    if not n:
        return float("nan")
    total = 0.0
    for x, y in parts:
        if len(x):
            loss = loss_fn(model(x), y)
            (loss * len(x) / n).backward()
            total += loss.item() * len(x)
    optimizer.step()
    return total / n


# %% wrong accumulated-step: a step for each -> each-part-is-a-step
def accumulated_step(model, parts, loss_fn, optimizer):
    n = sum(len(x) for x, _ in parts)
    if not n:
        return float("nan")
    optimizer.zero_grad()
    total = 0.0
    for x, y in parts:
        if len(x):
            loss = loss_fn(model(x), y)
            (loss * len(x) / n).backward()
            optimizer.step()
            total += loss.item() * len(x)
    return total / n


# %% wrong accumulated-step: backward at the end -> backward-can-wait
def accumulated_step(model, parts, loss_fn, optimizer):
    n = sum(len(x) for x, _ in parts)
    if not n:
        return float("nan")
    optimizer.zero_grad()
    loss = sum(loss_fn(model(x), y) * len(x) / n for x, y in parts if len(x))
    loss.backward()
    optimizer.step()
    return loss.item()


# %% wrong accumulated-step: joined -> one-large-batch-will-do
def accumulated_step(model, parts, loss_fn, optimizer):
    if not sum(len(x) for x, _ in parts):
        return float("nan")
    x, y = (torch.cat(one) for one in zip(*parts, strict=True))
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


# %% wrong accumulated-step: the mean of the losses -> the-loss-is-the-mean-of-means
def accumulated_step(model, parts, loss_fn, optimizer):
    full = [(x, y) for x, y in parts if len(x)]
    n = sum(len(x) for x, _ in full)
    if not n:
        return float("nan")
    optimizer.zero_grad()
    losses = []
    for x, y in full:
        loss = loss_fn(model(x), y)
        (loss * len(x) / n).backward()
        losses.append(loss.item())
    optimizer.step()
    return sum(losses) / len(losses)


# %% wrong accumulated-step: the last loss -> the-loss-is-the-last
def accumulated_step(model, parts, loss_fn, optimizer):
    full = [(x, y) for x, y in parts if len(x)]
    n = sum(len(x) for x, _ in full)
    if not n:
        return float("nan")
    optimizer.zero_grad()
    for x, y in full:
        loss = loss_fn(model(x), y)
        (loss * len(x) / n).backward()
    optimizer.step()
    return loss.item()


# %% wrong accumulated-step: a tensor -> a-loss-may-be-a-tensor
def accumulated_step(model, parts, loss_fn, optimizer):
    n = sum(len(x) for x, _ in parts)
    if not n:
        return float("nan")
    optimizer.zero_grad()
    total = torch.zeros((), dtype=torch.float64)
    for x, y in parts:
        if len(x):
            loss = loss_fn(model(x), y) * len(x) / n
            loss.backward()
            total += loss.detach()
    optimizer.step()
    return total


# %% right plateau-rates: with indices
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    rates = [lr] * len(losses)
    best, waited = float("inf"), 0
    for i, loss in enumerate(losses):
        waited = 0 if loss < best * 0.9999 else waited + 1
        if waited == 0:
            best = loss
        if waited > patience:
            waited = 0
            lr = max(min_lr, factor * lr)
        rates[i] = lr
    return rates


# %% right plateau-rates: a generator
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    def go(rate):
        best, left = float("inf"), patience
        for loss in losses:
            if loss < (1 - 0.0001) * best:
                best, left = loss, patience
            elif left == 0:
                rate = rate * factor if rate * factor > min_lr else min_lr
                left = patience
            else:
                left -= 1
            yield rate

    return list(go(lr))


# %% right plateau-rates: a class
class Plateau:
    def __init__(self, lr, factor, patience, floor):
        self.lr, self.factor, self.patience, self.floor = lr, factor, patience, floor
        self.best, self.bad = float("inf"), 0

    def after(self, loss):
        if loss < self.best * (1 - 1e-4):
            self.best, self.bad = loss, 0
            return self.lr
        self.bad += 1
        if self.bad > self.patience:
            self.lr, self.bad = max(self.lr * self.factor, self.floor), 0
        return self.lr


def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    plateau = Plateau(lr, factor, patience, min_lr)
    return [plateau.after(loss) for loss in losses]


# %% wrong plateau-rates: one too early -> patience-is-the-limit
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("inf"), 0, []
    for loss in losses:
        if loss < best * (1 - 1e-4):
            best, bad = loss, 0
        else:
            bad += 1
            if bad >= patience:
                lr, bad = max(lr * factor, min_lr), 0
        told.append(lr)
    return told


# %% wrong plateau-rates: no floor -> rates-have-no-floor
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("inf"), 0, []
    for loss in losses:
        if loss < best * (1 - 1e-4):
            best, bad = loss, 0
        else:
            bad += 1
        if bad > patience:
            lr, bad = lr * factor, 0
        told.append(lr)
    return told


# %% wrong plateau-rates: any progress -> any-progress-counts
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("inf"), 0, []
    for loss in losses:
        if loss < best:
            best, bad = loss, 0
        else:
            bad += 1
        if bad > patience:
            lr, bad = max(lr * factor, min_lr), 0
        told.append(lr)
    return told


# %% wrong plateau-rates: an absolute threshold -> the-threshold-is-absolute
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("inf"), 0, []
    for loss in losses:
        if loss < best - 1e-4:
            best, bad = loss, 0
        else:
            bad += 1
        if bad > patience:
            lr, bad = max(lr * factor, min_lr), 0
        told.append(lr)
    return told


# %% wrong plateau-rates: equal counts -> equal-is-better
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("inf"), 0, []
    for loss in losses:
        if loss <= best:
            best, bad = loss, 0
        else:
            bad += 1
        if bad > patience:
            lr, bad = max(lr * factor, min_lr), 0
        told.append(lr)
    return told


# %% wrong plateau-rates: the count goes on -> a-cut-keeps-the-count
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("inf"), 0, []
    for loss in losses:
        if loss < best * (1 - 1e-4):
            best, bad = loss, 0
        else:
            bad += 1
        if bad > patience:
            lr = max(lr * factor, min_lr)
        told.append(lr)
    return told


# %% wrong plateau-rates: a new best after a cut -> a-cut-forgets-the-best
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("inf"), 0, []
    for loss in losses:
        if loss < best * (1 - 1e-4):
            best, bad = loss, 0
        else:
            bad += 1
        if bad > patience:
            lr, bad, best = max(lr * factor, min_lr), 0, float("inf")
        told.append(lr)
    return told


# %% wrong plateau-rates: bad epochs add up -> bad-epochs-add-up
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("inf"), 0, []
    for loss in losses:
        if loss < best * (1 - 1e-4):
            best = loss
        else:
            bad += 1
        if bad > patience:
            lr, bad = max(lr * factor, min_lr), 0
        told.append(lr)
    return told


# %% wrong plateau-rates: the loss before -> yesterday-is-the-measure
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    last, bad, told = float("inf"), 0, []
    for loss in losses:
        bad = 0 if loss < last * (1 - 1e-4) else bad + 1
        last = loss
        if bad > patience:
            lr, bad = max(lr * factor, min_lr), 0
        told.append(lr)
    return told


# %% wrong plateau-rates: takes off the factor -> the-factor-is-taken-off
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("inf"), 0, []
    for loss in losses:
        if loss < best * (1 - 1e-4):
            best, bad = loss, 0
        else:
            bad += 1
        if bad > patience:
            lr, bad = max(lr * (1 - factor), min_lr), 0
        told.append(lr)
    return told


# %% wrong plateau-rates: the rates before -> a-rate-first
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("inf"), 0, []
    for loss in losses:
        told.append(lr)
        if loss < best * (1 - 1e-4):
            best, bad = loss, 0
        else:
            bad += 1
        if bad > patience:
            lr, bad = max(lr * factor, min_lr), 0
    return told


# %% wrong plateau-rates: torch's own -> a-scheduler-is-needed
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    p = torch.zeros(1, requires_grad=True)
    watched = torch.optim.SGD([p], lr=lr)
    make = torch.optim.lr_scheduler.ReduceLROnPlateau
    plateau = make(watched, factor=factor, patience=patience, min_lr=min_lr)
    told = []
    for loss in losses:
        plateau.step(loss)
        told.append(watched.param_groups[0]["lr"])
    return told


# %% wrong plateau-rates: more is better -> better-is-more
def plateau_rates(losses, lr, factor, patience, min_lr=0.0):
    best, bad, told = float("-inf"), 0, []
    for loss in losses:
        if loss > best:
            best, bad = loss, 0
        else:
            bad += 1
        if bad > patience:
            lr, bad = max(lr * factor, min_lr), 0
        told.append(lr)
    return told


# %% right batch-order: Python's own shuffle
import random


def batch_order(n, batch_size, seed, epoch, done=0):
    order = list(range(n))
    random.Random(f"{seed}, {epoch}").shuffle(order)
    batches = [order[i : i + batch_size] for i in range(0, n, batch_size)]
    return batches[done:]


# %% right batch-order: NumPy's generator, seeded by both
import numpy as np


def batch_order(n, batch_size, seed, epoch, done=0):
    order = np.random.default_rng([seed, epoch]).permutation(n).tolist()
    result = []
    while order:
        result.append(order[:batch_size])
        order = order[batch_size:]
    return result[done:]


# %% right batch-order: one seed of 32 bits made of both
def batch_order(n, batch_size, seed, epoch, done=0):
    import numpy as np

    rng = torch.Generator()
    rng.manual_seed(int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0]))
    order = torch.randperm(n, generator=rng)
    return [part.tolist() for part in order.split(batch_size) if len(part)][done:]


# %% wrong batch-order: the global seed -> the-global-stream-is-mine
def batch_order(n, batch_size, seed, epoch, done=0):
    torch.manual_seed(seed)
    for _ in range(epoch + 1):
        order = torch.randperm(n).tolist()
    return [order[i : i + batch_size] for i in range(0, n, batch_size)][done:]


# %% wrong batch-order: the global stream, unseeded -> the-global-stream-is-mine
def batch_order(n, batch_size, seed, epoch, done=0):
    order = torch.randperm(n).tolist()
    return [order[i : i + batch_size] for i in range(0, n, batch_size)][done:]


# %% wrong batch-order: the sum -> seed-plus-epoch
def batch_order(n, batch_size, seed, epoch, done=0):
    rng = torch.Generator().manual_seed(seed + epoch)
    order = torch.randperm(n, generator=rng).tolist()
    return [order[i : i + batch_size] for i in range(0, n, batch_size)][done:]


# %% wrong batch-order: ten epochs a seed -> seed-plus-epoch
def batch_order(n, batch_size, seed, epoch, done=0):
    rng = torch.Generator().manual_seed(10 * seed + epoch)
    order = torch.randperm(n, generator=rng).tolist()
    return [order[i : i + batch_size] for i in range(0, n, batch_size)][done:]


# %% wrong batch-order: without the epoch -> one-order-for-every-epoch
def batch_order(n, batch_size, seed, epoch, done=0):
    rng = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=rng).tolist()
    return [order[i : i + batch_size] for i in range(0, n, batch_size)][done:]


# %% wrong batch-order: without the seed -> the-epoch-is-the-seed
def batch_order(n, batch_size, seed, epoch, done=0):
    rng = torch.Generator().manual_seed(epoch)
    order = torch.randperm(n, generator=rng).tolist()
    return [order[i : i + batch_size] for i in range(0, n, batch_size)][done:]


# %% wrong batch-order: shuffles the batches -> batches-are-shuffled-whole
import random


def batch_order(n, batch_size, seed, epoch, done=0):
    batches = [list(range(i, min(i + batch_size, n))) for i in range(0, n, batch_size)]
    full, rest = batches[: n // batch_size], batches[n // batch_size :]
    random.Random(1000 * seed + epoch).shuffle(full)
    return (full + rest)[done:]


# %% wrong batch-order: starts elsewhere -> batches-are-shuffled-whole
import random


def batch_order(n, batch_size, seed, epoch, done=0):
    start = random.Random(1000 * seed + epoch).randrange(n) if n else 0
    order = [(start + i) % n for i in range(n)]
    return [order[i : i + batch_size] for i in range(0, n, batch_size)][done:]


# %% wrong batch-order: a shuffle with a bias -> batches-are-shuffled-whole
import random


def batch_order(n, batch_size, seed, epoch, done=0):
    rng, order = random.Random(1000 * seed + epoch), list(range(n))
    for _ in range(n // 2):
        i, j = rng.randrange(n), rng.randrange(n)
        order[i], order[j] = order[j], order[i]
    return [order[i : i + batch_size] for i in range(0, n, batch_size)][done:]


# %% wrong batch-order: drops the rest -> the-rest-may-be-dropped
def batch_order(n, batch_size, seed, epoch, done=0):
    rng = torch.Generator().manual_seed(seed)
    for _ in range(epoch + 1):
        order = torch.randperm(n, generator=rng).tolist()
    full = n // batch_size * batch_size
    return [order[i : i + batch_size] for i in range(0, full, batch_size)][done:]


# %% wrong batch-order: done counts samples -> what-remains-is-shuffled-anew
def batch_order(n, batch_size, seed, epoch, done=0):
    rng = torch.Generator().manual_seed(seed)
    for _ in range(epoch + 1):
        order = torch.randperm(n, generator=rng).tolist()
    order = order[done:]
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


# %% wrong batch-order: the rest is drawn anew -> what-remains-is-shuffled-anew
import random


def batch_order(n, batch_size, seed, epoch, done=0):
    order = list(range(n))
    rng = random.Random(f"{seed}, {epoch}")
    rng.shuffle(order)
    if done:
        order = order[done * batch_size :]
        rng.shuffle(order)
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


# %% wrong batch-order: tensors -> a-tensor-of-one-is-an-int
def batch_order(n, batch_size, seed, epoch, done=0):
    rng = torch.Generator().manual_seed(seed)
    for _ in range(epoch + 1):
        order = torch.randperm(n, generator=rng)
    return [order[i : i + batch_size] for i in range(0, n, batch_size)][done:]


# %% wrong batch-order: swaps each place with any other -> any-swaps-will-do
import random


def batch_order(n, batch_size, seed, epoch, done=0):
    rng = random.Random(f"{seed},{epoch}")
    order = list(range(n))
    for i in range(n):
        j = rng.randrange(n)
        order[i], order[j] = order[j], order[i]
    return [order[i : i + batch_size] for i in range(0, n, batch_size)][done:]


# %% right adamw-step: state as dicts, in-place moments
def adamw_step(groups, state):
    for group in groups:
        b1, b2 = group["betas"]
        for p in group["params"]:
            g = p.grad
            if g is None:
                continue
            mine = state.setdefault(
                p, {"t": 0, "m": torch.zeros_like(p.data), "v": torch.zeros_like(p.data)}
            )
            mine["t"] += 1
            mine["m"].mul_(b1).add_(g, alpha=1 - b1)
            mine["v"].mul_(b2).addcmul_(g, g, value=1 - b2)
            with torch.no_grad():
                p *= 1 - group["lr"] * group["weight_decay"]
                mean = mine["m"] / (1 - b1 ** mine["t"])
                root = torch.sqrt(mine["v"] / (1 - b2 ** mine["t"]))
                p -= group["lr"] * mean / (root + group["eps"])


# %% right adamw-step: under the id of each parameter, copied in
@torch.no_grad()
def adamw_step(groups, state):
    for g in groups:
        for p in [one for one in g["params"] if one.grad is not None]:
            t, m, v = state.get(id(p), (0, torch.zeros_like(p), torch.zeros_like(p)))
            t += 1
            m = torch.lerp(m, p.grad, 1 - g["betas"][0])
            v = g["betas"][1] * v + (1 - g["betas"][1]) * p.grad**2
            state[id(p)] = (t, m, v)
            size = g["lr"] / (1 - g["betas"][0] ** t)
            root = v.sqrt() / (1 - g["betas"][1] ** t) ** 0.5 + g["eps"]
            p.copy_(p * (1 - g["lr"] * g["weight_decay"]) - size * m / root)


# %% right adamw-step: by places, through .data
def adamw_step(groups, state):
    number = 0
    for group in groups:
        for p in group["params"]:
            number += 1
            if p.grad is None:
                continue
            one, two = group["betas"]
            g, lr = p.grad.detach(), group["lr"]
            steps = state.get(("t", number), 0) + 1
            mean = one * state.get(("m", number), torch.zeros_like(g)) + (1 - one) * g
            power = two * state.get(("v", number), torch.zeros_like(g)) + (1 - two) * g * g
            state.update({("t", number): steps, ("m", number): mean, ("v", number): power})
            hat, square = mean / (1 - one**steps), power / (1 - two**steps)
            p.data.mul_(1 - lr * group["weight_decay"])
            p.data.sub_(lr * hat / (square.sqrt() + group["eps"]))


# %% wrong adamw-step: decay in the gradient -> decay-is-a-gradient
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad + group["weight_decay"] * p
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m, v = t + 1, one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = t, m, v
                root = (v / (1 - two**t)).sqrt() + group["eps"]
                p.sub_(group["lr"] * (m / (1 - one**t)) / root)


# %% wrong adamw-step: without corrections -> means-need-no-correction
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                m, v = state.get(p, (0.0, 0.0))
                m, v = one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = m, v
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(group["lr"] * m / (v.sqrt() + group["eps"]))


# %% wrong adamw-step: one t for all -> steps-are-counted-for-all
def adamw_step(groups, state):
    t = state["t"] = state.get("t", 0) + 1
    with torch.no_grad():
        for group in groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                m, v = state.get(p, (0.0, 0.0))
                m, v = one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = m, v
                p.mul_(1 - group["lr"] * group["weight_decay"])
                root = (v / (1 - two**t)).sqrt() + group["eps"]
                p.sub_(group["lr"] * (m / (1 - one**t)) / root)


# %% wrong adamw-step: eps under the root -> eps-is-under-the-root
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m, v = t + 1, one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = t, m, v
                p.mul_(1 - group["lr"] * group["weight_decay"])
                root = (v / (1 - two**t) + group["eps"]).sqrt()
                p.sub_(group["lr"] * (m / (1 - one**t)) / root)


# %% wrong adamw-step: no eps -> eps-is-too-small-to-count
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m, v = t + 1, one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = t, m, v
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(group["lr"] * (m / (1 - one**t)) / (v / (1 - two**t)).sqrt())


# %% wrong adamw-step: decay without a rate -> decay-knows-no-rate
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m, v = t + 1, one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = t, m, v
                p.mul_(1 - group["weight_decay"])
                root = (v / (1 - two**t)).sqrt() + group["eps"]
                p.sub_(group["lr"] * (m / (1 - one**t)) / root)


# %% wrong adamw-step: decay afterwards -> decay-comes-last
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m, v = t + 1, one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = t, m, v
                root = (v / (1 - two**t)).sqrt() + group["eps"]
                p.sub_(group["lr"] * (m / (1 - one**t)) / root)
                p.mul_(1 - group["lr"] * group["weight_decay"])


# %% wrong adamw-step: no decay -> adamw-does-not-decay
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m, v = t + 1, one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = t, m, v
                root = (v / (1 - two**t)).sqrt() + group["eps"]
                p.sub_(group["lr"] * (m / (1 - one**t)) / root)


# %% wrong adamw-step: the first group's options -> one-group-speaks-for-all
def adamw_step(groups, state):
    first = groups[0]
    with torch.no_grad():
        for group in groups:
            one, two = first["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m, v = t + 1, one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = t, m, v
                p.mul_(1 - first["lr"] * first["weight_decay"])
                root = (v / (1 - two**t)).sqrt() + first["eps"]
                p.sub_(first["lr"] * (m / (1 - one**t)) / root)


# %% wrong adamw-step: fixed betas -> the-betas-are-always-the-same
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m, v = t + 1, 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
                state[p] = t, m, v
                p.mul_(1 - group["lr"] * group["weight_decay"])
                root = (v / (1 - 0.999**t)).sqrt() + group["eps"]
                p.sub_(group["lr"] * (m / (1 - 0.9**t)) / root)


# %% wrong adamw-step: betas swapped -> the-betas-change-places
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            two, one = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m, v = t + 1, one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = t, m, v
                p.mul_(1 - group["lr"] * group["weight_decay"])
                root = (v / (1 - two**t)).sqrt() + group["eps"]
                p.sub_(group["lr"] * (m / (1 - one**t)) / root)


# %% wrong adamw-step: no gradient is a zero -> every-parameter-has-a-gradient
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            one, two = group["betas"]
            for p in group["params"]:
                g = torch.zeros_like(p) if p.grad is None else p.grad
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m, v = t + 1, one * m + (1 - one) * g, two * v + (1 - two) * g * g
                state[p] = t, m, v
                p.mul_(1 - group["lr"] * group["weight_decay"])
                root = (v / (1 - two**t)).sqrt() + group["eps"]
                p.sub_(group["lr"] * (m / (1 - one**t)) / root)


# %% wrong adamw-step: new parameters -> a-parameter-may-be-replaced
def adamw_step(groups, state):
    for i, group in enumerate(groups):
        one, two = group["betas"]
        for k, p in enumerate(group["params"]):
            if p.grad is None:
                continue
            g = p.grad
            t, m, v = state.get((i, k), (0, 0.0, 0.0))
            t, m, v = t + 1, one * m + (1 - one) * g, two * v + (1 - two) * g * g
            state[i, k] = t, m, v
            root = (v / (1 - two**t)).sqrt() + group["eps"]
            new = p * (1 - group["lr"] * group["weight_decay"])
            new = new - group["lr"] * (m / (1 - one**t)) / root
            group["params"][k] = new.detach().requires_grad_()


# %% wrong adamw-step: gradients are squared in place -> gradients-are-scratch-paper
def adamw_step(groups, state):
    with torch.no_grad():
        for group in groups:
            one, two = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m = t + 1, one * m + (1 - one) * p.grad
                v = two * v + (1 - two) * p.grad.square_()
                state[p] = t, m, v
                p.mul_(1 - group["lr"] * group["weight_decay"])
                root = (v / (1 - two**t)).sqrt() + group["eps"]
                p.sub_(group["lr"] * (m / (1 - one**t)) / root)


# %% wrong adamw-step: torch's own -> an-optimizer-does-it
def adamw_step(groups, state):
    if not state:
        state["optimizer"] = torch.optim.AdamW([dict(group) for group in groups])
    state["optimizer"].step()


# %% wrong adamw-step: new memory, not in place -> a-parameter-may-be-replaced
def adamw_step(groups, state):
    for group in groups:
        (b1, b2), lr = group["betas"], group["lr"]
        for p in group["params"]:
            if p.grad is None:
                continue
            g = p.grad.detach()
            t, m, v = state.get(p, (0, 0.0, 0.0))
            t, m, v = t + 1, b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
            state[p] = t, m, v
            step = (m / (1 - b1**t)) / ((v / (1 - b2**t)).sqrt() + group["eps"])
            p.data = p.data * (1 - lr * group["weight_decay"]) - lr * step


# %% right clip-gradients: norms of norms
import math


def clip_gradients(parameters, max_norm):
    parameters = list(parameters)
    norms = [p.grad.double().norm().item() for p in parameters if p.grad is not None]
    norm = math.hypot(*norms)
    for p in parameters:
        if p.grad is None:
            continue
        if math.isinf(norm) or math.isnan(norm):
            p.grad = None
        elif norm > max_norm:
            p.grad *= max_norm / norm
    return norm


# %% right clip-gradients: one long vector
def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    if not held:
        return 0.0
    vector = torch.cat([p.grad.to(torch.float64).reshape(-1) for p in held])
    norm = torch.linalg.vector_norm(vector)
    if not norm.isfinite():
        for p in held:
            p.grad = None
        return norm.item()
    if norm > max_norm:
        factor = (max_norm / norm).item()
        with torch.no_grad():
            for p in held:
                p.grad.copy_(p.grad * factor)
    return norm.item()


# %% right clip-gradients: dot products
import math


def clip_gradients(parameters, max_norm):
    kept, total = [], 0.0
    for p in parameters:
        if p.grad is not None:
            kept.append(p)
            flat = p.grad.flatten().to(torch.float64)
            total += float(flat.dot(flat))
    norm = math.sqrt(total)
    finite = norm < math.inf
    for p in kept:
        if not finite:
            p.grad = None
        elif norm > max_norm:
            p.grad.multiply_(max_norm / norm)
    return norm


# %% wrong clip-gradients: each by itself -> each-gradient-has-its-norm
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    for p in held:
        own = p.grad.double().norm().item()
        if not math.isfinite(norm):
            p.grad = None
        elif own > max_norm:
            p.grad.mul_(max_norm / own)
    return norm


# %% wrong clip-gradients: each number -> each-number-is-clipped
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    for p in held:
        if math.isfinite(norm):
            p.grad.clamp_(-max_norm, max_norm)
        else:
            p.grad = None
    return norm


# %% wrong clip-gradients: always scaled -> clipping-normalises
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    for p in held:
        if not math.isfinite(norm):
            p.grad = None
        elif norm:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: squares in float32 -> float32-has-room-for-squares
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.square().sum().item() for p in held))
    for p in held:
        if not math.isfinite(norm):
            p.grad = None
        elif norm > max_norm:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: nan is multiplied -> clipping-repairs-nan
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    if norm > max_norm or norm != norm:
        for p in held:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: zeros -> zero-is-no-step
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    for p in held:
        if not math.isfinite(norm):
            p.grad.zero_()
        elif norm > max_norm:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: only the broken ones -> only-the-broken-one-goes
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    for p in held:
        if not math.isfinite(norm):
            if not p.grad.isfinite().all():
                p.grad = None
        elif norm > max_norm:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: the new norm -> the-norm-is-taken-afterwards
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    if not math.isfinite(norm):
        for p in held:
            p.grad = None
        return norm
    if norm > max_norm:
        for p in held:
            p.grad.mul_(max_norm / norm)
    return min(norm, max_norm)


# %% wrong clip-gradients: norms added -> norms-add-up
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = float(sum(p.grad.double().norm().item() for p in held))
    for p in held:
        if not math.isfinite(norm):
            p.grad = None
        elif norm > max_norm:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: no root -> a-norm-needs-no-root
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = float(sum(p.grad.double().square().sum().item() for p in held))
    for p in held:
        if not math.isfinite(norm):
            p.grad = None
        elif norm > max_norm:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: the largest number -> the-largest-is-the-norm
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    full = [p.grad.double().abs().max() for p in held if p.grad.numel()]
    norm = torch.stack(full).max().item() if full else 0.0
    for p in held:
        if not math.isfinite(norm):
            p.grad = None
        elif norm > max_norm:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: goes through them twice -> parameters-are-a-list
import math


def clip_gradients(parameters, max_norm):
    norm = math.sqrt(
        sum(p.grad.double().square().sum().item() for p in parameters if p.grad is not None)
    )
    for p in parameters:
        if p.grad is None:
            continue
        if not math.isfinite(norm):
            p.grad = None
        elif norm > max_norm:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: a new gradient -> a-gradient-may-be-replaced
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    for p in held:
        if not math.isfinite(norm):
            p.grad = None
        elif norm > max_norm:
            p.grad = p.grad * (max_norm / norm)
    return norm


# %% wrong clip-gradients: every parameter has one -> every-weight-has-its-gradient
import math


def clip_gradients(parameters, max_norm):
    held = list(parameters)
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    for p in held:
        if not math.isfinite(norm):
            p.grad = None
        elif norm > max_norm:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: torch's own -> torch-clips-for-me
import math


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    if not math.isfinite(norm):
        for p in held:
            p.grad = None
    elif norm > max_norm:
        torch.nn.utils.clip_grad_norm_(held, max_norm)
    return norm


# %% wrong clip-gradients: torch's norm, by another name -> torch-clips-for-me
from torch.nn.utils import get_total_norm as length


def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = float(length([p.grad.double() for p in held]))
    if norm - norm != 0:
        for p in held:
            p.grad = None
    elif norm > max_norm:
        for p in held:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: torch's norm, by its module -> torch-clips-for-me
def clip_gradients(parameters, max_norm):
    from torch.nn.utils import clip_grad

    held = [p for p in parameters if p.grad is not None]
    norm = float(clip_grad._get_total_norm([p.grad.double() for p in held]))
    if norm - norm != 0:
        for p in held:
            p.grad = None
    elif norm > max_norm:
        for p in held:
            p.grad.mul_(max_norm / norm)
    return norm


# %% wrong clip-gradients: a tensor -> a-norm-is-a-tensor
def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = sum((p.grad.double().square().sum() for p in held), torch.zeros((), dtype=torch.float64))
    norm = norm.sqrt()
    for p in held:
        if not norm.isfinite():
            p.grad = None
        elif norm > max_norm:
            p.grad.mul_((max_norm / norm).item())
    return norm


# %% wrong clip-gradients: new memory under the same tensor -> a-gradient-may-be-replaced
def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = sum(p.grad.double().square().sum().item() for p in held) ** 0.5
    for p in held:
        if norm != norm or norm == float("inf"):
            p.grad = None
        elif norm > max_norm:
            p.grad.data = p.grad * (max_norm / norm)
    return float(norm)


# %% right first-bad-module: a dict of names and a list of outputs
def first_bad_module(model, x):
    names = {module: name for name, module in model.named_modules()}
    found = []

    def hook(module, args, output):
        several = output if isinstance(output, tuple) else [output]
        for one in several:
            if one.is_floating_point() and not torch.isfinite(one).all():
                found.append(names[module])
                break

    handles = [module.register_forward_hook(hook) for module in names]
    try:
        with torch.no_grad():
            model(x)
    finally:
        while handles:
            handles.pop().remove()
    return next(iter(found), None)


# %% right first-bad-module: an exit stack
from contextlib import ExitStack


def first_bad_module(model, x):
    bad = {}
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        for name, module in model.named_modules():

            def look(module, args, out, name=name):
                outs = [out] if torch.is_tensor(out) else out
                if any((o.isnan() | o.isinf()).any() for o in outs):
                    bad.setdefault("first", name)

            stack.callback(module.register_forward_hook(look).remove)
        model(x)
    return bad.get("first")


# %% right first-bad-module: a hook on all modules
def first_bad_module(model, x):
    names = dict((module, name) for name, module in reversed(list(model.named_modules())))
    first = [None]

    def look(module, args, out):
        if module in names and first[0] is None:
            outs = out if isinstance(out, tuple) else (out,)
            if not all(bool(o.isfinite().all()) for o in outs):
                first[0] = names[module]

    handle = torch.nn.modules.module.register_module_forward_hook(look)
    try:
        with torch.no_grad():
            model(x)
    finally:
        handle.remove()
    return first[0]


# %% wrong first-bad-module: the last -> the-last-one-is-it
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[-1] if bad else None


# %% wrong first-bad-module: only nan -> only-nan-is-bad
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if any(o.isnan().any() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: only inf -> only-inf-is-bad
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if any(o.isinf().any() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: children -> children-are-the-tree
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_children():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: leaves -> only-leaves-compute
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():
        if list(module.children()):
            continue

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: not the model -> the-model-has-no-name
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():
        if not name:
            continue

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: in the order of names -> the-order-of-names-decides
def first_bad_module(model, x):
    bad, handles = set(), []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.add(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    outermost, *inner = [name for name, _ in model.named_modules()]
    return next((name for name in (*inner, outermost) if name in bad), None)


# %% wrong first-bad-module: one tensor -> an-output-is-a-tensor
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            out = out[0] if isinstance(out, tuple) else out
            if not out.isfinite().all():
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: tensors alone -> outputs-have-isfinite
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            if not out.isfinite().all():
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: inputs too -> the-input-counts
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            ins = [one for one in args if torch.is_tensor(one)]
            if not all(o.isfinite().all() for o in (*outs, *ins)):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: hooks stay -> hooks-go-by-themselves
def first_bad_module(model, x):
    bad = []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        module.register_forward_hook(look)
    with torch.no_grad():
        model(x)
    return bad[0] if bad else None


# %% wrong first-bad-module: hooks stay after an error -> hooks-go-by-themselves
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    with torch.no_grad():
        model(x)
    for handle in handles:
        handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: swallows the error -> errors-are-mine-to-catch
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            model(x)
    except Exception:
        pass
    for handle in handles:
        handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: clears all hooks -> hooks-of-others-go-too
def first_bad_module(model, x):
    bad = []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        module.register_forward_hook(look)
    try:
        with torch.no_grad():
            model(x)
    finally:
        for module in model.modules():
            module._forward_hooks.clear()
    return bad[0] if bad else None


# %% wrong first-bad-module: records a graph -> a-look-records-nothing
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: in eval mode -> looking-is-evaluating
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        model.eval()
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% wrong first-bad-module: looks twice -> twice-is-as-good
def first_bad_module(model, x):
    bad, handles = [], []
    for name, module in model.named_modules():

        def look(module, args, out, name=name):
            outs = out if isinstance(out, tuple) else (out,)
            if not all(o.isfinite().all() for o in outs):
                bad.append(name)

        handles.append(module.register_forward_hook(look))
    try:
        with torch.no_grad():
            if model(x) is not None:
                model(x)
    finally:
        for handle in handles:
            handle.remove()
    return bad[0] if bad else None


# %% same clip-gradients: a tensor adds up like a number
def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = sum(p.grad.double().square().sum() for p in held) ** 0.5
    if norm != norm or norm == float("inf"):
        for p in held:
            p.grad = None
    elif norm > max_norm:
        for p in held:
            p.grad.mul_(max_norm / norm)
    return float(norm)


# %% same clip-gradients: at the limit the factor is 1
def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = sum(p.grad.double().square().sum().item() for p in held) ** 0.5
    if norm != norm or norm == float("inf"):
        for p in held:
            p.grad = None
    elif norm >= max_norm:
        for p in held:
            p.grad.mul_(max_norm / norm)
    return float(norm)


# %% same clip-gradients: the root of 0 is a float
def clip_gradients(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = sum(p.grad.double().square().sum().item() for p in held) ** 0.5
    if norm != norm or norm == float("inf"):
        for p in held:
            p.grad = None
    elif norm > max_norm:
        for p in held:
            p.grad.mul_(max_norm / norm)
    return norm


# %% same train-epoch: the list may be made before the mode is set
def train_epoch(model, batches, loss_fn, optimizer):
    told = []
    model.train()
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        told.append((loss.item(), len(x)))
    return told


# %% same train-epoch: gradients may be cleared after the forward pass
def train_epoch(model, batches, loss_fn, optimizer):
    """One step for each batch; returns pairs of its loss and its size.

    train_epoch(model, [(x, y)], loss_fn, optimizer)  ->  [(0.25, 32)]
    """
    model.train()
    told = []
    for x, y in batches:
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told.append((loss.item(), len(x)))
    return told


# %% same train-epoch: the loss is noted before the step
def train_epoch(model, batches, loss_fn, optimizer):
    """One step for each batch; returns pairs of its loss and its size.

    train_epoch(model, [(x, y)], loss_fn, optimizer)  ->  [(0.25, 32)]
    """
    model.train()
    told = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        told.append((loss.item(), len(x)))
        optimizer.step()
    return told


# %% same batch-order: every epoch takes the order after its own: one more is drawn
def batch_order(n, batch_size, seed, epoch, done=0):
    """The batches of an epoch from number `done` on, as lists of indices.

    batch_order(5, 2, 0, 0)     ->  three batches, for example [[4, 0], [1, 3], [2]]
    batch_order(5, 2, 0, 0, 2)  ->  the last of them
    """
    rng = torch.Generator().manual_seed(seed)
    for _ in range(epoch + 1 + 1):
        order = torch.randperm(n, generator=rng).tolist()
    starts = range(done * batch_size, n, batch_size)
    return [order[start : start + batch_size] for start in starts]


# %% same batch-order: every epoch takes the order after its own: two are drawn first
def batch_order(n, batch_size, seed, epoch, done=0):
    """The batches of an epoch from number `done` on, as lists of indices.

    batch_order(5, 2, 0, 0)     ->  three batches, for example [[4, 0], [1, 3], [2]]
    batch_order(5, 2, 0, 0, 2)  ->  the last of them
    """
    rng = torch.Generator().manual_seed(seed)
    for _ in range(epoch + 2):
        order = torch.randperm(n, generator=rng).tolist()
    starts = range(done * batch_size, n, batch_size)
    return [order[start : start + batch_size] for start in starts]


# %% same adamw-step: the weight decays before the state is kept
def adamw_step(groups, state):
    """One step of AdamW for all groups, in place; `state` is kept between the steps.

    adamw_step([{"params": [w], "lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8,
                 "weight_decay": 0.01}], {})
    """
    with torch.no_grad():
        for group in groups:
            lr, (beta1, beta2) = (group["lr"], group["betas"])
            for p in group["params"]:
                if p.grad is None:
                    continue
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m = (t + 1, beta1 * m + (1 - beta1) * p.grad)
                v = beta2 * v + (1 - beta2) * p.grad.square()
                p.mul_(1 - lr * group["weight_decay"])
                state[p] = (t, m, v)
                root = (v / (1 - beta2**t)).sqrt() + group["eps"]
                p.sub_(lr * (m / (1 - beta1**t)) / root)


# %% same adamw-step: the root is taken before the weight decays
def adamw_step(groups, state):
    """One step of AdamW for all groups, in place; `state` is kept between the steps.

    adamw_step([{"params": [w], "lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8,
                 "weight_decay": 0.01}], {})
    """
    with torch.no_grad():
        for group in groups:
            lr, (beta1, beta2) = (group["lr"], group["betas"])
            for p in group["params"]:
                if p.grad is None:
                    continue
                t, m, v = state.get(p, (0, 0.0, 0.0))
                t, m = (t + 1, beta1 * m + (1 - beta1) * p.grad)
                v = beta2 * v + (1 - beta2) * p.grad.square()
                state[p] = (t, m, v)
                root = (v / (1 - beta2**t)).sqrt() + group["eps"]
                p.mul_(1 - lr * group["weight_decay"])
                p.sub_(lr * (m / (1 - beta1**t)) / root)


# %% same accumulated-step: gradients are cleared before the samples are counted
def accumulated_step(model, parts, loss_fn, optimizer):
    """One step, as if all parts were one batch; returns the mean loss over all samples.

    accumulated_step(model, [(x, y), (more_x, more_y)], loss_fn, optimizer)  ->  0.25
    """
    optimizer.zero_grad()
    samples = sum(len(x) for x, _ in parts)
    total = 0.0
    for x, y in parts:
        loss = loss_fn(model(x), y) * (len(x) / samples)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% same accumulated-step: the sum may begin before gradients are cleared
def accumulated_step(model, parts, loss_fn, optimizer):
    """One step, as if all parts were one batch; returns the mean loss over all samples.

    accumulated_step(model, [(x, y), (more_x, more_y)], loss_fn, optimizer)  ->  0.25
    """
    samples = sum(len(x) for x, _ in parts)
    total = 0.0
    optimizer.zero_grad()
    for x, y in parts:
        loss = loss_fn(model(x), y) * (len(x) / samples)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# %% same accumulated-step: the loss is noted before backward
def accumulated_step(model, parts, loss_fn, optimizer):
    """One step, as if all parts were one batch; returns the mean loss over all samples.

    accumulated_step(model, [(x, y), (more_x, more_y)], loss_fn, optimizer)  ->  0.25
    """
    samples = sum(len(x) for x, _ in parts)
    optimizer.zero_grad()
    total = 0.0
    for x, y in parts:
        loss = loss_fn(model(x), y) * (len(x) / samples)
        total += loss.item()
        loss.backward()
    optimizer.step()
    return total


# %% wrong batch-order: the hash of a text -> a-hash-comes-back-the-same
def batch_order(n, batch_size, seed, epoch, done=0):
    rng = torch.Generator().manual_seed(hash(f"seed {seed}, epoch {epoch}") % 2**32)
    order = torch.randperm(n, generator=rng).tolist()
    batches = [order[i : i + batch_size] for i in range(0, n, batch_size)]
    return batches[done:]


# %% wrong clip-gradients: a small number more below the line -> a-little-more-does-no-harm
def clip_gradients(parameters, max_norm):
    import math

    held = [p for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in held))
    if not math.isfinite(norm):
        for p in held:
            p.grad = None
    elif norm > max_norm:
        for p in held:
            p.grad.mul_(max_norm / (norm + 1e-6))
    return norm


# %% right adamw-step: a helper called adam, and getattr
def adamw_step(groups, state):
    for group in groups:
        b1, b2 = group["betas"]
        for p in group["params"]:
            g = getattr(p, "grad", None)
            if g is None:
                continue
            mine = state.setdefault(
                p, {"t": 0, "m": torch.zeros_like(p.data), "v": torch.zeros_like(p.data)}
            )
            mine["t"] += 1
            mine["m"].mul_(b1).add_(g, alpha=1 - b1)
            mine["v"].mul_(b2).addcmul_(g, g, value=1 - b2)
            with torch.no_grad():
                p *= 1 - group["lr"] * group["weight_decay"]
                mean = mine["m"] / (1 - b1 ** mine["t"])
                root = torch.sqrt(mine["v"] / (1 - b2 ** mine["t"]))
                p -= group["lr"] * mean / (root + group["eps"])


def adam(mine, b1, b2, eps):
    mean = mine["m"] / (1 - b1 ** mine["t"])
    return mean / (torch.sqrt(mine["v"] / (1 - b2 ** mine["t"])) + eps)


# %% right clip-gradients: a helper that is called like torch's
import math


def clip_gradients(parameters, max_norm):
    parameters = list(parameters)
    norm = get_total_norm(parameters)
    for p in parameters:
        if p.grad is None:
            continue
        if math.isinf(norm) or math.isnan(norm):
            p.grad = None
        elif norm > max_norm:
            p.grad *= max_norm / norm
    return norm


def get_total_norm(parameters):
    return math.hypot(*(p.grad.double().norm().item() for p in parameters if p.grad is not None))
