# Answers to lesson 06, as learners type them. See "How to add an exercise" in the README.

# %% right trace: two tables
def trace(program):
    names = {}
    values = []
    objects = 0
    for step in program:
        kind, target = step[0], step[1]
        if kind == "new":
            values.append(0)
            names[target] = (objects, len(values) - 1)
            objects += 1
        elif kind == "name":
            names[target] = names[step[2]]
        elif kind in ("view", "detach"):
            names[target] = (objects, names[step[2]][1])
            objects += 1
        elif kind in ("clone", "plus"):
            old = values[names[step[2]][1]]
            values.append(old + (kind == "plus"))
            names[target] = (objects, len(values) - 1)
            objects += 1
        elif kind == "iplus":
            values[names[target][1]] += 1
        else:
            values[names[target][1]] = values[names[step[2]][1]]
    return {name: (o, s, values[s]) for name, (o, s) in names.items()}


# %% right trace: storages as one-element lists, objects as Python objects
class Tensor:
    def __init__(self, number, storage):
        self.number, self.storage = number, storage


def trace(program):
    names, storages, tensors = {}, [], []

    def tensor(storage):
        tensors.append(Tensor(len(tensors), storage))
        return tensors[-1]

    def storage(value):
        storages.append([value])
        return storages[-1]

    for kind, target, *rest in program:
        source = names[rest[0]] if rest else None
        match kind:
            case "new":
                names[target] = tensor(storage(0))
            case "name":
                names[target] = source
            case "view" | "detach":
                names[target] = tensor(source.storage)
            case "clone":
                names[target] = tensor(storage(source.storage[0]))
            case "plus":
                names[target] = tensor(storage(source.storage[0] + 1))
            case "iplus":
                names[target].storage[0] += 1
            case "write":
                names[target].storage[0] = source.storage[0]
    place = {id(s): n for n, s in enumerate(storages)}
    return {n: (t.number, place[id(t.storage)], t.storage[0]) for n, t in names.items()}


# %% wrong trace: makes the tensors and looks -> only-a-run-can-tell
def trace(program):
    names, objects, storages = {}, [], []
    for kind, target, *rest in program:
        source = names[rest[0]] if rest else None
        if kind == "new":
            names[target] = torch.zeros(3)
        elif kind == "name":
            names[target] = source
        elif kind == "view":
            names[target] = source[:]
        elif kind == "detach":
            names[target] = source.detach()
        elif kind == "clone":
            names[target] = source.clone()
        elif kind == "plus":
            names[target] = source + 1
        elif kind == "iplus":
            names[target] += 1
        else:
            names[target][:] = source
        t = names[target]
        if not any(t is o for o in objects):
            objects.append(t)
        if not any(same_storage(t, s) for s in storages):
            storages.append(t)
    found = {}
    for name, t in names.items():
        number = next(n for n, o in enumerate(objects) if o is t)
        place = next(n for n, s in enumerate(storages) if same_storage(s, t))
        found[name] = (number, place, int(t[0]))
    return found


# %% wrong trace: += makes a new tensor -> plus-equals-rebinds
def trace(program):
    names, values, objects = {}, [], 0
    for kind, target, *rest in program:
        s = names[rest[0]][1] if rest else None
        if kind == "name":
            names[target] = names[rest[0]]
        elif kind == "write":
            values[names[target][1]] = values[s]
        else:
            if kind == "new":
                values.append(0)
            elif kind == "clone":
                values.append(values[s])
            elif kind == "plus":
                values.append(values[s] + 1)
            elif kind == "iplus":
                values.append(values[names[target][1]] + 1)
            shared = kind in ("view", "detach")
            names[target] = (objects, s if shared else len(values) - 1)
            objects += 1
    return {name: (o, s, values[s]) for name, (o, s) in names.items()}


# %% wrong trace: a = a + 1 changes a in place -> plus-changes-its-name
def trace(program):
    names, values, objects = {}, [], 0
    for kind, target, *rest in program:
        s = names[rest[0]][1] if rest else None
        if kind == "name":
            names[target] = names[rest[0]]
        elif kind == "write":
            values[names[target][1]] = values[s]
        elif kind == "iplus" or (kind == "plus" and rest[0] == target):
            values[names[target][1]] += 1
        else:
            if kind == "new":
                values.append(0)
            elif kind == "clone":
                values.append(values[s])
            elif kind == "plus":
                values.append(values[s] + 1)
            shared = kind in ("view", "detach")
            names[target] = (objects, s if shared else len(values) - 1)
            objects += 1
    return {name: (o, s, values[s]) for name, (o, s) in names.items()}


# %% wrong trace: b = a makes a copy -> assignment-copies
def trace(program):
    names, values, objects = {}, [], 0
    for kind, target, *rest in program:
        s = names[rest[0]][1] if rest else None
        if kind == "write":
            values[names[target][1]] = values[s]
        elif kind == "iplus":
            values[names[target][1]] += 1
        else:
            if kind == "new":
                values.append(0)
            elif kind in ("clone", "name"):
                values.append(values[s])
            elif kind == "plus":
                values.append(values[s] + 1)
            shared = kind in ("view", "detach")
            names[target] = (objects, s if shared else len(values) - 1)
            objects += 1
    return {name: (o, s, values[s]) for name, (o, s) in names.items()}


