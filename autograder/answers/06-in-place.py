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
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
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
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
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
        if t._base is not None:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
    if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
        return "overlap"
    return None


# %% wrong refusal: forgets grad mode -> no-grad-changes-nothing
def refusal(t):
    if t.requires_grad:
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
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
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
    return None


# %% wrong refusal: any stride of 0 -> stride-zero-is-overlap
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
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


# %% wrong silent-writes: exactly one write -> one-call-writes-once
def writes(fn, *tensors):
    versions = [t._version for t in tensors]
    copies = [t.detach().clone() for t in tensors]
    fn(*tensors)

    def same(a, b):
        return a.shape == b.shape and bool(((a == b) | (a.isnan() & b.isnan())).all())

    return [
        "counted" if t._version == version + 1 else "untouched" if same(t, copy) else "silent"
        for t, version, copy in zip(tensors, versions, copies)
    ]


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


# %% right trace: a value for each storage, looked up through the name
def trace(program):
    objects, storages, values = {}, {}, {}
    made = 0
    for step in program:
        kind, target = step[:2]
        source = step[2] if len(step) > 2 else None
        if kind == "iplus":
            values[storages[target]] = values[storages[target]] + 1
            continue
        if kind == "write":
            values[storages[target]] = values[storages[source]]
            continue
        if kind == "name":
            objects[target], storages[target] = objects[source], storages[source]
            continue
        start = {"new": lambda: 0, "clone": lambda: values[storages[source]]}
        start["plus"] = lambda: values[storages[source]] + 1
        if kind in start:
            place = len(values)
            values[place] = start[kind]()
        else:
            place = storages[source]
        objects[target], storages[target] = made, place
        made += 1
    return {name: (objects[name], storages[name], values[storages[name]]) for name in objects}


# %% wrong trace: numbers only what is still there -> numbers-are-given-back
def trace(program):
    names, values, objects = {}, [], 0
    for kind, target, *rest in program:
        source = names[rest[0]] if rest else None
        if kind == "iplus":
            values[names[target][1]] += 1
        elif kind == "write":
            values[names[target][1]] = values[source[1]]
        elif kind == "name":
            names[target] = source
        else:
            place = source[1] if kind in ("view", "detach") else len(values)
            if place == len(values):
                values.append(0 if source is None else values[source[1]] + (kind == "plus"))
            names[target] = (objects, place)
            objects += 1
    kept = sorted({o for o, _ in names.values()})
    places = sorted({s for _, s in names.values()})
    return {n: (kept.index(o), places.index(s), values[s]) for n, (o, s) in names.items()}


# %% wrong trace: a value for each name -> values-belong-to-names
def trace(program):
    names, values, objects, storages = {}, {}, 0, 0
    for kind, target, *rest in program:
        source = rest[0] if rest else None
        if kind == "iplus":
            values[target] += 1
        elif kind == "write":
            values[target] = values[source]
        elif kind == "name":
            names[target], values[target] = names[source], values[source]
        else:
            shared = kind in ("view", "detach")
            place = names[source][1] if shared else storages
            storages += not shared
            values[target] = 0 if source is None else values[source] + (kind == "plus")
            names[target] = (objects, place)
            objects += 1
    return {n: (o, s, values[n]) for n, (o, s) in names.items()}


# %% wrong trace: a known name keeps its tensor -> a-name-keeps-its-tensor
def trace(program):
    names, values, objects = {}, [], 0
    for kind, target, *rest in program:
        source = names[rest[0]] if rest else None
        if kind == "iplus":
            values[names[target][1]] += 1
        elif kind == "write":
            values[names[target][1]] = values[source[1]]
        elif kind == "name":
            names[target] = source
        elif kind == "new" and target in names:
            values[names[target][1]] = 0
        else:
            place = source[1] if kind in ("view", "detach") else len(values)
            if place == len(values):
                values.append(0 if source is None else values[source[1]] + (kind == "plus"))
            names[target] = (objects, place)
            objects += 1
    return {n: (o, s, values[s]) for n, (o, s) in names.items()}


# %% right legal-updates: one update for all, set_grad_enabled as a block
def update(w, grad, lr):
    w.add_(grad * -lr)


def step_in_block(w, grad, lr):
    with torch.set_grad_enabled(False):
        update(w, grad, lr)


step_decorated = torch.no_grad()(update)


def step_through_detach(w, grad, lr):
    update(w.detach(), grad, lr)


# %% wrong legal-updates: goes uphill -> the-gradient-points-downhill
def step_in_block(w, grad, lr):
    with torch.no_grad():
        w += lr * grad


@torch.no_grad()
def step_decorated(w, grad, lr):
    w += lr * grad


def step_through_detach(w, grad, lr):
    w.detach().add_(lr * grad)


# %% wrong legal-updates: NumPy writes past the counter -> data-counts-its-writes
def step_in_block(w, grad, lr):
    with torch.no_grad():
        w -= lr * grad


@torch.no_grad()
def step_decorated(w, grad, lr):
    w -= lr * grad


def step_through_detach(w, grad, lr):
    array = w.detach().numpy()
    array -= lr * grad.numpy()


# %% right refusal: the base first, then the tensor itself
def refusal(t):
    if not torch.is_grad_enabled() or not t.requires_grad:
        pass
    elif t._is_view() and t._base.is_leaf:
        return "view of a leaf"
    elif t.is_leaf:
        return "leaf"
    for size, step in zip(t.size(), t.stride()):
        if t.nelement() and size >= 2 and not step:
            return "overlap"


# %% wrong refusal: what is a leaf is no view -> a-leaf-is-no-view
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t.is_leaf:
            return "leaf"
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
    if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
        return "overlap"
    return None


