# Answers to lesson 05, as learners type them. See "How to add an exercise" in the README.

# %% right specimen: one branch for each kind
def specimen(kind, w):
    if kind == "weight":
        return torch.zeros(3, requires_grad=True)
    if kind == "intermediate":
        return w.exp()
    if kind == "computed leaf":
        with torch.no_grad():
            return 2 * w
    if kind == "same memory":
        return w.detach()
    if kind == "frozen":
        return torch.nn.Parameter(torch.ones(1), requires_grad=False)
    return None


# %% right specimen: a table
def specimen(kind, w):
    values = w.detach()
    return {
        "weight": values.clone().requires_grad_(),
        "intermediate": w + 0,
        "computed leaf": values + values,
        "same memory": w.data,
        "frozen": torch.nn.Parameter(values).requires_grad_(False),
    }.get(kind)


# %% wrong specimen: starts from detached values -> every-result-is-an-intermediate
def specimen(kind, w):
    values = w.detach()
    return {
        "weight": w,
        "intermediate": values * 3,
        "computed leaf": values * 2,
        "same memory": values,
        "frozen": torch.nn.Parameter(values, requires_grad=False),
    }.get(kind)


# %% wrong specimen: no result can be a leaf -> a-result-is-never-a-leaf
def specimen(kind, w):
    return {
        "weight": w,
        "intermediate": w * 3,
        "same memory": w.detach(),
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% wrong specimen: a product of a leaf is a leaf -> a-result-of-a-leaf-is-a-leaf
def specimen(kind, w):
    return {
        "weight": w,
        "intermediate": w * 3 + 1,
        "computed leaf": w * 2,
        "same memory": w.detach(),
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% wrong specimen: clones to detach -> detach-copies
def specimen(kind, w):
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": w.detach() * 2,
        "same memory": w.clone().detach(),
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% wrong specimen: clears the flag of w itself -> requires-grad-underscore-copies
def specimen(kind, w):
    if kind == "same memory":
        return w.requires_grad_(False)
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": w.detach() * 2,
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% wrong specimen: a Parameter of a constant -> parameter-takes-over-the-flag
def specimen(kind, w):
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": w.detach() * 2,
        "same memory": w.detach(),
        "frozen": torch.nn.Parameter(w.detach()),
    }.get(kind)


# %% wrong specimen: clears the flag of an intermediate -> any-flag-can-be-cleared
def specimen(kind, w):
    if kind == "silent":
        return (w * 3).requires_grad_(False)
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": w.detach() * 2,
        "same memory": w.detach(),
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% wrong specimen: a detached result remembers -> detach-keeps-the-history
def specimen(kind, w):
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": w.detach() * 2,
        "same memory": w.detach(),
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
        "leaf with history": (w * 3).detach(),
    }.get(kind)


# %% wrong specimen: integers that require grad -> integers-can-require-grad
def specimen(kind, w):
    if kind == "counting":
        return torch.tensor([1, 2], requires_grad=True)
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": w.detach() * 2,
        "same memory": w.detach(),
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% right leaves-behind: a list of nodes still to visit
def leaves_behind(result):
    if not result.requires_grad:
        return []
    if result.is_leaf:
        return [result]
    todo, seen, found = [result.grad_fn], set(), []
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        todo.extend(n for n, _ in node.next_functions)
    return found


# %% right leaves-behind: level by level, objects kept by identity
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    level, met, leaves = {result.grad_fn}, set(), {}
    while level:
        met |= level
        for node in level:
            leaf = getattr(node, "variable", None)
            if leaf is not None:
                leaves[id(leaf)] = leaf
        level = {n for node in level for n, _ in node.next_functions if n is not None} - met
    return list(leaves.values())


# %% right leaves-behind: a gradient edge starts at any tensor
def leaves_behind(result):
    if not result.requires_grad:
        return []
    waiting = [torch.autograd.graph.get_gradient_edge(result).node]
    met, leaves = set(waiting), []
    for node in waiting:
        if node.name().endswith("AccumulateGrad"):
            leaves.append(node.variable)
        for following, _ in node.next_functions:
            if following is not None and following not in met:
                met.add(following)
                waiting.append(following)
    return leaves


# %% wrong leaves-behind: forgets the None of plain inputs -> every-input-has-a-node
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    waiting, met, leaves = [result.grad_fn], set(), []
    while waiting:
        node = waiting.pop()
        if node in met:
            continue
        met.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        else:
            for following, _ in node.next_functions:
                following.name()
                waiting.append(following)
    return leaves


# %% wrong leaves-behind: first input only -> the-graph-is-a-chain
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    node = result.grad_fn
    while node is not None:
        if hasattr(node, "variable"):
            return [node.variable]
        node = next((n for n, _ in node.next_functions if n is not None), None)
    return []


# %% wrong leaves-behind: every path anew -> the-graph-is-a-tree
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    waiting, leaves = [result.grad_fn], []
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        waiting.extend(n for n, _ in node.next_functions if n is not None)
    return leaves


# %% wrong leaves-behind: visits once, by recursion -> graphs-are-shallow
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    met, leaves = set(), []

    def visit(node):
        if node is None or node in met:
            return
        met.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    visit(result.grad_fn)
    return leaves


# %% wrong leaves-behind: looks for the leaf with `in` -> equal-values-are-one-leaf
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    waiting, met, leaves = [result.grad_fn], set(), []
    while waiting:
        node = waiting.pop()
        if node in met:
            continue
        met.add(node)
        if hasattr(node, "variable") and node.variable not in leaves:
            leaves.append(node.variable)
        waiting.extend(n for n, _ in node.next_functions if n is not None)
    return leaves


# %% wrong leaves-behind: nothing behind a leaf -> a-leaf-is-behind-nothing
def leaves_behind(result):
    waiting, met, leaves = [result.grad_fn], set(), []
    while waiting:
        node = waiting.pop()
        if node is None or node in met:
            continue
        met.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        waiting.extend(n for n, _ in node.next_functions)
    return leaves


# %% wrong leaves-behind: runs backward and looks who got something -> leaves-need-a-backward
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    waiting, met, leaves = [result.grad_fn], set(), []
    while waiting:
        node = waiting.pop()
        if node is None or node in met:
            continue
        met.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        waiting.extend(n for n, _ in node.next_functions)
    result.sum().backward()
    return [leaf for leaf in leaves if leaf.grad is not None]


# %% right gradients-along: retain_grad on every value
def gradients_along(x, functions):
    value = x.detach().clone().requires_grad_()
    values = [value]
    for f in functions:
        value = f(value)
        value.retain_grad()
        values.append(value)
    value.sum().backward()
    return [v.grad for v in values]


# %% right gradients-along: autograd.grad for all values at once
def gradients_along(x, functions):
    values = [x.detach().requires_grad_()]
    for f in functions:
        values.append(f(values[-1]))
    return list(torch.autograd.grad(values[-1].sum(), values))