# %% wrong trace: a[:] copies, as it does for a list -> slices-copy
def trace(program):
    names, values, objects = {}, [], 0
    for kind, target, *rest in program:
        s = names[rest[0]][1] if rest else None
        if kind == "name":
            names[target] = names[rest[0]]
        elif kind == "write":
            values[names[target][1]] = values[s]
        elif kind == "iplus":
            values[names[target][1]] += 1
        else:
            if kind == "new":
                values.append(0)
            elif kind in ("clone", "view"):
                values.append(values[s])
            elif kind == "plus":
                values.append(values[s] + 1)
            names[target] = (objects, s if kind == "detach" else len(values) - 1)
            objects += 1
    return {name: (o, s, values[s]) for name, (o, s) in names.items()}


# %% wrong trace: detach() cuts the memory, too -> detach-has-its-own-memory
def trace(program):
    names, values, objects = {}, [], 0
    for kind, target, *rest in program:
        s = names[rest[0]][1] if rest else None
        if kind == "name":
            names[target] = names[rest[0]]
        elif kind == "write":
            values[names[target][1]] = values[s]
        elif kind == "iplus":
            values[names[target][1]] += 1
        else:
            if kind == "new":
                values.append(0)
            elif kind in ("clone", "detach"):
                values.append(values[s])
            elif kind == "plus":
                values.append(values[s] + 1)
            names[target] = (objects, s if kind == "view" else len(values) - 1)
            objects += 1
    return {name: (o, s, values[s]) for name, (o, s) in names.items()}


# %% wrong trace: clone() shares the storage -> clone-shares
def trace(program):
    names, values, objects = {}, [], 0
    for kind, target, *rest in program:
        s = names[rest[0]][1] if rest else None
        if kind == "name":
            names[target] = names[rest[0]]
        elif kind == "write":
            values[names[target][1]] = values[s]
        elif kind == "iplus":
            values[names[target][1]] += 1
        else:
            if kind == "new":
                values.append(0)
            elif kind == "plus":
                values.append(values[s] + 1)
            names[target] = (objects, len(values) - 1 if kind in ("new", "plus") else s)
            objects += 1
    return {name: (o, s, values[s]) for name, (o, s) in names.items()}


# %% wrong trace: b[:] = a makes b another name for a -> slice-assignment-rebinds
def trace(program):
    names, values, objects = {}, [], 0
    for kind, target, *rest in program:
        s = names[rest[0]][1] if rest else None
        if kind in ("name", "write"):
            names[target] = names[rest[0]]
        elif kind == "iplus":
            values[names[target][1]] += 1
        else:
            if kind == "new":
                values.append(0)
            elif kind == "clone":
                values.append(values[s])
            elif kind == "plus":
                values.append(values[s] + 1)
            shared = kind in ("view", "detach")
            names[target] = (objects, s if shared else len(values) - 1)
            objects += 1
    return {name: (o, s, values[s]) for name, (o, s) in names.items()}


# %% wrong trace: what shares the storage is the same object -> a-view-is-the-same-object
def trace(program):
    names, values, objects = {}, [], 0
    for kind, target, *rest in program:
        s = names[rest[0]][1] if rest else None
        if kind in ("name", "view", "detach"):
            names[target] = names[rest[0]]
        elif kind == "write":
            values[names[target][1]] = values[s]
        elif kind == "iplus":
            values[names[target][1]] += 1
        else:
            values.append({"new": 0}.get(kind, 0 if s is None else values[s] + (kind == "plus")))
            names[target] = (objects, len(values) - 1)
            objects += 1
    return {name: (o, s, values[s]) for name, (o, s) in names.items()}


# %% right legal-updates: operators and methods
def step_in_block(w, grad, lr):
    with torch.no_grad():
        w -= lr * grad


@torch.no_grad()
def step_decorated(w, grad, lr):
    w.add_(grad, alpha=-lr)


def step_through_detach(w, grad, lr):
    free = w.detach()
    free -= lr * grad


# %% right legal-updates: copy_ and slices
def step_in_block(w, grad, lr):
    new = w.detach() - lr * grad
    with torch.no_grad():
        w.copy_(new)


@torch.no_grad
def step_decorated(w, grad, lr):
    w[...] = w - lr * grad


def step_through_detach(w, grad, lr):
    w.detach()[...] -= lr * grad


# %% wrong legal-updates: writes in grad mode -> a-leaf-may-be-written-in-grad-mode
def step_in_block(w, grad, lr):
    w -= lr * grad


def step_decorated(w, grad, lr):
    w.sub_(lr * grad)


def step_through_detach(w, grad, lr):
    w.detach().sub_(lr * grad)


# %% wrong legal-updates: binds the local name -> rebinding-updates-the-caller
def step_in_block(w, grad, lr):
    with torch.no_grad():
        w = w - lr * grad


@torch.no_grad()
def step_decorated(w, grad, lr):
    w = w - lr * grad


def step_through_detach(w, grad, lr):
    w = w.detach() - lr * grad


# %% wrong legal-updates: .data for detach() -> data-counts-its-writes
def step_in_block(w, grad, lr):
    with torch.no_grad():
        w -= lr * grad