# %% wrong refusal: asks for overlap first -> overlap-is-asked-first
def refusal(t):
    if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
        return "overlap"
    if torch.is_grad_enabled() and t.requires_grad:
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
    return None


# %% wrong refusal: what is not contiguous overlaps -> not-contiguous-is-overlap
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
    return None if t.is_contiguous() else "overlap"


# %% wrong refusal: tries it on a copy -> a-copy-is-refused-alike
import copy


def refusal(t):
    twin = t.detach().clone().requires_grad_(t.requires_grad)
    if not t.is_leaf:
        twin = twin * 1
    try:
        twin.add_(1)
    except RuntimeError as error:
        if "view" in str(error):
            return "view of a leaf"
        return "leaf" if "leaf" in str(error) else "overlap"
    return None


# %% wrong refusal: tries it, and turns the counter back -> refusal-must-be-tried
def refusal(t):
    before = t._version
    try:
        t.add_(0)
    except RuntimeError as error:
        words = str(error)
        if "view of a leaf" in words:
            return "view of a leaf"
        return "leaf" if "leaf" in words else "overlap"
    torch._C._autograd._unsafe_set_version_counter((t,), (before,))
    return None


# %% right must-stay: copies made with deepcopy, a written view
import copy


def must_stay(fn, *inputs):
    def raises(name):
        fresh = [copy.deepcopy(t) for t in inputs]
        y = fn(*fresh)
        if not y.requires_grad:
            return False
        victim = y if name == "result" else fresh[name]
        victim.detach().view_as(victim).add_(0)
        try:
            torch.autograd.grad(y.sum(), [t for t in fresh if t.requires_grad], allow_unused=True)
        except RuntimeError:
            return True
        return False

    return {name for name in (*range(len(inputs)), "result") if raises(name)}


# %% wrong must-stay: numbers as text -> a-number-is-its-text
def must_stay(fn, *inputs):
    found = set()
    for name in [*range(len(inputs)), "result"]:
        fresh = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
        y = fn(*fresh)
        if not y.requires_grad:
            return found
        (y if name == "result" else fresh[name]).detach().add_(0)
        try:
            y.sum().backward()
        except RuntimeError:
            found.add(str(name))
    return found


# %% wrong must-stay: backward without a scalar -> every-error-is-this-error
def must_stay(fn, *inputs):
    found = set()
    for name in [*range(len(inputs)), "result"]:
        fresh = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
        y = fn(*fresh)
        (y if name == "result" else fresh[name]).detach().add_(0)
        try:
            y.backward()
        except RuntimeError:
            found.add(name)
    return found


# %% wrong must-stay: writes through .data -> data-counts-its-writes
def must_stay(fn, *inputs):
    found = set()
    for name in [*range(len(inputs)), "result"]:
        fresh = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
        y = fn(*fresh)
        if not y.requires_grad:
            return found
        (y if name == "result" else fresh[name]).data.add_(0)
        try:
            y.sum().backward()
        except RuntimeError:
            found.add(name)
    return found


# %% wrong must-stay: a table of names -> a-name-tells-what-is-saved
def must_stay(fn, *inputs):
    y = fn(*[t.detach().clone().requires_grad_(t.requires_grad) for t in inputs])
    if not y.requires_grad:
        return set()
    table = {"Exp": {"result"}, "Mul": {0, 1}, "Add": set(), "Sin": {0}, "Sigmoid": {"result"}}
    return table.get(type(y.grad_fn).__name__.removesuffix("Backward0"), set())


# %% right thrifty-layer: a Function that recomputes nothing
class Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b):
        y = (x @ w).add_(b).mul_(0.5).tanh_()
        ctx.save_for_backward(x, w, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, w, y = ctx.saved_tensors
        inner = grad * (1 - y * y) / 2
        return inner @ w.t(), x.t() @ inner, inner.sum(0)


def layer(x, w, b):
    return Layer.apply(x, w, b)


# %% wrong thrifty-layer: in place only without gradients -> the-plain-expression-elsewhere
def layer(x, w, b):
    if x.requires_grad and w.requires_grad and b.requires_grad:
        z = (x @ w).add_(b).sigmoid_()
        return z.mul(2).sub_(1)
    return 2 * torch.sigmoid(x @ w + b) - 1


# %% wrong thrifty-layer: in double precision on the way -> precision-is-free
def layer(x, w, b):
    z = (x.double() @ w.double()).add_(b.double()).sigmoid_()
    return z.mul(2).sub_(1)


# %% wrong thrifty-layer: a row at a time -> every-step-needs-memory
def layer(x, w, b):
    rows = [(row @ w).add_(b).sigmoid_().mul(2).sub_(1) for row in x]
    return torch.stack(rows) if rows else x @ w


# %% wrong thrifty-layer: the first row for all -> one-row-is-enough
def layer(x, w, b):
    z = (x[:1] @ w).add_(b).sigmoid_()
    return z.mul(2).sub_(1).expand(len(x), -1)


# %% right silent-writes: bytes of a clone, versions in a dict
def writes(fn, *tensors):
    old = [t.detach().clone() for t in tensors]
    counters = {k: t._version for k, t in enumerate(tensors)}
    fn(*tensors)
    found = []
    for k, t in enumerate(tensors):
        t, before = t.detach(), old[k]
        if t._version != counters[k]:
            found.append("counted")
        elif t.shape == before.shape and bool(
            torch.where(before != before, t != t, t == before).all()
        ):
            found.append("untouched")
        else:
            found.append("silent")
    return found


# %% wrong silent-writes: calls fn again to compare -> a-second-run-does-no-harm
def writes(fn, *tensors):
    found = []
    for t in tensors:
        version, old = t._version, t.detach().clone()
        fn(*tensors)
        now = t.detach()
        same = now.shape == old.shape and torch.allclose(now, old, rtol=0, atol=0, equal_nan=True)
        found.append("counted" if t._version != version else "untouched" if same else "silent")
    return found


# %% wrong silent-writes: a small change is none -> close-is-equal
def writes(fn, *tensors):
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)
    found = []
    for t, (version, old) in zip(tensors, before):
        now = t.detach()
        same = now.shape == old.shape and torch.allclose(now, old, equal_nan=True)
        found.append("counted" if t._version != version else "untouched" if same else "silent")
    return found