# %% right gradients-along: factor by factor, from the end
def gradients_along(x, functions):
    inputs = []
    value = x.detach()
    outputs = []
    for f in functions:
        value = value.detach().requires_grad_()
        inputs.append(value)
        value = f(value)
        outputs.append(value)
    grads = [torch.ones_like(value.detach())]
    for before, after in zip(reversed(inputs), reversed(outputs)):
        grads.insert(0, torch.autograd.grad(after, before, grads[0])[0])
    return grads


# %% wrong gradients-along: expects a .grad everywhere -> backward-fills-every-grad
def gradients_along(x, functions):
    values = [x.detach().requires_grad_()]
    for f in functions:
        values.append(f(values[-1]))
    values[-1].sum().backward()
    return [v.grad for v in values]


# %% wrong gradients-along: asks afterwards -> retain-grad-works-afterwards
def gradients_along(x, functions):
    values = [x.detach().requires_grad_()]
    for f in functions:
        values.append(f(values[-1]))
    values[-1].sum().backward()
    for v in values[1:]:
        v.retain_grad()
    return [v.grad for v in values]


# %% wrong gradients-along: sets the flag of the caller's x -> requires-grad-underscore-copies
def gradients_along(x, functions):
    values = [x.requires_grad_()]
    for f in functions:
        values.append(f(values[-1]))
    return list(torch.autograd.grad(values[-1].sum(), values))


# %% wrong gradients-along: backward from each value -> each-value-has-its-own-backward
def gradients_along(x, functions):
    values = [x.detach().requires_grad_()]
    for f in functions:
        values.append(f(values[-1]))
    for v in values:
        if not v.is_leaf:
            v.retain_grad()
    for v in values:
        v.sum().backward(retain_graph=True)
    return [v.grad for v in values]


# %% wrong gradients-along: the derivative of each function alone -> local-derivatives-are-gradients
def gradients_along(x, functions):
    value, grads = x.detach(), []
    for f in functions:
        leaf = value.detach().requires_grad_()
        value = f(leaf)
        grads.append(torch.autograd.grad(value.sum(), leaf)[0])
    return [*grads, torch.ones_like(value.detach())]


# %% wrong gradients-along: uses an x that requires grad as it is -> backward-replaces-grad
def gradients_along(x, functions):
    value = x if x.requires_grad else x.detach().requires_grad_()
    values = [value]
    for f in functions:
        value = f(value)
        value.retain_grad()
        values.append(value)
    value.sum().backward()
    return [v.grad for v in values]


# %% wrong gradients-along: clears x.grad and fills it -> grad-is-scratch-space
def gradients_along(x, functions):
    value = x if x.requires_grad else x.detach().requires_grad_()
    value.grad = None
    values = [value]
    for f in functions:
        value = f(value)
        value.retain_grad()
        values.append(value)
    value.sum().backward()
    return [v.grad for v in values]


# %% right full-gradient: squared errors over the count of all samples
def full_gradient(w, batches):
    n = sum(x.shape[0] for x, _ in batches)
    w.grad = None
    error = 0.0
    for x, y in batches:
        part = torch.sum((x @ w - y) ** 2) / n
        part.backward()
        error += part.item()
    return error


# %% right full-gradient: weighted means, gradients added by hand
def full_gradient(w, batches):
    count = sum(y.numel() for _, y in batches)
    total, grad = 0.0, torch.zeros_like(w)
    for x, y in batches:
        if y.numel() == 0:
            continue
        loss = torch.nn.functional.mse_loss(x @ w, y) * (y.numel() / count)
        grad += torch.autograd.grad(loss, w)[0]
        total += float(loss.detach())
    w.grad = grad
    return total


# %% right full-gradient: sums first, divides in the end
def full_gradient(w, batches):
    w.grad = torch.zeros_like(w)
    total, count = 0.0, 0
    for x, y in batches:
        loss = torch.nn.functional.mse_loss(x @ w, y, reduction="sum")
        loss.backward()
        total += loss.item()
        count += len(y)
    w.grad /= count
    return total / count


# %% wrong full-gradient: a mean of means -> a-mean-of-means-is-the-mean
def full_gradient(w, batches):
    w.grad = None
    total = 0.0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).mean() / len(batches)
        loss.backward()
        total += loss.item()
    return total


# %% wrong full-gradient: backward will average -> backward-averages
def full_gradient(w, batches):
    w.grad = None
    total = 0.0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).mean()
        loss.backward()
        total += loss.item()
    return total / len(batches)


# %% wrong full-gradient: does not clear the old gradient -> backward-replaces-grad
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    total = 0.0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).sum() / count
        loss.backward()
        total += loss.item()
    return total


# %% wrong full-gradient: clears before every backward -> grad-is-cleared-before-each-backward
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    total = 0.0
    for x, y in batches:
        w.grad = None
        loss = ((x @ w - y) ** 2).sum() / count
        loss.backward()
        total += loss.item()
    return total


# %% wrong full-gradient: one backward from the sum of all losses -> a-sum-of-losses-costs-nothing
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    w.grad = None
    total = sum(((x @ w - y) ** 2).sum() for x, y in batches) / count
    total.backward()
    return total.item()


# %% wrong full-gradient: zeroes a gradient that is not there -> grad-starts-at-zero
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    w.grad.zero_()
    total = 0.0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).sum() / count
        loss.backward()
        total += loss.item()
    return total


# %% wrong full-gradient: returns the total with its graph -> a-loss-is-a-number
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    w.grad = None
    total = 0.0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).sum() / count
        loss.backward()
        total += loss
    return total


# %% right score: detaches the weight in the expression
def score(x, w1, w2):
    return torch.relu(x @ w1) @ w2.detach()


# %% right score: by hand, clamped
def score(x, w1, w2):
    frozen = w2.detach()
    hidden = torch.matmul(x, w1).clamp(min=0)
    return torch.matmul(hidden, frozen)


# %% right score: the weights detached under another name, with addition in a Function of torch
def score(x, w1, w2):
    hidden = torch.nn.functional.relu(x @ w1)
    return torch.nn.functional.linear(hidden, w2.detach().t())


# %% wrong score: no_grad around the last layer -> no-grad-only-skips-the-weights
def score(x, w1, w2):
    hidden = torch.relu(x @ w1)
    with torch.no_grad():
        return hidden @ w2


# %% wrong score: detaches the hidden values -> detach-cuts-only-what-follows
def score(x, w1, w2):
    return torch.relu(x @ w1).detach() @ w2


# %% wrong score: clears the flag of the caller's tensor -> the-flag-is-local
def score(x, w1, w2):
    w2.requires_grad_(False)
    return torch.relu(x @ w1) @ w2


# %% wrong score: uses .data -> data-is-detach
def score(x, w1, w2):
    return torch.relu(x @ w1) @ w2.data


# %% wrong score: a clone is independent -> clone-cuts-the-graph
def score(x, w1, w2):
    return torch.relu(x @ w1) @ w2.clone()


# %% wrong score: cuts at the end -> no-grad-only-skips-the-weights
def score(x, w1, w2):
    return (torch.relu(x @ w1) @ w2).detach()


# %% wrong score: inference mode for the frozen layer -> no-grad-only-skips-the-weights
def score(x, w1, w2):
    hidden = torch.relu(x @ w1)
    with torch.inference_mode():
        out = hidden @ w2
    return out