@torch.no_grad()
def step_decorated(w, grad, lr):
    w -= lr * grad


def step_through_detach(w, grad, lr):
    w.data -= lr * grad


# %% wrong legal-updates: scales the gradient in place -> the-gradient-is-scratch-paper
def step_in_block(w, grad, lr):
    with torch.no_grad():
        w -= grad.mul_(lr)


@torch.no_grad()
def step_decorated(w, grad, lr):
    w -= grad.mul_(lr)


def step_through_detach(w, grad, lr):
    w.detach().sub_(grad.mul_(lr))


# %% wrong legal-updates: takes requires_grad away for a moment -> requires-grad-must-be-switched
def step_in_block(w, grad, lr):
    w.requires_grad_(False)
    w -= lr * grad
    w.requires_grad_(True)


@torch.no_grad()
def step_decorated(w, grad, lr):
    w -= lr * grad


def step_through_detach(w, grad, lr):
    w.detach().sub_(lr * grad)


# %% wrong legal-updates: switches grad mode by hand -> grad-mode-is-mine
def step_in_block(w, grad, lr):
    torch.set_grad_enabled(False)
    w -= lr * grad
    torch.set_grad_enabled(True)


@torch.no_grad()
def step_decorated(w, grad, lr):
    w -= lr * grad


def step_through_detach(w, grad, lr):
    w.detach().sub_(lr * grad)


# %% wrong legal-updates: no_grad around detach() as well -> detach-needs-no-grad-too
def step_in_block(w, grad, lr):
    with torch.no_grad():
        w -= lr * grad


@torch.no_grad()
def step_decorated(w, grad, lr):
    w -= lr * grad


def step_through_detach(w, grad, lr):
    with torch.no_grad():
        w.detach().sub_(lr * grad)


# %% right refusal: leaf, base, strides
def refusal(t):
    if t.requires_grad and torch.is_grad_enabled():
        if t.is_leaf:
            return "leaf"
        if t._base is not None and t._base.is_leaf and t._base.requires_grad:
            return "view of a leaf"
    if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
        return "overlap"
    return None


# %% right refusal: the base decides, and storage positions are counted
from course import positions


def refusal(t):
    base = t if t._base is None else t._base
    recorded = torch.is_grad_enabled() and t.requires_grad
    if recorded and base.is_leaf:
        return "leaf" if base is t else "view of a leaf"
    return "overlap" if len(set(positions(t))) < t.numel() else None


# %% wrong refusal: tries it -> refusal-must-be-tried
def refusal(t):
    try:
        t.add_(0)
    except RuntimeError as error:
        words = str(error)
        if "view of a leaf" in words:
            return "view of a leaf"
        return "leaf" if "leaf" in words else "overlap"
    return None


# %% wrong refusal: every leaf -> every-leaf-is-protected
def refusal(t):
    if torch.is_grad_enabled():
        if t.is_leaf:
            return "leaf"
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
    if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
        return "overlap"
    return None


# %% wrong refusal: everything that requires grad -> requires-grad-forbids-writing
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        return "leaf"
    if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
        return "overlap"
    return None


# %% wrong refusal: every view of what requires grad -> views-are-protected
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t.is_leaf:
            return "leaf"
        if t._base is not None:
            return "view of a leaf"
    if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
        return "overlap"
    return None


# %% wrong refusal: forgets grad mode -> no-grad-changes-nothing
def refusal(t):
    if t.requires_grad:
        if t.is_leaf:
            return "leaf"
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
    if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
        return "overlap"
    return None


# %% wrong refusal: forgets views of leaves -> views-are-not-the-leaf
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad and t.is_leaf:
        return "leaf"
    if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
        return "overlap"
    return None


# %% wrong refusal: calls a view of a leaf a leaf -> a-view-is-a-leaf
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        base = t if t._base is None else t._base
        if base.is_leaf:
            return "leaf"
    if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
        return "overlap"
    return None


# %% wrong refusal: forgets stride 0 -> expanded-may-be-written
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t.is_leaf:
            return "leaf"
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
    return None


# %% wrong refusal: any stride of 0 -> stride-zero-is-overlap
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t.is_leaf:
            return "leaf"
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
    return "overlap" if 0 in t.stride() else None


# %% right must-stay: tries each candidate on fresh copies
def must_stay(fn, *inputs):
    needed = set()
    for name in list(range(len(inputs))) + ["result"]:
        copies = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
        y = fn(*copies)
        if not y.requires_grad:
            return set()
        target = y if name == "result" else copies[name]
        target.detach().mul_(1)
        try:
            y.backward(torch.ones_like(y))
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error)
            needed.add(name)
    return needed


# %% right must-stay: asks what is packed
def must_stay(fn, *inputs):
    packed = []

    def pack(t):
        packed.append(t)
        return t

    copies = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = fn(*copies)
    kept = {}
    for name, t in [*enumerate(copies), ("result", y)]:
        if any(same_storage(t, saved) for saved in packed):
            kept[name] = True
    return set(kept)


# %% wrong must-stay: whatever took part -> everything-used-is-saved
def must_stay(fn, *inputs):
    y = fn(*[x.detach().clone().requires_grad_(x.requires_grad) for x in inputs])
    return {*range(len(inputs)), "result"} if y.requires_grad else set()


