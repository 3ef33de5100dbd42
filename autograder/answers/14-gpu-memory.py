# Answers to lesson 14, as learners type them. See "How to add an exercise" in the README.

# %% right counters: sets of names for each storage
def three_numbers(program, nbytes, context):
    owners = []
    cached = 0
    rows = []
    for step in program:
        kind = step[0]
        if kind == "new":
            if cached:
                cached -= 1
            fresh = {step[1]}
            for names in owners:
                names.discard(step[1])
            owners.append(fresh)
        elif kind in ("name", "slice"):
            target, source = step[1], step[2]
            home = next(names for names in owners if source in names)
            for names in owners:
                names.discard(target)
            home.add(target)
        elif kind == "del":
            for names in owners:
                names.discard(step[1])
        else:
            cached = 0
        cached += sum(not names for names in owners)
        owners = [names for names in owners if names]
        allocated = len(owners) * nbytes
        reserved = allocated + cached * nbytes
        rows.append((allocated, reserved, reserved + context))
    return rows


# %% right counters: reference counts
from collections import Counter


def three_numbers(program, nbytes, context):
    table, reserved, told = {}, 0, []
    for number, (kind, *names) in enumerate(program):
        if kind == "new":
            living = len(Counter(table.values()))
            reserved = max(reserved, (living + 1) * nbytes)
            table[names[0]] = number
        elif kind == "del":
            table.pop(names[0])
        elif kind == "empty_cache":
            reserved = len(Counter(table.values())) * nbytes
        else:
            table[names[0]] = table[names[1]]
        told.append((len(Counter(table.values())) * nbytes, reserved, reserved + context))
    return told


# %% wrong counters: runs the program and measures -> memory-can-only-be-measured
def three_numbers(program, nbytes, context):
    gpu.empty_cache()
    start = gpu.memory_allocated(), gpu.memory_reserved()
    names, told = {}, []
    for kind, *words in program:
        if kind == "new":
            names[words[0]] = torch.empty(nbytes, dtype=torch.uint8, device=device)
        elif kind == "name":
            names[words[0]] = names[words[1]]
        elif kind == "slice":
            names[words[0]] = names[words[1]][:1]
        elif kind == "del":
            del names[words[0]]
        else:
            gpu.empty_cache()
        allocated = gpu.memory_allocated() - start[0]
        reserved = gpu.memory_reserved() - start[1]
        told.append((allocated, reserved, context + reserved))
    return told


# %% wrong counters: asks the simulated allocator -> memory-can-only-be-measured
def three_numbers(program, nbytes, context):
    from course.gpu import CachingAllocator

    device = CachingAllocator(2**50)

    class Storage:
        def __init__(self):
            self.address = device.allocate(nbytes).address

        def __del__(self):
            device.free(self.address)

    names, told = {}, []
    for kind, *words in program:
        if kind == "new":
            names[words[0]] = Storage()
        elif kind == "del":
            del names[words[0]]
        elif kind == "empty_cache":
            device.release_cached()
        else:
            names[words[0]] = names[words[1]]
        told.append((device.allocated, device.reserved, context + device.reserved))
    return told


# %% wrong counters: del frees, whoever else holds the tensor -> del-ends-the-tensor
def three_numbers(program, nbytes, context):
    where, made, segments, told = {}, 0, 0, []
    for kind, *names in program:
        if kind == "new":
            segments = max(segments, len(set(where.values())) + 1)
            where[names[0]] = made
            made += 1
        elif kind == "del":
            gone = where.get(names[0])
            where = {n: p for n, p in where.items() if p != gone}
        elif kind == "empty_cache":
            segments = len(set(where.values()))
        elif names[1] in where:
            where[names[0]] = where[names[1]]
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, context + reserved))
    return told


# %% wrong counters: a slice holds one element -> a-slice-is-as-small-as-it-looks
def three_numbers(program, nbytes, context):
    where, made, segments, told = {}, 0, 0, []
    for kind, *names in program:
        if kind == "new":
            segments = max(segments, len(set(where.values())) + 1)
            where[names[0]] = made
            made += 1
        elif kind == "del":
            where.pop(names[0], None)
        elif kind == "empty_cache":
            segments = len(set(where.values()))
        elif kind == "name" and names[1] in where:
            where[names[0]] = where[names[1]]
        else:
            where.pop(names[0], None)
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, context + reserved))
    return told


# %% wrong counters: a second name is a second tensor -> a-name-takes-memory
def three_numbers(program, nbytes, context):
    where, made, segments, told = {}, 0, 0, []
    for kind, *names in program:
        if kind in ("new", "name"):
            segments = max(segments, len(set(where.values())) + 1)
            where[names[0]] = made
            made += 1
        elif kind == "del":
            del where[names[0]]
        elif kind == "empty_cache":
            segments = len(set(where.values()))
        else:
            where[names[0]] = where[names[1]]
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, context + reserved))
    return told


# %% wrong counters: no cache -> reserved-follows-allocated
def three_numbers(program, nbytes, context):
    where, made, told = {}, 0, []
    for kind, *names in program:
        if kind == "new":
            where[names[0]] = made
            made += 1
        elif kind == "del":
            del where[names[0]]
        elif kind != "empty_cache":
            where[names[0]] = where[names[1]]
        allocated = len(set(where.values())) * nbytes
        told.append((allocated, allocated, context + allocated))
    return told


# %% wrong counters: empty_cache() clears everything -> empty-cache-frees-tensors
def three_numbers(program, nbytes, context):
    where, made, segments, told = {}, 0, 0, []
    for kind, *names in program:
        if kind == "new":
            segments = max(segments, len(set(where.values())) + 1)
            where[names[0]] = made
            made += 1
        elif kind == "del":
            where.pop(names[0], None)
        elif kind == "empty_cache":
            where, segments = {}, 0
        elif names[1] in where:
            where[names[0]] = where[names[1]]
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, context + reserved))
    return told


# %% wrong counters: each new tensor is a cudaMalloc -> every-request-goes-to-the-driver
def three_numbers(program, nbytes, context):
    where, made, segments, told = {}, 0, 0, []
    for kind, *names in program:
        if kind == "new":
            segments += 1
            where[names[0]] = made
            made += 1
        elif kind == "del":
            del where[names[0]]
        elif kind == "empty_cache":
            segments = len(set(where.values()))
        else:
            where[names[0]] = where[names[1]]
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, context + reserved))
    return told


# %% wrong counters: nvidia-smi shows the tensors -> nvidia-smi-shows-allocated
def three_numbers(program, nbytes, context):
    where, made, segments, told = {}, 0, 0, []
    for kind, *names in program:
        if kind == "new":
            segments = max(segments, len(set(where.values())) + 1)
            where[names[0]] = made
            made += 1
        elif kind == "del":
            del where[names[0]]
        elif kind == "empty_cache":
            segments = len(set(where.values()))
        else:
            where[names[0]] = where[names[1]]
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, context + allocated))
    return told


# %% wrong counters: nvidia-smi shows what is reserved, no more -> the-context-is-not-counted
def three_numbers(program, nbytes, context):
    where, made, segments, told = {}, 0, 0, []
    for kind, *names in program:
        if kind == "new":
            segments = max(segments, len(set(where.values())) + 1)
            where[names[0]] = made
            made += 1
        elif kind == "del":
            del where[names[0]]
        elif kind == "empty_cache":
            segments = len(set(where.values()))
        else:
            where[names[0]] = where[names[1]]
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, reserved))
    return told


# %% wrong counters: binds the name before it asks for memory -> the-old-tensor-goes-first
def three_numbers(program, nbytes, context):
    where, made, segments, told = {}, 0, 0, []
    for kind, *names in program:
        if kind == "new":
            where[names[0]] = made
            made += 1
        elif kind == "del":
            del where[names[0]]
        elif kind == "empty_cache":
            segments = len(set(where.values()))
        else:
            where[names[0]] = where[names[1]]
        segments = max(segments, len(set(where.values())))
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, context + reserved))
    return told


# %% right holder: one row each
def holder(program):
    if program in "AK":
        return "view"
    if program == "C":
        return "graph"
    if program == "G":
        return "function"
    if program == "H":
        return "traceback"
    return "list" if program == "J" else "nobody"


# %% right holder: a table of all
def holder(program):
    words = "view nobody graph nobody nobody nobody function traceback nobody list view"
    return dict(zip("ABCDEFGHIJK", words.split()))[program]


# %% wrong holder: views keep only what they show -> views-let-the-rest-go
def holder(program):
    return {"C": "graph", "G": "function", "H": "traceback", "J": "list"}.get(program, "nobody")


# %% wrong holder: the mean remembers x -> results-hold-their-inputs
def holder(program):
    keeps = {"A": "view", "K": "view", "G": "function", "H": "traceback", "J": "list"}
    return {**keeps, "B": "graph", "C": "graph"}.get(program, "nobody")


# %% wrong holder: a loss is a number -> graphs-hold-no-tensors
def holder(program):
    keeps = {"A": "view", "K": "view", "G": "function", "H": "traceback", "J": "list"}
    return keeps.get(program, "nobody")


# %% wrong holder: backward frees nothing -> backward-leaves-saved-tensors
def holder(program):
    keeps = {"A": "view", "K": "view", "G": "function", "H": "traceback", "J": "list"}
    return {**keeps, "C": "graph", "D": "graph"}.get(program, "nobody")


# %% wrong holder: every graph holds its inputs -> every-node-keeps-its-inputs
def holder(program):
    keeps = {"A": "view", "K": "view", "G": "function", "H": "traceback", "J": "list"}
    return {**keeps, "C": "graph", "E": "graph"}.get(program, "nobody")


# %% wrong holder: no_grad only stops backward -> no-grad-builds-a-graph
def holder(program):
    keeps = {"A": "view", "K": "view", "G": "function", "H": "traceback", "J": "list"}
    return {**keeps, "C": "graph", "F": "graph"}.get(program, "nobody")


# %% wrong holder: functions are code -> functions-hold-no-tensors
def holder(program):
    keeps = {"A": "view", "K": "view", "C": "graph", "H": "traceback", "J": "list"}
    return keeps.get(program, "nobody")


# %% wrong holder: errors are messages -> an-error-is-only-a-text
def holder(program):
    keeps = {"A": "view", "K": "view", "C": "graph", "G": "function", "J": "list"}
    return keeps.get(program, "nobody")


# %% wrong holder: what was caught stays -> caught-errors-stay
def holder(program):
    keeps = {"A": "view", "K": "view", "C": "graph", "G": "function", "J": "list"}
    return {**keeps, "H": "traceback", "I": "traceback"}.get(program, "nobody")


# %% wrong holder: hooks observe -> hooks-only-look
def holder(program):
    keeps = {"A": "view", "K": "view", "C": "graph", "G": "function", "H": "traceback"}
    return keeps.get(program, "nobody")


# %% right running-loss: sums on the device, one item() at the end
def growth(step):
    step()
    step()
    sizes = []
    for calls in (0, 8):
        for _ in range(calls):
            step()
        gc.collect()
        sizes.append(gpu.memory_allocated())
    return (sizes[1] - sizes[0]) / 8


def train_epoch(model, optimizer, batches):
    squares = errors = torch.zeros((), device=device)
    count = 0
    for x, y in batches:
        optimizer.zero_grad()
        out = model(x)
        loss = (out - y).square().mean()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            squares = squares + loss * len(x)
            errors = errors + (out - y).abs().mean() * len(x)
        count += len(x)
    return {"loss": squares.item() / count, "error": (errors / count).item()}


# %% right running-loss: lists of floats
def growth(step):
    def look():
        gc.collect()
        return gpu.memory_allocated()

    for _ in range(2):
        step()
    before = look()
    for _ in range(8):
        step()
    return float(look() - before) / 8.0


def train_epoch(model, optimizer, batches):
    rows = []
    for x, y in batches:
        out = model(x)
        loss = nn.functional.mse_loss(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        error = nn.functional.l1_loss(out.detach(), y)
        rows.append((float(loss), float(error), len(x)))
    count = sum(n for _, _, n in rows)
    return {
        "loss": sum(loss * n for loss, _, n in rows) / count,
        "error": sum(error * n for _, error, n in rows) / count,
    }


# %% right running-loss: sums of squares instead of means
def growth(step):
    step(), step()
    gc.collect()
    start = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_allocated() - start) / 8


def train_epoch(model, optimizer, batches):
    squares, errors, elements = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad(set_to_none=True)
        apart = model(x) - y
        apart.square().mean().backward()
        optimizer.step()
        apart = apart.detach()
        squares += apart.square().sum().item()
        errors += apart.abs().sum().item()
        elements += apart.numel()
    return {"loss": squares / elements, "error": errors / elements}


