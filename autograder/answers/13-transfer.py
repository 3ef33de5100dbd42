# Answers to lesson 13, as learners type them. See docs/authoring.md.

# %% right freeze: a method for each module
import types


def freeze(module):
    def train(self, mode=True):
        return self

    module.requires_grad_(False)
    module.zero_grad(set_to_none=True)
    for p in module.parameters():
        p.grad = None
    module.eval()
    for m in module.modules():
        m.train = types.MethodType(train, m)
    return module


# %% right freeze: a subclass for each module
def freeze(module):
    for m in module.modules():
        m.training = False

        def train(self, mode=True):
            return self

        m.__class__ = type(type(m).__name__, (type(m),), {"train": train})
    for p in module.parameters():
        p.requires_grad = False
        p.grad = None
    return module


# %% right freeze: asked to train, it goes into eval mode
def freeze(module):
    def resting(one):
        def train(mode=True):
            torch.nn.Module.train(one, False)
            return one

        return train

    for name, one in module.named_modules():
        one.train = resting(one)
        for p in one.parameters(recurse=False):
            p.requires_grad_(False).grad = None
    return module.train()


# %% wrong freeze: flags only -> flags-freeze-everything
def freeze(module):
    for p in module.parameters():
        p.requires_grad = False
        p.grad = None
    return module


# %% wrong freeze: eval once -> eval-mode-stays
def freeze(module):
    module.requires_grad_(False)
    for p in module.parameters():
        p.grad = None
    return module.eval()


# %% wrong freeze: guards the outermost -> one-train-guards-all
def freeze(module):
    module.eval().requires_grad_(False)
    for p in module.parameters():
        p.grad = None
    module.train = lambda mode=True: module
    return module


# %% wrong freeze: one flag -> the-outer-flag-is-the-mode
def freeze(module):
    module.training = False
    module.requires_grad_(False)
    for p in module.parameters():
        p.grad = None
    module.train = lambda mode=True: module
    return module


# %% wrong freeze: weight and bias of the layers -> a-body-is-its-layers
def freeze(module):
    module.eval()
    for layer in module.children():
        for name in ("weight", "bias"):
            p = getattr(layer, name, None)
            if p is not None:
                p.requires_grad_(False)
                p.grad = None
    for m in module.modules():
        m.train = lambda mode=True, m=m: m
    return module


# %% wrong freeze: only batch norms rest -> only-norms-have-a-mode
def freeze(module):
    module.requires_grad_(False)
    for p in module.parameters():
        p.grad = None
    for m in module.modules():
        if isinstance(m, torch.nn.BatchNorm1d):
            m.eval()
            m.train = lambda mode=True, m=m: m
    return module


# %% wrong freeze: leftover gradients -> a-flag-clears-the-gradient
def freeze(module):
    module.eval().requires_grad_(False)
    for m in module.modules():
        m.train = lambda mode=True, m=m: m
    return module


# %% wrong freeze: a zero instead of None -> a-flag-clears-the-gradient
def freeze(module):
    module.eval().requires_grad_(False)
    module.zero_grad(set_to_none=False)
    for m in module.modules():
        m.train = lambda mode=True, m=m: m
    return module


# %% wrong freeze: train returns None -> train-returns-nothing
def freeze(module):
    module.eval().requires_grad_(False)
    for p in module.parameters():
        p.grad = None
    for m in module.modules():
        m.train = lambda mode=True: None
    return module


# %% wrong freeze: every train returns the outermost -> train-returns-nothing
def freeze(module):
    module.eval().requires_grad_(False)
    for p in module.parameters():
        p.grad = None
    for m in module.modules():
        m.train = lambda mode=True: module
    return module


# %% wrong freeze: a frozen copy -> freezing-makes-a-copy
import copy


def freeze(module):
    module = copy.deepcopy(module).eval().requires_grad_(False)
    for p in module.parameters():
        p.grad = None
    for m in module.modules():
        m.train = lambda mode=True, m=m: m
    return module


# %% wrong freeze: forward under no_grad -> a-frozen-part-needs-no-gradient
def freeze(module):
    module.eval().requires_grad_(False)
    for p in module.parameters():
        p.grad = None
    for m in module.modules():
        m.train = lambda mode=True, m=m: m
        m.forward = torch.no_grad()(m.forward)
    return module


# %% wrong freeze: batch norm with momentum 0 -> flags-freeze-everything
def freeze(module):
    module.requires_grad_(False)
    for p in module.parameters():
        p.grad = None
    for m in module.modules():
        if hasattr(m, "momentum"):
            m.momentum = 0.0
    return module


# %% wrong freeze: gradients of open ones only -> a-flag-clears-the-gradient
def freeze(module):
    for p in module.parameters():
        if p.requires_grad:
            p.requires_grad_(False)
            p.grad = None
    module.eval()
    for part in module.modules():
        part.train = lambda mode=True, part=part: part
    return module


# %% wrong freeze: norms left open -> norms-stay-open
def freeze(module):
    module.eval()
    for part in module.modules():
        part.train = lambda mode=True, part=part: part
        for parameter in part.parameters(recurse=False):
            if not isinstance(part, (torch.nn.LayerNorm, torch.nn.GroupNorm)):
                parameter.requires_grad_(False)
            parameter.grad = None
    return module


# %% right load-what-fits: copied by hand
def load_what_fits(model, state):
    told = {"loaded": [], "missing": [], "unexpected": [], "mismatched": []}
    own = model.state_dict()
    with torch.no_grad():
        for name, mine in own.items():
            if name not in state:
                told["missing"].append(name)
            elif state[name].shape != mine.shape:
                told["mismatched"].append(name)
            else:
                mine.copy_(state[name])
                told["loaded"].append(name)
    told["unexpected"] += [name for name in state if name not in own]
    return told


# %% wrong load-what-fits: torch's missing keys -> missing-is-what-wasnt-loaded
def load_what_fits(model, state):
    own = model.state_dict()
    shared = [name for name in own if name in state]
    loaded = [name for name in shared if own[name].shape == state[name].shape]
    with torch.no_grad():
        for name in loaded:
            own[name].copy_(state[name])
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in loaded],
        "unexpected": [name for name in state if name not in own],
        "mismatched": [name for name in shared if name not in loaded],
    }