# %% wrong must-stay: looks at the inputs only -> results-are-never-saved
def must_stay(fn, *inputs):
    needed = set()
    for k in range(len(inputs)):
        copies = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
        y = fn(*copies)
        if not y.requires_grad:
            return set()
        with torch.no_grad():
            copies[k].add_(0)
        try:
            y.sum().backward()
        except RuntimeError:
            needed.add(k)
    return needed


# %% wrong must-stay: any refusal counts, the leaf rule's too -> inputs-are-always-saved
def must_stay(fn, *inputs):
    needed = set()
    for name in [*range(len(inputs)), "result"]:
        copies = [x.detach().clone().requires_grad_() for x in inputs]
        y = fn(*copies)
        try:
            (y if name == "result" else copies[name]).add_(0)
            y.sum().backward()
        except RuntimeError:
            needed.add(name)
    return needed


# %% wrong must-stay: the result, always -> the-result-is-always-saved
def must_stay(fn, *inputs):
    return {"result"}


# %% wrong must-stay: factors that require grad -> what-requires-grad-is-saved
def must_stay(fn, *inputs):
    packed = []

    def pack(t):
        packed.append(t)
        return t

    copies = [x.detach().clone().requires_grad_() for x in inputs]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = fn(*copies)
    kept = {
        k
        for k, x in enumerate(inputs)
        if x.requires_grad and any(same_storage(copies[k], s) for s in packed)
    }
    if any(x.requires_grad for x in inputs) and any(same_storage(y, s) for s in packed):
        kept.add("result")
    return kept


# %% wrong must-stay: compares objects -> the-object-is-the-memory
def must_stay(fn, *inputs):
    packed = []

    def pack(t):
        packed.append(t)
        return t

    copies = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = fn(*copies)
    kept = {
        k
        for k, x in enumerate(copies)
        if any(s is x or s.data_ptr() == x.data_ptr() for s in packed)
    }
    if any(
        s.shape == y.shape and s.stride() == y.stride() and s.data_ptr() == y.data_ptr()
        for s in packed
    ):
        kept.add("result")
    return kept


# %% wrong must-stay: tries on the caller's tensors -> inputs-are-scratch-paper
def must_stay(fn, *inputs):
    needed = set()
    for name in [*range(len(inputs)), "result"]:
        y = fn(*inputs)
        if not y.requires_grad:
            return needed
        with torch.no_grad():
            (y if name == "result" else inputs[name]).add_(0)
        try:
            y.sum().backward()
        except RuntimeError:
            needed.add(name)
    return needed


# %% right thrifty-layer: two steps in place, a new tensor, one more
def layer(x, w, b):
    z = (x @ w).add_(b).sigmoid_()
    return z.mul(2).sub_(1)


# %% right thrifty-layer: addmm and tanh
def layer(x, w, b):
    return torch.addmm(b, x, w).mul_(0.5).tanh_()


# %% wrong thrifty-layer: the expression as it stands -> every-step-needs-memory
def layer(x, w, b):
    return 2 * torch.sigmoid(x @ w + b) - 1


# %% wrong thrifty-layer: everything in place -> in-place-is-always-legal
def layer(x, w, b):
    z = x @ w
    z += b
    z.sigmoid_()
    z *= 2
    z -= 1
    return z


# %% wrong thrifty-layer: a new tensor after the product -> matmul-saves-its-result
def layer(x, w, b):
    z = x @ w + b
    z.sigmoid_()
    z = z * 2
    z -= 1
    return z


# %% wrong thrifty-layer: the last steps through .data -> data-is-a-safe-write
def layer(x, w, b):
    z = x @ w
    z += b
    z.sigmoid_()
    z.data.mul_(2).sub_(1)
    return z


# %% wrong thrifty-layer: the last steps under no_grad -> no-grad-hides-the-write
def layer(x, w, b):
    z = x @ w
    z += b
    z.sigmoid_()
    with torch.no_grad():
        z.mul_(2).sub_(1)
    return z


# %% wrong thrifty-layer: detaches before the last steps -> detach-keeps-the-gradient
def layer(x, w, b):
    z = (x @ w).add_(b).sigmoid_().detach()
    return z.mul_(2).sub_(1)


# %% wrong thrifty-layer: out= into the product -> out-records-gradients
def layer(x, w, b):
    z = x @ w
    torch.add(z, b, out=z)
    torch.sigmoid(z, out=z)
    return 2 * z - 1


# %% wrong thrifty-layer: takes the bias for a buffer -> an-argument-is-a-buffer
def layer(x, w, b):
    z = x @ w
    with torch.no_grad():
        b.mul_(1)
    z += b
    z.sigmoid_()
    return z.mul(2).sub_(1)


# %% right silent-writes: counter first, then element by element
def writes(fn, *tensors):
    versions = [t._version for t in tensors]
    copies = [t.detach().clone() for t in tensors]
    fn(*tensors)
    words = []
    for t, version, copy in zip(tensors, versions, copies):
        if t._version > version:
            words.append("counted")
        elif t.shape != copy.shape:
            words.append("silent")
        else:
            same = torch.isclose(t.detach(), copy, rtol=0, atol=0, equal_nan=True)
            words.append("untouched" if same.all() else "silent")
    return words