# %% right snapshot: cut, copy, flag
def snapshot(t):
    return t.detach().clone().requires_grad_(t.requires_grad)


# %% right snapshot: copied where nothing is recorded
def snapshot(t):
    with torch.no_grad():
        copy = torch.empty_like(t)
        copy.copy_(t)
    copy.requires_grad = t.requires_grad
    return copy


# %% right snapshot: the other order
def snapshot(t):
    copy = t.clone().detach()
    if t.requires_grad:
        copy.requires_grad_()
    return copy


# %% wrong snapshot: a clone is independent -> clone-cuts-the-graph
def snapshot(t):
    return t.clone()


# %% wrong snapshot: detach is a copy -> detach-copies
def snapshot(t):
    return t.detach().requires_grad_(t.requires_grad)


# %% wrong snapshot: forgets the flag -> a-copy-keeps-the-flag
def snapshot(t):
    return t.detach().clone()


# %% right snapshot: torch.tensor, which warns, but copies
def snapshot(t):
    return torch.tensor(t, requires_grad=t.requires_grad)


# %% wrong snapshot: deepcopy -> deepcopy-copies-any-tensor
import copy


def snapshot(t):
    return copy.deepcopy(t)


# %% wrong snapshot: inference mode -> inference-mode-is-a-faster-no-grad
def snapshot(t):
    with torch.inference_mode():
        copied = t.clone()
        copied.requires_grad_(t.requires_grad)
    return copied


# %% wrong snapshot: every copy requires grad -> every-copy-can-require-grad
def snapshot(t):
    return t.detach().clone().requires_grad_()


# %% right modern: no_grad and autograd.grad
def mean_square(x, w):
    with torch.no_grad():
        return torch.exp(x @ w).pow(2).mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        value = torch.exp(leaf @ w.detach()).pow(2).mean()
        return torch.autograd.grad(value, leaf)[0]


# %% right modern: decorators and inference mode
@torch.inference_mode()
def mean_square(x, w):
    return float(torch.mm(x, w).exp().square().mean())


@torch.enable_grad()
def input_gradient(x, w):
    mine = x.detach().clone().requires_grad_()
    torch.mm(mine, w.detach()).exp().square().mean().backward()
    return mine.grad


# %% wrong modern: keeps volatile -> volatile-switches-recording-off
from torch.autograd import Variable


def mean_square(x, w):
    return torch.exp(torch.mm(Variable(x, volatile=True), w)).pow(2).mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(torch.exp(leaf @ w.detach()).pow(2).mean(), leaf)[0]


# %% wrong modern: keeps data[0] -> a-loss-has-an-element-zero
def mean_square(x, w):
    with torch.no_grad():
        return torch.exp(x @ w).pow(2).mean().data[0]


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(torch.exp(leaf @ w.detach()).pow(2).mean(), leaf)[0]


# %% wrong modern: data without the index -> data-is-a-number
def mean_square(x, w):
    with torch.no_grad():
        return torch.exp(x @ w).pow(2).mean().data


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(torch.exp(leaf @ w.detach()).pow(2).mean(), leaf)[0]


# %% wrong modern: detaches in the end -> detach-undoes-the-recording
def mean_square(x, w):
    return torch.exp(x @ w).pow(2).mean().detach().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(torch.exp(leaf @ w.detach()).pow(2).mean(), leaf)[0]


# %% wrong modern: sets the flag of the caller's x -> requires-grad-underscore-copies
def mean_square(x, w):
    with torch.no_grad():
        return torch.exp(x @ w).pow(2).mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        x.requires_grad_()
        return torch.autograd.grad(torch.exp(x @ w.detach()).pow(2).mean(), x)[0]


# %% wrong modern: backward through the weights -> backward-asks-one-leaf
def mean_square(x, w):
    with torch.no_grad():
        return torch.exp(x @ w).pow(2).mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        torch.exp(leaf @ w).pow(2).mean().backward()
        return leaf.grad


# %% wrong modern: forgets that the caller may have switched recording off -> recording-is-always-on
def mean_square(x, w):
    with torch.no_grad():
        return torch.exp(x @ w).pow(2).mean().item()


def input_gradient(x, w):
    leaf = x.detach().requires_grad_()
    return torch.autograd.grad(torch.exp(leaf @ w.detach()).pow(2).mean(), leaf)[0]


# %% wrong modern: an x that requires grad is used as it is -> backward-replaces-grad
def mean_square(x, w):
    with torch.no_grad():
        return torch.exp(x @ w).pow(2).mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x if x.requires_grad else x.detach().requires_grad_()
        torch.exp(leaf @ w.detach()).pow(2).mean().backward()
        return leaf.grad


# %% right loss-gradients: a pass for each loss, the last one frees
def loss_gradients(losses, params):
    rows = []
    for left, loss in zip(range(len(losses) - 1, -1, -1), losses):
        grads = torch.autograd.grad(
            loss,
            params,
            grad_outputs=torch.ones_like(loss),
            retain_graph=left > 0,
            materialize_grads=True,
        )
        rows.append(list(grads))
    return rows


# %% right loss-gradients: zeros put in by hand
def loss_gradients(losses, params):
    def row(loss, keep):
        found = torch.autograd.grad(loss.sum(), params, retain_graph=keep, allow_unused=True)
        return [torch.zeros_like(p) if g is None else g for g, p in zip(found, params)]

    rows = [row(loss, True) for loss in losses[:-1]]
    return rows + [row(losses[-1], False)]


# %% wrong loss-gradients: every pass on one graph -> a-graph-can-be-walked-twice
def loss_gradients(losses, params):
    return [
        list(torch.autograd.grad(loss.sum(), params, materialize_grads=True)) for loss in losses
    ]


# %% wrong loss-gradients: reads .grad after each backward -> each-backward-starts-from-zero
def loss_gradients(losses, params):
    rows = []
    for n, loss in enumerate(losses):
        loss.sum().backward(retain_graph=n < len(losses) - 1)
        rows.append([torch.zeros_like(p) if p.grad is None else p.grad for p in params])
    return rows


# %% wrong loss-gradients: clears .grad before each pass -> grad-is-scratch-space
def loss_gradients(losses, params):
    rows = []
    for n, loss in enumerate(losses):
        for p in params:
            p.grad = None
        loss.sum().backward(retain_graph=n < len(losses) - 1)
        rows.append([torch.zeros_like(p) if p.grad is None else p.grad for p in params])
    for p in params:
        p.grad = None
    return rows


# %% wrong loss-gradients: no word about unused parameters -> every-parameter-is-used
def loss_gradients(losses, params):
    last = len(losses) - 1
    return [
        list(torch.autograd.grad(loss.sum(), params, retain_graph=n < last))
        for n, loss in enumerate(losses)
    ]


# %% wrong loss-gradients: allow_unused and no zeros -> unused-means-zero
def loss_gradients(losses, params):
    last = len(losses) - 1
    return [
        list(torch.autograd.grad(loss.sum(), params, retain_graph=n < last, allow_unused=True))
        for n, loss in enumerate(losses)
    ]