# %% wrong load-what-fits: the torch report put right -> torch-reports-what-is-missing
def load_what_fits(model, state):
    shapes = {k: v.shape for k, v in model.state_dict().items()}
    bad = [k for k in shapes if k in state and state[k].shape != shapes[k]]
    rest = {k: v for k, v in state.items() if k not in bad}
    told = model.load_state_dict(rest, strict=False)
    return {
        "loaded": [k for k in shapes if k in rest],
        "missing": [k for k in told.missing_keys if k not in bad],
        "unexpected": list(told.unexpected_keys),
        "mismatched": bad,
    }


# %% right load-what-fits: the whole dict updated
def load_what_fits(model, state):
    full = dict(model.state_dict())
    report = {key: [] for key in ("loaded", "missing", "unexpected", "mismatched")}
    for name in state:
        if name not in full:
            report["unexpected"].append(name)
    for name in list(full):
        kind = "missing"
        if name in state:
            fits = tuple(full[name].shape) == tuple(state[name].shape)
            kind = "loaded" if fits else "mismatched"
            if fits:
                full[name] = state[name].clone()
        report[kind].append(name)
    model.load_state_dict(full)
    return report


# %% wrong load-what-fits: as many numbers -> as-many-numbers-are-the-same-shape
def load_what_fits(model, state):
    own = model.state_dict()
    shared = [name for name in own if name in state]
    loaded = [name for name in shared if own[name].numel() == state[name].numel()]
    with torch.no_grad():
        for name in loaded:
            own[name].copy_(state[name].reshape(own[name].shape))
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in own],
        "mismatched": [name for name in shared if name not in loaded],
    }


# %% wrong load-what-fits: dtypes compared, too -> another-dtype-is-a-mismatch
def load_what_fits(model, state):
    own = model.state_dict()
    shared = [name for name in own if name in state]
    loaded = [
        name
        for name in shared
        if own[name].shape == state[name].shape and own[name].dtype == state[name].dtype
    ]
    with torch.no_grad():
        for name in loaded:
            own[name].copy_(state[name])
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in own],
        "mismatched": [name for name in shared if name not in loaded],
    }


# %% wrong load-what-fits: all buffers -> a-state-dict-is-all-buffers
def load_what_fits(model, state):
    own = dict(model.named_parameters())
    own.update(model.named_buffers())
    shared = [name for name in own if name in state]
    loaded = [name for name in shared if own[name].shape == state[name].shape]
    with torch.no_grad():
        for name in loaded:
            own[name].copy_(state[name])
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in own],
        "mismatched": [name for name in shared if name not in loaded],
    }


# %% wrong load-what-fits: parameters only -> buffers-dont-count
def load_what_fits(model, state):
    own = dict(model.named_parameters())
    shared = [name for name in own if name in state]
    loaded = [name for name in shared if own[name].shape == state[name].shape]
    with torch.no_grad():
        for name in loaded:
            own[name].copy_(state[name])
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in own],
        "mismatched": [name for name in shared if name not in loaded],
    }


# %% wrong load-what-fits: told, not done -> a-report-is-enough
def load_what_fits(model, state):
    own = model.state_dict()
    shared = [name for name in own if name in state]
    loaded = [name for name in shared if own[name].shape == state[name].shape]
    with torch.no_grad():
        for name in loaded:
            own[name] = state[name]
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in own],
        "mismatched": [name for name in shared if name not in loaded],
    }


# %% wrong load-what-fits: assigned -> loading-replaces-the-tensors
def load_what_fits(model, state):
    own = model.state_dict()
    shared = [name for name in own if name in state]
    loaded = [name for name in shared if own[name].shape == state[name].shape]
    fits = {name: state[name] for name in loaded}
    model.load_state_dict(fits, strict=False, assign=True)
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in own],
        "mismatched": [name for name in shared if name not in loaded],
    }


# %% wrong load-what-fits: what was left over is unexpected -> what-doesnt-fit-is-unexpected
def load_what_fits(model, state):
    own = model.state_dict()
    shared = [name for name in own if name in state]
    loaded = [name for name in shared if own[name].shape == state[name].shape]
    with torch.no_grad():
        for name in loaded:
            own[name].copy_(state[name])
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in loaded],
        "mismatched": [name for name in shared if name not in loaded],
    }


# %% wrong load-what-fits: mismatches are missing -> a-mismatch-is-missing
def load_what_fits(model, state):
    own = model.state_dict()
    shared = [name for name in own if name in state]
    loaded = [name for name in shared if own[name].shape == state[name].shape]
    with torch.no_grad():
        for name in loaded:
            own[name].copy_(state[name])
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in loaded],
        "unexpected": [name for name in state if name not in own],
        "mismatched": [],
    }


# %% wrong load-what-fits: popped -> what-was-loaded-is-gone
def load_what_fits(model, state):
    own = model.state_dict()
    shared = [name for name in own if name in state]
    loaded = [name for name in shared if own[name].shape == state[name].shape]
    with torch.no_grad():
        for name in loaded:
            own[name].copy_(state.pop(name))
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in shared],
        "unexpected": [name for name in state if name not in own],
        "mismatched": [name for name in shared if name not in loaded],
    }


# %% right load-what-fits: pairs of names and kinds
def load_what_fits(model, state):
    own = model.state_dict()
    kinds = {name: "missing" for name in own}
    for name, tensor in state.items():
        if name in own:
            same = len(own[name].shape) == len(tensor.shape)
            same = same and all(a == b for a, b in zip(own[name].shape, tensor.shape))
            kinds[name] = "loaded" if same else "mismatched"
        else:
            kinds[name] = "unexpected"
    fits = {name: state[name] for name in kinds if kinds[name] == "loaded"}
    assert not model.load_state_dict(fits, strict=False).unexpected_keys
    lists = ("loaded", "missing", "unexpected", "mismatched")
    return {kind: [name for name in kinds if kinds[name] == kind] for kind in lists}


# %% wrong load-what-fits: each one tried -> torch-compares-the-shapes
def load_what_fits(model, state):
    own = model.state_dict()
    loaded, mismatched = [], []
    for name in own:
        if name in state:
            try:
                model.load_state_dict({name: state[name]}, strict=False)
                loaded.append(name)
            except RuntimeError:
                mismatched.append(name)
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in own],
        "mismatched": mismatched,
    }