# %% right silent-writes: lists of numbers, told apart by their text
def writes(fn, *tensors):
    before = [(t._version, repr(t.tolist())) for t in tensors]
    fn(*tensors)
    after = [(t._version, repr(t.tolist())) for t in tensors]
    return [
        "counted" if old[0] != new[0] else "silent" if old[1] != new[1] else "untouched"
        for old, new in zip(before, after)
    ]


# %% wrong silent-writes: asks the counter only -> the-counter-sees-everything
def writes(fn, *tensors):
    before = [t._version for t in tensors]
    fn(*tensors)
    return ["counted" if t._version != v else "untouched" for t, v in zip(tensors, before)]


# %% wrong silent-writes: a detached tensor as snapshot -> detach-is-a-copy
def writes(fn, *tensors):
    before = [(t._version, t.detach()) for t in tensors]
    fn(*tensors)
    return [
        "counted" if t._version != v else "untouched" if torch.equal(t, old) else "silent"
        for t, (v, old) in zip(tensors, before)
    ]


# %% wrong silent-writes: only a change is a write -> only-changes-count
def writes(fn, *tensors):
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)
    words = []
    for t, (v, old) in zip(tensors, before):
        if t.shape == old.shape and torch.allclose(t.detach(), old, rtol=0, atol=0, equal_nan=True):
            words.append("untouched")
        else:
            words.append("counted" if t._version != v else "silent")
    return words


# %% wrong silent-writes: NaN counts as a change -> nan-equals-itself
def writes(fn, *tensors):
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)
    return [
        "counted" if t._version != v else "untouched" if torch.equal(t.detach(), old) else "silent"
        for t, (v, old) in zip(tensors, before)
    ]


# %% wrong silent-writes: compares sums -> the-sum-tells
def writes(fn, *tensors):
    before = [(t._version, t.shape, str(t.detach().sum())) for t in tensors]
    fn(*tensors)
    words = []
    for t, (v, shape, total) in zip(tensors, before):
        same = t.shape == shape and str(t.detach().sum()) == total
        words.append("counted" if t._version != v else "untouched" if same else "silent")
    return words


# %% wrong silent-writes: compares elements without the shape -> shapes-stay
def writes(fn, *tensors):
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)
    words = []
    for t, (v, old) in zip(tensors, before):
        same = ((t == old) | (t.isnan() & old.isnan())).all()
        words.append("counted" if t._version != v else "untouched" if same else "silent")
    return words


# %% wrong silent-writes: what changed on a leaf was silent -> detach-is-as-silent-as-data
def writes(fn, *tensors):
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)
    words = []
    for t, (v, old) in zip(tensors, before):
        now = t.detach()
        same = now.shape == old.shape and torch.allclose(now, old, rtol=0, atol=0, equal_nan=True)
        if t.requires_grad:
            words.append("untouched" if same else "silent")
        else:
            words.append("counted" if t._version != v else "untouched" if same else "silent")
    return words


# %% wrong silent-writes: a view counts only when it changes -> a-view-counts-for-itself
def writes(fn, *tensors):
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)
    words = []
    for t, (v, old) in zip(tensors, before):
        now = t.detach()
        same = now.shape == old.shape and torch.allclose(now, old, rtol=0, atol=0, equal_nan=True)
        moved = t._version != v
        if same and (t._is_view() or not moved):
            words.append("untouched")
        else:
            words.append("counted" if moved else "silent")
    return words


# %% right first-break: one weight after the other
def first_break(step, weights, steps):
    given = list(weights)
    current = weights
    for n in range(steps):
        current = step(current)
        for i in range(len(given)):
            if not current[i].is_leaf:
                return (n, i, "not a leaf")
            if not current[i].requires_grad:
                return (n, i, "frozen")
            if current[i] is not given[i]:
                return (n, i, "replaced")
    return None


# %% right first-break: reasons as a function, ids as memory
def first_break(step, weights, steps):
    def reason(w, original):
        if w.grad_fn is not None:
            return "not a leaf"
        if not w.requires_grad:
            return "frozen"
        return None if id(w) == id(original) else "replaced"

    originals = tuple(weights)
    for n in range(steps):
        weights = step(weights)
        found = [(n, i, reason(w, o)) for i, (w, o) in enumerate(zip(weights, originals))]
        found = [one for one in found if one[2]]
        if found:
            return found[0]


# %% wrong first-break: waits for the error -> the-error-shows-the-step
def first_break(step, weights, steps):
    given = list(weights)
    for n in range(steps):
        try:
            weights = step(weights)
        except TypeError:
            i = next(i for i, w in enumerate(weights) if not w.is_leaf)
            return (n, i, "not a leaf")
    for i, (w, o) in enumerate(zip(weights, given)):
        if not w.requires_grad:
            return (steps - 1, i, "frozen")
        if w is not o:
            return (steps - 1, i, "replaced")
    return None


# %% wrong first-break: counts steps from 1 -> steps-count-from-one
def first_break(step, weights, steps):
    given = list(weights)
    for n in range(1, steps + 1):
        weights = step(weights)
        for i, (w, o) in enumerate(zip(weights, given)):
            if not w.is_leaf:
                return (n, i, "not a leaf")
            if not w.requires_grad:
                return (n, i, "frozen")
            if w is not o:
                return (n, i, "replaced")
    return None