# %% wrong loss-gradients: a loss of any shape -> backward-takes-any-shape
def loss_gradients(losses, params):
    last = len(losses) - 1
    return [
        list(torch.autograd.grad(loss, params, retain_graph=n < last, materialize_grads=True))
        for n, loss in enumerate(losses)
    ]


# %% wrong loss-gradients: retains always -> retain-graph-is-free
def loss_gradients(losses, params):
    return [
        list(torch.autograd.grad(loss.sum(), params, retain_graph=True, materialize_grads=True))
        for loss in losses
    ]


# %% wrong loss-gradients: create_graph to keep it -> create-graph-is-retain-graph
def loss_gradients(losses, params):
    return [
        list(torch.autograd.grad(loss.sum(), params, create_graph=True, materialize_grads=True))
        for loss in losses
    ]


# %% wrong loss-gradients: one pass from the sum -> one-backward-serves-all
def loss_gradients(losses, params):
    total = sum(loss.sum() for loss in losses)
    row = list(torch.autograd.grad(total, params, materialize_grads=True))
    return [row for _ in losses]


# %% right reversed-gradient: a hook on a view
def reversed_gradient(x, scale):
    y = x.view_as(x)
    if y.requires_grad:
        y.register_hook(lambda g: -scale * g)
    return y


# %% right reversed-gradient: a Function
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad.neg() * ctx.scale, None


def reversed_gradient(x, scale):
    return Reverse.apply(x, scale)


# %% right reversed-gradient: a hook on the node
def reversed_gradient(x, scale):
    y = x[...]
    if y.grad_fn is not None:
        y.grad_fn.register_prehook(lambda grads: tuple(-scale * g for g in grads))
    return y


# %% wrong reversed-gradient: a hook on x itself -> a-hook-sees-one-path
def reversed_gradient(x, scale):
    if x.requires_grad:
        x.register_hook(lambda g: -scale * g)
    return x.view_as(x)


# %% wrong reversed-gradient: writes into the gradient -> a-hook-may-write
def reversed_gradient(x, scale):
    y = x.view_as(x)
    if y.requires_grad:
        y.register_hook(lambda g: g.mul_(-scale))
    return y


# %% wrong reversed-gradient: returns nothing from the hook -> a-hook-changes-what-it-computes
def reversed_gradient(x, scale):
    y = x.view_as(x)

    def turn(g):
        g = -scale * g

    if y.requires_grad:
        y.register_hook(turn)
    return y


# %% wrong reversed-gradient: hooks whatever comes -> every-tensor-takes-a-hook
def reversed_gradient(x, scale):
    y = x.view_as(x)
    y.register_hook(lambda g: -scale * g)
    return y


# %% wrong reversed-gradient: changes the values -> the-gradient-follows-the-value
def reversed_gradient(x, scale):
    return -scale * x


# %% wrong reversed-gradient: a detached leaf -> detach-keeps-the-path
def reversed_gradient(x, scale):
    if not x.requires_grad:
        return x.detach()
    y = x.detach().requires_grad_()
    y.register_hook(lambda g: -scale * g)
    return y


# %% wrong reversed-gradient: a clone for the hook -> a-new-node-needs-new-memory
def reversed_gradient(x, scale):
    y = x.clone()
    if y.requires_grad:
        y.register_hook(lambda g: -scale * g)
    return y


# %% right specimen: asks the questions one at a time
def specimen(kind, w):
    with torch.no_grad():
        twice = w + w
    if kind == "computed leaf":
        return twice
    if kind == "same memory":
        return w.detach().view_as(w)
    if kind == "frozen":
        parameter = torch.nn.Parameter(twice)
        parameter.requires_grad = False
        return parameter
    if kind == "weight":
        return torch.nn.Parameter(twice)
    if kind == "intermediate":
        return w.clone()


# %% wrong specimen: the numbers of the example -> the-example-is-the-task
def specimen(kind, w):
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": torch.tensor([2.0, 4.0]),
        "same memory": w.detach(),
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% wrong specimen: same memory through a copy of NumPy -> detach-copies
def specimen(kind, w):
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": w.detach() * 2,
        "same memory": torch.tensor(w.detach().numpy()),
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% same specimen: every result of an operation on w is an intermediate
def specimen(kind, w):
    if kind == "weight":
        return w
    if kind == "intermediate":
        return w / 2
    if kind == "computed leaf":
        return w.detach() * 2
    if kind == "same memory":
        return w.detach()
    if kind == "frozen":
        return torch.nn.Parameter(w.detach(), requires_grad=False)
    return None


# %% same specimen: any operation makes an intermediate
def specimen(kind, w):
    if kind == "weight":
        return w
    if kind == "intermediate":
        return w + 2
    if kind == "computed leaf":
        return w.detach() * 2
    if kind == "same memory":
        return w.detach()
    if kind == "frozen":
        return torch.nn.Parameter(w.detach(), requires_grad=False)
    return None


# %% same specimen: any factor makes an intermediate
def specimen(kind, w):
    if kind == "weight":
        return w
    if kind == "intermediate":
        return w * 3
    if kind == "computed leaf":
        return w.detach() * 2
    if kind == "same memory":
        return w.detach()
    if kind == "frozen":
        return torch.nn.Parameter(w.detach(), requires_grad=False)
    return None


# %% same specimen: a factor of 1 makes an intermediate, too
def specimen(kind, w):
    if kind == "weight":
        return w
    if kind == "intermediate":
        return w * 1
    if kind == "computed leaf":
        return w.detach() * 2
    if kind == "same memory":
        return w.detach()
    if kind == "frozen":
        return torch.nn.Parameter(w.detach(), requires_grad=False)
    return None


# %% same specimen: a Parameter takes the memory of its tensor and never its history
def specimen(kind, w):
    if kind == "weight":
        return w
    if kind == "intermediate":
        return w * 2
    if kind == "computed leaf":
        return w.detach() * 2
    if kind == "same memory":
        return w.detach()
    if kind == "frozen":
        return torch.nn.Parameter(w, requires_grad=False)
    return None


# %% same specimen: a Parameter of a clone has no history either
def specimen(kind, w):
    if kind == "weight":
        return w
    if kind == "intermediate":
        return w * 2
    if kind == "computed leaf":
        return w.detach() * 2
    if kind == "same memory":
        return w.detach()
    if kind == "frozen":
        return torch.nn.Parameter(w.clone(), requires_grad=False)
    return None


# %% wrong leaves-behind: a leaf used twice in one node counts twice -> the-graph-is-a-tree
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    waiting, met, leaves = [result.grad_fn], set(), []
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            leaves.append(node.variable)
            continue
        if node in met:
            continue
        met.add(node)
        waiting.extend(n for n, _ in node.next_functions if n is not None)
    return leaves