# %% wrong silent-writes: a NaN hides every change -> a-nan-hides-changes
def writes(fn, *tensors):
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)
    found = []
    for t, (version, old) in zip(tensors, before):
        now = t.detach()
        same = now.shape == old.shape and bool(((now == old) | now.isnan() | old.isnan()).all())
        found.append("counted" if t._version != version else "untouched" if same else "silent")
    return found


# %% wrong silent-writes: gives back what was written -> a-detector-restores
def writes(fn, *tensors):
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)
    found = []
    for t, (version, old) in zip(tensors, before):
        now = t.detach()
        same = now.shape == old.shape and torch.allclose(now, old, rtol=0, atol=0, equal_nan=True)
        found.append("counted" if t._version != version else "untouched" if same else "silent")
        if not same:
            t.data = old
    return found


# %% right first-break: a generator of all losses
def first_break(step, weights, steps):
    def losses():
        held, now = [*weights], weights
        for n in range(steps):
            now = step(now)
            for i, (w, old) in enumerate(zip(now, held)):
                words = {
                    "not a leaf": not w.is_leaf,
                    "frozen": not w.requires_grad,
                    "replaced": w is not old,
                }
                yield from ((n, i, word) for word, lost in words.items() if lost)

    return next(losses(), None)


# %% right first-break: gives every step a list of its own
def first_break(step, weights, steps):
    given = list(weights)
    for n in range(steps):
        now = step(list(given))
        for i, (w, o) in enumerate(zip(now, given)):
            if not w.is_leaf:
                return (n, i, "not a leaf")
            if not w.requires_grad:
                return (n, i, "frozen")
            if w is not o:
                return (n, i, "replaced")
    return None


# %% wrong first-break: runs all steps, then looks -> looking-once-is-enough
def first_break(step, weights, steps):
    given = list(weights)
    history = []
    for n in range(steps):
        try:
            weights = step(weights)
        except Exception:
            break
        history.append(list(weights))
    for n, now in enumerate(history):
        for i, (w, o) in enumerate(zip(now, given)):
            if not w.is_leaf:
                return (n, i, "not a leaf")
            if not w.requires_grad:
                return (n, i, "frozen")
            if w is not o:
                return (n, i, "replaced")
    return None


# %% wrong first-break: a reason at a time over all weights -> reasons-go-before-weights
def first_break(step, weights, steps):
    given = list(weights)
    for n in range(steps):
        weights = step(weights)
        for i, w in enumerate(weights):
            if not w.is_leaf:
                return (n, i, "not a leaf")
        for i, w in enumerate(weights):
            if not w.requires_grad:
                return (n, i, "frozen")
        for i, (w, o) in enumerate(zip(weights, given)):
            if w is not o:
                return (n, i, "replaced")
    return None


# %% wrong first-break: compares with a list that the step changes -> a-list-is-a-snapshot
def first_break(step, weights, steps):
    for n in range(steps):
        before = list(weights)
        weights = step(before)
        for i, (w, o) in enumerate(zip(weights, before)):
            if not w.is_leaf:
                return (n, i, "not a leaf")
            if not w.requires_grad:
                return (n, i, "frozen")
            if w is not o:
                return (n, i, "replaced")
    return None


# %% wrong first-break: stops one step early -> the-last-step-needs-no-look
def first_break(step, weights, steps):
    given = list(weights)
    for n in range(steps):
        weights = step(weights)
        if n == steps - 1 and n > 0:
            return None
        for i, (w, o) in enumerate(zip(weights, given)):
            if not w.is_leaf:
                return (n, i, "not a leaf")
            if not w.requires_grad:
                return (n, i, "frozen")
            if w is not o:
                return (n, i, "replaced")
    return None


# %% right fit: gradients asked for, momentum in a dict
def fit(weights, x, y, lr, steps, momentum=0.0):
    learned = [w for w in weights if w.requires_grad]
    buffers, losses = {}, []
    powers = torch.stack([x**k for k in range(len(weights))])
    for _ in range(steps):
        loss = (torch.stack([w.to(x.dtype) for w in weights]) @ powers - y).pow(2).sum()
        losses.append(loss.item())
        gradients = torch.autograd.grad(loss, learned)
        with torch.no_grad():
            for k, (w, g) in enumerate(zip(learned, gradients)):
                buffers[k] = buffers[k] * momentum + g if k in buffers else g
                w.add_(buffers[k], alpha=-lr)
    for w in weights:
        w.grad = None
    return losses