# %% wrong first-break: asks is_leaf only -> a-leaf-is-a-weight
def first_break(step, weights, steps):
    for n in range(steps):
        weights = step(weights)
        for i, w in enumerate(weights):
            if not w.is_leaf:
                return (n, i, "not a leaf")
            if w.grad is None and not w.requires_grad and n > 0:
                return (n, i, "frozen")
        if any(not w.requires_grad for w in weights):
            return None
    return None


# %% wrong first-break: a new leaf will do -> a-new-leaf-is-as-good
def first_break(step, weights, steps):
    for n in range(steps):
        weights = step(weights)
        for i, w in enumerate(weights):
            if not w.is_leaf:
                return (n, i, "not a leaf")
            if not w.requires_grad:
                return (n, i, "frozen")
    return None


# %% wrong first-break: equal elements are the same weight -> equal-is-identical
def first_break(step, weights, steps):
    given = list(weights)
    for n in range(steps):
        weights = step(weights)
        for i, (w, o) in enumerate(zip(weights, given)):
            if not w.is_leaf:
                return (n, i, "not a leaf")
            if not w.requires_grad:
                return (n, i, "frozen")
            if not torch.equal(w, o):
                return (n, i, "replaced")
    return None


# %% wrong first-break: looks at the first weight -> the-first-weight-speaks-for-all
def first_break(step, weights, steps):
    first = weights[0]
    for n in range(steps):
        weights = step(weights)
        w = weights[0]
        if not w.is_leaf:
            return (n, 0, "not a leaf")
        if not w.requires_grad:
            return (n, 0, "frozen")
        if w is not first:
            return (n, 0, "replaced")
    return None


# %% wrong first-break: compares with the caller's list -> a-list-is-a-snapshot
def first_break(step, weights, steps):
    current = weights
    for n in range(steps):
        current = step(current)
        for i, (w, o) in enumerate(zip(current, weights)):
            if not w.is_leaf:
                return (n, i, "not a leaf")
            if not w.requires_grad:
                return (n, i, "frozen")
            if w is not o:
                return (n, i, "replaced")
    return None


# %% wrong first-break: asks for the object first -> same-object-is-the-only-question
def first_break(step, weights, steps):
    given = list(weights)
    for n in range(steps):
        weights = step(weights)
        for i, (w, o) in enumerate(zip(weights, given)):
            if w is not o:
                return (n, i, "not a leaf" if not w.is_leaf else "replaced")
    return None


# %% right fit: buffers in a list
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses = []
    buffers = [torch.zeros_like(w, requires_grad=False) for w in weights]
    for w in weights:
        w.grad = None
    for _ in range(steps):
        prediction = torch.zeros_like(x)
        for k, w in enumerate(weights):
            prediction = prediction + w * x**k
        loss = ((prediction - y) ** 2).sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for w, buffer in zip(weights, buffers):
                if w.grad is not None:
                    buffer.mul_(momentum).add_(w.grad)
                    w.sub_(buffer, alpha=lr)
                    w.grad = None
    return losses


# %% right fit: Horner's scheme, autograd.grad, detach
def fit(weights, x, y, lr, steps, momentum=0.0):
    for w in weights:
        w.grad = None
    trained = [w for w in weights if w.requires_grad]
    velocity = dict.fromkeys(range(len(trained)), 0.0)
    losses = []
    for _ in range(steps):
        p = torch.zeros_like(x)
        for w in reversed(weights):
            p = p * x + w
        loss = torch.sum((p - y) ** 2)
        for k, g in enumerate(torch.autograd.grad(loss, trained)):
            velocity[k] = momentum * velocity[k] + g
            trained[k].detach().sub_(lr * velocity[k])
        losses.append(float(loss))
    return losses


# %% wrong fit: rebinds the weights -> rebinding-updates-the-caller
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses = []
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        weights = [w - lr * w.grad for w in weights]
    return losses


# %% wrong fit: writes in grad mode -> a-leaf-may-be-written-in-grad-mode
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses = []
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        for w in weights:
            w -= lr * w.grad
            w.grad = None
    return losses


# %% wrong fit: new leaves in the list -> a-new-leaf-is-as-good
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [0.0] * len(weights)
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        for k, w in enumerate(weights):
            buffers[k] = momentum * buffers[k] + w.grad
            weights[k] = (w - lr * buffers[k]).detach().requires_grad_()
    return losses


# %% wrong fit: forgets to reset the gradients -> gradients-are-replaced
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [0.0] * len(weights)
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                buffers[k] = momentum * buffers[k] + w.grad
                w -= lr * buffers[k]
    for w in weights:
        w.grad = None
    return losses


# %% wrong fit: updates through .data -> data-counts-its-writes
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [0.0] * len(weights)
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        for k, w in enumerate(weights):
            if w.grad is not None:
                buffers[k] = momentum * buffers[k] + w.grad
                w.data -= lr * buffers[k]
                w.grad = None
    return losses


# %% wrong fit: the buffer is the gradient, which is zeroed -> a-buffer-may-be-the-gradient
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [None] * len(weights)
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                if w.grad is None:
                    continue
                if buffers[k] is None:
                    buffers[k] = w.grad
                else:
                    buffers[k] = momentum * buffers[k] + w.grad
                w -= lr * buffers[k]
                w.grad.zero_()
    for w in weights:
        w.grad = None
    return losses