# %% wrong leaves-behind: sums up a copy and looks who got a gradient -> leaves-need-a-backward
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    waiting, met, leaves = [result.grad_fn], set(), []
    while waiting:
        node = waiting.pop()
        if node is None or node in met:
            continue
        met.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        waiting.extend(n for n, _ in node.next_functions)
    grads = torch.autograd.grad(result.sum(), leaves, retain_graph=True, allow_unused=True)
    torch.autograd.backward(result.sum() * 0, retain_graph=True)
    return [leaf for leaf, grad in zip(leaves, grads) if grad is not None]


# %% same gradients-along: a clone of x is no leaf, and its gradient is the same
def gradients_along(x, functions):
    values = [x.clone().requires_grad_()]
    for function in functions:
        values.append(function(values[-1]))
    return list(torch.autograd.grad(values[-1].sum(), values))


# %% wrong gradients-along: the tuple of autograd.grad -> a-tuple-will-do-for-a-list
def gradients_along(x, functions):
    values = [x.detach().requires_grad_()]
    for function in functions:
        values.append(function(values[-1]))
    return torch.autograd.grad(values[-1].sum(), values)


# %% wrong gradients-along: a leaf that requires grad, through its own past -> grad-is-scratch-space
def gradients_along(x, functions):
    kept, x.grad = x.grad, None
    value = x if x.requires_grad else x.detach().requires_grad_()
    values = [value]
    for f in functions:
        value = f(value)
        value.retain_grad()
        values.append(value)
    value.sum().backward()
    found = [v.grad for v in values]
    x.grad = None
    return found


# %% wrong gradients-along: the values are detached on the way -> local-derivatives-are-gradients
def gradients_along(x, functions):
    grads, value = [], x.detach()
    for f in functions:
        value = value.detach().requires_grad_()
        after = f(value)
        after.sum().backward()
        grads.append(value.grad)
        value = after
    return [*grads, torch.ones_like(value.detach())]


# %% right full-gradient: in closed form, without a graph
def full_gradient(w, batches):
    with torch.no_grad():
        count = sum(len(y) for _, y in batches)
        gradient, total = torch.zeros_like(w), 0.0
        for x, y in batches:
            off = x @ w - y
            gradient += 2 * x.t() @ off / count
            total += float(off @ off) / count
    w.grad = gradient
    return total


# %% wrong full-gradient: all batches as one -> a-sum-of-losses-costs-nothing
def full_gradient(w, batches):
    x, y = torch.cat([x for x, _ in batches]), torch.cat([y for _, y in batches])
    w.grad = None
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    return loss.item()


# %% wrong full-gradient: a running total of losses, freed by backward but growing -> a-loss-is-a-number
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    w.grad = None
    total = 0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).sum() / count
        loss.backward()
        total = total + loss
    return total.item()


# %% wrong full-gradient: the losses in a list -> a-loss-is-a-number
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    w.grad = None
    losses = []
    for x, y in batches:
        losses.append(((x @ w - y) ** 2).sum() / count)
        losses[-1].backward()
    return sum(loss.item() for loss in losses)


# %% wrong full-gradient: a mean in each batch, weighted by the number of batches -> a-mean-of-means-is-the-mean
def full_gradient(w, batches):
    w.grad = None
    errors = []
    for x, y in batches:
        error = torch.nn.functional.mse_loss(x @ w, y)
        (error / len(batches)).backward()
        errors.append(error.item())
    return sum(errors) / len(errors)


# %% same full-gradient: item() before or after backward reads the same number
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    w.grad = None
    total = 0.0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).sum() / count
        total += loss.item()
        loss.backward()
    return total


# %% right score: with mm and the functional relu
def score(x, w1, w2):
    hidden = x.mm(w1)
    hidden = torch.nn.functional.relu(hidden)
    return hidden.mm(w2.detach())


# %% wrong score: w2 as numbers of its own -> detach-copies
def score(x, w1, w2):
    return torch.relu(x @ w1) @ torch.tensor(w2.tolist(), dtype=w2.dtype).view(w2.shape)


# %% wrong score: w2 times one, detached -> detach-copies
def score(x, w1, w2):
    return torch.relu(x @ w1) @ (w2 * 1).detach()


# %% wrong score: switches the flag off and on again -> the-flag-is-local
def score(x, w1, w2):
    flag = w2.requires_grad
    w2.requires_grad_(False)
    out = torch.relu(x @ w1) @ w2
    w2.requires_grad_(flag)
    return out


# %% wrong score: everything under no_grad -> no-grad-only-skips-the-weights
@torch.no_grad()
def score(x, w1, w2):
    return torch.relu(x @ w1) @ w2


# %% right snapshot: a new tensor, filled
def snapshot(t):
    with torch.no_grad():
        copied = torch.empty_like(t, requires_grad=False).copy_(t)
    copied.requires_grad = t.requires_grad
    return copied


# %% wrong snapshot: a deep copy of what was detached keeps rows that overlap -> deepcopy-copies-any-tensor
import copy


def snapshot(t):
    return copy.deepcopy(t.detach()).requires_grad_(t.requires_grad)


# %% wrong snapshot: contiguous() taken for a copy -> detach-copies
def snapshot(t):
    return t.detach().contiguous().requires_grad_(t.requires_grad)


# %% wrong snapshot: through NumPy, whose memory it shares -> detach-copies
def snapshot(t):
    return torch.from_numpy(t.detach().numpy()).requires_grad_(t.requires_grad)


# %% right modern: enable_grad around a leaf of one's own
def mean_square(x, w):
    x, w = x.detach(), w.detach()
    return (x @ w).exp().square().mean().item()


def input_gradient(x, w):
    mine = x.detach().clone()
    with torch.enable_grad():
        mine.requires_grad_(True)
        loss = torch.exp(mine @ w.detach()).pow(2).mean()
    (gradient,) = torch.autograd.grad(loss, [mine])
    return gradient


# %% same modern: a clone of x is no leaf, and its gradient is the same
def mean_square(x, w):
    """The mean of exp(x @ w) squared, as a Python number; nothing is recorded.

    mean_square(torch.zeros(2, 3), torch.ones(3, 1)) == 1.0
    """
    with torch.no_grad():
        return (x @ w).exp().square().mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.clone().requires_grad_()
        loss = (leaf @ w.detach()).exp().square().mean()
        return torch.autograd.grad(loss, leaf)[0]


# %% same modern: autograd.grad asks for the gradient of the leaf alone, whatever w is
def mean_square(x, w):
    with torch.no_grad():
        return (x @ w).exp().square().mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        loss = (leaf @ w).exp().square().mean()
        return torch.autograd.grad(loss, leaf)[0]


# %% same modern: a clone of w costs memory, and the text does not forbid it
def mean_square(x, w):
    with torch.no_grad():
        return (x @ w).exp().square().mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        loss = (leaf @ w.clone()).exp().square().mean()
        return torch.autograd.grad(loss, leaf)[0]


# %% same modern: of one gradient the first is the last
def mean_square(x, w):
    with torch.no_grad():
        return (x @ w).exp().square().mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        loss = (leaf @ w.detach()).exp().square().mean()
        return torch.autograd.grad(loss, leaf)[-1]