# %% wrong fit: takes the loss after the step -> the-loss-comes-after-the-step
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [0.0] * len(weights)
    for w in weights:
        w.grad = None
    for _ in range(steps):
        (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum().backward()
        with torch.no_grad():
            for k, w in enumerate(weights):
                if w.grad is not None:
                    buffers[k] = momentum * buffers[k] + w.grad
                    w -= lr * buffers[k]
                    w.grad = None
            losses.append((sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum().item())
    return losses


# %% wrong fit: the mean for the sum -> the-loss-is-a-mean
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [0.0] * len(weights)
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).mean()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                if w.grad is not None:
                    buffers[k] = momentum * buffers[k] + w.grad
                    w -= lr * buffers[k]
                    w.grad = None
    return losses


# %% wrong fit: Nesterov's momentum -> momentum-looks-ahead
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
                    buffers[k] = momentum * buffers[k] + w.grad
                    w -= lr * (w.grad + momentum * buffers[k])
                    w.grad = None
    return losses


# %% wrong fit: the functional optimizer -> an-optimizer-is-needed
from torch.optim.sgd import sgd


def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], None
    for w in weights:
        w.grad = None
    learned = [w for w in weights if w.requires_grad]
    buffers = [None] * len(learned)
    for _ in range(steps):
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            sgd(
                learned,
                [w.grad for w in learned],
                buffers,
                weight_decay=0.0,
                momentum=momentum,
                lr=lr,
                dampening=0.0,
                nesterov=False,
                maximize=False,
            )
        for w in weights:
            w.grad = None
    return losses


# %% wrong fit: a cubic, whatever the weights -> every-polynomial-is-a-cubic
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [0.0] * 4
    for w in weights:
        w.grad = None
    for _ in range(steps):
        a, b, c, d = weights
        loss = (a + b * x + c * x**2 + d * x**3 - y).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                if w.grad is not None:
                    buffers[k] = momentum * buffers[k] + w.grad
                    w -= lr * buffers[k]
                    w.grad = None
    return losses


# %% wrong powers: float64, whatever x is -> memory-has-no-dtype
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=torch.float64 if rows else x.dtype, device=x.device)


@torch.no_grad()
def powers_(out, x):
    for k in range(len(out)):
        if k == 0:
            out[k].fill_(1)
        else:
            torch.mul(out[k - 1], x, out=out[k])
    return out


# %% wrong powers: begins with x -> row-zero-is-x
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype, device=x.device)


@torch.no_grad()
def powers_(out, x):
    for k in range(len(out)):
        if k == 0:
            out[k].copy_(x)
        else:
            torch.mul(out[k - 1], x, out=out[k])
    return out


# %% wrong powers: returns nothing -> writing-is-enough
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype, device=x.device)


@torch.no_grad()
def powers_(out, x):
    for k in range(len(out)):
        if k == 0:
            out[k].fill_(1)
        else:
            torch.mul(out[k - 1], x, out=out[k])


# %% wrong powers: through the exponent of logs -> logs-take-any-number
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype, device=x.device)


@torch.no_grad()
def powers_(out, x):
    for k in range(len(out)):
        torch.log(x, out=out[k])
        out[k].mul_(k).exp_()
    return out


# %% wrong powers: the flat memory of out -> rows-lie-one-after-the-other
def buffer_for(x, rows):
    return torch.empty(rows, len(x), dtype=x.dtype, device=x.device)


@torch.no_grad()
def powers_(out, x):
    n = len(x)
    flat = out.as_strided((out.numel(),), (1,))
    for k in range(len(out)):
        if k == 0:
            flat[:n].fill_(1)
        else:
            torch.mul(flat[(k - 1) * n : k * n], x, out=flat[k * n : (k + 1) * n])
    return out


# %% right init: a loop over the two parameters
@torch.no_grad()
def init_(module):
    if not isinstance(module, torch.nn.Linear):
        return
    for name, parameter in module.named_parameters(recurse=False):
        if name == "weight":
            parameter.copy_(torch.full_like(parameter, 1 / module.weight.shape[1]))
        elif name == "bias":
            parameter.mul_(0) if parameter.isfinite().all() else parameter.zero_()


# %% right init: through detached tensors
def init_(module):
    if isinstance(module, nn.Linear):
        module.weight.detach().fill_(1.0 / module.in_features)
        if module.bias is not None:
            module.bias.detach().fill_(0.0)


# %% wrong init: multiplies the bias by 0 -> times-zero-is-zero
@torch.no_grad()
def init_(module):
    if isinstance(module, nn.Linear):
        module.weight.fill_(1 / module.in_features)
        if module.bias is not None:
            module.bias.mul_(0)


# %% wrong init: leaves the bias -> a-bias-may-stay
@torch.no_grad()
def init_(module):
    if isinstance(module, nn.Linear):
        module.weight.fill_(1 / module.in_features)


# %% wrong init: freezes for the write -> requires-grad-must-be-switched
def init_(module):
    if isinstance(module, nn.Linear):
        module.requires_grad_(False)
        module.weight.fill_(1 / module.in_features)
        if module.bias is not None:
            module.bias.fill_(0)
        module.requires_grad_(True)


# %% wrong init: walks on by itself, and from the base class -> in-features-make-it-linear
@torch.no_grad()
def init_(module):
    if hasattr(module, "in_features"):
        module.weight.fill_(1 / module.in_features)
        if module.bias is not None:
            module.bias.zero_()


# %% right squash: no sign trick, a fresh tensor in backward
class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.copy_(x / (x.abs() + 1))
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        y = ctx.saved_tensors[0]
        shrink = 1.0 - torch.abs(y)
        return grad * shrink * shrink


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: works in the saved result in backward -> the-saved-result-is-mine
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
        return grad * y.abs_().neg_().add_(1).square_()


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: works in the gradient from above -> the-gradient-is-scratch-paper
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
        return grad.mul_((1 - y.abs()).square())


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: the derivative without the square -> the-derivative-is-one-factor
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
        return grad * (1 - y.abs())


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: 1 - y for 1 - |y| -> the-sign-is-lost
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
        return grad * (1 - y).square()