# %% wrong fit: momentum as an average -> momentum-is-an-average
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [0.0] * len(weights)
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                if w.grad is not None:
                    buffers[k] = momentum * buffers[k] + (1 - momentum) * w.grad
                    w -= lr * buffers[k]
                    w.grad = None
    return losses


# %% wrong fit: leaves momentum out -> momentum-changes-nothing
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses = []
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for w in weights:
                if w.grad is not None:
                    w -= lr * w.grad
                    w.grad = None
    return losses


# %% wrong fit: trusts that .grad is None at first -> gradients-start-at-none
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [0.0] * len(weights)
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                if w.grad is not None:
                    buffers[k] = momentum * buffers[k] + w.grad
                    w -= lr * buffers[k]
                    w.grad = None
    return losses


# %% wrong fit: no weight without a gradient -> every-weight-has-a-gradient
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [0.0] * len(weights)
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                buffers[k] = momentum * buffers[k] + w.grad
                w -= lr * buffers[k]
                w.grad = None
    return losses


# %% wrong fit: keeps the loss tensors -> losses-may-keep-their-graph
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [0.0] * len(weights)
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss)
        with torch.no_grad():
            for k, w in enumerate(weights):
                if w.grad is not None:
                    buffers[k] = momentum * buffers[k] + w.grad
                    w -= lr * buffers[k]
                    w.grad = None
    return losses


# %% wrong fit: lets torch.optim do it -> an-optimizer-is-needed
def fit(weights, x, y, lr, steps, momentum=0.0):
    optimizer = torch.optim.SGD(weights, lr=lr, momentum=momentum)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    optimizer.zero_grad()
    return losses


# %% right powers: row by row with out=
def buffer_for(x, rows):
    return x.new_empty(rows, len(x))


@torch.no_grad()
def powers_(out, x):
    out[:1].fill_(1)
    for k in range(1, len(out)):
        torch.mul(out[k - 1], x, out=out[k])
    return out


# %% right powers: copy_ and mul_ on a detached x
def buffer_for(x, rows):
    return torch.empty((rows, *x.shape), dtype=x.dtype, device=x.device)


def powers_(out, x):
    x = x.detach()
    for k in range(out.shape[0]):
        if k == 0:
            out[k].copy_(x).fill_(1)
        else:
            out[k].copy_(out[k - 1]).mul_(x)
    return out


# %% right powers: like the expanded x, then a running product
def buffer_for(x, rows):
    return torch.empty_like(x.detach().expand(rows, -1), memory_format=torch.contiguous_format)


def powers_(out, x):
    x = x.detach()
    for row in out:
        row.fill_(1)
    for k in range(1, len(out)):
        out[k:].mul_(x)
    return out


# %% wrong powers: binds the name out -> assignment-fills-the-buffer
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype, device=x.device)


def powers_(out, x):
    out = torch.stack([x.detach() ** k for k in range(len(out))])
    return out


# %% wrong powers: x ** k on the right-hand side -> the-right-side-is-free
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype, device=x.device)


def powers_(out, x):
    for k in range(len(out)):
        out[k] = x.detach() ** k
    return out


# %% wrong powers: takes empty memory for zeros -> empty-means-zero
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype, device=x.device)


@torch.no_grad()
def powers_(out, x):
    for k in range(len(out)):
        if k == 0:
            out[k].add_(1)
        else:
            torch.mul(out[k - 1], x, out=out[k])
    return out


# %% wrong powers: float32 whatever x is -> memory-has-no-dtype
def buffer_for(x, rows):
    return torch.empty(rows, len(x), device=x.device)


@torch.no_grad()
def powers_(out, x):
    for k in range(len(out)):
        if k == 0:
            out[k].fill_(1)
        else:
            torch.mul(out[k - 1], x, out=out[k])
    return out


# %% wrong powers: out= in grad mode -> out-records-gradients
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype, device=x.device)


def powers_(out, x):
    for k in range(len(out)):
        if k == 0:
            out[k].fill_(1)
        else:
            torch.mul(out[k - 1], x, out=out[k])
    return out


# %% wrong powers: fills the buffer with zeros first -> memory-must-be-filled
def buffer_for(x, rows):
    return torch.zeros(rows, len(x), dtype=x.dtype, device=x.device)


@torch.no_grad()
def powers_(out, x):
    for k in range(len(out)):
        if k == 0:
            out[k].fill_(1)
        else:
            torch.mul(out[k - 1], x, out=out[k])
    return out


# %% wrong powers: a buffer on the host -> memory-has-no-device
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype)


@torch.no_grad()
def powers_(out, x):
    for k in range(len(out)):
        if k == 0:
            out[k].fill_(1)
        else:
            torch.mul(out[k - 1], x, out=out[k])
    return out


# %% wrong powers: makes float32 and converts it -> a-cast-needs-no-memory
def buffer_for(x, rows):
    return torch.empty(rows, len(x), device=x.device).to(x.dtype)