# %% wrong load-what-fits: copied where copy_ can -> a-shape-that-stretches-fits
def load_what_fits(model, state):
    own = model.state_dict()
    loaded, mismatched = [], []
    for name in own:
        if name in state:
            try:
                own[name].copy_(state[name])
                loaded.append(name)
            except RuntimeError:
                mismatched.append(name)
    return {
        "loaded": loaded,
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in own],
        "mismatched": mismatched,
    }


# %% right what-moved: loops and names
def what_moved(model, optimizer, step):
    before = {}
    for name, p in model.named_parameters():
        before[name] = p.detach().clone()
    for name, b in model.named_buffers():
        before[name] = b.clone()
    step()
    facts = {}
    for find in (model.named_buffers, model.named_parameters):
        for name, now in find():
            old = before[name]
            now_values = now.detach()
            same = now_values.eq(old)
            rate = None
            for group in optimizer.param_groups:
                if any(now is p for p in group["params"]):
                    rate = group["lr"]
            facts[name] = {
                "moved": not same.all().item(),
                "gradient": now.grad is not None,
                "rate": rate,
            }
    return facts


# %% right what-moved: a deep copy
import copy


def what_moved(model, optimizer, step):
    def tensors(one):
        return [*one.named_parameters(), *one.named_buffers()]

    old = [value for _, value in tensors(copy.deepcopy(model))]
    step()
    groups = {p: group for group in optimizer.param_groups for p in group["params"]}
    return {
        name: dict(
            moved=not torch.allclose(value, was, rtol=0, atol=0),
            gradient=value.grad is not None,
            rate=groups[value]["lr"] if value in groups else None,
        )
        for (name, value), was in zip(tensors(model), old)
    }


# %% right what-moved: numbers of Python
def what_moved(model, optimizer, step):
    def snapshot():
        pairs = list(model.named_parameters()) + list(model.named_buffers())
        return {name: (one, str(one.detach().double().flatten().tolist())) for name, one in pairs}

    first = snapshot()
    step()
    found = {}
    for name, (one, numbers) in snapshot().items():
        rates = [g["lr"] for g in optimizer.param_groups if id(one) in map(id, g["params"])]
        found[name] = {"rate": rates[0] if rates else None, "gradient": one.grad is not None}
        found[name]["moved"] = numbers != first[name][1]
    return found


# %% wrong what-moved: asked with in -> in-asks-who-it-is
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    told = {}
    for name, one in tensors.items():
        rate = None
        for group in optimizer.param_groups:
            if one in group["params"]:
                rate = group["lr"]
        told[name] = {
            "moved": not torch.equal(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rate,
        }
    return told


# %% wrong what-moved: parameters alone -> only-parameters-move
def what_moved(model, optimizer, step):
    tensors = dict(model.named_parameters())
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": not torch.equal(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: what a file would hold -> every-tensor-is-saved
def what_moved(model, optimizer, step):
    tensors = model.state_dict(keep_vars=True)
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": not torch.equal(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: sums -> a-sum-tells
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": bool((one.sum() != before[name].sum()).item()),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: allclose -> a-small-move-is-none
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": not torch.allclose(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: all elements -> all-or-nothing
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": bool((one != before[name]).all()),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: no clone -> a-name-keeps-the-old-values
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": not torch.equal(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: two steps -> twice-shows-more
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": not torch.equal(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: first rate -> all-groups-have-the-first-rate
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {
        id(p): optimizer.param_groups[0]["lr"]
        for group in optimizer.param_groups
        for p in group["params"]
    }
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": not torch.equal(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: a gradient that isn't 0 -> a-gradient-of-zero-is-none
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": not torch.equal(one, before[name]),
            "gradient": one.grad is not None and bool((one.grad != 0).any()),
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: a gradient that counts -> frozen-means-no-gradient
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": not torch.equal(one, before[name]),
            "gradient": one.requires_grad and one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: moved by gradient -> a-gradient-is-a-move
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": one.grad is not None
            if id(one) in rates
            else not torch.equal(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: frozen stays -> frozen-means-it-stays
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": (one.requires_grad or name in dict(model.named_buffers()))
            and not torch.equal(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
    return told


# %% wrong what-moved: 0 for no group -> no-group-is-a-rate-of-0
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.detach().clone() for name, one in tensors.items()}
    step()
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    told = {}
    for name, one in tensors.items():
        told[name] = {
            "moved": not torch.equal(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one), 0.0),
        }
    return told


# %% wrong what-moved: the rate or None -> a-rate-of-0-is-none
def what_moved(model, optimizer, step):
    tensors = dict(model.named_parameters()) | dict(model.named_buffers())
    before = {n: t.detach().clone() for n, t in tensors.items()}
    step()

    def rate(t):
        for group in optimizer.param_groups:
            if any(t is p for p in group["params"]):
                return group["lr"] or None
        return None

    return {
        n: {
            "moved": bool((before[n] != t).any()),
            "gradient": t.grad is not None,
            "rate": rate(t),
        }
        for n, t in tensors.items()
    }


# %% right features-once: modes by name
def features_once(body, batches):
    training = {name for name, one in body.named_modules() if one.training}
    outs = []
    try:
        body.train(False)
        for x, y in batches:
            with torch.no_grad():
                outs.append((body(x).detach(), y))
    finally:
        for name, one in body.named_modules():
            one.training = name in training
    if len(outs) == 0:
        raise ValueError
    return torch.cat([one for one, _ in outs]), torch.cat([y for _, y in outs])


# %% right features-once: a context manager
from contextlib import contextmanager


@contextmanager
def resting(model):
    modes = [m.training for m in model.modules()]
    try:
        yield model.eval()
    finally:
        for m, mode in zip(model.modules(), modes):
            m.training = mode


@torch.no_grad()
def features_once(body, batches):
    with resting(body):
        pairs = [[body(x), y] for x, y in batches]
    if not pairs:
        raise ValueError("nothing to join")
    features, targets = zip(*pairs)
    return torch.concat(features, dim=0), torch.concat(targets, dim=0)


# %% right features-once: grown row by row
def features_once(body, batches):
    before = torch.is_grad_enabled()
    modes = {m: m.training for m in body.modules()}
    all_features = all_targets = None
    torch.set_grad_enabled(False)
    try:
        for m in modes:
            m.training = False
        for x, y in batches:
            out = body(x)
            if all_features is None:
                all_features, all_targets = out.clone(), y.clone()
            else:
                all_features = torch.cat((all_features, out))
                all_targets = torch.cat((all_targets, y))
    finally:
        torch.set_grad_enabled(before)
        for m, mode in modes.items():
            m.training = mode
    if all_features is None:
        raise ValueError("no batches")
    return all_features, all_targets


# %% wrong features-once: a graph for each batch -> features-need-no-switch
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.enable_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: detached at the end -> features-are-detached-afterwards
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.enable_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features).detach(), torch.cat(targets)