def squash_(x):
    return Squash.apply(x)


# %% wrong squash: keeps the context of the last call -> backward-runs-once
class Squash(torch.autograd.Function):
    kept = None

    @staticmethod
    def forward(ctx, x):
        x.div_(1 + x.abs())
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        Squash.kept = ctx
        return x

    @staticmethod
    def backward(ctx, grad):
        (y,) = Squash.kept.saved_tensors
        return grad * (1 - y.abs()).square()


def squash_(x):
    return Squash.apply(x)


# %% same trace: the number of an object and the value of a storage do not depend on each other
def trace(program):
    """For each name the number of its object, of its storage, and its value.

    trace([("new", "a"), ("view", "b", "a"), ("iplus", "a")]) == {"a": (0, 0, 1), "b": (1, 0, 1)}
    """
    where, values, objects = ({}, [], 0)
    for kind, target, *source in program:
        match (kind, source):
            case ["name", [other]]:
                where[target] = where[other]
            case ["iplus", _]:
                values[where[target][1]] += 1
            case ["write", [other]]:
                values[where[target][1]] = values[where[other][1]]
            case ["view" | "detach", [other]]:
                where[target] = (objects, where[other][1])
                objects += 1
            case _:
                old = sum((values[where[other][1]] for other in source))
                where[target] = (objects, len(values))
                objects += 1
                values.append(old + (kind == "plus"))
    return {name: (number, storage, values[storage]) for name, (number, storage) in where.items()}


# %% same fit: backward leaves the loss as it is
def fit(weights, x, y, lr, steps, momentum=0.0):
    """The losses of a polynomial fit by gradient descent; the weights are updated in place.

    w = [torch.zeros((), requires_grad=True)]
    fit(w, torch.zeros(1), torch.ones(1), 0.25, 2) == [1.0, 0.25]
    """
    losses, buffers = ([], [None] * len(weights))
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum((w * x**k for k, w in enumerate(weights))) - y).square().sum()
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for k, w in enumerate(weights):
                old = buffers[k]
                buffers[k] = w.grad.clone() if old is None else old.mul_(momentum).add_(w.grad)
                w -= lr * buffers[k]
                w.grad = None
    return losses


# %% same fit: each step makes a new gradient: this one stays as it is
def fit(weights, x, y, lr, steps, momentum=0.0):
    """The losses of a polynomial fit by gradient descent; the weights are updated in place.

    w = [torch.zeros((), requires_grad=True)]
    fit(w, torch.zeros(1), torch.ones(1), 0.25, 2) == [1.0, 0.25]
    """
    losses, buffers = ([], [None] * len(weights))
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum((w * x**k for k, w in enumerate(weights))) - y).square().sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                old = buffers[k]
                buffers[k] = w.grad.contiguous() if old is None else old.mul_(momentum).add_(w.grad)
                w -= lr * buffers[k]
                w.grad = None
    return losses


# %% same fit: each step makes a new gradient, and nobody else writes into this one
def fit(weights, x, y, lr, steps, momentum=0.0):
    """The losses of a polynomial fit by gradient descent; the weights are updated in place.

    w = [torch.zeros((), requires_grad=True)]
    fit(w, torch.zeros(1), torch.ones(1), 0.25, 2) == [1.0, 0.25]
    """
    losses, buffers = ([], [None] * len(weights))
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum((w * x**k for k, w in enumerate(weights))) - y).square().sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                old = buffers[k]
                buffers[k] = w.grad if old is None else old.mul_(momentum).add_(w.grad)
                w -= lr * buffers[k]
                w.grad = None
    return losses


# %% same fit: a new buffer is stored where the old one was
def fit(weights, x, y, lr, steps, momentum=0.0):
    """The losses of a polynomial fit by gradient descent; the weights are updated in place.

    w = [torch.zeros((), requires_grad=True)]
    fit(w, torch.zeros(1), torch.ones(1), 0.25, 2) == [1.0, 0.25]
    """
    losses, buffers = ([], [None] * len(weights))
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum((w * x**k for k, w in enumerate(weights))) - y).square().sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                old = buffers[k]
                buffers[k] = w.grad.clone() if old is None else old.mul_(momentum).add(w.grad)
                w -= lr * buffers[k]
                w.grad = None
    return losses


# %% same fit: a new buffer is stored where the old one was, said in another way
def fit(weights, x, y, lr, steps, momentum=0.0):
    """The losses of a polynomial fit by gradient descent; the weights are updated in place.

    w = [torch.zeros((), requires_grad=True)]
    fit(w, torch.zeros(1), torch.ones(1), 0.25, 2) == [1.0, 0.25]
    """
    losses, buffers = ([], [None] * len(weights))
    for w in weights:
        w.grad = None
    for _ in range(steps):
        loss = (sum((w * x**k for k, w in enumerate(weights))) - y).square().sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for k, w in enumerate(weights):
                old = buffers[k]
                buffers[k] = w.grad.clone() if old is None else old.mul(momentum).add_(w.grad)
                w -= lr * buffers[k]
                w.grad = None
    return losses


# %% same must-stay: any write counts
def must_stay(fn, *inputs):
    """The inputs (by number) and "result", as far as fn's backward needs them unchanged.

    must_stay(torch.exp, torch.ones(2, requires_grad=True)) == {"result"}
    """
    found = set()
    for candidate in [*range(len(inputs)), "result"]:
        fresh = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
        result = fn(*fresh)
        if not result.requires_grad:
            return found
        with torch.no_grad():
            (result if candidate == "result" else fresh[candidate]).add_(1)
        try:
            result.sum().backward()
        except RuntimeError:
            found.add(candidate)
    return found