@torch.no_grad()
def powers_(out, x):
    for k in range(len(out)):
        if k == 0:
            out[k].fill_(1)
        else:
            torch.mul(out[k - 1], x, out=out[k])
    return out


# %% wrong powers: expands x to rows -> an-expanded-tensor-has-rows
def buffer_for(x, rows):
    return x.detach().expand(rows, -1)


@torch.no_grad()
def powers_(out, x):
    for k in range(len(out)):
        if k == 0:
            out[k].fill_(1)
        else:
            torch.mul(out[k - 1], x, out=out[k])
    return out


# %% wrong powers: NumPy writes the rows -> numpy-reaches-every-tensor
import numpy as np


def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype, device=x.device)


def powers_(out, x):
    rows = out.numpy()
    for k in range(len(rows)):
        np.power(x.detach().numpy(), k, out=rows[k])
    return out


# %% wrong powers: assigns to out.data -> assigning-data-is-in-place
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype, device=x.device)


def powers_(out, x):
    out.data = torch.stack([torch.ones_like(x), *(x.detach() ** k for k in range(1, len(out)))])
    return out


# %% right init: isinstance, under no_grad
@torch.no_grad()
def init_(module):
    if isinstance(module, nn.Linear):
        module.weight.fill_(1 / module.in_features)
        if module.bias is not None:
            module.bias.fill_(0)


# %% right init: the functions of nn.init
def init_(module):
    if not isinstance(module, nn.Linear):
        return
    nn.init.constant_(module.weight, 1 / module.weight.shape[1])
    if module.bias is not None:
        nn.init.zeros_(module.bias)


# %% wrong init: writes in grad mode -> a-leaf-may-be-written-in-grad-mode
def init_(module):
    if isinstance(module, nn.Linear):
        module.weight.fill_(1 / module.in_features)
        if module.bias is not None:
            module.bias.zero_()


# %% wrong init: new parameters -> a-new-parameter-is-as-good
def init_(module):
    if isinstance(module, nn.Linear):
        weight = torch.full_like(module.weight, 1 / module.in_features)
        module.weight = nn.Parameter(weight, module.weight.requires_grad)
        if module.bias is not None:
            module.bias = nn.Parameter(torch.zeros_like(module.bias))


# %% wrong init: assigns .data -> assigning-data-is-in-place
def init_(module):
    if isinstance(module, nn.Linear):
        module.weight.data = torch.full_like(module.weight, 1 / module.in_features)
        if module.bias is not None:
            module.bias.data = torch.zeros_like(module.bias)


# %% wrong init: fills .data -> data-counts-its-writes
def init_(module):
    if isinstance(module, nn.Linear):
        module.weight.data.fill_(1 / module.in_features)
        if module.bias is not None:
            module.bias.data.zero_()


# %% wrong init: compares classes -> type-is-isinstance
@torch.no_grad()
def init_(module):
    if type(module) == nn.Linear:
        module.weight.fill_(1 / module.in_features)
        if module.bias is not None:
            module.bias.zero_()


# %% wrong init: every layer has a bias -> every-linear-has-a-bias
@torch.no_grad()
def init_(module):
    if isinstance(module, nn.Linear):
        module.weight.fill_(1 / module.in_features)
        module.bias.zero_()


# %% wrong init: everything with a weight -> a-weight-makes-it-linear
@torch.no_grad()
def init_(module):
    if hasattr(module, "weight"):
        module.weight.fill_(1 / module.weight.shape[-1])
        if getattr(module, "bias", None) is not None:
            module.bias.zero_()


# %% wrong init: the rows are the inputs -> weight-rows-are-inputs
@torch.no_grad()
def init_(module):
    if isinstance(module, nn.Linear):
        module.weight.fill_(1 / len(module.weight))
        if module.bias is not None:
            module.bias.zero_()


# %% right squash: marks, saves, returns
class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x /= 1 + x.abs()
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * (1 - y.abs()) ** 2


def squash_(x):
    return Squash.apply(x)


# %% right squash: setup_context, and another form of the derivative
class Softsign(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.copy_(x / (1 + x.abs()))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        y = ctx.saved_tensors[0]
        return grad * (1 - 2 * y.abs() + y * y)


squash_ = Softsign.apply


# %% wrong squash: forgets mark_dirty -> returning-the-input-is-enough
class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.div_(1 + x.abs())
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * (1 - y.abs()) ** 2


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: saves x before it changes -> saved-tensors-are-copies
class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        x.div_(1 + x.abs())
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / (1 + x.abs()) ** 2


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: saves a copy of the old x -> a-copy-must-be-saved
class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        x.div_(1 + x.abs())
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / (1 + x.abs()) ** 2


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: keeps the result as an attribute -> ctx-attributes-are-checked
class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.div_(1 + x.abs())
        ctx.mark_dirty(x)
        ctx.y = x.detach()
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * (1 - ctx.y.abs()) ** 2


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: returns a new tensor -> a-new-tensor-will-do
class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x / (1 + x.abs())
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * (1 - y.abs()) ** 2


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: leaves out the gradient from above -> backward-returns-the-derivative
class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.div_(1 + x.abs())
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return (1 - y.abs()) ** 2


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: leaves the derivative to autograd -> autograd-sees-into-every-write
def squash_(x):
    return x.div_(1 + x.abs())