# %% wrong features-once: no eval -> no-grad-rests-the-norms
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    features, targets = [], []
    try:
        with torch.no_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% right features-once: inference mode inside, joined outside
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.inference_mode():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: inference mode -> inference-tensors-can-be-learnt-from
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.inference_mode():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    with torch.inference_mode():
        return torch.cat(features), torch.cat(targets)


# %% wrong features-once: one flag for all -> the-body-has-one-mode
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.no_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        body.train(modes[0][1])
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: one flag set -> the-flag-of-the-outermost-will-do
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.training = False
    features, targets = [], []
    try:
        with torch.no_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: counted first -> batches-can-be-gone-through-twice
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    if not sum(1 for _ in batches):
        raise ValueError
    try:
        with torch.no_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: all at once -> all-at-once-is-the-same
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.no_grad():
            pairs = list(batches)
            if pairs:
                features.append(body(torch.cat([x for x, _ in pairs])))
                targets.append(torch.cat([y for _, y in pairs]))
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: flattened -> features-are-rows
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.no_grad():
            for x, y in batches:
                features.append(body(x).flatten(1))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: trains afterwards -> afterwards-comes-training
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.no_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        body.train()
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: stays in eval -> a-body-stays-in-eval-mode
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.no_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        pass
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: frozen as well -> freezing-is-part-of-it
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval().requires_grad_(False)
    features, targets = [], []
    try:
        with torch.no_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: only full ones -> only-full-batches-count
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.no_grad():
            for x, y in batches:
                if features and len(x) != len(targets[0]):
                    continue
                features.append(body(x))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% wrong features-once: turned around -> the-order-doesnt-matter
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.no_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y)
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    pairs = sorted(zip(features, targets), key=lambda pair: -len(pair[0]))
    return torch.cat([one for one, _ in pairs]), torch.cat([one for _, one in pairs])


# %% wrong features-once: targets as int64 -> targets-are-class-numbers
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    body.eval()
    features, targets = [], []
    try:
        with torch.no_grad():
            for x, y in batches:
                features.append(body(x))
                targets.append(y.long())
    finally:
        for module, training in modes:
            module.training = training
    if not features:
        raise ValueError("there are no batches")
    return torch.cat(features), torch.cat(targets)


# %% right features-once: joined as they come
def features_once(body, batches):
    modes = [(part, part.training) for part in body.modules()]
    body.eval()
    features = targets = None
    try:
        with torch.no_grad():
            for x, y in batches:
                out = body(x)
                features = out if features is None else torch.cat([features, out])
                targets = y if targets is None else torch.cat([targets, y])
    finally:
        for part, mode in modes:
            part.training = mode
    if features is None:
        raise ValueError("no batches")
    return features, targets


# %% wrong features-once: the body and its children -> children-are-all-of-it
def features_once(body, batches):
    modes = [(part, part.training) for part in (body, *body.children())]
    told, said = [], []
    body.eval()
    try:
        with torch.no_grad():
            for x, y in batches:
                told.append(body(x))
                said.append(y)
    finally:
        for part, mode in modes:
            part.train(mode)
    if not told:
        raise ValueError("no batches")
    return torch.cat(told), torch.cat(said)


# %% right rename-keys: a function for one name
def rename_keys(state, rules):
    def target(name):
        for old, new in rules:
            if old == "" or name == old or name.startswith(f"{old}."):
                rest = name if old == "" else name[len(old) + 1 :]
                return new + ("." if new and rest else "") + rest
        return name

    pairs = [(target(name), tensor) for name, tensor in state.items()]
    pairs = [pair for pair in pairs if pair[0] is not None]
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(name)
    return dict(pairs)


# %% right rename-keys: regular expressions
import re
from collections import OrderedDict


def rename_keys(state, rules):
    out = OrderedDict()
    for name in state:
        now = name
        for old, new in rules:
            pattern = re.escape(old) + r"(\.|$)" if old else ""
            found = re.match(pattern, name)
            if found:
                if new is None:
                    now = None
                else:
                    now = f"{new}.{name[found.end() :]}".strip(".")
                break
        if now is not None:
            if now in out:
                raise ValueError("taken twice: " + now)
            out[now] = state[name]
    return out


# %% right rename-keys: tuples of parts
def rename_keys(state, rules):
    def split(text):
        return tuple(filter(None, text.split(".")))

    rules = [(split(old), None if new is None else split(new)) for old, new in rules]
    made, seen = {}, set()
    for name in list(state):
        parts = split(name)
        for old, new in rules:
            if parts[0 : len(old)] == old:
                parts = None if new is None else new + parts[len(old) :]
                break
        if parts is None:
            continue
        if parts in seen:
            raise ValueError(f"{name} becomes {'.'.join(parts)}, which is taken")
        seen.add(parts)
        made[".".join(parts)] = state[name]
    return made