# %% same must-stay: any write counts, a negative one too
def must_stay(fn, *inputs):
    """The inputs (by number) and "result", as far as fn's backward needs them unchanged.

    must_stay(torch.exp, torch.ones(2, requires_grad=True)) == {"result"}
    """
    found = set()
    for candidate in [*range(len(inputs)), "result"]:
        fresh = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
        result = fn(*fresh)
        if not result.requires_grad:
            return found
        with torch.no_grad():
            (result if candidate == "result" else fresh[candidate]).add_(-1)
        try:
            result.sum().backward()
        except RuntimeError:
            found.add(candidate)
    return found


# %% same must-stay: what backward needs does not depend on the weight of the results
def must_stay(fn, *inputs):
    """The inputs (by number) and "result", as far as fn's backward needs them unchanged.

    must_stay(torch.exp, torch.ones(2, requires_grad=True)) == {"result"}
    """
    found = set()
    for candidate in [*range(len(inputs)), "result"]:
        fresh = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
        result = fn(*fresh)
        if not result.requires_grad:
            return found
        with torch.no_grad():
            (result if candidate == "result" else fresh[candidate]).add_(0)
        try:
            result.mean().backward()
        except RuntimeError:
            found.add(candidate)
    return found


# %% same must-stay: backward raises RuntimeError and nothing else here
def must_stay(fn, *inputs):
    """The inputs (by number) and "result", as far as fn's backward needs them unchanged.

    must_stay(torch.exp, torch.ones(2, requires_grad=True)) == {"result"}
    """
    found = set()
    for candidate in [*range(len(inputs)), "result"]:
        fresh = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
        result = fn(*fresh)
        if not result.requires_grad:
            return found
        with torch.no_grad():
            (result if candidate == "result" else fresh[candidate]).add_(0)
        try:
            result.sum().backward()
        except Exception:
            found.add(candidate)
    return found


# %% same silent-writes: the old values are only compared
def writes(fn, *tensors):
    """For each tensor what fn did to it: "counted", "silent" or "untouched".

    x = torch.zeros(2)
    writes(lambda t: t.add_(1), x) == ["counted"]
    """
    before = [(t._version, t.clone()) for t in tensors]
    fn(*tensors)

    def word(t, version, old):
        if t._version != version:
            return "counted"
        now = t.detach()
        if now.shape != old.shape or not ((now == old) | now.isnan() & old.isnan()).all():
            return "silent"
        return "untouched"

    return [word(t, *note) for t, note in zip(tensors, before, strict=True)]


# %% same silent-writes: a copy of a copy
def writes(fn, *tensors):
    """For each tensor what fn did to it: "counted", "silent" or "untouched".

    x = torch.zeros(2)
    writes(lambda t: t.add_(1), x) == ["counted"]
    """
    before = [(t._version, t.clone().clone()) for t in tensors]
    fn(*tensors)

    def word(t, version, old):
        if t._version != version:
            return "counted"
        now = t.detach()
        if now.shape != old.shape or not ((now == old) | now.isnan() & old.isnan()).all():
            return "silent"
        return "untouched"

    return [word(t, *note) for t, note in zip(tensors, before, strict=True)]


# %% same silent-writes: the new values are only compared
def writes(fn, *tensors):
    """For each tensor what fn did to it: "counted", "silent" or "untouched".

    x = torch.zeros(2)
    writes(lambda t: t.add_(1), x) == ["counted"]
    """
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)

    def word(t, version, old):
        if t._version != version:
            return "counted"
        now = t
        if now.shape != old.shape or not ((now == old) | now.isnan() & old.isnan()).all():
            return "silent"
        return "untouched"

    return [word(t, *note) for t, note in zip(tensors, before, strict=True)]


# %% same silent-writes: the new values are only compared, and a copy does for that
def writes(fn, *tensors):
    """For each tensor what fn did to it: "counted", "silent" or "untouched".

    x = torch.zeros(2)
    writes(lambda t: t.add_(1), x) == ["counted"]
    """
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)

    def word(t, version, old):
        if t._version != version:
            return "counted"
        now = t.clone()
        if now.shape != old.shape or not ((now == old) | now.isnan() & old.isnan()).all():
            return "silent"
        return "untouched"

    return [word(t, *note) for t, note in zip(tensors, before, strict=True)]


# %% same squash: apply calls forward through the class
class Squash(torch.autograd.Function):
    """x / (1 + |x|) in place; backward needs the result only."""

    def forward(ctx, x):
        """Write into x and return it."""
        x.div_(1 + x.abs())
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        """The gradient of the old x, made from that of the result."""
        (y,) = ctx.saved_tensors
        return grad * (1 - y.abs()).square()


def squash_(x):
    """The tensor x itself, every element replaced by x / (1 + |x|).

    squash_(torch.tensor([1.0, -3.0])) holds [0.5, -0.75]
    """
    return Squash.apply(x)