# %% wrong running-loss: float() only at the end, for the metric as well -> a-metric-holds-no-graph
def growth(step):
    step()
    step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    squares, errors, count = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        out = model(x)
        loss = (out - y).square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item() * len(x)
        errors = errors + (out - y).abs().mean() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": float(errors) / count}


# %% wrong running-loss: reads reserved memory -> reserved-shows-leaks
def growth(step):
    step()
    step()
    gc.collect()
    before = gpu.memory_reserved()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_reserved() - before) / 8


def train_epoch(model, optimizer, batches):
    squares, errors, count = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        difference = model(x) - y
        loss = difference.square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item() * len(x)
        errors += difference.abs().mean().item() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": errors / count}


# %% wrong running-loss: reads the peak -> the-peak-is-what-is-left
def growth(step):
    step()
    step()
    gc.collect()
    gpu.reset_peak_memory_stats()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.max_memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    squares, errors, count = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        difference = model(x) - y
        loss = difference.square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item() * len(x)
        errors += difference.abs().mean().item() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": errors / count}


# %% wrong running-loss: measures from the first call -> the-first-call-is-like-the-others
def growth(step):
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(10):
        step()
    gc.collect()
    return (gpu.memory_allocated() - before) / 10


def train_epoch(model, optimizer, batches):
    squares, errors, count = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        difference = model(x) - y
        loss = difference.square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item() * len(x)
        errors += difference.abs().mean().item() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": errors / count}