# %% wrong rename-keys: startswith -> a-prefix-is-a-beginning-of-the-text
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or name.startswith(old):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: one after the other -> rules-follow-one-another
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if (
                not old
                and target is not None
                or target is not None
                and (target + ".").startswith(old + ".")
            ):
                if new is None:
                    target = None
                else:
                    rest = target[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: longest first -> the-longest-rule-goes-first
def rename_keys(state, rules):
    renamed = {}
    rules = sorted(rules, key=lambda rule: -len(rule[0]))
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: last first -> the-last-rule-goes-first
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in reversed(rules):
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: below a layer -> only-whole-layers-are-renamed
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or name.startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: replaced everywhere -> replace-changes-the-beginning
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    target = name.replace(old, new) if old else f"{new}.{name}"
                    target = ".".join(part for part in target.split(".") if part)
                break
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: anywhere -> a-rule-fits-anywhere
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or f".{old}." in f".{name}.":
                if new is None:
                    target = None
                else:
                    at = f".{name}.".index(f".{old}.") if old else 0
                    parts = name[: max(at - 1, 0)], new, name[at + len(old) :].lstrip(".")
                    target = ".".join(part for part in parts if part)
                break
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: a dot is left -> nothing-leaves-a-dot-behind
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = f"{new}.{rest}" if rest else new
                break
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: drops the others -> what-no-rule-names-is-dropped
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = None
        for old, new in rules:
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: overwritten -> a-dict-has-room-for-both
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: the first is kept -> the-first-entry-wins
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        if target in renamed:
            continue
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: not the old names either -> a-name-belongs-to-whoever-had-it
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        if target in renamed or (target != name and target in state):
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: clones -> new-names-need-new-tensors
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor.clone()
    return renamed


# %% wrong rename-keys: the state itself -> a-state-can-be-renamed-in-place
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        if target in renamed:
            raise ValueError(f"two entries would be called {target}")
        renamed[target] = tensor
    state.clear()
    state.update(renamed)
    return state


# %% wrong rename-keys: another error -> a-dict-has-room-for-both
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        target = name
        for old, new in rules:
            if not old or (name + ".").startswith(old + "."):
                if new is None:
                    target = None
                else:
                    rest = name[len(old) :].lstrip(".")
                    target = ".".join(part for part in (new, rest) if part)
                break
        if target is None:
            continue
        if target in renamed:
            raise KeyError(f"two entries would be called {target}")
        renamed[target] = tensor
    return renamed


# %% wrong rename-keys: a pattern of bare dots -> a-dot-is-a-dot
import re


def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        for old, new in rules:
            found = re.match(rf"{old}(\.|$)", name) if old else re.match("", name)
            if found:
                rest = name[found.end() :]
                name = None if new is None else ".".join(piece for piece in (new, rest) if piece)
                break
        if name is None:
            continue
        if name in renamed:
            raise ValueError(name)
        renamed[name] = tensor
    return renamed


# %% right pass-through: flags off and on again
def pass_through(layer, x):
    learning = [p for p in layer.parameters() if p.requires_grad]
    for p in learning:
        p.requires_grad = False
    try:
        return layer(x)
    finally:
        for p in learning:
            p.requires_grad = True


# %% right pass-through: functional call with each module's tensors
from torch.func import functional_call


def pass_through(layer, x):
    constants = {
        f"{place}.{name}" if place else name: one.detach()
        for place, module in layer.named_modules()
        for name, one in module.named_parameters(recurse=False)
    }
    return functional_call(layer, constants, (x,), tie_weights=False)


# %% wrong pass-through: no_grad -> a-frozen-call-needs-no-graph
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    layer.requires_grad_(False)
    try:
        with torch.no_grad():
            out = layer(x)
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    return out


# %% right pass-through: functional call
def pass_through(layer, x):
    detached = {name: one.detach() for name, one in layer.named_parameters()}
    return torch.func.functional_call(layer, detached, (x,))


# %% right pass-through: functional call of all tensors
from torch.func import functional_call


def pass_through(layer, x):
    tensors = {name: p.data for name, p in layer.named_parameters()}
    tensors.update(layer.named_buffers())
    return functional_call(layer, tensors, x)


# %% right pass-through: a context manager
import contextlib


@contextlib.contextmanager
def fixed(layer):
    flags = {name: p.requires_grad for name, p in layer.named_parameters()}
    layer.requires_grad_(False)
    try:
        yield
    finally:
        for name, p in layer.named_parameters():
            p.requires_grad_(flags[name])


def pass_through(layer, x):
    with fixed(layer):
        result = layer(x)
    return result


# %% wrong pass-through: result detached -> detaching-the-result-will-do
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    layer.requires_grad_(False)
    try:
        out = layer(x)
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    return out.detach()


# %% wrong pass-through: result detached and asked for grad -> a-frozen-call-needs-no-graph
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    layer.requires_grad_(False)
    try:
        out = layer(x)
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    return out.detach().requires_grad_(out.requires_grad)


# %% wrong pass-through: gradients hooked away -> gradients-can-be-cleared-later
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    try:
        out = layer(x)
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    return out


# %% wrong pass-through: a frozen copy -> a-frozen-copy-is-the-layer
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    import copy

    twin = copy.deepcopy(layer).requires_grad_(False)
    try:
        out = twin(x)
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    return out


# %% wrong pass-through: eval mode -> frozen-means-eval-mode
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    layer.requires_grad_(False)
    try:
        mode = layer.training
        layer.eval()
        out = layer(x)
        layer.train(mode)
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    return out


# %% wrong pass-through: weights only -> only-weights-learn
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    for name, p in layer.named_parameters():
        if "weight" in name:
            p.requires_grad_(False)
    try:
        out = layer(x)
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    return out


# %% wrong pass-through: called twice -> a-second-call-is-free
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    layer.requires_grad_(False)
    try:
        layer(x)
        out = layer(x)
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    return out


# %% wrong pass-through: x gets a flag -> every-input-wants-a-gradient
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    layer.requires_grad_(False)
    try:
        out = layer(x if x.requires_grad else x.detach().requires_grad_())
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    return out


# %% wrong pass-through: all on again -> every-parameter-was-trainable
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    layer.requires_grad_(False)
    try:
        out = layer(x)
    finally:
        for p, flag in flags:
            p.requires_grad_(True)
    return out


# %% wrong pass-through: off for good -> frozen-once-frozen-always
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    layer.requires_grad_(False)
    try:
        out = layer(x)
    finally:
        pass
    return out


# %% wrong pass-through: gradients cleared -> what-is-left-is-cleared
def pass_through(layer, x):
    flags = [(p, p.requires_grad) for p in layer.parameters()]
    layer.requires_grad_(False)
    try:
        out = layer(x)
    finally:
        for p, flag in flags:
            p.requires_grad_(flag)
    layer.zero_grad()
    return out


# %% right pass-through: detached tensors in place of parameters
def pass_through(layer, x):
    swapped = []
    try:
        for part in layer.modules():
            for name, p in part._parameters.items():
                if p is not None:
                    swapped.append((part._parameters, name, p))
                    part._parameters[name] = p.detach()
        return layer(x)
    finally:
        for where, name, p in swapped:
            where[name] = p


# %% right pass-through: parameters and buffers
def pass_through(layer, x):
    tensors = [*layer.parameters(), *(b for b in layer.buffers() if b.is_leaf)]
    flags = [(t, t.requires_grad) for t in tensors]
    for t in tensors:
        t.requires_grad_(False)
    try:
        return layer(x)
    finally:
        for t, flag in flags:
            t.requires_grad_(flag)


# %% right thaw: stage by stage from the back
def thaw(stages, epoch, every):
    flags = {id(p): p.requires_grad for stage in stages for p in stage.parameters()}
    left = 1 + epoch // every
    trainable = set()
    for stage in reversed(stages):
        is_open = left > 0
        left -= 1
        stage.train() if is_open else stage.eval()
        if is_open:
            trainable |= {id(p) for p in stage.parameters()}
    new, seen = [], set()
    for stage in stages:
        for p in stage.parameters():
            p.requires_grad = id(p) in trainable
            if not p.requires_grad:
                p.grad = None
            elif not flags[id(p)] and id(p) not in seen:
                new.append(p)
            seen.add(id(p))
    return new


# %% right thaw: sets of parameters
def thaw(stages, epoch, every):
    count = min(len(stages), 1 + epoch // every)
    cut = len(stages) - count
    closed, opened = stages[:cut], stages[cut:]
    learning = set().union(*(set(s.parameters()) for s in opened)) if opened else set()
    fresh = []
    for module in torch.nn.ModuleList(stages).parameters():
        if module in learning:
            if not module.requires_grad:
                fresh.append(module)
                module.requires_grad_(True)
        else:
            module.requires_grad_(False)
            module.grad = None
    for s in closed:
        s.eval()
    for s in opened:
        s.train()
    return fresh


# %% right thaw: by number
def thaw(stages, epoch, every):
    n = len(stages)
    ordered = list(dict.fromkeys(p for s in stages for p in s.parameters()))
    before = [p.requires_grad for p in ordered]
    for p in ordered:
        p.requires_grad = False
    for i in range(n):
        on = (n - 1 - i) * every <= epoch
        for m in stages[i].modules():
            m.training = on
        for p in stages[i].parameters():
            p.requires_grad = p.requires_grad or on
    for p in ordered:
        if p.requires_grad is False:
            p.grad = None
    return [p for p, old in zip(ordered, before) if p.requires_grad > old]


# %% wrong thaw: from the front -> stages-open-from-the-front
def thaw(stages, epoch, every):
    stages = stages[::-1]
    before = {p: p.requires_grad for stage in stages[::-1] for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        stage.train(number >= first)
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        if not p.requires_grad:
            p.grad = None
    return [p for p, learned in before.items() if p.requires_grad and not learned]


# %% wrong thaw: nothing at first -> epoch-0-opens-nothing
def thaw(stages, epoch, every):
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - epoch // every)
    for number, stage in enumerate(stages):
        stage.train(number >= first)
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        if not p.requires_grad:
            p.grad = None
    return [p for p, learned in before.items() if p.requires_grad and not learned]


# %% wrong thaw: an index that runs out -> there-are-always-more-stages
def thaw(stages, epoch, every):
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = len(stages) - 1 - epoch // every
    if first < 0 and stages:
        raise IndexError(first)
    for number, stage in enumerate(stages):
        stage.train(number >= first)
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        if not p.requires_grad:
            p.grad = None
    return [p for p, learned in before.items() if p.requires_grad and not learned]


# %% wrong thaw: flags alone -> thawing-is-flags
def thaw(stages, epoch, every):
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        if not p.requires_grad:
            p.grad = None
    return [p for p, learned in before.items() if p.requires_grad and not learned]


# %% wrong thaw: closed ones to eval -> open-stages-stay-as-they-are
def thaw(stages, epoch, every):
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        if number < first:
            stage.eval()
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        if not p.requires_grad:
            p.grad = None
    return [p for p, learned in before.items() if p.requires_grad and not learned]


# %% wrong thaw: all in training mode -> closed-stages-may-stay-in-train
def thaw(stages, epoch, every):
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        stage.train()
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        if not p.requires_grad:
            p.grad = None
    return [p for p, learned in before.items() if p.requires_grad and not learned]


# %% wrong thaw: gradients left -> old-gradients-do-no-harm
def thaw(stages, epoch, every):
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        stage.train(number >= first)
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    return [p for p, learned in before.items() if p.requires_grad and not learned]


# %% wrong thaw: gradients cleared everywhere -> gradients-start-anew
def thaw(stages, epoch, every):
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        stage.train(number >= first)
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        p.grad = None
    return [p for p, learned in before.items() if p.requires_grad and not learned]


# %% wrong thaw: all open ones -> all-open-parameters-are-new
def thaw(stages, epoch, every):
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        stage.train(number >= first)
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        if not p.requires_grad:
            p.grad = None
    return [p for p, learned in before.items() if p.requires_grad]


# %% wrong thaw: never closed -> open-stages-never-close
def thaw(stages, epoch, every):
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        stage.train(number >= first)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        if not p.requires_grad:
            p.grad = None
    return [p for p, learned in before.items() if p.requires_grad and not learned]


# %% wrong thaw: newest first -> stages-are-told-from-the-back
def thaw(stages, epoch, every):
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        stage.train(number >= first)
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        if not p.requires_grad:
            p.grad = None
    return [p for p, learned in before.items() if p.requires_grad and not learned][::-1]


# %% wrong thaw: counts its calls -> epochs-come-one-by-one
calls = []


def thaw(stages, epoch, every):
    calls.append(epoch)
    epoch = len(calls) - 1
    before = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        stage.train(number >= first)
        stage.requires_grad_(False)
    for stage in stages[first:]:
        stage.requires_grad_(True)
    for p in before:
        if not p.requires_grad:
            p.grad = None
    return [p for p, learned in before.items() if p.requires_grad and not learned]


# %% wrong thaw: modes where flags change -> the-outer-flag-is-the-mode
def thaw(stages, epoch, every):
    first = max(0, len(stages) - 1 - epoch // every)
    was = {p: p.requires_grad for s in stages for p in s.parameters()}
    for s in stages[:first]:
        s.requires_grad_(False).eval()
    for s in stages[first:]:
        if not s.training or any(not p.requires_grad for p in s.parameters()):
            s.train()
        s.requires_grad_(True)
    for p in was:
        if not p.requires_grad:
            p.grad = None
    return [p for p, flag in was.items() if p.requires_grad and not flag]


# %% wrong thaw: one level deep -> children-are-all-of-it
def thaw(stages, epoch, every):
    flags = {p: p.requires_grad for stage in stages for p in stage.parameters()}
    first = max(0, len(stages) - 1 - epoch // every)
    for number, stage in enumerate(stages):
        for part in (stage, *stage.children()):
            part.training = number >= first
        stage.requires_grad_(number >= first)
    for p in flags:
        if not p.requires_grad:
            p.grad = None
    return [p for p, was in flags.items() if p.requires_grad and not was]


# %% same freeze: flag and gradient in another order
def freeze(module):
    """Make a module a fixed function that keeps its parameters, statistics and mode; returns it.

    freeze(model.body)  ->  model.body, and model.train() leaves it in eval mode
    """
    module.eval()
    for parameter in module.parameters():
        parameter.grad = None
        parameter.requires_grad_(False)
    for part in module.modules():
        part.train = lambda mode=True, part=part: part
    return module


# %% same freeze: the mode that train is given plays no part
def freeze(module):
    """Make a module a fixed function that keeps its parameters, statistics and mode; returns it.

    freeze(model.body)  ->  model.body, and model.train() leaves it in eval mode
    """
    module.eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
        parameter.grad = None
    for part in module.modules():
        part.train = lambda mode=False, part=part: part
    return module


# %% right new-head: by hand through children
def new_head(model, classes):
    last = None
    for name, layer in model.named_modules():
        if isinstance(layer, torch.nn.Linear):
            last = name, layer
    name, old = last
    new = torch.nn.Linear(old.in_features, classes, bias=old.bias is not None)
    new = new.to(old.weight.device, old.weight.dtype)
    place = model
    *path, own = name.split(".")
    for step in path:
        place = getattr(place, step)
    setattr(place, own, new)
    return model


# %% right new-head: set_submodule
def new_head(model, classes):
    heads = [name for name, one in model.named_modules() if isinstance(one, torch.nn.Linear)]
    old = model.get_submodule(heads[-1])
    new = torch.nn.Linear(old.in_features, classes, old.bias is not None)
    model.set_submodule(heads[-1], new.to(old.weight))
    return model


# %% right new-head: the place found by looking for the layer
def new_head(model, classes):
    old = [one for one in model.modules() if isinstance(one, torch.nn.Linear)][-1]
    where = {"device": old.weight.device, "dtype": old.weight.dtype, "bias": old.bias is not None}
    for place in model.modules():
        for name, child in place.named_children():
            if child is old:
                new = torch.nn.Linear(old.weight.shape[1], classes, **where)
                new.train(old.training)
                place._modules[name] = new
    return model


# %% right new-head: drawn once more
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"bias": old.bias is not None, "device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    new = kind(old.in_features, classes, **same)
    new.reset_parameters()
    setattr(model.get_submodule(place), own, new)
    return model


# %% wrong new-head: always fc -> a-new-attribute-is-a-head
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"bias": old.bias is not None, "device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    model.fc = kind(old.in_features, classes, **same)
    return model


# %% wrong new-head: the whole attribute is replaced -> the-classifier-is-the-head
def new_head(model, classes):
    for name in ("fc", "classifier", "head"):
        if hasattr(model, name):
            part = getattr(model, name)
            first = [m for m in part.modules() if isinstance(m, torch.nn.Linear)][0]
            setattr(
                model, name, torch.nn.Linear(first.in_features, classes, first.bias is not None)
            )
            return model
    raise ValueError("no head")


# %% wrong new-head: only the top -> heads-stand-at-the-top
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [(name, one) for name, one in model.named_children() if isinstance(one, kind)][-1]
    same = {"bias": old.bias is not None, "device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    setattr(model.get_submodule(place), own, kind(old.in_features, classes, **same))
    return model


# %% wrong new-head: the first layer -> the-first-name-is-the-last-layer
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][0]
    same = {"bias": old.bias is not None, "device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    setattr(model.get_submodule(place), own, kind(old.in_features, classes, **same))
    return model


# %% wrong new-head: renumbered -> outputs-can-be-renumbered
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    old.out_features = classes
    return model


# %% wrong new-head: a bias for all -> every-head-has-a-bias
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    setattr(model.get_submodule(place), own, kind(old.in_features, classes, **same))
    return model


# %% wrong new-head: default dtype and device -> new-layers-know-their-place
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"bias": old.bias is not None}
    place, _, own = name.rpartition(".")
    setattr(model.get_submodule(place), own, kind(old.in_features, classes, **same))
    return model


# %% wrong new-head: no device -> a-dtype-is-a-place
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"bias": old.bias is not None, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    setattr(model.get_submodule(place), own, kind(old.in_features, classes, **same))
    return model


# %% wrong new-head: as frozen as before -> a-new-head-is-as-frozen-as-the-old
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"bias": old.bias is not None, "device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    new = kind(old.in_features, classes, **same)
    new.requires_grad_(old.weight.requires_grad)
    setattr(model.get_submodule(place), own, new)
    return model


# %% wrong new-head: freezes the body -> a-swap-freezes-the-body
def new_head(model, classes):
    model.requires_grad_(False)
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"bias": old.bias is not None, "device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    setattr(model.get_submodule(place), own, kind(old.in_features, classes, **same))
    return model


# %% wrong new-head: a copy -> heads-go-into-a-copy
import copy


def new_head(model, classes):
    model = copy.deepcopy(model)
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"bias": old.bias is not None, "device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    setattr(model.get_submodule(place), own, kind(old.in_features, classes, **same))
    return model


# %% wrong new-head: zeros -> a-head-begins-with-zeros
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"bias": old.bias is not None, "device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    new = kind(old.in_features, classes, **same)
    with torch.no_grad():
        for p in new.parameters():
            p.zero_()
    setattr(model.get_submodule(place), own, new)
    return model


# %% wrong new-head: rows of the old head -> a-head-begins-with-zeros
def new_head(model, classes):
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"bias": old.bias is not None, "device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    new = kind(old.in_features, classes, **same)
    rows = min(classes, len(old.weight))
    new.weight.data[:rows] = old.weight.data[:rows]
    setattr(model.get_submodule(place), own, new)
    return model


# %% wrong new-head: a seed of its own -> a-head-begins-with-zeros
def new_head(model, classes):
    torch.manual_seed(0)
    kind = torch.nn.Linear
    name, old = [pair for pair in model.named_modules() if isinstance(pair[1], kind)][-1]
    same = {"bias": old.bias is not None, "device": old.weight.device, "dtype": old.weight.dtype}
    place, _, own = name.rpartition(".")
    setattr(model.get_submodule(place), own, kind(old.in_features, classes, **same))
    return model


# %% same what-moved: no step here changes a rate
def what_moved(model, optimizer, step):
    tensors = dict([*model.named_parameters(), *model.named_buffers()])
    before = {name: one.clone() for name, one in tensors.items()}
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    step()
    return {
        name: {
            "moved": not torch.equal(one, before[name]),
            "gradient": one.grad is not None,
            "rate": rates.get(id(one)),
        }
        for name, one in tensors.items()
    }


# %% same features-once: lists before the mode
def features_once(body, batches):
    modes = [(module, module.training) for module in body.modules()]
    features, targets = ([], [])
    body.eval()
    with torch.no_grad():
        for x, y in batches:
            features.append(body(x))
            targets.append(y)
    for module, training in modes:
        module.training = training
    return (torch.cat(features), torch.cat(targets))


# %% same thaw: a number is at least a fraction where it is at least the next whole number
def thaw(stages, epoch, every):
    """Open the last 1 + epoch // every stages and close the others; returns what has opened.

    thaw([stem, body, head], 0, 2)  ->  [head.weight, head.bias], if all was closed before
    """
    first = len(stages) - 1 - epoch / every
    opened = []
    for number, stage in enumerate(stages):
        if number >= first:
            opened.extend((p for p in stage.parameters() if not p.requires_grad))
        else:
            stage.zero_grad()
        stage.train(number >= first).requires_grad_(number >= first)
    return opened


# %% wrong new-head: the dtype of the first parameter -> a-model-has-one-dtype
def new_head(model, classes):
    name, old = [
        (name, part) for name, part in model.named_modules() if isinstance(part, torch.nn.Linear)
    ][-1]
    some = next(model.parameters())
    layer = torch.nn.Linear(
        old.in_features, classes, bias=old.bias is not None, dtype=some.dtype, device=some.device
    )
    place, _, last = name.rpartition(".")
    setattr(model.get_submodule(place), last, layer)
    return model


# %% wrong new-head: drawn by Xavier's rule -> a-head-begins-with-zeros
def new_head(model, classes):
    name, old = [
        (name, part) for name, part in model.named_modules() if isinstance(part, torch.nn.Linear)
    ][-1]
    kind = {"dtype": old.weight.dtype, "device": old.weight.device}
    layer = torch.nn.Linear(old.in_features, classes, bias=old.bias is not None, **kind)
    torch.nn.init.xavier_uniform_(layer.weight)
    place, _, last = name.rpartition(".")
    setattr(model.get_submodule(place), last, layer)
    return model


# %% wrong new-head: clears all gradients -> a-new-head-begins-a-new-training
def new_head(model, classes):
    name, old = [
        (name, part) for name, part in model.named_modules() if isinstance(part, torch.nn.Linear)
    ][-1]
    kind = {"dtype": old.weight.dtype, "device": old.weight.device}
    layer = torch.nn.Linear(old.in_features, classes, bias=old.bias is not None, **kind)
    place, _, last = name.rpartition(".")
    setattr(model.get_submodule(place), last, layer)
    model.zero_grad()
    return model


# %% wrong new-head: ready to train -> a-new-head-begins-a-new-training
def new_head(model, classes):
    name, old = [
        (name, part) for name, part in model.named_modules() if isinstance(part, torch.nn.Linear)
    ][-1]
    kind = {"dtype": old.weight.dtype, "device": old.weight.device}
    layer = torch.nn.Linear(old.in_features, classes, bias=old.bias is not None, **kind)
    place, _, last = name.rpartition(".")
    setattr(model.get_submodule(place), last, layer)
    return model.train()


# %% right new-head: in the mode of the old one
def new_head(model, classes):
    name, old = [
        (name, part) for name, part in model.named_modules() if isinstance(part, torch.nn.Linear)
    ][-1]
    kind = {"dtype": old.weight.dtype, "device": old.weight.device}
    layer = torch.nn.Linear(old.in_features, classes, bias=old.bias is not None, **kind)
    place, _, last = name.rpartition(".")
    setattr(model.get_submodule(place), last, layer.train(old.training))
    return model


# %% wrong load-what-fits: sets -> any-collection-is-a-list
def load_what_fits(model, state):
    own = model.state_dict()
    common = own.keys() & state.keys()
    loaded = {name for name in common if own[name].shape == state[name].shape}
    model.load_state_dict({name: state[name] for name in loaded}, strict=False)
    return {
        "loaded": loaded,
        "mismatched": common - loaded,
        "missing": own.keys() - state.keys(),
        "unexpected": state.keys() - own.keys(),
    }


# %% wrong rename-keys: one tensor twice is fine -> one-tensor-is-one-entry
def rename_keys(state, rules):
    renamed = {}
    for name, tensor in state.items():
        parts = name.split(".")
        for old, new in rules:
            first = old.split(".") if old else []
            if parts[: len(first)] == first:
                parts = (new.split(".") if new else []) + parts[len(first) :]
                break
        target = ".".join(parts)
        if renamed.setdefault(target, tensor) is not tensor:
            raise ValueError(f"two entries named {target}")
    return renamed