# %% same squash: the mark says that x is changed, before or after
class Squash(torch.autograd.Function):
    """x / (1 + |x|) in place; backward needs the result only."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.div_(1 + x.abs())
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        """The gradient of the old x, made from that of the result."""
        (y,) = ctx.saved_tensors
        return grad * (1 - y.abs()).square()


def squash_(x):
    """The tensor x itself, every element replaced by x / (1 + |x|).

    squash_(torch.tensor([1.0, -3.0])) holds [0.5, -0.75]
    """
    return Squash.apply(x)


# %% same squash: the order of the two notes does not matter
class Squash(torch.autograd.Function):
    """x / (1 + |x|) in place; backward needs the result only."""

    @staticmethod
    def forward(ctx, x):
        x.div_(1 + x.abs())
        ctx.save_for_backward(x)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        """The gradient of the old x, made from that of the result."""
        (y,) = ctx.saved_tensors
        return grad * (1 - y.abs()).square()


def squash_(x):
    """The tensor x itself, every element replaced by x / (1 + |x|).

    squash_(torch.tensor([1.0, -3.0])) holds [0.5, -0.75]
    """
    return Squash.apply(x)


# %% same squash: apply calls backward through the class
class Squash(torch.autograd.Function):
    """x / (1 + |x|) in place; backward needs the result only."""

    @staticmethod
    def forward(ctx, x):
        """Write into x and return it."""
        x.div_(1 + x.abs())
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    def backward(ctx, grad):
        """The gradient of the old x, made from that of the result."""
        (y,) = ctx.saved_tensors
        return grad * (1 - y.abs()).square()


def squash_(x):
    """The tensor x itself, every element replaced by x / (1 + |x|).

    squash_(torch.tensor([1.0, -3.0])) holds [0.5, -0.75]
    """
    return Squash.apply(x)


# %% right legal-updates: copy_, foreach with alpha, negative step
def step_in_block(w, grad, lr):
    with torch.no_grad():
        w.copy_(w - lr * grad)


def step_decorated(w, grad, lr):
    @torch.no_grad()
    def write():
        torch._foreach_add_([w], [grad], alpha=-lr)

    write()


def step_through_detach(w, grad, lr):
    plain = w.detach()
    plain += (-lr) * grad.detach()


# %% wrong first-break: a swap of weights goes unseen -> any-of-the-weights-will-do
def first_break(step, weights, steps):
    given = {id(w): w for w in weights}  # keeps the objects alive, so ids are unique
    for number in range(steps):
        weights = step(weights)
        for index, w in enumerate(weights):
            if not w.is_leaf:
                return number, index, "not a leaf"
            if not w.requires_grad:
                return number, index, "frozen"
            if id(w) not in given:
                return number, index, "replaced"
    return None


# %% wrong refusal: overlap guessed from storage size -> a-full-storage-is-overlap
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
    room = t.untyped_storage().nbytes() // t.element_size()
    if t.numel() > room:  # more elements than places
        return "overlap"
    return None


# %% wrong refusal: out= writes to find out -> refusal-must-be-tried
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
    same = t.data
    try:
        torch.add(same, 0, out=same)
    except RuntimeError:
        return "overlap"
    return None


# %% wrong must-stay: caller's storage written, restored with rounding -> inputs-are-scratch-paper
def must_stay(fn, *inputs):
    found = set()
    for candidate in [*range(len(inputs)), "result"]:
        mine = [t.data.requires_grad_(t.requires_grad) for t in inputs]  # counters of their own
        result = fn(*mine)
        if not result.requires_grad:
            return set()
        target = result if candidate == "result" else mine[candidate]
        with torch.no_grad():
            target += 1
        try:
            result.sum().backward()
        except RuntimeError:
            found.add(candidate)
        with torch.no_grad():
            target -= 1
    return found


# %% wrong must-stay: refused write counts as needed -> a-refused-write-is-a-need
def must_stay(fn, *inputs):
    found = set()
    for candidate in [*range(len(inputs)), "result"]:
        copies = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
        result = fn(*copies)
        if not result.requires_grad:
            continue
        try:
            if candidate == "result":
                result.add_(0)
            else:
                copies[candidate].detach().add_(0)
            result.sum().backward()
        except RuntimeError:
            found.add(candidate)
    return found


# %% wrong must-stay: compares where the saved tensors begin -> the-object-is-the-memory
def must_stay(fn, *inputs):
    saved = []

    def pack(t):
        saved.append(t)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = fn(*inputs)
    if not result.requires_grad:
        return set()
    places = {t.data_ptr() for t in saved}
    named = [*enumerate(inputs), ("result", result)]
    return {name for name, t in named if t.data_ptr() in places}


# %% wrong silent-writes: new shape that broadcasts is missed -> shapes-stay
import torch


def writes(fn, *tensors):
    before = [(t._version, t.detach().clone()) for t in tensors]
    fn(*tensors)

    def same(new, old):
        try:
            return bool(((new == old) | (new.isnan() & old.isnan())).all())
        except RuntimeError:  # the shapes differ
            return False

    return [
        "counted" if t._version != version else "untouched" if same(t.detach(), old) else "silent"
        for t, (version, old) in zip(tensors, before)
    ]


# %% wrong trace: plus asks a tensor -> only-a-run-can-tell
def trace(program):
    where, values, objects = {}, [], 0
    for kind, target, *source in program:
        if kind == "iplus":
            values[where[target][1]] += 1
        elif kind == "write":
            values[where[target][1]] = values[where[source[0]][1]]
        elif kind == "name":
            where[target] = where[source[0]]
        else:
            if kind in ("view", "detach"):
                storage = where[source[0]][1]
            else:
                storage = len(values)
                if kind == "new":
                    values.append(0)
                elif kind == "clone":
                    values.append(values[where[source[0]][1]])
                else:
                    values.append((torch.tensor(values[where[source[0]][1]]) + 1).item())
            where[target] = (objects, storage)
            objects += 1
    return {name: (number, storage, values[storage]) for name, (number, storage) in where.items()}


# %% wrong legal-updates: the rate as a float32 tensor -> a-number-keeps-its-digits
def step_in_block(w, grad, lr):
    with torch.no_grad():
        w.sub_(lr * grad)


@torch.no_grad()
def step_decorated(w, grad, lr):
    rate = torch.tensor(lr)
    w.sub_(rate * grad)


def step_through_detach(w, grad, lr):
    w.detach().sub_(lr * grad)


# %% wrong thrifty-layer: one buffer for all calls -> one-buffer-serves-all-calls
BUFFERS = {}


class Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b):
        key = (x.shape[0], w.shape[1], x.dtype)
        if key not in BUFFERS:
            BUFFERS[key] = torch.empty(x.shape[0], w.shape[1], dtype=x.dtype)
        s = BUFFERS[key]
        torch.mm(x, w, out=s)
        s.add_(b).sigmoid_()
        ctx.save_for_backward(x, w, s)
        return (s * 2).sub_(1)

    @staticmethod
    def backward(ctx, grad):
        x, w, s = ctx.saved_tensors
        inner = grad * 2 * s * (1 - s)
        return inner @ w.t(), x.t() @ inner, inner.sum(0)


def layer(x, w, b):
    return Layer.apply(x, w, b)


# %% wrong first-break: every step gets the first list -> a-step-keeps-its-list
def first_break(step, weights, steps):
    given = list(weights)
    for number in range(steps):
        now = step(weights)
        for index, w in enumerate(now):
            if not w.is_leaf:
                return number, index, "not a leaf"
            if not w.requires_grad:
                return number, index, "frozen"
            if w is not given[index]:
                return number, index, "replaced"
    return None


# %% wrong fit: the buffers outlive the fit -> buffers-belong-to-weights
def fit(weights, x, y, lr, steps, momentum=0.0):
    losses = []
    for _ in range(steps):
        for w in weights:
            w.grad = None
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).square().sum()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for w in weights:
                if w.grad is None:
                    continue
                if hasattr(w, "buffer"):
                    w.buffer = momentum * w.buffer + w.grad
                else:
                    w.buffer = w.grad.clone()
                w -= lr * w.buffer
    return losses


# %% wrong fit: the inside of torch.optim.SGD, imported before -> an-optimizer-is-needed
from torch.optim.sgd import _single_tensor_sgd as update


def fit(weights, x, y, lr, steps, momentum=0.0):
    losses, buffers = [], [None] * len(weights)
    for _ in range(steps):
        for w in weights:
            w.grad = None
        loss = (sum(w * x**k for k, w in enumerate(weights)) - y).square().sum()
        loss.backward()
        losses.append(loss.item())
        numbers = [k for k, w in enumerate(weights) if w.grad is not None]
        mine = [buffers[k] for k in numbers]
        with torch.no_grad():
            update(
                [weights[k] for k in numbers],
                [weights[k].grad for k in numbers],
                mine,
                None,
                None,
                weight_decay=0.0,
                momentum=momentum,
                lr=lr,
                dampening=0.0,
                nesterov=False,
                maximize=False,
                has_sparse_grad=False,
            )
        for k, buffer in zip(numbers, mine):
            buffers[k] = buffer
    return losses


# %% wrong refusal: looks at the first dimension -> rows-alone-overlap
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
    if 0 in t.stride() and len(t) > 1:
        return "overlap"
    return None


# %% wrong refusal: tries where a stride is 0 -> refusal-must-be-tried
def refusal(t):
    if torch.is_grad_enabled() and t.requires_grad:
        if t._base is not None and t._base.is_leaf:
            return "view of a leaf"
        if t.is_leaf:
            return "leaf"
    if 0 in t.stride():
        try:
            with torch.no_grad():
                t.add_(0)
        except RuntimeError:
            return "overlap"
    return None


# %% wrong must-stay: a list -> a-list-is-a-set
def must_stay(fn, *inputs):
    found = []
    for candidate in [*range(len(inputs)), "result"]:
        copies = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
        result = fn(*copies)
        if not result.requires_grad:
            return []
        with torch.no_grad():
            (result if candidate == "result" else copies[candidate]).add_(0)
        try:
            result.sum().backward()
        except RuntimeError:
            found.append(candidate)
    return found


# %% wrong must-stay: copies with the caller's gradients -> inputs-are-scratch-paper
def must_stay(fn, *inputs):
    def twin(t):
        made = t.detach().clone().requires_grad_(t.requires_grad)
        if t.is_leaf:
            made.grad = t.grad
        return made

    found = set()
    for candidate in [*range(len(inputs)), "result"]:
        copies = [twin(t) for t in inputs]
        result = fn(*copies)
        if not result.requires_grad:
            return set()
        with torch.no_grad():
            (result if candidate == "result" else copies[candidate]).add_(0)
        try:
            result.sum().backward()
        except RuntimeError:
            found.add(candidate)
    return found


# %% wrong silent-writes: under no_grad -> a-look-may-switch-grad-mode
@torch.no_grad()
def writes(fn, *tensors):
    before = [(t._version, t.clone()) for t in tensors]
    fn(*tensors)
    words = []
    for t, (version, old) in zip(tensors, before):
        if t._version != version:
            words.append("counted")
        elif t.shape != old.shape or not ((t == old) | (t.isnan() & old.isnan())).all():
            words.append("silent")
        else:
            words.append("untouched")
    return words


# %% wrong init: the weight's flag for both -> a-layer-is-frozen-as-a-whole
def init_(module):
    if isinstance(module, nn.Linear):
        needs = module.weight.requires_grad
        module.requires_grad_(False)
        module.weight.fill_(1 / module.in_features)
        if module.bias is not None:
            module.bias.zero_()
        module.requires_grad_(needs)


# %% wrong init: all layers below, for every parent -> apply-hands-over-the-net
@torch.no_grad()
def init_(module):
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            layer.weight.fill_(1 / layer.in_features)
            if layer.bias is not None:
                layer.bias.zero_()