# %% right loss-gradients: backward into leaves of one's own is not needed, a tuple will do
def loss_gradients(losses, params):
    rows, left = [], len(losses)
    for loss in losses:
        left -= 1
        found = torch.autograd.grad(
            [loss], list(params), [torch.ones_like(loss)], retain_graph=left > 0, allow_unused=True
        )
        rows.append([p.detach() * 0 if g is None else g for g, p in zip(found, params)])
    return rows


# %% same loss-gradients: a row may be a tuple
def loss_gradients(losses, params):
    rows = []
    for number, loss in enumerate(losses, 1):
        more = number < len(losses)
        rows.append(
            torch.autograd.grad(loss.sum(), params, retain_graph=more, materialize_grads=True)
        )
    return rows


# %% wrong reversed-gradient: a hook on an intermediate x itself -> a-hook-sees-one-path
def reversed_gradient(x, scale):
    if x.requires_grad and not x.is_leaf:
        x.register_hook(lambda g: -scale * g)
        return x.view_as(x)
    y = x.view_as(x)
    if y.requires_grad:
        y.register_hook(lambda g: -scale * g)
    return y


# %% wrong reversed-gradient: an intermediate is cut off -> detach-keeps-the-path
def reversed_gradient(x, scale):
    if not x.is_leaf:
        return x.detach().requires_grad_()
    y = x.view_as(x)
    if y.requires_grad:
        y.register_hook(lambda g: -scale * g)
    return y


# %% wrong specimen: doubled through a list -> a-list-keeps-the-dtype
def specimen(kind, w):
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": torch.tensor([[2 * v for v in row] for row in w.tolist()])
        if w.dim() == 2
        else torch.tensor((w * 2).tolist()),
        "same memory": w.detach(),
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% wrong specimen: leaves recording switched off -> grad-mode-ends-with-the-function
def specimen(kind, w):
    if kind == "computed leaf":
        torch.set_grad_enabled(False)
        return w * 2
    torch.set_grad_enabled(True)
    return {
        "weight": w,
        "intermediate": w * 3,
        "same memory": w.detach(),
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% wrong specimen: a view where nothing is recorded -> a-view-drops-the-flag
def specimen(kind, w):
    with torch.no_grad():
        view = w.view_as(w)
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": w.detach() * 2,
        "same memory": view,
        "frozen": torch.nn.Parameter(w.detach(), requires_grad=False),
    }.get(kind)


# %% wrong specimen: frozen, but no Parameter -> parameter-takes-over-the-flag
def specimen(kind, w):
    return {
        "weight": w,
        "intermediate": w * 3,
        "computed leaf": w.detach() * 2,
        "same memory": w.detach(),
        "frozen": w.detach().clone().requires_grad_(False),
    }.get(kind)


# %% wrong leaves-behind: detached leaves, to be on the safe side -> a-detached-leaf-is-the-leaf
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    waiting, met, leaves = [result.grad_fn], set(), []
    while waiting:
        node = waiting.pop()
        if node in met:
            continue
        met.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable.detach())
        waiting.extend(n for n, _ in node.next_functions if n is not None)
    return leaves


# %% wrong leaves-behind: a hundred levels, and no more -> graphs-are-shallow
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    level, met, leaves = [result.grad_fn], set(), []
    for _ in range(100):
        ahead = []
        for node in level:
            if node in met:
                continue
            met.add(node)
            if hasattr(node, "variable"):
                leaves.append(node.variable)
            ahead += [n for n, _ in node.next_functions if n is not None]
        level = ahead
    return leaves


# %% right leaves-behind: breadth first, with a deque
from collections import deque


def leaves_behind(result):
    if not result.requires_grad:
        return []
    if result.grad_fn is None:
        return [result]
    line, known, leaves = deque([result.grad_fn]), {result.grad_fn}, []
    while line:
        node = line.popleft()
        if "AccumulateGrad" in type(node).__name__:
            leaves.append(node.variable)
        for edge in node.next_functions:
            if edge[0] is not None and edge[0] not in known:
                known.add(edge[0])
                line.append(edge[0])
    return leaves


# %% wrong gradients-along: everything in float32 -> float32-is-enough
def gradients_along(x, functions):
    values = [x.detach().float().requires_grad_()]
    for f in functions:
        values.append(f(values[-1]))
    return list(torch.autograd.grad(values[-1].sum(), values))


# %% wrong gradients-along: one pass for each value, on a chain of its own -> each-value-has-its-own-backward
def gradients_along(x, functions):
    found = []
    for start in range(len(functions) + 1):
        value = x.detach()
        for f in functions[:start]:
            value = f(value)
        leaf = value = value.detach().clone().requires_grad_()
        for f in functions[start:]:
            value = f(value)
        found.append(torch.autograd.grad(value.sum(), leaf)[0])
    return found


# %% wrong full-gradient: a step of descent as well -> a-gradient-is-a-step
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    w.grad = None
    total = 0.0
    for x, y in batches:
        loss = ((x @ w - y) ** 2).sum() / count
        loss.backward()
        total += loss.item()
    with torch.no_grad():
        w -= 0.1 * w.grad
    return total


# %% wrong full-gradient: each graph is kept by retain_graph -> a-sum-of-losses-costs-nothing
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    w.grad = None
    losses = []
    for x, y in batches:
        losses.append(((x @ w - y) ** 2).sum() / count)
        losses[-1].backward(retain_graph=True)
    return sum(loss.item() for loss in losses)


# %% wrong full-gradient: counts with recording off, for good -> grad-mode-ends-with-the-function
def full_gradient(w, batches):
    torch.set_grad_enabled(False)
    count = sum(len(y) for _, y in batches)
    w.grad = None
    total = 0.0
    for x, y in batches:
        with torch.enable_grad():
            loss = ((x @ w - y) ** 2).sum() / count
        loss.backward()
        total += loss.item()
    return total


# %% wrong score: a hook that makes the gradient zero -> zeros-are-no-gradient
def score(x, w1, w2):
    frozen = w2 * 1
    if frozen.requires_grad:
        frozen.register_hook(torch.zeros_like)
    return torch.relu(x @ w1) @ frozen


# %% wrong score: recording stays off -> grad-mode-ends-with-the-function
def score(x, w1, w2):
    hidden = torch.relu(x @ w1)
    torch.set_grad_enabled(False)
    return hidden @ w2


# %% wrong snapshot: through a list -> a-list-keeps-the-dtype
def snapshot(t):
    return torch.tensor(t.tolist()).requires_grad_(t.requires_grad)


# %% wrong snapshot: the flag of leaves alone -> only-leaves-require-grad
def snapshot(t):
    return t.detach().clone().requires_grad_(t.is_leaf and t.requires_grad)


# %% wrong snapshot: the flag depends on the block -> under-no-grad-nothing-requires-grad
def snapshot(t):
    return t.detach().clone().requires_grad_(t.requires_grad and torch.is_grad_enabled())


# %% wrong snapshot: switches recording off -> grad-mode-ends-with-the-function
def snapshot(t):
    torch.set_grad_enabled(False)
    copied = t.clone()
    copied.requires_grad = t.requires_grad
    return copied