# %% wrong running-loss: no garbage collection -> garbage-is-a-leak
def growth(step):
    step()
    step()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    return (gpu.memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    squares, errors, count = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        difference = model(x) - y
        loss = difference.square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item() * len(x)
        errors += difference.abs().mean().item() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": errors / count}


# %% wrong running-loss: the total, not the growth per call -> total-growth-is-growth-a-call
def growth(step):
    step()
    step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return float(gpu.memory_allocated() - before)


def train_epoch(model, optimizer, batches):
    squares, errors, count = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        difference = model(x) - y
        loss = difference.square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item() * len(x)
        errors += difference.abs().mean().item() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": errors / count}


# %% wrong running-loss: only the metric is detached -> after-backward-the-graph-is-gone
def growth(step):
    step()
    step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    squares, errors, count = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        out = model(x)
        loss = (out - y).square().mean()
        loss.backward()
        optimizer.step()
        squares = squares + loss * len(x)
        errors += (out.detach() - y).abs().mean().item() * len(x)
        count += len(x)
    return {"loss": float(squares) / count, "error": errors / count}


# %% wrong running-loss: item() replaces the sum -> item-is-the-sum
def growth(step):
    step()
    step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        out = model(x)
        loss = (out - y).square().mean()
        loss.backward()
        optimizer.step()
        squares = loss.item()
        errors = (out - y).abs().mean().item()
    return {"loss": squares, "error": errors}


# %% wrong running-loss: the mean of the batch means -> batches-weigh-the-same
def growth(step):
    step()
    step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    squares, errors, count = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        out = model(x)
        loss = (out - y).square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item()
        errors += (out - y).abs().mean().item()
        count += 1
    return {"loss": squares / count, "error": errors / count}


# %% right validation: decorator and lists
@torch.no_grad()
def validate(model, criterion, batches):
    training = model.training
    model.train(False)
    losses, counts, classes = [], [], []
    for x, labels in batches:
        scores = model(x)
        losses.append(float(criterion(scores, labels)))
        counts.append(len(labels))
        classes.append(scores.argmax(dim=1).to("cpu"))
    model.train(training)
    mean = sum(loss * n for loss, n in zip(losses, counts)) / sum(counts)
    return mean, torch.cat(classes)


# %% right validation: inference_mode and a sum on the device
def validate(model, criterion, batches):
    before = model.training
    model.eval()
    try:
        with torch.inference_mode():
            total, classes = torch.zeros((), device=device), []
            for x, labels in batches:
                scores = model(x)
                total += criterion(scores, labels) * x.shape[0]
                classes += scores.argmax(-1).tolist()
            return total.item() / len(classes), torch.tensor(classes)
    finally:
        model.train(before)


# %% wrong validation: item() only -> item-frees-enough
def validate(model, criterion, batches):
    total, classes = 0.0, []
    for x, labels in batches:
        scores = model(x)
        total += criterion(scores, labels).item() * len(x)
        classes.append(scores.argmax(1).cpu())
    return total / sum(map(len, classes)), torch.cat(classes)


# %% wrong validation: eval() only -> eval-switches-autograd-off
def validate(model, criterion, batches):
    training = model.training
    model.eval()
    total, classes = 0.0, []
    for x, labels in batches:
        scores = model(x)
        total += criterion(scores, labels).detach().item() * len(x)
        classes.append(scores.detach().argmax(1).cpu())
    model.train(training)
    return total / sum(map(len, classes)), torch.cat(classes)


# %% wrong validation: no_grad only -> no-grad-switches-to-eval
@torch.no_grad()
def validate(model, criterion, batches):
    total, classes = 0.0, []
    for x, labels in batches:
        scores = model(x)
        total += criterion(scores, labels).item() * len(x)
        classes.append(scores.argmax(1).cpu())
    return total / sum(map(len, classes)), torch.cat(classes)


# %% wrong validation: leaves the model in evaluation mode -> eval-ends-by-itself
@torch.no_grad()
def validate(model, criterion, batches):
    model.eval()
    total, classes = 0.0, []
    for x, labels in batches:
        scores = model(x)
        total += criterion(scores, labels).item() * len(x)
        classes.append(scores.argmax(1).cpu())
    return total / sum(map(len, classes)), torch.cat(classes)


# %% wrong validation: leaves the model in training mode -> validation-is-always-called-in-training
@torch.no_grad()
def validate(model, criterion, batches):
    model.eval()
    total, classes = 0.0, []
    for x, labels in batches:
        scores = model(x)
        total += criterion(scores, labels).item() * len(x)
        classes.append(scores.argmax(1).cpu())
    model.train()
    return total / sum(map(len, classes)), torch.cat(classes)


# %% wrong validation: collects scores and evaluates at the end -> outputs-may-wait-on-the-card
@torch.no_grad()
def validate(model, criterion, batches):
    training = model.training
    model.eval()
    scores, labels = [], []
    for x, y in batches:
        scores.append(model(x))
        labels.append(y)
    scores, labels = torch.cat(scores), torch.cat(labels)
    model.train(training)
    return criterion(scores, labels).item(), scores.argmax(1).cpu()


# %% wrong validation: the mean of the batch means -> batches-weigh-the-same
@torch.no_grad()
def validate(model, criterion, batches):
    training = model.training
    model.eval()
    losses, classes = [], []
    for x, labels in batches:
        scores = model(x)
        losses.append(criterion(scores, labels).item())
        classes.append(scores.argmax(1).cpu())
    model.train(training)
    return sum(losses) / len(losses), torch.cat(classes)


# %% right record-outputs: functools.partial
def record_outputs(model, x):
    outputs = []

    def store(name, module, inputs, output):
        outputs.append((name, output.detach().cpu().clone()))

    layers = [(n, m) for n, m in model.named_modules() if len(list(m.children())) == 0]
    handles = [m.register_forward_hook(functools.partial(store, n)) for n, m in layers]
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return outputs


# %% right record-outputs: handles as context managers
from contextlib import ExitStack


def record_outputs(model, x):
    names = {module: name for name, module in model.named_modules()}
    found = []

    def hook(module, inputs, output):
        copy = torch.empty(output.shape, dtype=output.dtype)
        copy.copy_(output.detach())
        found.append((names[module], copy))

    with ExitStack() as stack, torch.no_grad():
        for module in names:
            if next(module.children(), None) is None:
                stack.enter_context(module.register_forward_hook(hook))
        model(x)
    return found


# %% wrong record-outputs: stores the outputs themselves -> a-stored-output-has-no-past
def record_outputs(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            handles.append(
                module.register_forward_hook(lambda m, i, o, name=name: found.append((name, o)))
            )
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


# %% wrong record-outputs: detached, on the card -> detach-moves-to-the-host
def record_outputs(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            handles.append(
                module.register_forward_hook(
                    lambda m, i, o, name=name: found.append((name, o.detach().clone()))
                )
            )
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


# %% wrong record-outputs: leaves its hooks -> hooks-end-with-the-call
def record_outputs(model, x):
    found = []
    for name, module in model.named_modules():
        if not list(module.children()):
            module.register_forward_hook(
                lambda m, i, o, name=name: found.append((name, o.detach().to("cpu", copy=True)))
            )
    model(x)
    return found


# %% wrong record-outputs: removes them only if all goes well -> errors-remove-hooks
def record_outputs(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            handles.append(
                module.register_forward_hook(
                    lambda m, i, o, name=name: found.append((name, o.detach().to("cpu", copy=True)))
                )
            )
    model(x)
    for handle in handles:
        handle.remove()
    return found


# %% wrong record-outputs: .cpu() of what is on the CPU -> cpu-always-copies
def record_outputs(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            handles.append(
                module.register_forward_hook(
                    lambda m, i, o, name=name: found.append((name, o.detach().cpu()))
                )
            )
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


# %% wrong record-outputs: a dict by name -> a-layer-runs-once
def record_outputs(model, x):
    found, handles = {}, []

    def storing(name):
        def hook(module, inputs, output):
            found[name] = output.detach().to("cpu", copy=True)

        return hook

    for name, module in model.named_modules():
        if not list(module.children()):
            handles.append(module.register_forward_hook(storing(name)))
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return list(found.items())


# %% wrong record-outputs: hooks on containers as well -> containers-are-layers
def record_outputs(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if name:
            handles.append(
                module.register_forward_hook(
                    lambda m, i, o, name=name: found.append((name, o.detach().to("cpu", copy=True)))
                )
            )
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


# %% right step-bytes: a list of shapes
import math


def step_bytes(widths, batch, optimizer):
    def nbytes(shapes):
        return sum(max(1, math.ceil(math.prod(shape) * 4 / 512)) * 512 for shape in shapes)

    weights = [(b, a) for a, b in zip(widths, widths[1:])]
    biases = [(b,) for b in widths[1:]]
    total = nbytes(weights + biases)
    return {
        "parameters": total,
        "gradients": total,
        "optimizer state": {"sgd": 0, "momentum": total, "adam": 2 * total}[optimizer],
        "activations": nbytes([(batch, width) for width in widths[1:]] + [()]),
    }


# %% right step-bytes: a loop over the layers
def step_bytes(widths, batch, optimizer):
    parameters, activations = 0, 512
    for i in range(1, len(widths)):
        for size in (widths[i] * widths[i - 1], widths[i]):
            parameters += (size * 4 + 511) // 512 * 512
        activations += (batch * widths[i] * 4 + 511) // 512 * 512
    found = dict.fromkeys(("parameters", "gradients"), parameters)
    found["optimizer state"] = parameters * ["sgd", "momentum", "adam"].index(optimizer)
    found["activations"] = activations
    return found


# %% wrong step-bytes: without rounding -> a-tensor-takes-its-own-bytes
def step_bytes(widths, batch, optimizer):
    pairs = list(zip(widths, widths[1:]))
    parameters = 4 * sum(a * b + b for a, b in pairs)
    return {
        "parameters": parameters,
        "gradients": parameters,
        "optimizer state": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * parameters,
        "activations": 4 * sum(batch * b for b in widths[1:]) + 4,
    }


# %% wrong step-bytes: Adam keeps one tensor -> adam-keeps-one-tensor
def step_bytes(widths, batch, optimizer):
    def block(n):
        return (4 * n + 511) // 512 * 512

    parameters = sum(block(a * b) + block(b) for a, b in zip(widths, widths[1:]))
    return {
        "parameters": parameters,
        "gradients": parameters,
        "optimizer state": 0 if optimizer == "sgd" else parameters,
        "activations": sum(block(batch * b) for b in widths[1:]) + 512,
    }


# %% wrong step-bytes: only Adam has a state -> momentum-is-free
def step_bytes(widths, batch, optimizer):
    def block(n):
        return (4 * n + 511) // 512 * 512

    parameters = sum(block(a * b) + block(b) for a, b in zip(widths, widths[1:]))
    return {
        "parameters": parameters,
        "gradients": parameters,
        "optimizer state": 2 * parameters if optimizer == "adam" else 0,
        "activations": sum(block(batch * b) for b in widths[1:]) + 512,
    }


# %% wrong step-bytes: Linear and ReLU results are both kept -> every-intermediate-is-kept
def step_bytes(widths, batch, optimizer):
    def block(n):
        return (4 * n + 511) // 512 * 512

    parameters = sum(block(a * b) + block(b) for a, b in zip(widths, widths[1:]))
    outputs = [block(batch * b) for b in widths[1:]]
    return {
        "parameters": parameters,
        "gradients": parameters,
        "optimizer state": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * parameters,
        "activations": 2 * sum(outputs) - outputs[-1] + 512,
    }


# %% wrong step-bytes: only the hidden results -> the-last-output-is-not-kept
def step_bytes(widths, batch, optimizer):
    def block(n):
        return (4 * n + 511) // 512 * 512

    parameters = sum(block(a * b) + block(b) for a, b in zip(widths, widths[1:]))
    return {
        "parameters": parameters,
        "gradients": parameters,
        "optimizer state": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * parameters,
        "activations": sum(block(batch * b) for b in widths[1:-1]),
    }


# %% wrong step-bytes: weights only -> biases-weigh-nothing
def step_bytes(widths, batch, optimizer):
    def block(n):
        return (4 * n + 511) // 512 * 512

    parameters = sum(block(a * b) for a, b in zip(widths, widths[1:]))
    return {
        "parameters": parameters,
        "gradients": parameters,
        "optimizer state": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * parameters,
        "activations": sum(block(batch * b) for b in widths[1:]) + 512,
    }


# %% wrong step-bytes: the batch once more -> the-batch-is-an-activation
def step_bytes(widths, batch, optimizer):
    def block(n):
        return (4 * n + 511) // 512 * 512

    parameters = sum(block(a * b) + block(b) for a, b in zip(widths, widths[1:]))
    return {
        "parameters": parameters,
        "gradients": parameters,
        "optimizer state": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * parameters,
        "activations": sum(block(batch * b) for b in widths) + 512,
    }


# %% wrong step-bytes: makes the model and measures -> memory-can-only-be-measured
def step_bytes(widths, batch, optimizer):
    def block(n):
        return (4 * n + 511) // 512 * 512

    layers = [nn.Linear(a, b) for a, b in zip(widths, widths[1:])]
    parameters = sum(block(p.numel()) for layer in layers for p in layer.parameters())
    return {
        "parameters": parameters,
        "gradients": parameters,
        "optimizer state": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * parameters,
        "activations": sum(block(batch * b) for b in widths[1:]) + 512,
    }


# %% right lower-peak: split by sizes, tensor sums
def accumulate(model, criterion, x, y, parts):
    size = -(-len(x) // parts)
    total = 0.0
    for start in range(0, len(x), size):
        piece = slice(start, start + size)
        loss = criterion(model(x[piece]), y[piece])
        weight = len(x[piece]) / len(x)
        (weight * loss).backward()
        total += weight * loss.item()
    return total


def run_blocks(blocks, x):
    return functools.reduce(lambda x, block: checkpoint(block, x, use_reentrant=False), blocks, x)


# %% right lower-peak: the gradient argument of backward, and an own Function
def accumulate(model, criterion, x, y, parts):
    losses = []
    pieces = [piece for piece in zip(x.tensor_split(parts), y.tensor_split(parts)) if len(piece[0])]
    for some_x, some_y in pieces:
        loss = criterion(model(some_x), some_y)
        share = len(some_x) / x.shape[0]
        loss.backward(gradient=torch.full_like(loss, share))
        losses.append(loss.item() * share)
    return sum(losses)


class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, block, x, *parameters):
        ctx.block = block
        ctx.state = torch.get_device_module(x.device).get_rng_state()
        ctx.save_for_backward(x)
        return block(x)

    @staticmethod
    def backward(ctx, grad):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        torch.get_device_module(x.device).set_rng_state(ctx.state)
        with torch.enable_grad():
            out = ctx.block(x)
        parameters = list(ctx.block.parameters())
        grads = torch.autograd.grad(out, [x, *parameters], grad)
        return (None, *grads)


def run_blocks(blocks, x):
    for block in blocks:
        x = Again.apply(block, x, *block.parameters())
    return x


# %% wrong lower-peak: parts unweighted -> gradients-of-parts-just-add-up
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        loss = criterion(model(some_x), some_y)
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


# %% wrong lower-peak: every part weighs 1 / parts -> all-parts-are-equal
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        loss = criterion(model(some_x), some_y) / parts
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


# %% wrong lower-peak: sums the losses, one backward -> one-backward-at-the-end
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        total = total + criterion(model(some_x), some_y) * (len(some_x) / len(x))
    total.backward()
    return total.item()


def run_blocks(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


# %% wrong lower-peak: zero_grad first -> each-part-starts-from-zero
def accumulate(model, criterion, x, y, parts):
    model.zero_grad()
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        loss = criterion(model(some_x), some_y) * (len(some_x) / len(x))
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


# %% wrong lower-peak: zero_grad in each part -> each-part-starts-from-zero
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        model.zero_grad()
        loss = criterion(model(some_x), some_y) * (len(some_x) / len(x))
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


# %% wrong lower-peak: no_grad for checkpoint -> a-checkpoint-is-no-grad
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        loss = criterion(model(some_x), some_y) * (len(some_x) / len(x))
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    for block in blocks:
        with torch.no_grad():
            x = block(x)
    return x


# %% wrong lower-peak: detaches between the blocks -> detach-is-a-checkpoint
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        loss = criterion(model(some_x), some_y) * (len(some_x) / len(x))
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    for block in blocks:
        x = block(x.detach())
    return x


# %% wrong lower-peak: the reentrant form -> reentrant-makes-no-difference
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        loss = criterion(model(some_x), some_y) * (len(some_x) / len(x))
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=True)
    return x


# %% wrong lower-peak: one checkpoint for the whole model -> one-checkpoint-for-all
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        loss = criterion(model(some_x), some_y) * (len(some_x) / len(x))
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    return checkpoint(nn.Sequential(*blocks), x, use_reentrant=False)


# %% wrong lower-peak: plain calls -> forward-memory-is-the-peak
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        loss = criterion(model(some_x), some_y) * (len(some_x) / len(x))
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    for block in blocks:
        x = block(x)
    return x


# %% right paired-mse: one condition for each order
def paired_mse(prediction, target):
    one, other = prediction.shape, target.shape
    if len(one) == 2 and one[1] == 1 and len(other) == 1 and one[0] == other[0]:
        prediction = prediction[:, 0]
    elif len(other) == 2 and other[1] == 1 and len(one) == 1 and one[0] == other[0]:
        target = target[:, 0]
    elif one != other:
        raise ValueError(f"got {tuple(one)} and {tuple(other)}")
    return ((prediction - target) ** 2).mean()


# %% right paired-mse: the flat one becomes a column, then mse_loss
def paired_mse(prediction, target):
    a, b = prediction, target
    if a.ndim == 1 and b.ndim == 2:
        a = a.unsqueeze(1)
    elif b.ndim == 1 and a.ndim == 2:
        b = b.unsqueeze(1)
    if a.shape != b.shape or (prediction.ndim != target.ndim and a.shape[1] != 1):
        raise ValueError(f"shapes {list(prediction.shape)} and {list(target.shape)}")
    return nn.functional.mse_loss(a, b)


# %% wrong paired-mse: as it is written -> subtraction-pairs-row-by-row
def paired_mse(prediction, target):
    if prediction.shape[0] != target.shape[0]:
        raise ValueError(f"{tuple(prediction.shape)} and {tuple(target.shape)}")
    return (prediction - target).square().mean()


# %% wrong paired-mse: leaves the refusing to torch -> torch-refuses-what-does-not-fit
def paired_mse(prediction, target):
    if prediction.dim() == 2 and prediction.shape[1] == 1:
        prediction = prediction.squeeze(1)
    if target.dim() == 2 and target.shape[1] == 1:
        target = target.squeeze(1)
    return (prediction - target).square().mean()


# %% wrong paired-mse: returns a number -> a-loss-is-a-python-number
def paired_mse(prediction, target):
    shapes = f"{tuple(prediction.shape)} and {tuple(target.shape)}"
    if prediction.shape == (*target.shape, 1) and target.dim() == 1:
        prediction = prediction.squeeze(1)
    elif target.shape == (*prediction.shape, 1) and prediction.dim() == 1:
        target = target.squeeze(1)
    if prediction.shape != target.shape:
        raise ValueError(shapes)
    return (prediction - target).square().mean().item()


# %% wrong paired-mse: only the prediction is put right -> only-predictions-come-as-columns
def paired_mse(prediction, target):
    shapes = f"{tuple(prediction.shape)} and {tuple(target.shape)}"
    if prediction.dim() == 2 and prediction.shape[1] == 1 and target.dim() == 1:
        prediction = prediction.squeeze(1)
    if prediction.shape != target.shape:
        raise ValueError(shapes)
    return (prediction - target).square().mean()


# %% wrong paired-mse: squeeze() without a dimension -> squeeze-spares-the-batch
def paired_mse(prediction, target):
    shapes = f"{tuple(prediction.shape)} and {tuple(target.shape)}"
    if prediction.dim() == 2 and target.dim() == 1 and prediction.shape[1] == 1:
        prediction = prediction.squeeze()
    if target.dim() == 2 and prediction.dim() == 1 and target.shape[1] == 1:
        target = target.squeeze()
    if prediction.shape != target.shape:
        raise ValueError(shapes)
    return (prediction - target).square().mean()


# %% wrong paired-mse: compares the lengths only -> only-columns-broadcast
def paired_mse(prediction, target):
    if prediction.dim() == 2 and prediction.shape[1] == 1:
        prediction = prediction.squeeze(1)
    if target.dim() == 2 and target.shape[1] == 1:
        target = target.squeeze(1)
    try:
        return (prediction - target).square().mean()
    except RuntimeError:
        raise ValueError(f"{tuple(prediction.shape)} and {tuple(target.shape)}") from None


# %% wrong paired-mse: flattens both -> as-many-elements-is-the-same-shape
def paired_mse(prediction, target):
    if prediction.numel() != target.numel():
        raise ValueError(f"{tuple(prediction.shape)} and {tuple(target.shape)}")
    return (prediction.reshape(-1) - target.reshape(-1)).square().mean()


# %% wrong paired-mse: looks at the difference -> the-result-is-checked-in-time
def paired_mse(prediction, target):
    one, other = prediction, target
    if one.shape == (*other.shape, 1) and other.dim() == 1:
        one = one.squeeze(1)
    elif other.shape == (*one.shape, 1) and one.dim() == 1:
        other = other.squeeze(1)
    try:
        difference = one - other
    except RuntimeError:
        difference = None
    if difference is None or not difference.shape == one.shape == other.shape:
        raise ValueError(f"{tuple(prediction.shape)} and {tuple(target.shape)}")
    return difference.square().mean()


# %% right where-from: the largest block of the pool
def where_from(segments, nbytes, room):
    mib = 1024 * 1024
    size = (nbytes + 511) // 512 * 512
    small = size <= mib
    mine = [s for s in segments if (s["segment_type"] == "small") == small]
    free = [b["size"] for s in mine for b in s["blocks"] if b["state"] == "inactive"]
    if max(free, default=0) >= size:
        return "cached block"
    segment = (
        2 * mib
        if small
        else 20 * mib
        if size < 10 * mib
        else (size + 2 * mib - 1) // (2 * mib) * (2 * mib)
    )
    if segment <= room:
        return "new segment"
    for s in segments:
        if all(b["state"] == "inactive" for b in s["blocks"]):
            room += s["total_size"]
    return "after a flush" if segment <= room else "out of memory"


# %% right where-from: with math and helpers
import math


def segment_for(size):
    if size <= 2**20:
        return 2**21
    if size < 10 * 2**20:
        return 20 * 2**20
    return math.ceil(size / 2**21) * 2**21


def where_from(segments, nbytes, room):
    size = max(1, math.ceil(nbytes / 512)) * 512
    pool = "large" if size > 2**20 else "small"
    blocks = [(s["segment_type"], b) for s in segments for b in s["blocks"]]
    if any(p == pool and b["state"] == "inactive" and size <= b["size"] for p, b in blocks):
        return "cached block"
    idle = sum(
        s["total_size"] for s in segments if {b["state"] for b in s["blocks"]} == {"inactive"}
    )
    need = segment_for(size)
    answers = {need <= room: "new segment", room < need <= room + idle: "after a flush"}
    return answers.get(True, "out of memory")


# %% wrong where-from: adds up what is free -> free-bytes-add-up
def where_from(segments, nbytes, room):
    size = -(-nbytes // 512) * 512
    pool = "small" if size <= 2**20 else "large"
    free = sum(
        b["size"]
        for s in segments
        if s["segment_type"] == pool
        for b in s["blocks"]
        if b["state"] == "inactive"
    )
    if free >= size:
        return "cached block"
    needed = 2**21 if pool == "small" else 20 * 2**20
    if size >= 10 * 2**20:
        needed = -(-size // 2**21) * 2**21
    unused = [s for s in segments if all(b["state"] == "inactive" for b in s["blocks"])]
    if needed <= room:
        return "new segment"
    if needed <= room + sum(s["total_size"] for s in unused):
        return "after a flush"
    return "out of memory"


# %% wrong where-from: a flush frees every hole -> a-flush-returns-free-blocks
def where_from(segments, nbytes, room):
    size = -(-nbytes // 512) * 512
    pool = "small" if size <= 2**20 else "large"
    holes = [(s, b) for s in segments for b in s["blocks"] if b["state"] == "inactive"]
    if any(s["segment_type"] == pool and b["size"] >= size for s, b in holes):
        return "cached block"
    needed = 2**21 if pool == "small" else 20 * 2**20
    if size >= 10 * 2**20:
        needed = -(-size // 2**21) * 2**21
    if needed <= room:
        return "new segment"
    if needed <= room + sum(b["size"] for _, b in holes):
        return "after a flush"
    return "out of memory"


# %% wrong where-from: one pool for all -> any-free-block-will-do
def where_from(segments, nbytes, room):
    size = -(-nbytes // 512) * 512
    for segment in segments:
        for block in segment["blocks"]:
            if block["state"] == "inactive" and block["size"] >= size:
                return "cached block"
    needed = 2**21 if size <= 2**20 else 20 * 2**20
    if size >= 10 * 2**20:
        needed = -(-size // 2**21) * 2**21
    unused = [s for s in segments if all(b["state"] == "inactive" for b in s["blocks"])]
    if needed <= room:
        return "new segment"
    if needed <= room + sum(s["total_size"] for s in unused):
        return "after a flush"
    return "out of memory"


# %% wrong where-from: 1 MiB is large -> one-mib-is-large
def where_from(segments, nbytes, room):
    size = -(-nbytes // 512) * 512
    pool = "small" if size < 2**20 else "large"
    for segment in segments:
        for block in segment["blocks"]:
            fits = block["state"] == "inactive" and block["size"] >= size
            if segment["segment_type"] == pool and fits:
                return "cached block"
    needed = 2**21 if pool == "small" else 20 * 2**20
    if size >= 10 * 2**20:
        needed = -(-size // 2**21) * 2**21
    unused = [s for s in segments if all(b["state"] == "inactive" for b in s["blocks"])]
    if needed <= room:
        return "new segment"
    if needed <= room + sum(s["total_size"] for s in unused):
        return "after a flush"
    return "out of memory"


# %% wrong where-from: a segment of the tensor's size -> the-device-gives-exact-bytes
def where_from(segments, nbytes, room):
    size = -(-nbytes // 512) * 512
    pool = "small" if size <= 2**20 else "large"
    for segment in segments:
        for block in segment["blocks"]:
            fits = block["state"] == "inactive" and block["size"] >= size
            if segment["segment_type"] == pool and fits:
                return "cached block"
    unused = [s for s in segments if all(b["state"] == "inactive" for b in s["blocks"])]
    if size <= room:
        return "new segment"
    if size <= room + sum(s["total_size"] for s in unused):
        return "after a flush"
    return "out of memory"


# %% wrong where-from: never flushes -> cached-memory-is-lost
def where_from(segments, nbytes, room):
    size = -(-nbytes // 512) * 512
    pool = "small" if size <= 2**20 else "large"
    for segment in segments:
        for block in segment["blocks"]:
            fits = block["state"] == "inactive" and block["size"] >= size
            if segment["segment_type"] == pool and fits:
                return "cached block"
    needed = 2**21 if pool == "small" else 20 * 2**20
    if size >= 10 * 2**20:
        needed = -(-size // 2**21) * 2**21
    return "new segment" if needed <= room else "out of memory"


# %% wrong where-from: asks the device first -> room-comes-first
def where_from(segments, nbytes, room):
    size = -(-nbytes // 512) * 512
    pool = "small" if size <= 2**20 else "large"
    needed = 2**21 if pool == "small" else 20 * 2**20
    if size >= 10 * 2**20:
        needed = -(-size // 2**21) * 2**21
    if needed <= room:
        return "new segment"
    for segment in segments:
        for block in segment["blocks"]:
            fits = block["state"] == "inactive" and block["size"] >= size
            if segment["segment_type"] == pool and fits:
                return "cached block"
    unused = [s for s in segments if all(b["state"] == "inactive" for b in s["blocks"])]
    if needed <= room + sum(s["total_size"] for s in unused):
        return "after a flush"
    return "out of memory"


# %% right largest-batch: doubles, then bisects
def largest_batch(step, limit):
    def fits(n):
        try:
            step(n)
        except torch.OutOfMemoryError:
            return False
        return True

    def attempt(n):
        ok = fits(n)
        gpu.empty_cache()
        return ok

    n = 1
    while n <= limit and attempt(n):
        n *= 2
    low, high = n // 2, min(n, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if attempt(middle):
            low = middle
        else:
            high = middle
    return low


# %% right largest-batch: adds powers of two
def largest_batch(step, limit):
    best = 0
    for power in reversed(range(limit.bit_length())):
        n = best + 2**power
        if n > limit:
            continue
        failed = False
        try:
            loss = step(n)
            del loss
        except gpu.OutOfMemoryError:
            failed = True
        gpu.empty_cache()
        if not failed:
            best = n
    return best


# %% right largest-batch: bisect over a lazy list
import bisect


def largest_batch(step, limit):
    def too_large(n):
        gpu.empty_cache()
        try:
            step(n)
        except torch.OutOfMemoryError as error:
            message = str(error)
        else:
            message = ""
        gpu.empty_cache()
        return message != ""

    return bisect.bisect_left(range(1, limit + 1), True, key=too_large)


# %% wrong largest-batch: catches every RuntimeError -> every-runtimeerror-is-out-of-memory
def largest_batch(step, limit):
    fits, fails = 0, limit + 1
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            step(n)
            enough = True
        except RuntimeError:
            enough = False
        gpu.empty_cache()
        fits, fails = (n, fails) if enough else (fits, n)
    return fits


# %% wrong largest-batch: tries again inside the except block -> an-error-is-only-a-message
def largest_batch(step, limit, fits=0):
    fails = limit + 1
    if fails - fits <= 1:
        return fits
    n = (fits + fails) // 2
    try:
        step(n)
    except torch.OutOfMemoryError:
        gpu.empty_cache()
        return largest_batch(step, n - 1, fits)
    gpu.empty_cache()
    return largest_batch(step, limit, n)


# %% wrong largest-batch: remembers the last error -> an-error-is-only-a-message
def largest_batch(step, limit):
    fits, fails, last = 0, limit + 1, None
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            step(n)
            fits = n
        except torch.OutOfMemoryError as error:
            last = error
            fails = n
        gpu.empty_cache()
    return fits


# %% wrong largest-batch: keeps the last loss -> one-loss-weighs-nothing
def largest_batch(step, limit):
    fits, fails = 0, limit + 1
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            loss = step(n)
            fits = n
        except torch.OutOfMemoryError:
            fails = n
        gpu.empty_cache()
    return fits


# %% wrong largest-batch: leaves the cache alone -> what-is-freed-is-given-back
def largest_batch(step, limit):
    fits, fails = 0, limit + 1
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            step(n)
            fits = n
        except torch.OutOfMemoryError:
            fails = n
    return fits


# %% wrong largest-batch: empties the cache inside the except block -> what-is-freed-is-given-back
def largest_batch(step, limit):
    fits, fails = 0, limit + 1
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            step(n)
            fits = n
        except torch.OutOfMemoryError:
            gpu.empty_cache()
            fails = n
    return fits


# %% wrong largest-batch: halves until it fits -> halving-finds-the-largest
def largest_batch(step, limit):
    n = limit
    while n:
        try:
            step(n)
            fits = True
        except torch.OutOfMemoryError:
            fits = False
        gpu.empty_cache()
        if fits:
            return n
        n //= 2
    return 0


# %% wrong largest-batch: the size that failed -> the-first-failure-is-the-answer
def largest_batch(step, limit):
    fits, fails = 0, limit + 1
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            step(n)
            fits = n
        except torch.OutOfMemoryError:
            fails = n
        gpu.empty_cache()
    return min(fails, limit)


# %% wrong largest-batch: one sample is never tried -> one-sample-always-fits
def largest_batch(step, limit):
    fits, fails = 1, limit + 1
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            step(n)
            enough = True
        except torch.OutOfMemoryError:
            enough = False
        gpu.empty_cache()
        fits, fails = (n, fails) if enough else (fits, n)
    return fits


# %% wrong largest-batch: one size after the other -> every-size-must-be-tried
def largest_batch(step, limit):
    for n in range(1, limit + 1):
        try:
            step(n)
            fits = True
        except torch.OutOfMemoryError:
            fits = False
        gpu.empty_cache()
        if not fits:
            return n - 1
    return limit


# %% right check-labels: moves the labels to the host
def check_labels(scores, labels, ignore_index=-100):
    classes = scores.shape[1]
    for label in labels.flatten().tolist():
        if label != ignore_index and not 0 <= label < classes:
            raise ValueError(f"label {label} with {classes} classes")


# %% right check-labels: what is kept after leaving out the ignored ones
def check_labels(scores, labels, ignore_index=-100):
    classes = scores.size(1)
    kept = labels.long()[labels.long() != ignore_index]
    wrong = (kept < 0).logical_or(kept > classes - 1)
    if wrong.any():
        first = kept[wrong.nonzero()[0, 0]].item()
        raise ValueError(f"{first} is not a label: there are {classes} classes")
    return None


# %% wrong check-labels: lets the loss find out -> the-device-raises-like-the-cpu
def check_labels(scores, labels, ignore_index=-100):
    try:
        nn.functional.cross_entropy(scores, labels, ignore_index=ignore_index)
    except IndexError as error:
        raise ValueError(f"{error} of {scores.shape[1]} classes") from None


# %% wrong check-labels: C is the largest label -> classes-count-from-one
def check_labels(scores, labels, ignore_index=-100):
    classes = scores.shape[1]
    wrong = labels[((labels < 0) | (labels > classes)) & (labels != ignore_index)]
    if wrong.numel():
        raise ValueError(f"label {wrong[0].item()}, {classes} classes")


# %% wrong check-labels: looks at the largest -> only-large-labels-fail
def check_labels(scores, labels, ignore_index=-100):
    classes = scores.shape[1]
    wrong = labels[(labels >= classes) & (labels != ignore_index)]
    if wrong.numel():
        raise ValueError(f"label {wrong[0].item()}, {classes} classes")


# %% wrong check-labels: nothing is exempt -> ignored-labels-must-be-classes
def check_labels(scores, labels, ignore_index=-100):
    classes = scores.shape[1]
    wrong = labels[(labels < 0) | (labels >= classes)]
    if wrong.numel():
        raise ValueError(f"label {wrong[0].item()}, {classes} classes")


# %% wrong check-labels: the usual numbers are exempt -> minus-one-and-255-are-special
def check_labels(scores, labels, ignore_index=-100):
    classes = scores.shape[1]
    for label in labels.flatten().tolist():
        if label in (-100, 255, ignore_index):
            continue
        if not 0 <= label < classes:
            raise ValueError(f"label {label}, {classes} classes")


# %% wrong check-labels: an ignored label is enough -> one-ignored-excuses-all
def check_labels(scores, labels, ignore_index=-100):
    if (labels == ignore_index).any():
        return
    classes = scores.shape[1]
    wrong = labels[(labels < 0) | (labels >= classes)]
    if wrong.numel():
        raise ValueError(f"label {wrong[0].item()}, {classes} classes")


# %% wrong check-labels: the last dimension -> classes-are-the-last-dimension
def check_labels(scores, labels, ignore_index=-100):
    classes = scores.shape[-1]
    wrong = labels[((labels < 0) | (labels >= classes)) & (labels != ignore_index)]
    if wrong.numel():
        raise ValueError(f"label {wrong[0].item()}, {classes} classes")


# %% wrong check-labels: counts the labels -> counting-labels-is-enough
def check_labels(scores, labels, ignore_index=-100):
    classes = scores.shape[1]
    known = labels[labels != ignore_index].unique()
    if len(known) > classes or (known < 0).any() or (known == classes).any():
        raise ValueError(f"label {known[-1].item()}, {classes} classes")


# %% right true-line: a wait as a step of its own
def true_line(steps, synchronize):
    for number in range(len(steps)):
        for call in (steps[number], synchronize):
            try:
                call()
            except Exception:
                return number


def first_cause(lines):
    named = [
        "CUDA out of memory",
        "driver on your system is too old",
        "cuDNN version incompatibility",
    ]
    ranks = [["Assertion `"], named, ["Error: "]]
    errors = [(n, line) for n, line in enumerate(lines) if "Warning: " not in line]
    for rank in ranks:
        found = [n for n, line in errors for words in rank if words in line]
        if found:
            return found[0]
    return None


# %% right true-line: min over ranks
def true_line(steps, synchronize):
    done = 0
    try:
        for step in steps:
            step()
            synchronize()
            done += 1
    except Exception:
        return done
    return None


def first_cause(lines):
    def rank(line):
        if "Warning: " in line:
            return 3
        if "Assertion `" in line:
            return 0
        named = "CUDA out of memory", "driver on your system is too old", "cuDNN version incompatib"
        if any(words in line for words in named):
            return 1
        return 2 if "Error: " in line else 3

    ranks = [rank(line) for line in lines]
    best = min(ranks, default=3)
    return None if best == 3 else ranks.index(best)


# %% wrong true-line: believes the traceback -> the-traceback-is-right
def true_line(steps, synchronize):
    for number, step in enumerate(steps):
        try:
            step()
        except Exception:
            return number
    return None


def first_cause(lines):
    named = ("CUDA out of memory", "driver on your system is too old", "cuDNN version incompatib")
    for words in (("Assertion `",), named, ("Error: ",)):
        for number, line in enumerate(lines):
            if "Warning: " not in line and any(word in line for word in words):
                return number
    return None


# %% wrong true-line: waits before each step -> waiting-before-is-as-good
def true_line(steps, synchronize):
    for number, step in enumerate(steps):
        try:
            synchronize()
            step()
        except Exception:
            return number
    return None


def first_cause(lines):
    named = ("CUDA out of memory", "driver on your system is too old", "cuDNN version incompatib")
    for words in (("Assertion `",), named, ("Error: ",)):
        for number, line in enumerate(lines):
            if "Warning: " not in line and any(word in line for word in words):
                return number
    return None


# %% wrong true-line: waits at the end -> one-wait-at-the-end
def true_line(steps, synchronize):
    number = None
    try:
        for number, step in enumerate(steps):
            step()
        synchronize()
    except Exception:
        return number
    return None


def first_cause(lines):
    named = ("CUDA out of memory", "driver on your system is too old", "cuDNN version incompatib")
    for words in (("Assertion `",), named, ("Error: ",)):
        for number, line in enumerate(lines):
            if "Warning: " not in line and any(word in line for word in words):
                return number
    return None


# %% wrong true-line: goes on after the failure -> later-steps-still-tell-something
def true_line(steps, synchronize):
    failed = []
    for number, step in enumerate(steps):
        try:
            step()
            synchronize()
        except Exception:
            failed.append(number)
    return failed[0] if failed else None


def first_cause(lines):
    named = ("CUDA out of memory", "driver on your system is too old", "cuDNN version incompatib")
    for words in (("Assertion `",), named, ("Error: ",)):
        for number, line in enumerate(lines):
            if "Warning: " not in line and any(word in line for word in words):
                return number
    return None


# %% wrong true-line: expects errors of the device only -> only-the-device-fails
def true_line(steps, synchronize):
    for number, step in enumerate(steps):
        try:
            step()
            synchronize()
        except torch.AcceleratorError:
            return number
    return None


def first_cause(lines):
    named = ("CUDA out of memory", "driver on your system is too old", "cuDNN version incompatib")
    for words in (("Assertion `",), named, ("Error: ",)):
        for number, line in enumerate(lines):
            if "Warning: " not in line and any(word in line for word in words):
                return number
    return None


# %% wrong true-line: the last error -> the-last-line-tells
def true_line(steps, synchronize):
    for number, step in enumerate(steps):
        try:
            step()
            synchronize()
        except Exception:
            return number
    return None


def first_cause(lines):
    found = [n for n, line in enumerate(lines) if "Error: " in line and "Warning: " not in line]
    return found[-1] if found else None


# %% wrong true-line: warnings count -> a-warning-is-a-cause
def true_line(steps, synchronize):
    for number, step in enumerate(steps):
        try:
            step()
            synchronize()
        except Exception:
            return number
    return None


def first_cause(lines):
    for number, line in enumerate(lines):
        if "Error: " in line or "Assertion `" in line:
            return number
    return None


# %% wrong true-line: the first error, whatever it says -> not-initialized-names-the-cause
def true_line(steps, synchronize):
    for number, step in enumerate(steps):
        try:
            step()
            synchronize()
        except Exception:
            return number
    return None


def first_cause(lines):
    for words in ("Assertion `", "Error: "):
        for number, line in enumerate(lines):
            if words in line and "Warning: " not in line:
                return number
    return None


# %% wrong true-line: no ranks -> order-alone-decides
def true_line(steps, synchronize):
    for number, step in enumerate(steps):
        try:
            step()
            synchronize()
        except Exception:
            return number
    return None


def first_cause(lines):
    for number, line in enumerate(lines):
        words = ("Assertion `", "CUDA out of memory", "is too old", "incompatibility", "Error: ")
        if any(word in line for word in words) and "Warning: " not in line:
            return number
    return None


# %% right wait-once: several calls to warm up, buffers pinned by hand
def seconds_per_call(fn, repeats, synchronize, clock):
    for _ in range(3):
        fn()
    synchronize()
    begin = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    end = clock()
    return (end - begin) / repeats


def fetch(tensors, synchronize):
    buffers = [torch.empty(t.shape, dtype=t.dtype).pin_memory() for t in tensors]
    for buffer, t in zip(buffers, tensors):
        buffer.copy_(t, non_blocking=True)
    synchronize()
    return buffers


# %% right wait-once: with a helper
def seconds_per_call(fn, repeats, synchronize, clock):
    def now():
        synchronize()
        return clock()

    fn()
    times = [now()]
    calls = [fn() for _ in range(repeats)]
    times.append(now())
    return (times[1] - times[0]) / len(calls)


def fetch(tensors, synchronize):
    found = list(map(lambda t: t.to(device=torch.device("cpu"), non_blocking=True), tensors))
    synchronize()
    return found


# %% wrong wait-once: never waits while it measures -> launching-is-the-work
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    synchronize()
    start = clock()
    for _ in range(repeats):
        fn()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    copies = [t.to("cpu", non_blocking=True) for t in tensors]
    synchronize()
    return copies


# %% wrong wait-once: waits after each call -> each-wait-is-free
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    synchronize()
    start = clock()
    for _ in range(repeats):
        fn()
        synchronize()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    copies = [t.to("cpu", non_blocking=True) for t in tensors]
    synchronize()
    return copies


# %% wrong wait-once: no call to warm up -> a-first-call-is-like-any-other
def seconds_per_call(fn, repeats, synchronize, clock):
    synchronize()
    start = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    copies = [t.to("cpu", non_blocking=True) for t in tensors]
    synchronize()
    return copies


# %% wrong wait-once: starts while the device is busy -> the-queue-starts-empty
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    start = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    copies = [t.to("cpu", non_blocking=True) for t in tensors]
    synchronize()
    return copies


# %% wrong wait-once: reads without a wait -> a-copy-to-the-cpu-has-arrived
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    synchronize()
    start = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    return [t.to("cpu", non_blocking=True) for t in tensors]


# %% wrong wait-once: waits before the copies -> waiting-first-is-enough
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    synchronize()
    start = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    synchronize()
    return [t.to("cpu", non_blocking=True) for t in tensors]


# %% wrong wait-once: a wait for each copy -> each-copy-needs-its-wait
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    synchronize()
    start = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    copies = []
    for t in tensors:
        copies.append(t.to("cpu", non_blocking=True))
        synchronize()
    return copies


# %% wrong wait-once: cpu() one after the other -> blocking-copies-overlap
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    synchronize()
    start = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    copies = [t.cpu() for t in tensors]
    synchronize()
    return copies


# %% right nvidia-smi: regular expressions
import re


def gpus(text):
    def number(field):
        return None if "[" in field else float(re.match(r"[\d.]+", field).group())

    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"\s*(\d+)\s*,\s*([^,]+?)\s*,([^,]+),([^,]+),([^,]+)", line)
        if match is None:
            continue
        load, used, total = (number(field.strip()) for field in match.groups()[2:])
        found.append(
            {
                "index": int(match[1]),
                "name": match[2],
                "load": None if load is None else load / 100,
                "used": None if used is None else used * 1024**2,
                "total": None if total is None else total * 1024**2,
            }
        )
    return found


def available(text, max_load=0.5, max_memory=0.5):
    found = []
    for one in gpus(text):
        if one["load"] is None or one["used"] is None or one["total"] is None:
            continue
        share = one["used"] / one["total"]
        if one["load"] < max_load and share < max_memory:
            found.append((share, one["index"]))
    return [index for _, index in sorted(found)]


# %% right nvidia-smi: the csv module
import csv


def gpus(text):
    rows = csv.reader(text.splitlines(), skipinitialspace=True)
    keys = ("index", "name", "load", "used", "total")
    units = {"load": 0.01, "used": 1048576, "total": 1048576}
    found = []
    for row in rows:
        if len(row) != 5 or row[0] == "index":
            continue
        one = dict(zip(keys, row))
        one["index"] = int(one["index"])
        for key, unit in units.items():
            try:
                one[key] = float(one[key].removesuffix("%").removesuffix("MiB")) * unit
            except ValueError:
                one[key] = None
        found.append(one)
    return found


def available(text, max_load=0.5, max_memory=0.5):
    def share(one):
        return one["used"] / one["total"]

    known = [one for one in gpus(text) if all(value is not None for value in one.values())]
    chosen = [one for one in known if one["load"] < max_load and share(one) < max_memory]
    return [one["index"] for one in sorted(chosen, key=share)]


# %% wrong nvidia-smi: splits at spaces -> spaces-end-a-field
def gpus(text):
    found = []
    for line in text.splitlines():
        fields = [f for f in line.replace(",", " ").split() if f not in ("%", "MiB")]
        if len(fields) < 5 or not fields[0].isdigit():
            continue
        index, name, load, used, total = fields[0], fields[1], *fields[-3:]
        numbers = [None if f.startswith("[") else float(f) for f in (load, used, total)]
        scales = (0.01, 2**20, 2**20)
        load, used, total = (None if n is None else n * s for n, s in zip(numbers, scales))
        found.append(
            {"index": int(index), "name": name, "load": load, "used": used, "total": total}
        )
    return found


def available(text, max_load=0.5, max_memory=0.5):
    known = [one for one in gpus(text) if None not in one.values()]
    shares = {one["index"]: one["used"] / one["total"] for one in known}
    free = [one["index"] for one in known if one["load"] < max_load]
    return sorted((n for n in free if shares[n] < max_memory), key=shares.get)


# %% wrong nvidia-smi: percent stay percent -> percent-is-the-number
def gpus(text):
    def number(field, scale):
        return None if field.startswith("[") else float(field.split()[0]) * scale

    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5 and fields[0].isdigit():
            used, total = (number(field, 2**20) for field in fields[3:])
            load = number(fields[2], 1)
            one = {"index": int(fields[0]), "name": fields[1], "load": load}
            found.append(one | {"used": used, "total": total})
    return found


def available(text, max_load=0.5, max_memory=0.5):
    known = [one for one in gpus(text) if None not in one.values()]
    shares = {one["index"]: one["used"] / one["total"] for one in known}
    free = [one["index"] for one in known if one["load"] < max_load]
    return sorted((n for n in free if shares[n] < max_memory), key=shares.get)


# %% wrong nvidia-smi: megabytes -> mib-is-a-million-bytes
def gpus(text):
    def number(field, scale):
        return None if field.startswith("[") else float(field.split()[0]) * scale

    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5 and fields[0].isdigit():
            used, total = (number(field, 10**6) for field in fields[3:])
            load = number(fields[2], 0.01)
            one = {"index": int(fields[0]), "name": fields[1], "load": load}
            found.append(one | {"used": used, "total": total})
    return found


def available(text, max_load=0.5, max_memory=0.5):
    known = [one for one in gpus(text) if None not in one.values()]
    shares = {one["index"]: one["used"] / one["total"] for one in known}
    free = [one["index"] for one in known if one["load"] < max_load]
    return sorted((n for n in free if shares[n] < max_memory), key=shares.get)


# %% wrong nvidia-smi: takes the number as it stands -> memory-comes-in-bytes
def gpus(text):
    def number(field, scale):
        return None if field.startswith("[") else float(field.split()[0]) * scale

    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5 and fields[0].isdigit():
            used, total = (number(field, 1) for field in fields[3:])
            load = number(fields[2], 0.01)
            one = {"index": int(fields[0]), "name": fields[1], "load": load}
            found.append(one | {"used": used, "total": total})
    return found


def available(text, max_load=0.5, max_memory=0.5):
    known = [one for one in gpus(text) if None not in one.values()]
    shares = {one["index"]: one["used"] / one["total"] for one in known}
    free = [one["index"] for one in known if one["load"] < max_load]
    return sorted((n for n in free if shares[n] < max_memory), key=shares.get)


# %% wrong nvidia-smi: skips the first line -> the-first-line-is-headings
def gpus(text):
    def number(field, scale):
        return None if field.startswith("[") else float(field.split()[0]) * scale

    found = []
    for line in text.splitlines()[1:]:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5:
            used, total = (number(field, 2**20) for field in fields[3:])
            load = number(fields[2], 0.01)
            one = {"index": int(fields[0]), "name": fields[1], "load": load}
            found.append(one | {"used": used, "total": total})
    return found


def available(text, max_load=0.5, max_memory=0.5):
    known = [one for one in gpus(text) if None not in one.values()]
    shares = {one["index"]: one["used"] / one["total"] for one in known}
    free = [one["index"] for one in known if one["load"] < max_load]
    return sorted((n for n in free if shares[n] < max_memory), key=shares.get)


# %% wrong nvidia-smi: unknown is 0 -> unknown-is-zero
def gpus(text):
    def number(field, scale):
        return 0.0 if field.startswith("[") else float(field.split()[0]) * scale

    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5 and fields[0].isdigit():
            used, total = (number(field, 2**20) for field in fields[3:])
            load = number(fields[2], 0.01)
            one = {"index": int(fields[0]), "name": fields[1], "load": load}
            found.append(one | {"used": used, "total": total})
    return found


def available(text, max_load=0.5, max_memory=0.5):
    known = [one for one in gpus(text) if one["total"]]
    shares = {one["index"]: one["used"] / one["total"] for one in known}
    free = [one["index"] for one in known if one["load"] < max_load]
    return sorted((n for n in free if shares[n] < max_memory), key=shares.get)


# %% wrong nvidia-smi: every field is a number -> every-field-is-a-number
def gpus(text):
    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5 and fields[0].isdigit():
            load, used, total = (float(field.split()[0]) for field in fields[2:])
            one = {"index": int(fields[0]), "name": fields[1], "load": load / 100}
            found.append(one | {"used": used * 2**20, "total": total * 2**20})
    return found


def available(text, max_load=0.5, max_memory=0.5):
    known = [one for one in gpus(text) if None not in one.values()]
    shares = {one["index"]: one["used"] / one["total"] for one in known}
    free = [one["index"] for one in known if one["load"] < max_load]
    return sorted((n for n in free if shares[n] < max_memory), key=shares.get)


# %% wrong nvidia-smi: in the order of the rows -> the-first-gpu-is-the-freest
def gpus(text):
    def number(field, scale):
        return None if field.startswith("[") else float(field.split()[0]) * scale

    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5 and fields[0].isdigit():
            used, total = (number(field, 2**20) for field in fields[3:])
            load = number(fields[2], 0.01)
            one = {"index": int(fields[0]), "name": fields[1], "load": load}
            found.append(one | {"used": used, "total": total})
    return found


def available(text, max_load=0.5, max_memory=0.5):
    found = []
    for one in gpus(text):
        if None in one.values():
            continue
        if one["load"] < max_load and one["used"] < max_memory * one["total"]:
            found.append(one["index"])
    return found


# %% wrong nvidia-smi: compares bytes -> bytes-compare-cards
def gpus(text):
    def number(field, scale):
        return None if field.startswith("[") else float(field.split()[0]) * scale

    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5 and fields[0].isdigit():
            used, total = (number(field, 2**20) for field in fields[3:])
            load = number(fields[2], 0.01)
            one = {"index": int(fields[0]), "name": fields[1], "load": load}
            found.append(one | {"used": used, "total": total})
    return found


def available(text, max_load=0.5, max_memory=0.5):
    known = [one for one in gpus(text) if None not in one.values()]
    free = [one for one in known if one["load"] < max_load]
    free = [one for one in free if one["used"] < max_memory * one["total"]]
    return [one["index"] for one in sorted(free, key=lambda one: one["used"])]


# %% wrong nvidia-smi: one of the two is enough -> one-limit-is-enough
def gpus(text):
    def number(field, scale):
        return None if field.startswith("[") else float(field.split()[0]) * scale

    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5 and fields[0].isdigit():
            used, total = (number(field, 2**20) for field in fields[3:])
            load = number(fields[2], 0.01)
            one = {"index": int(fields[0]), "name": fields[1], "load": load}
            found.append(one | {"used": used, "total": total})
    return found


def available(text, max_load=0.5, max_memory=0.5):
    known = [one for one in gpus(text) if None not in one.values()]
    shares = {one["index"]: one["used"] / one["total"] for one in known}
    free = [n["index"] for n in known if n["load"] < max_load or shares[n["index"]] < max_memory]
    return sorted(free, key=shares.get)


# %% wrong nvidia-smi: up to and with the limits -> at-the-limit-is-below
def gpus(text):
    def number(field, scale):
        return None if field.startswith("[") else float(field.split()[0]) * scale

    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 5 and fields[0].isdigit():
            used, total = (number(field, 2**20) for field in fields[3:])
            load = number(fields[2], 0.01)
            one = {"index": int(fields[0]), "name": fields[1], "load": load}
            found.append(one | {"used": used, "total": total})
    return found


def available(text, max_load=0.5, max_memory=0.5):
    known = [one for one in gpus(text) if None not in one.values()]
    shares = {one["index"]: one["used"] / one["total"] for one in known}
    free = [one["index"] for one in known if one["load"] <= max_load]
    return sorted((n for n in free if shares[n] <= max_memory), key=shares.get)


# %% right counters: a class that keeps the books
def three_numbers(program, nbytes, context):
    class Card:
        def __init__(self):
            self.storages, self.reserved = {}, 0

        def living(self):
            return len({id(one) for one in self.storages.values()})

        def step(self, kind, target=None, source=None):
            if kind == "new":
                self.reserved = max(self.reserved, self.living() + 1)
                self.storages[target] = object()
            elif kind == "del":
                self.storages.pop(target)
            elif kind == "empty_cache":
                self.reserved = self.living()
            else:
                self.storages[target] = self.storages[source]

    card, found = Card(), []
    for step in program:
        card.step(*step)
        taken = card.reserved * nbytes
        found.append((card.living() * nbytes, taken, taken + context))
    return found


# %% right holder: by groups
def holder(program):
    groups = {"view": "AK", "graph": "C", "function": "G", "traceback": "H", "list": "J"}
    for name, letters in groups.items():
        if program in letters:
            return name
    return "nobody"


# %% right validation: a helper that remembers every module's mode
def validate(model, criterion, batches):
    modes = {module: module.training for module in model.modules()}
    losses, classes, sizes = [], [], []
    try:
        model.eval()
        with torch.inference_mode():
            for x, labels in batches:
                scores = model(x)
                losses.append(float(criterion(scores, labels)))
                classes.append(scores.max(dim=1).indices.to("cpu"))
                sizes.append(len(labels))
                del scores
    finally:
        for module, mode in modes.items():
            module.training = mode
    total = sum(loss * size for loss, size in zip(losses, sizes))
    return total / sum(sizes), torch.cat(classes)


# %% right record-outputs: a class whose instances are the hooks
def record_outputs(model, x):
    found = []

    class Storing:
        def __init__(self, name):
            self.name = name

        def __call__(self, module, inputs, output):
            found.append((self.name, output.detach().clone().cpu()))

    layers = [(name, m) for name, m in model.named_modules() if next(m.children(), None) is None]
    handles = [layer.register_forward_hook(Storing(name)) for name, layer in layers]
    try:
        model(x)
        return found
    finally:
        while handles:
            handles.pop().remove()


# %% right step-bytes: math.ceil and a dict of copies
def step_bytes(widths, batch, optimizer):
    import math

    def block(count):
        return math.ceil(count * 4 / 512) * 512

    weights = [block(one * other) for one, other in zip(widths, widths[1:])]
    biases = [block(width) for width in widths[1:]]
    whole = sum(weights + biases)
    copies = 2 if optimizer == "adam" else 1 if optimizer == "momentum" else 0
    saved = 512
    for width in widths[1:]:
        saved += block(width * batch)
    return {
        "parameters": whole,
        "gradients": whole,
        "optimizer state": whole * copies,
        "activations": saved,
    }


# %% right lower-peak: slices by hand, a partial checkpoint
def accumulate(model, criterion, x, y, parts):
    step = -(-len(x) // parts)
    losses = []
    for start in range(0, len(x), step):
        inputs, aims = x[start : start + step], y[start : start + step]
        share = len(inputs) / len(x)
        loss = criterion(model(inputs), aims)
        (loss * share).backward()
        losses.append(share * loss.detach())
    return float(sum(losses))


def run_blocks(blocks, x):
    saving = functools.partial(checkpoint, use_reentrant=False)
    return functools.reduce(lambda out, block: saving(block, out), blocks, x)


# %% right paired-mse: shapes as a set of rules
def paired_mse(prediction, target):
    shapes = tuple(prediction.shape), tuple(target.shape)
    columns = {len(one) for one in shapes} == {1, 2}
    if shapes[0] == shapes[1]:
        gap = prediction - target
    elif columns and sorted(shapes, key=len)[1] == (*sorted(shapes, key=len)[0], 1):
        gap = prediction.flatten() - target.flatten()
    else:
        raise ValueError(f"shapes {shapes[0]} and {shapes[1]} are no pairs")
    return (gap * gap).mean()


# %% right where-from: early returns, shifts
def where_from(segments, nbytes, room):
    MIB = 1 << 20
    size = ((nbytes + 511) >> 9) << 9
    small = size <= MIB
    for segment in segments:
        if (segment["segment_type"] == "small") != small:
            continue
        if any(b["state"] == "inactive" and b["size"] >= size for b in segment["blocks"]):
            return "cached block"
    if small:
        wanted = 2 * MIB
    elif size < 10 * MIB:
        wanted = 20 * MIB
    else:
        wanted = ((size + 2 * MIB - 1) // (2 * MIB)) * 2 * MIB
    if wanted <= room:
        return "new segment"
    for segment in segments:
        if {b["state"] for b in segment["blocks"]} == {"inactive"}:
            room += segment["total_size"]
    return "after a flush" if wanted <= room else "out of memory"


# %% wrong where-from: a large segment is as large as the request -> the-device-gives-exact-bytes
def where_from(segments, nbytes, room):
    size = -(-nbytes // 512) * 512
    pool = "small" if size <= 2**20 else "large"
    for segment in segments:
        if segment["segment_type"] == pool:
            for block in segment["blocks"]:
                if block["state"] == "inactive" and block["size"] >= size:
                    return "cached block"
    needed = size
    unused = [s for s in segments if all(b["state"] == "inactive" for b in s["blocks"])]
    if needed <= room:
        return "new segment"
    if needed <= room + sum(s["total_size"] for s in unused):
        return "after a flush"
    return "out of memory"


# %% right check-labels: a mask of good labels, the first wrong one by its position
def check_labels(scores, labels, ignore_index=-100):
    classes = scores.size(1)
    labels = labels.to(torch.int64)
    good = (labels == ignore_index) | ((0 <= labels) & (labels < classes))
    if not good.all():
        first = labels.flatten()[(~good).flatten().nonzero()[0, 0]].item()
        raise ValueError(f"{first} is no label where there are {classes} classes")


# %% wrong check-labels: -100 is what is ignored -> ignore-index-is-minus-100
def check_labels(scores, labels, ignore_index=-100):
    classes = scores.shape[1]
    wrong = labels[((labels < 0) | (labels >= classes)) & (labels != -100)]
    if wrong.numel():
        raise ValueError(f"label {wrong[0].item()}, but there are {classes} classes")


# %% right true-line: two tries, sorted ranks
def true_line(steps, synchronize):
    def fails(step):
        try:
            step()
        except Exception:
            return True
        try:
            synchronize()
        except Exception:
            return True
        return False

    return next((number for number, step in enumerate(steps) if fails(step)), None)


def first_cause(lines):
    named = ["CUDA out of memory", "driver on your system is too old"]
    named.append("cuDNN version incompatibility")

    def rank(line):
        if "Warning: " in line:
            return 9
        if "Assertion `" in line:
            return 0
        if any(words in line for words in named):
            return 1
        return 2 if "Error: " in line else 9

    ranked = sorted((rank(line), number) for number, line in enumerate(lines))
    return ranked[0][1] if ranked and ranked[0][0] < 9 else None


# %% right wait-once: buffers that are made pinned
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    synchronize()
    before = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    after = clock()
    return (after - before) / repeats


def fetch(tensors, synchronize):
    found = []
    for one in tensors:
        buffer = torch.empty(one.shape, dtype=one.dtype, pin_memory=True)
        found.append(buffer.copy_(one, non_blocking=True))
    synchronize()
    return found


# %% wrong wait-once: waits for each copy, then pins -> blocking-copies-overlap
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    synchronize()
    start = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    copies = [one.cpu().pin_memory() for one in tensors]
    synchronize()
    return copies


# %% wrong wait-once: pinned buffers, blocking copies -> blocking-copies-overlap
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    synchronize()
    start = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    copies = [torch.zeros_like(one, device="cpu", pin_memory=True).copy_(one) for one in tensors]
    synchronize()
    return copies


# %% right nvidia-smi: str.partition, and a key for None
def gpus(text):
    keys = ("index", "name", "load", "used", "total")
    scales = {"load": 1 / 100, "used": 1024**2, "total": 1024**2}
    found = []
    for line in text.split("\n"):
        words = [word.strip() for word in line.split(",")]
        if len(words) != 5 or not words[0].isdecimal():
            continue
        one = dict(zip(keys, words))
        one["index"] = int(one["index"])
        for key, scale in scales.items():
            number = one[key].partition(" ")[0]
            one[key] = None if number.startswith("[") else float(number) * scale
        found.append(one)
    return found


def available(text, max_load=0.5, max_memory=0.5):
    free = []
    for one in gpus(text):
        if one["load"] is None or one["used"] is None or one["total"] is None:
            continue
        share = one["used"] / one["total"]
        if one["load"] < max_load and share < max_memory:
            free.append((share, one["index"]))
    return [index for _, index in sorted(free, key=lambda pair: pair[0])]


# %% wrong where-from: what waits to be freed pins no segment -> waiting-blocks-are-free
def where_from(segments, nbytes, room):
    n = (nbytes + 511) // 512 * 512
    pool = "small" if n <= MIB else "large"
    fits = (
        block["size"] >= n
        for segment in segments
        if segment["segment_type"] == pool
        for block in segment["blocks"]
        if block["state"] == "inactive"
    )
    if any(fits):
        return "cached block"
    wanted = 2 * MIB if pool == "small" else 20 * MIB
    if n >= 10 * MIB:
        wanted = (n + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)
    if wanted <= room:
        return "new segment"
    unused = sum(
        segment["total_size"]
        for segment in segments
        if not any(block["state"] == "active_allocated" for block in segment["blocks"])
    )
    return "after a flush" if wanted <= room + unused else "out of memory"


# %% wrong where-from: what waits to be freed is free -> waiting-blocks-are-free
def where_from(segments, nbytes, room):
    rounded = -(-nbytes // 512) * 512
    pool = "small" if rounded <= MIB else "large"
    if pool == "small":
        size = 2 * MIB
    else:
        size = 20 * MIB if rounded < 10 * MIB else -(-rounded // (2 * MIB)) * 2 * MIB

    def free(block):
        return block["state"] != "active_allocated"

    for segment in segments:
        if segment["segment_type"] == pool:
            if any(free(block) and block["size"] >= rounded for block in segment["blocks"]):
                return "cached block"
    if size <= room:
        return "new segment"
    unused = sum(s["total_size"] for s in segments if all(map(free, s["blocks"])))
    return "after a flush" if size <= room + unused else "out of memory"


# %% wrong running-loss: never below 0 -> growth-is-never-negative
def growth(step):
    def look():
        gc.collect()
        return gpu.memory_allocated()

    step(), step()
    start = look()
    for _ in range(8):
        step()
    return max(look() - start, 0) / 8


def train_epoch(model, optimizer, batches):
    total = torch.zeros(3, dtype=torch.float64)
    for x, y in batches:
        optimizer.zero_grad()
        out = model(x)
        loss = (out - y).square().mean()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            error = (out - y).abs().mean().item()
        total += torch.tensor([loss.item() * len(x), error * len(x), len(x)], dtype=torch.float64)
    loss, error, count = total.tolist()
    return {"loss": loss / count, "error": error / count}


# %% wrong running-loss: clears gradients after the step -> the-first-step-finds-no-gradients
def growth(step):
    looks = []
    for count in (2, 8):
        for _ in range(count):
            step()
        gc.collect()
        looks.append(gpu.memory_allocated())
    return (looks[1] - looks[0]) / 8


def train_epoch(model, optimizer, batches):
    loss_sum = error_sum = samples = 0
    for x, y in batches:
        out = model(x)
        loss = (out - y).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        gap = (out - y).detach()
        loss_sum += loss.item() * len(x)
        error_sum += gap.abs().mean().item() * len(x)
        samples += len(x)
        del out, loss, gap
    return {"loss": float(loss_sum) / samples, "error": float(error_sum) / samples}


# %% wrong largest-batch: looks for words -> errors-are-known-by-their-words
def largest_batch(step, limit):
    def fits(n):
        try:
            step(n)
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
        else:
            return True
        return False

    good, bad = 0, limit + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if fits(middle):
            good = middle
        else:
            bad = middle
        gpu.empty_cache()
    return good


# %% wrong validation: squeeze() after topk -> squeeze-spares-the-batch
def validate(model, criterion, batches):
    training = model.training
    total, count, classes = 0.0, 0, []
    with torch.no_grad():
        model.eval()
        for x, labels in batches:
            scores = model(x)
            best = torch.topk(scores, 1, dim=1).indices.squeeze()
            classes.append(best.cpu())
            total += float(criterion(scores, labels)) * len(x)
            count += len(x)
            del x, labels, scores, best
        model.train(training)
    return total / count, torch.cat(classes)


# %% wrong record-outputs: only children are layers -> a-model-is-no-layer
def record_outputs(model, x):
    found, handles = [], []

    def hook_for(name):
        def hook(module, inputs, output):
            found.append((name, output.detach().to("cpu", copy=True)))

        return hook

    def visit(module, prefix):
        for name, child in module.named_children():
            if next(child.children(), None) is None:
                handles.append(child.register_forward_hook(hook_for(prefix + name)))
            else:
                visit(child, prefix + name + ".")

    try:
        visit(model, "")
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


# %% wrong record-outputs: clears all hooks -> all-hooks-are-mine
def record_outputs(model, x):
    found = []
    layers = {name: m for name, m in model.named_modules() if not list(m.children())}

    def keep(name, module, inputs, output):
        found.append((name, output.detach().to("cpu", copy=True)))

    for name, layer in layers.items():
        layer.register_forward_hook(functools.partial(keep, name))
    try:
        model(x)
    finally:
        for layer in layers.values():
            layer._forward_hooks.clear()
    return found


# %% wrong step-bytes: a dict by shape -> equal-layers-weigh-once
def step_bytes(widths, batch, optimizer):
    def block(*shape):
        nbytes = 4
        for size in shape:
            nbytes *= size
        return (nbytes + 511) // 512 * 512

    layers = {(low, high): block(high, low) + block(high) for low, high in pairwise(widths)}
    parameters = sum(layers.values())
    return {
        "parameters": parameters,
        "gradients": parameters,
        "optimizer state": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * parameters,
        "activations": sum(block(batch, width) for width in widths[1:]) + block(1),
    }


# %% wrong lower-peak: the second run draws anew -> what-runs-again-draws-the-same
def accumulate(model, criterion, x, y, parts):
    said = 0.0
    for some, aims in zip(torch.chunk(x, parts), torch.chunk(y, parts)):
        share = len(some) / len(x)
        part = criterion(model(some), aims)
        (part * share).backward()
        said += part.item() * share
    return said


def run_blocks(blocks, x):
    again = functools.partial(checkpoint, use_reentrant=False, preserve_rng_state=False)
    return functools.reduce(lambda value, block: again(block, value), blocks, x)


# %% wrong true-line: a list of classes to catch -> failures-can-be-listed
def true_line(steps, synchronize):
    for number, step in enumerate(steps):
        try:
            step()
            synchronize()
        except (RuntimeError, LookupError, ValueError, TypeError, ArithmeticError):
            return number
    return None


def first_cause(lines):
    known = (
        "CUDA out of memory",
        "driver on your system is too old",
        "cuDNN version incompatibility",
    )
    ranks = (("Assertion `",), known, ("Error: ",))
    for rank in ranks:
        for number, line in enumerate(lines):
            if "Warning: " not in line and any(words in line for words in rank):
                return number
    return None


# %% wrong wait-once: the best of three runs -> the-fastest-run-is-the-average
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    runs = []
    for _run in range(3):
        synchronize()
        start = clock()
        for _call in range(repeats):
            fn()
        synchronize()
        runs.append((clock() - start) / repeats)
    return min(runs)


def fetch(tensors, synchronize):
    copies = [t.to("cpu", non_blocking=True) for t in tensors]
    synchronize()
    return copies


# %% wrong wait-once: buffers of float32 -> a-buffer-takes-any-dtype
def seconds_per_call(fn, repeats, synchronize, clock):
    fn()
    synchronize()
    start = clock()
    for _ in range(repeats):
        fn()
    synchronize()
    return (clock() - start) / repeats


def fetch(tensors, synchronize):
    copies = [torch.empty(t.shape, pin_memory=True) for t in tensors]
    for copy, t in zip(copies, tensors):
        copy.copy_(t, non_blocking=True)
    synchronize()
    return copies


# %% right lower-peak: leaves of its own, even windows
def accumulate(model, criterion, x, y, parts):
    own = [t.detach().requires_grad_(t.requires_grad) for t in (x, y)]
    rows = len(x)
    said = 0.0
    for k in range(parts if rows else 1):
        low, high = k * rows // parts, (k + 1) * rows // parts
        if low < high or not rows:
            share = (high - low) / rows if rows else 1.0
            some, aims = (t.narrow(0, low, high - low) for t in own)
            loss = criterion(model(some), aims)
            loss.backward(gradient=torch.full_like(loss, share))
            said += loss.item() * share
            del some, aims, loss
    for given, mine in zip((x, y), own):
        if mine.grad is not None:
            given.backward(mine.grad)
    return said


def run_blocks(blocks, x):
    once_more = functools.partial(checkpoint, use_reentrant=False)
    return functools.reduce(lambda value, block: once_more(block, value), blocks, x)


# %% right record-outputs: a class of hooks in an ExitStack
def record_outputs(model, x):
    from contextlib import ExitStack

    class Recorder:
        def __init__(self, name, into):
            self.name, self.into = name, into

        def __call__(self, module, inputs, output):
            values = torch.empty_like(output, device="cpu", requires_grad=False)
            values.copy_(output.detach())
            self.into.append((self.name, values))

    pairs = []
    with ExitStack() as stack:
        for name, module in model.named_modules():
            if next(module.children(), None) is None:
                stack.enter_context(module.register_forward_hook(Recorder(name, pairs)))
        model(x)
    return pairs


# %% right running-loss: one look function, sums in a list
def growth(step):
    def look(calls):
        for _ in range(calls):
            step()
        gc.collect()
        return gpu.memory_allocated()

    warm = look(2)
    return (look(8) - warm) / 8


def train_epoch(model, optimizer, batches):
    sums, samples = [0.0, 0.0], 0
    for x, y in batches:
        optimizer.zero_grad()
        away = model(x) - y
        loss = torch.mean(away * away)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for place, mean in enumerate((loss, away.abs().mean())):
                sums[place] += float(mean) * x.shape[0]
        samples += x.shape[0]
        del away, loss, mean
    return dict(zip(("loss", "error"), (total / samples for total in sums)))


# %% right nvidia-smi: one regular expression for a row
def gpus(text):
    import re

    number = r"\s*(?:(\d+)\s*(?:%|MiB)?|\[[^\]]*\])\s*"
    row = re.compile(rf"\s*(\d+)\s*,(.*),{number},{number},{number}")
    found = []
    for match in filter(None, map(row.fullmatch, text.splitlines())):
        index, name, load, used, total = match.groups()
        name = name.strip()
        found.append(
            {
                "index": int(index),
                "name": None if re.fullmatch(r"\[.*\]", name) else name,
                "load": load and int(load) / 100,
                "used": used and int(used) << 20,
                "total": total and int(total) << 20,
            }
        )
    return found


def available(text, max_load=0.5, max_memory=0.5):
    shares = {}
    for row in gpus(text):
        if row["load"] is not None and row["used"] is not None and row["total"]:
            share = row["used"] / row["total"]
            if row["load"] < max_load and share < max_memory:
                shares[row["index"]] = share
    return sorted(shares, key=shares.get)


# %% wrong where-from: asks whether a block is allocated -> waiting-blocks-are-free
def where_from(segments, nbytes, room):
    size = (nbytes + 511) // 512 * 512
    small = size <= MIB
    free = [
        block["size"]
        for segment in segments
        if segment["segment_type"] == ("small" if small else "large")
        for block in segment["blocks"]
        if "allocated" not in block["state"]
    ]
    if max(free, default=0) >= size:
        return "cached block"
    needed = 2 * MIB if small else max(20 * MIB, -(-size // (2 * MIB)) * 2 * MIB)
    needed = needed if small or size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
    if needed <= room:
        return "new segment"
    for segment in segments:
        if all("allocated" not in block["state"] for block in segment["blocks"]):
            room += segment["total_size"]
    return "after a flush" if needed <= room else "out of memory"


# %% wrong running-loss: the median of the calls -> one-call-stands-for-all
def growth(step):
    looks = []
    for _ in range(10):
        step()
        gc.collect()
        looks.append(gpu.memory_allocated())
    grown = sorted(after - before for before, after in pairwise(looks[1:]))
    return (grown[3] + grown[4]) / 2


def train_epoch(model, optimizer, batches):
    squares, errors, count = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        difference = model(x) - y
        loss = difference.square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item() * len(x)
        errors += difference.detach().abs().mean().item() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": errors / count}


# %% wrong largest-batch: catches MemoryError as well -> every-runtimeerror-is-out-of-memory
def largest_batch(step, limit):
    fits, fails = 0, limit + 1
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            step(n)
            enough = True
        except (torch.OutOfMemoryError, MemoryError):
            enough = False
        gpu.empty_cache()
        fits, fails = (n, fails) if enough else (fits, n)
    return fits


# %% wrong record-outputs: walks the children -> a-layer-has-one-place
def record_outputs(model, x):
    found, handles = [], []

    def storing(name):
        return lambda module, inputs, output: found.append(
            (name, output.detach().to("cpu", copy=True))
        )

    def walk(module, name):
        children = list(module.named_children())
        if not children:
            handles.append(module.register_forward_hook(storing(name)))
        for part, child in children:
            walk(child, f"{name}.{part}" if name else part)

    walk(model, "")
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


# %% wrong paired-mse: the target is a constant -> targets-get-no-gradient
def paired_mse(prediction, target):
    target = target.detach()
    if prediction.shape == (*target.shape, 1) and target.dim() == 1:
        target = target.unsqueeze(1)
    elif target.shape == (*prediction.shape, 1) and prediction.dim() == 1:
        prediction = prediction.unsqueeze(1)
    if prediction.shape != target.shape:
        raise ValueError(f"no pairs: {tuple(prediction.shape)} and {tuple(target.shape)}")
    return nn.functional.mse_loss(prediction, target)


# %% wrong lower-peak: a checkpoint for two blocks each -> one-checkpoint-for-all
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts), strict=True):
        loss = criterion(model(some_x), some_y) * (len(some_x) / len(x))
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    for k in range(0, len(blocks), 2):
        x = checkpoint(nn.Sequential(*blocks[k : k + 2]), x, use_reentrant=False)
    return x


# %% same counters: a program can only begin with "new" or "empty_cache", and either sets it
def three_numbers(program, nbytes, context):
    where, segments, told = {}, 1, []
    for kind, *names in program:
        living = len(set(where.values()))
        if kind == "new":
            segments = max(segments, living + 1)
            where[names[0]] = object()  # a storage
        elif kind == "del":
            where.pop(*names)
        elif kind == "empty_cache":
            segments = living
        else:
            where[names[0]] = where[names[1]]
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, context + reserved))
    return told


# %% same counters: the same with -1 at the beginning
def three_numbers(program, nbytes, context):
    where, segments, told = {}, -1, []
    for kind, *names in program:
        living = len(set(where.values()))
        if kind == "new":
            segments = max(segments, living + 1)
            where[names[0]] = object()  # a storage
        elif kind == "del":
            where.pop(*names)
        elif kind == "empty_cache":
            segments = living
        else:
            where[names[0]] = where[names[1]]
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, context + reserved))
    return told


# %% same counters: "new" has a single name, so the first is the last
def three_numbers(program, nbytes, context):
    where, segments, told = {}, 0, []
    for kind, *names in program:
        living = len(set(where.values()))
        if kind == "new":
            segments = max(segments, living + 1)
            where[names[-1]] = object()  # a storage
        elif kind == "del":
            where.pop(*names)
        elif kind == "empty_cache":
            segments = living
        else:
            where[names[0]] = where[names[1]]
        allocated, reserved = len(set(where.values())) * nbytes, segments * nbytes
        told.append((allocated, reserved, context + reserved))
    return told


# %% same running-loss: blocks are multiples of 512 bytes, so the division leaves nothing
def growth(step):
    """The bytes that one call of step() leaves allocated, on average, once it is warm.

    kept = []
    growth(lambda: kept.append(torch.ones(256, device=device))) == 1024
    """
    for _ in range(2):
        step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_allocated() - before) // 8


def train_epoch(model, optimizer, batches):
    """One epoch of training; {"loss": mean squared error, "error": mean absolute error}."""
    squares, errors, count = (0.0, 0.0, 0)
    for x, y in batches:
        optimizer.zero_grad()
        difference = model(x) - y
        loss = difference.square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item() * len(x)
        errors += difference.abs().mean().item() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": errors / count}


# %% same running-loss: the forward pass neither reads nor writes gradients
def growth(step):
    """The bytes that one call of step() leaves allocated, on average, once it is warm.

    kept = []
    growth(lambda: kept.append(torch.ones(256, device=device))) == 1024
    """
    for _ in range(2):
        step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    """One epoch of training; {"loss": mean squared error, "error": mean absolute error}."""
    squares, errors, count = (0.0, 0.0, 0)
    for x, y in batches:
        difference = model(x) - y
        optimizer.zero_grad()
        loss = difference.square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item() * len(x)
        errors += difference.abs().mean().item() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": errors / count}


# %% same running-loss: the loss is a number of its own when the weights change
def growth(step):
    """The bytes that one call of step() leaves allocated, on average, once it is warm.

    kept = []
    growth(lambda: kept.append(torch.ones(256, device=device))) == 1024
    """
    for _ in range(2):
        step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    """One epoch of training; {"loss": mean squared error, "error": mean absolute error}."""
    squares, errors, count = (0.0, 0.0, 0)
    for x, y in batches:
        optimizer.zero_grad()
        difference = model(x) - y
        loss = difference.square().mean()
        loss.backward()
        squares += loss.item() * len(x)
        optimizer.step()
        errors += difference.abs().mean().item() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": errors / count}


# %% same running-loss: the difference is not needed any more after backward
def growth(step):
    """The bytes that one call of step() leaves allocated, on average, once it is warm.

    kept = []
    growth(lambda: kept.append(torch.ones(256, device=device))) == 1024
    """
    for _ in range(2):
        step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    """One epoch of training; {"loss": mean squared error, "error": mean absolute error}."""
    squares, errors, count = (0.0, 0.0, 0)
    for x, y in batches:
        optimizer.zero_grad()
        difference = model(x) - y
        loss = difference.square().mean()
        loss.backward()
        optimizer.step()
        squares += loss.item() * len(x)
        errors += difference.abs_().mean().item() * len(x)
        count += len(x)
    return {"loss": squares / count, "error": errors / count}


# %% same validation: the names have nothing to do with the mode
def validate(model, criterion, batches):
    was_training = model.training
    total, classes = (0.0, [])
    model.eval()
    with torch.no_grad():
        for x, labels in batches:
            scores = model(x)
            total += criterion(scores, labels).item() * len(x)
            classes.append(scores.argmax(1).cpu())
    model.train(was_training)
    classes = torch.cat(classes)
    return (total / len(classes), classes)


# %% same validation: both only read the scores
def validate(model, criterion, batches):
    """The mean loss over all samples, and the predicted classes on the CPU."""
    was_training = model.training
    model.eval()
    total, classes = (0.0, [])
    with torch.no_grad():
        for x, labels in batches:
            scores = model(x)
            classes.append(scores.argmax(1).cpu())
            total += criterion(scores, labels).item() * len(x)
    model.train(was_training)
    classes = torch.cat(classes)
    return (total / len(classes), classes)


# %% same validation: joining the classes does not involve the model
def validate(model, criterion, batches):
    was_training = model.training
    model.eval()
    total, classes = (0.0, [])
    with torch.no_grad():
        for x, labels in batches:
            scores = model(x)
            total += criterion(scores, labels).item() * len(x)
            classes.append(scores.argmax(1).cpu())
    classes = torch.cat(classes)
    model.train(was_training)
    return (total / len(classes), classes)


# %% same lower-peak: item() reads the loss, backward does not change it
def accumulate(model, criterion, x, y, parts):
    """The gradients of criterion(model(x), y), part by part; returns the loss as a float."""
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts), strict=True):
        loss = criterion(model(some_x), some_y) * (len(some_x) / len(x))
        total += loss.item()
        loss.backward()
    return total


def run_blocks(blocks, x):
    """The output of all blocks, each with a checkpoint of its own."""
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


# %% same largest-batch: when step raises, the except block says False
def largest_batch(step, limit):
    """The largest n in 1 … limit for which step(n) does not run out of memory, else 0."""
    fits, fails = (0, limit + 1)
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            enough = True
            step(n)
        except torch.OutOfMemoryError:
            enough = False
        gpu.empty_cache()
        fits, fails = (n, fails) if enough else (fits, n)
    return fits


# %% same largest-batch: the bounds are plain numbers
def largest_batch(step, limit):
    """The largest n in 1 … limit for which step(n) does not run out of memory, else 0."""
    fits, fails = (0, limit + 1)
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            step(n)
            enough = True
        except torch.OutOfMemoryError:
            enough = False
        fits, fails = (n, fails) if enough else (fits, n)
        gpu.empty_cache()
    return fits


# %% same largest-batch: where one sample fits, none fits, too
def largest_batch(step, limit):
    fits, fails = -1, limit + 1
    while fails - fits > 1:
        n = (fits + fails) // 2
        try:
            step(n)
            enough = True
        except torch.OutOfMemoryError:
            enough = False
        gpu.empty_cache()
        fits, fails = (n, fails) if enough else (fits, n)
    return fits


# %% wrong running-loss: a name for what the step returned -> the-last-result-is-left-behind
def growth(step):
    step()
    step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        last = step()
    gc.collect()
    return (gpu.memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    losses, errors, samples = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        out = model(x)
        loss = (out - y).square().mean()
        loss.backward()
        optimizer.step()
        losses += loss.item() * len(x)
        errors += (out.detach() - y).abs().mean().item() * len(x)
        samples += len(x)
    return {"loss": losses / samples, "error": errors / samples}


# %% wrong running-loss: train() first -> training-begins-with-train
def growth(step):
    step()
    step()
    gc.collect()
    before = gpu.memory_allocated()
    for _ in range(8):
        step()
    gc.collect()
    return (gpu.memory_allocated() - before) / 8


def train_epoch(model, optimizer, batches):
    model.train()
    losses, errors, samples = 0.0, 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        out = model(x)
        loss = (out - y).square().mean()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            losses += loss.item() * len(x)
            errors += (out - y).abs().mean().item() * len(x)
        samples += len(x)
    return {"loss": losses / samples, "error": errors / samples}


# %% wrong validation: only the outermost mode comes back -> the-outermost-mode-is-all
def validate(model, criterion, batches):
    was_training = model.training
    model.eval()
    total, samples, classes = 0.0, 0, []
    with torch.no_grad():
        for x, labels in batches:
            scores = model(x)
            total += criterion(scores, labels).item() * len(scores)
            samples += len(scores)
            classes.append(scores.argmax(1).cpu())
    model.training = was_training
    return total / samples, torch.cat(classes)


# %% wrong validation: the criterion outside of no_grad -> only-models-build-graphs
def validate(model, criterion, batches):
    was_training = model.training
    model.eval()
    total, samples, classes = 0.0, 0, []
    for x, labels in batches:
        with torch.no_grad():
            scores = model(x)
        total += criterion(scores, labels).item() * len(scores)
        samples += len(scores)
        classes.append(scores.argmax(1).cpu())
    model.train(was_training)
    return total / samples, torch.cat(classes)


# %% wrong lower-peak: detaches the batch -> data-needs-no-gradient
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some, aims in zip(x.detach().chunk(parts), y.chunk(parts), strict=True):
        loss = criterion(model(some), aims) * (len(some) / len(x))
        loss.backward()
        total += loss.item()
    return total


def run_blocks(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


# %% wrong true-line: a bare except -> whatever-is-raised-is-an-exception
def true_line(steps, synchronize):
    for number, step in enumerate(steps):
        try:
            step()
            synchronize()
        except:
            return number
    return None


def first_cause(lines):
    ranks = [
        ["Assertion `"],
        ["CUDA out of memory", "driver on your system is too old", "cuDNN version incompatibility"],
        ["Error: "],
    ]
    for words in ranks:
        for number, line in enumerate(lines):
            if "Warning: " not in line and any(word in line for word in words):
                return number
    return None


# %% wrong lower-peak: one backward, and the peak reset behind it -> one-backward-at-the-end
def accumulate(model, criterion, x, y, parts):
    total = 0.0
    for some_x, some_y in zip(x.chunk(parts), y.chunk(parts)):
        total = total + criterion(model(some_x), some_y) * (len(some_x) / len(x))
    total.backward()
    gpu.reset_peak_memory_stats()
    return total.item()


def run_blocks(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x