# %% wrong modern: a gradient with a past -> create-graph-is-retain-graph
def mean_square(x, w):
    with torch.no_grad():
        return torch.exp(x @ w).pow(2).mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        value = torch.exp(leaf @ w.detach()).pow(2).mean()
        return torch.autograd.grad(value, leaf, create_graph=True)[0]


# %% wrong modern: clears and fills the caller's .grad -> grad-is-scratch-space
def mean_square(x, w):
    with torch.no_grad():
        return torch.exp(x @ w).pow(2).mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x if x.requires_grad and x.is_leaf else x.detach().requires_grad_()
        leaf.grad = None
        torch.exp(leaf @ w.detach()).pow(2).mean().backward()
        found, leaf.grad = leaf.grad, None
        return found


# %% wrong modern: switches recording off and on by hand -> grad-mode-ends-with-the-function
def mean_square(x, w):
    torch.set_grad_enabled(False)
    value = torch.exp(x @ w).pow(2).mean().item()
    torch.set_grad_enabled(True)
    return value


def input_gradient(x, w):
    torch.set_grad_enabled(True)
    leaf = x.detach().requires_grad_()
    return torch.autograd.grad(torch.exp(leaf @ w.detach()).pow(2).mean(), leaf)[0]


# %% wrong loss-gradients: only the first pass retains -> a-graph-can-be-walked-twice
def loss_gradients(losses, params):
    return [
        list(
            torch.autograd.grad(
                loss.sum(),
                params,
                retain_graph=len(losses) > 1 and n == 0,
                materialize_grads=True,
            )
        )
        for n, loss in enumerate(losses)
    ]


# %% wrong loss-gradients: a single zero for what is unused -> any-zero-will-do
def loss_gradients(losses, params):
    last, rows = len(losses) - 1, []
    for n, loss in enumerate(losses):
        found = torch.autograd.grad(loss.sum(), params, retain_graph=n < last, allow_unused=True)
        rows.append([torch.zeros(()) if g is None else g for g in found])
    return rows


# %% wrong loss-gradients: the mean of a loss -> a-loss-is-averaged
def loss_gradients(losses, params):
    last = len(losses) - 1
    return [
        list(
            torch.autograd.grad(loss.mean(), params, retain_graph=n < last, materialize_grads=True)
        )
        for n, loss in enumerate(losses)
    ]


# %% wrong reversed-gradient: flattens and shapes again -> every-layout-can-be-viewed
def reversed_gradient(x, scale):
    y = x.view(-1).view(x.shape)
    if y.requires_grad:
        y.register_hook(lambda g: -scale * g)
    return y


# %% right reversed-gradient: an alias, and the name of the hook's function
def reversed_gradient(x, scale):
    def turn(gradient):
        return gradient * -scale

    same = torch.ops.aten.alias(x)
    if same.requires_grad:
        same.register_hook(turn)
    return same


# %% right gradients-along: autograd.grad goes no further than it is asked, so x may stay as it is
def gradients_along(x, functions):
    values = [x if x.requires_grad else x.detach().requires_grad_()]
    for f in functions:
        values.append(f(values[-1]))
    return list(torch.autograd.grad(values[-1].sum(), values))


# %% right modern: in closed form
def mean_square(x, w):
    return float((2 * (x.detach() @ w.detach())).exp().mean())


def input_gradient(x, w):
    x, w = x.detach(), w.detach()
    product = x @ w
    return 2 * (2 * product).exp() @ w.t() / product.numel()


# %% right snapshot: a Parameter is a tensor that requires grad
def snapshot(t):
    copied = t.detach().clone()
    return torch.nn.Parameter(copied) if t.requires_grad else copied


# %% right loss-gradients: .grad is lent, and given back as it was
def loss_gradients(losses, params):
    lent, rows = [p.grad for p in params], []
    for number, loss in enumerate(losses, 1):
        for p in params:
            p.grad = None
        loss.sum().backward(retain_graph=number < len(losses), inputs=params)
        rows.append([torch.zeros_like(p.detach()) if p.grad is None else p.grad for p in params])
    for p, grad in zip(params, lent):
        p.grad = grad
    return rows


# %% wrong modern: detaches the weights and forgets the input -> detach-undoes-the-recording
def mean_square(x, w):
    return torch.exp(x @ w.detach()).pow(2).mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(torch.exp(leaf @ w.detach()).pow(2).mean(), leaf)[0]


# %% wrong modern: w made from x counts twice -> the-graph-begins-with-me
def mean_square(x, w):
    with torch.no_grad():
        return (x @ w).exp().square().mean().item()


def input_gradient(x, w):
    with torch.enable_grad():
        asked = x if x.requires_grad else x.detach().requires_grad_()
        loss = (asked @ w).exp().square().mean()
        return torch.autograd.grad(loss, asked, retain_graph=True)[0]


# %% wrong full-gradient: adds up losses of which each still has its graph -> a-sum-of-losses-costs-nothing
def full_gradient(w, batches):
    count = sum(len(y) for _, y in batches)
    w.grad = None
    losses = [((x @ w - y) ** 2).sum() / count for x, y in batches]
    for loss in losses:
        loss.backward()
    return sum(loss.item() for loss in losses)


# %% wrong leaves-behind: recursion with a higher limit -> graphs-are-shallow
def leaves_behind(result):
    import sys

    if not result.requires_grad:
        return []
    if result.grad_fn is None:
        return [result]
    met, found = set(), []

    def visit(node):
        if node is None or node in met:
            return
        met.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 9000))
    try:
        visit(result.grad_fn)
    finally:
        sys.setrecursionlimit(limit)
    return found


# %% wrong leaves-behind: every path, each leaf once -> the-graph-is-a-tree
def leaves_behind(result):
    if not result.requires_grad:
        return []
    if result.grad_fn is None:
        return [result]
    todo, found = [result.grad_fn], {}
    while todo:
        node = todo.pop()
        if hasattr(node, "variable"):
            found[id(node.variable)] = node.variable
        todo += [following for following, _ in node.next_functions if following is not None]
    return list(found.values())


# %% right score: relu by a comparison
def score(x, w1, w2):
    hidden = x @ w1
    return torch.where(hidden > 0, hidden, torch.zeros_like(hidden)) @ w2.detach()


# %% wrong score: makes w2 contiguous, which copies a transposed one -> detach-copies
def score(x, w1, w2):
    return torch.relu(x @ w1) @ w2.detach().contiguous()


# %% wrong snapshot: inference mode where no grad is asked for -> inference-mode-is-a-faster-no-grad
def snapshot(t):
    if t.requires_grad:
        return t.detach().clone().requires_grad_()
    with torch.inference_mode():
        return t.clone()


# %% wrong gradients-along: gradient runs on into x's past -> the-graph-begins-with-me
def gradients_along(x, functions):
    start = x if x.grad_fn is not None else x.detach().requires_grad_()
    values = [start]
    for function in functions:
        values.append(function(values[-1]))
    for value in values:
        value.retain_grad()
    values[-1].sum().backward(retain_graph=True)
    return [value.grad for value in values]


# %% right loss-gradients: tells the last pass by the tensor
def loss_gradients(losses, params):
    return [
        list(
            torch.autograd.grad(
                loss.sum(),
                params,
                retain_graph=loss is not losses[-1],
                materialize_grads=True,
            )
        )
        for loss in losses
    ]


# %% wrong loss-gradients: gives .grad back to the parameters alone -> backward-asks-one-leaf
def loss_gradients(losses, params):
    old = [p.grad for p in params]
    rows = []
    for number, loss in enumerate(losses, 1):
        for p in params:
            p.grad = None
        loss.sum().backward(retain_graph=number < len(losses))
        rows.append([torch.zeros_like(p) if p.grad is None else p.grad for p in params])
    for p, grad in zip(params, old):
        p.grad = grad
    return [[g.detach() for g in row] for row in rows]


# %% wrong reversed-gradient: no hook for a scale of 0 -> a-scale-of-zero-does-nothing
def reversed_gradient(x, scale):
    turned = x.view_as(x)
    if scale and turned.requires_grad:
        turned.register_hook(lambda gradient: -scale * gradient)
    return turned


# %% wrong reversed-gradient: hook works for one pass only -> a-hook-serves-one-pass
def reversed_gradient(x, scale):
    if not x.requires_grad:
        return x
    seen = x.view_as(x)

    def turn(g):
        handle.remove()
        return -scale * g

    handle = seen.register_hook(turn)
    return seen


# %% right score: multiplies with the mask of relu
def score(x, w1, w2):
    hidden = x @ w1
    return (hidden * (hidden > 0)) @ w2.detach()


# %% right specimen: match, and the shortest ways
def specimen(kind, w):
    match kind:
        case "weight":
            return torch.nn.Parameter(torch.zeros(1))
        case "intermediate":
            return w.sum()
        case "computed leaf":
            return (2 * w).detach()
        case "same memory":
            return w.data
        case "frozen":
            return torch.nn.Parameter(torch.ones(3)).requires_grad_(False)


# %% right leaves-behind: a generator over a stack, in a dict
def leaves_behind(result):
    def walk():
        if result.is_leaf:
            if result.requires_grad:
                yield result
            return
        stack, seen = [result.grad_fn], {}
        while stack:
            node = stack.pop()
            if node is None or node in seen:
                continue
            seen[node] = True
            if type(node).__name__ == "AccumulateGrad":
                yield node.variable
            stack.extend(one for one, _ in node.next_functions)

    return [*walk()]


# %% right full-gradient: gradients by torch.func
def full_gradient(w, batches):
    count = sum(y.shape[0] for _, y in batches)
    total, gradient = 0.0, torch.zeros_like(w)

    def error(weights, x, y):
        return (x @ weights - y).pow(2).sum() / count

    for x, y in batches:
        found, value = torch.func.grad_and_value(error)(w.detach(), x, y)
        total, gradient = total + value.item(), gradient + found
    w.grad = gradient.detach()
    return float(total)


# %% right score: where, and the weights of another Function
class Frozen(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, w2):
        ctx.save_for_backward(w2)
        return hidden @ w2

    @staticmethod
    def backward(ctx, grad):
        (w2,) = ctx.saved_tensors
        return grad @ w2.t(), None


def score(x, w1, w2):
    hidden = x.mm(w1)
    hidden = torch.where(hidden > 0, hidden, torch.zeros_like(hidden))
    return Frozen.apply(hidden, w2.detach())


# %% wrong snapshot: saved and loaded, which keeps rows that overlap -> deepcopy-copies-any-tensor
import io


def snapshot(t):
    file = io.BytesIO()
    torch.save(t.detach(), file)
    file.seek(0)
    return torch.load(file).requires_grad_(t.requires_grad)


# %% right gradients-along: torch.func.vjp, one function at a time
def gradients_along(x, functions):
    value, backs = x.detach(), []
    for function in functions:
        value, back = torch.func.vjp(function, value)
        backs.append(back)
    found = [torch.ones_like(value)]
    for back in reversed(backs):
        found.append(back(found[-1])[0])
    return found[::-1]


# %% right modern: inference_mode and torch.func.grad
def mean_square(x, w):
    with torch.inference_mode():
        return float(torch.exp(x @ w).pow(2).mean())


def input_gradient(x, w):
    def mean(x):
        return torch.exp(x @ w.detach()).pow(2).mean()

    return torch.func.grad(mean)(x.detach()).detach()


# %% right loss-gradients: all rows in one batched pass
def loss_gradients(losses, params):
    stacked = torch.stack([loss.sum() for loss in losses])
    ones = torch.eye(len(losses), dtype=stacked.dtype)
    found = torch.autograd.grad(stacked, params, ones, is_grads_batched=True, allow_unused=True)
    return [
        [torch.zeros_like(p) if g is None else g[k] for p, g in zip(params, found, strict=True)]
        for k in range(len(losses))
    ]


# %% right reversed-gradient: a Function with setup_context
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(x, scale):
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx, given, output):
        ctx.scale = given[1]

    @staticmethod
    def backward(ctx, grad):
        return grad.neg() * ctx.scale, None


def reversed_gradient(x, scale):
    return Reverse.apply(x, scale)


# %% wrong leaves-behind: tells leaves apart by their addresses -> one-memory-is-one-leaf
def leaves_behind(result):
    if result.grad_fn is None:
        return [result] if result.requires_grad else []
    found, met, todo = {}, {result.grad_fn}, [result.grad_fn]
    while todo:
        node = todo.pop()
        if hasattr(node, "variable"):
            found.setdefault(node.variable.data_ptr(), node.variable)
        for following, _ in node.next_functions:
            if following is not None and following not in met:
                met.add(following)
                todo.append(following)
    return list(found.values())


# %% wrong leaves-behind: a tuple -> a-tuple-will-do-for-a-list
def leaves_behind(result):
    if result.grad_fn is None:
        return (result,) if result.requires_grad else ()
    met, todo = set(), [result.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and node not in met:
            met.add(node)
            todo.extend(following for following, _ in node.next_functions)
    return tuple(node.variable for node in met if hasattr(node, "variable"))


# %% wrong full-gradient: multiplies the old gradient by 0 -> zero-times-an-old-gradient-is-zero
def full_gradient(w, batches):
    if w.grad is not None:
        w.grad *= 0
    count = sum(len(y) for _, y in batches)
    total = 0.0
    for x, y in batches:
        loss = (x @ w - y).square().sum() / count
        loss.backward()
        total += loss.item()
    return total


# %% wrong full-gradient: divides in a hook that stays -> a-hook-goes-by-itself
def full_gradient(w, batches):
    w.grad = None
    count = sum(len(y) for _, y in batches)
    w.register_hook(lambda g: g / count)
    total = 0.0
    for x, y in batches:
        loss = (x @ w - y).square().sum()
        loss.backward()
        total += loss.item()
    return total / count


# %% wrong loss-gradients: the rows in a tuple -> a-tuple-will-do-for-a-list
def loss_gradients(losses, params):
    return tuple(
        torch.autograd.grad(
            loss.sum(), params, retain_graph=number < len(losses), materialize_grads=True
        )
        for number, loss in enumerate(losses, 1)
    )
