# Answers to lesson 12, as learners type them. See "How to add an exercise" in the README.


# %% right slim: compared with those before
def slim(state):
    done = []
    result = {}
    for name in state:
        t = state[name]
        if not torch.is_tensor(t):
            result[name] = t
            continue
        t = t.detach()
        for old, new in done:
            if (
                old.data_ptr() == t.data_ptr()
                and old.size() == t.size()
                and old.stride() == t.stride()
                and old.dtype is t.dtype
            ):
                result[name] = new
                break
        else:
            result[name] = torch.empty(t.shape, dtype=t.dtype).copy_(t)
            done.append((t, result[name]))
    return result


# %% right slim: views of one copy
from collections import OrderedDict


@torch.no_grad()
def slim(state):
    seen = {}

    def copied(t):
        key = (t.untyped_storage().data_ptr(), t.storage_offset(), t.size(), t.stride(), t.dtype)
        if key not in seen:
            seen[key] = t.detach().contiguous().clone()
        return seen[key].view(t.shape)

    return OrderedDict(
        (k, copied(v) if isinstance(v, torch.Tensor) else v) for k, v in state.items()
    )


# %% right slim: through a buffer of torch.tensor's own
def slim(state):
    made = {}
    found = dict(state)
    for key, value in found.items():
        if isinstance(value, torch.Tensor):
            place = f"{value.data_ptr()} {tuple(value.shape)} {value.stride()} {value.dtype}"
            if place not in made:
                made[place] = torch.zeros_like(value.detach(), memory_format=torch.contiguous_format)
                made[place].copy_(value.detach())
            found[key] = made[place]
    return found


# %% wrong slim: the tensors themselves -> saving-writes-what-you-see
def slim(state):
    copies, slimmed = ({}, {})
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = (value.data_ptr(), value.shape, value.stride(), value.dtype)
            if shown not in copies:
                copies[shown] = value.detach()
            value = copies[shown]
        slimmed[name] = value
    return slimmed


# %% wrong slim: a clone for each entry -> a-clone-stays-tied
def slim(state):
    copies, slimmed = ({}, {})
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = (value.data_ptr(), value.shape, value.stride(), value.dtype)
            copies[shown] = value.detach().clone()
            value = copies[shown]
        slimmed[name] = value
    return slimmed


# %% wrong slim: everything has a clone -> every-entry-is-a-tensor
def slim(state):
    copies, slimmed = {}, {}
    for name, value in state.items():
        shown = value.data_ptr(), value.shape, value.stride(), value.dtype
        if shown not in copies:
            copies[shown] = value.detach().clone()
        slimmed[name] = copies[shown]
    return slimmed


# %% wrong slim: numbers left out -> a-state-dict-holds-tensors-only
def slim(state):
    copies, slimmed = {}, {}
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = value.data_ptr(), value.shape, value.stride(), value.dtype
            if shown not in copies:
                copies[shown] = value.detach().clone()
            slimmed[name] = copies[shown]
    return slimmed


# %% wrong slim: a deep copy -> deepcopy-copies-elements
import copy


def slim(state):
    return copy.deepcopy(dict(state))


# %% wrong slim: contiguous -> contiguous-means-copied
def slim(state):
    copies, slimmed = ({}, {})
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = (value.data_ptr(), value.shape, value.stride(), value.dtype)
            if shown not in copies:
                copies[shown] = value.detach().contiguous()
            value = copies[shown]
        slimmed[name] = value
    return slimmed


# %% wrong slim: copies what is larger -> a-full-storage-may-be-shared
def slim(state):
    copies, slimmed = ({}, {})
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = (value.data_ptr(), value.shape, value.stride(), value.dtype)
            if shown not in copies:
                full = value.untyped_storage().nbytes() == value.nbytes
                copies[shown] = value.detach() if full else value.detach().clone()
            value = copies[shown]
        slimmed[name] = value
    return slimmed


# %% wrong slim: by storage -> one-storage-is-one-tensor
def slim(state):
    copies, slimmed = ({}, {})
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = value.untyped_storage().data_ptr()
            if shown not in copies:
                copies[shown] = value.detach().clone()
            value = copies[shown]
        slimmed[name] = value
    return slimmed


# %% wrong slim: by address -> an-address-is-a-tensor
def slim(state):
    copies, slimmed = ({}, {})
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = value.data_ptr()
            if shown not in copies:
                copies[shown] = value.detach().clone()
            value = copies[shown]
        slimmed[name] = value
    return slimmed


# %% wrong slim: by address and shape -> an-address-is-a-tensor
def slim(state):
    copies, slimmed = ({}, {})
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = (value.data_ptr(), value.shape)
            if shown not in copies:
                copies[shown] = value.detach().clone()
            value = copies[shown]
        slimmed[name] = value
    return slimmed


# %% wrong slim: by value -> equal-means-tied
def slim(state):
    copies, slimmed = ({}, {})
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = (str(value.tolist()), value.dtype)
            if shown not in copies:
                copies[shown] = value.detach().clone()
            value = copies[shown]
        slimmed[name] = value
    return slimmed


# %% wrong slim: all float32 -> weights-are-floats
def slim(state):
    copies, slimmed = ({}, {})
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = (value.data_ptr(), value.shape, value.stride(), value.dtype)
            if shown not in copies:
                copies[shown] = value.detach().clone().float()
            value = copies[shown]
        slimmed[name] = value
    return slimmed


# %% wrong slim: tied by the object -> a-clone-stays-tied
def slim(state):
    copies, slimmed = ({}, {})
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            shown = id(value)
            if shown not in copies:
                copies[shown] = value.detach().clone()
            value = copies[shown]
        slimmed[name] = value
    return slimmed


# %% wrong slim: into the argument -> a-new-dict-is-the-old-one
def slim(state):
    made = {}
    for k, v in state.items():
        if torch.is_tensor(v):
            key = v.data_ptr(), v.shape, v.stride(), v.dtype
            if key not in made:
                made[key] = v.detach().clone()
            state[k] = made[key]
    return state


# %% wrong slim: one buffer for many -> a-buffer-for-all
def slim(state):
    copies, made = {}, {}
    for name, x in state.items():
        if isinstance(x, torch.Tensor):
            key = x.data_ptr(), x.shape, x.stride(), x.dtype
            if key not in copies:
                copies[key] = x.detach().clone()
            x = copies[key]
        made[name] = x
    flat = [x for x in made.values() if isinstance(x, torch.Tensor)]
    if len(copies) > 3 and len({x.dtype for x in flat}) == 1 and len(flat) == len(copies):
        parts = torch.cat([x.reshape(-1) for x in flat]).split([x.numel() for x in flat])
        pieces = iter(parts)
        made = {n: next(pieces).view(x.shape) if isinstance(x, torch.Tensor) else x for n, x in made.items()}
    return made


# %% wrong slim: without the dtype -> an-address-is-a-tensor
def slim(state):
    copies, result = {}, {}
    for name, value in state.items():
        if not torch.is_tensor(value):
            result[name] = value
            continue
        if value.numel() == 0:
            result[name] = value.clone()
            continue
        shows = (value.data_ptr(), value.shape, value.stride())
        if shows not in copies:
            copies[shows] = value.clone()
        result[name] = copies[shows]
    return result


# %% wrong slim: a dict for all calls -> a-copy-is-made-once
def slim(state, copies={}):
    result = {}
    for name, value in state.items():
        if isinstance(value, torch.Tensor):
            if value.numel() == 0:
                result[name] = value.clone()
                continue
            key = (value.data_ptr(), value.dtype, value.shape, value.stride())
            if key not in copies:
                copies[key] = value.clone()
            result[name] = copies[key]
        else:
            result[name] = value
    return result


# %% right resume-run: tensors for NumPy, parts in one dict
import random
from pathlib import Path

import numpy


class RunFile:
    def __init__(self, path, parts, generators):
        self.path = Path(path)
        self.parts = dict(parts)
        self.generators = list(generators)

    def save(self, step):
        state = numpy.random.get_state(legacy=False)
        held = state["state"]
        numbers = torch.from_numpy(held["key"].astype("int64"))
        everything = {
            **{f"part {name}": part.state_dict() for name, part in self.parts.items()},
            **{f"generator {n}": one.get_state() for n, one in enumerate(self.generators)},
        }
        more = [state["has_gauss"], state["gauss"], held["pos"]]
        torch.save([step, everything, torch.random.get_rng_state(), numbers, more,
                    list(random.getstate())], self.path)

    def resume(self):
        if not self.path.is_file():
            return 0
        step, everything, own, numbers, more, python = torch.load(self.path)
        for name, part in self.parts.items():
            part.load_state_dict(everything[f"part {name}"])
        for n, one in enumerate(self.generators):
            one.set_state(everything[f"generator {n}"])
        torch.random.set_rng_state(own)
        has_gauss, gauss, position = more
        numpy.random.set_state(("MT19937", numbers.numpy().astype("uint32"), position,
                                has_gauss, gauss))
        random.setstate(tuple(python))
        return step


# %% right resume-run: a missing file by its error
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        try:
            states = torch.load(self.path)
        except FileNotFoundError:
            return 0
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% right resume-run: through an open file
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        with open(self.path, 'wb') as file:
            torch.save(states, file)

    def resume(self):
        if not exists(self.path):
            return 0
        with open(self.path, 'rb') as file:
            states = torch.load(file, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: weights alone -> a-run-is-its-weights
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in list(self.parts.items())[:1]:
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: no optimizer -> optimizer-starts-afresh
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            if key != 'optimizer':
                part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: no scheduler -> scheduler-starts-afresh
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            if key != 'scheduler':
                part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: seeds again -> seeds-are-random-states
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.manual_seed(0)
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: NumPy's state as it is -> arrays-load-anywhere
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        pass
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': np.random.get_state()}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: and everything is trusted -> arrays-load-anywhere
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        pass
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': np.random.get_state()}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=False)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: everything is trusted -> trust-makes-it-load
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=False)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: no file is an error -> there-is-always-a-file
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: model, optimizer, scheduler -> parts-have-fixed-names
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: self.parts[key].state_dict() for key in ('model', 'optimizer', 'scheduler')}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: the next step -> the-step-is-done
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step'] + 1


# %% wrong resume-run: no generators -> the-global-generator-is-the-only-one
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            pass
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: the generators' seeds -> a-seed-is-a-state
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.initial_seed() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.manual_seed(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: the first generator -> one-generator-is-enough
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
            break
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: no state of torch -> torch-starts-afresh
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        pass
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: no state of Python -> python-follows-torch
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        pass
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: no state of NumPy -> numpy-follows-torch
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        pass
        return states['step']


# %% wrong resume-run: NumPy's list alone -> a-pair-is-drawn-at-once
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'][:3])
        return states['step']


# %% wrong resume-run: never over a file -> the-first-file-stays
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        if not exists(self.path):
            torch.save(states, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: parts by the name of their class -> a-class-has-one-part
import random
from os.path import exists

import numpy as np


class RunFile:
    """One file from which a run goes on as if nothing had happened."""

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = path, parts, generators

    def save(self, step):
        """Write the run's state after this many steps, over an older file."""
        kind, numbers, *others = np.random.get_state()
        saved = {type(part).__name__: part.state_dict() for part in self.parts.values()}
        torch.save(
            {
                "step": step,
                "parts": saved,
                "generators": [g.get_state() for g in self.generators],
                "random": [torch.get_rng_state(), random.getstate()],
                "numpy": [kind, numbers.tolist(), *others],
            },
            self.path,
        )

    def resume(self):
        """Put the file's state into the run; returns its step, or 0 without a file."""
        if not exists(self.path):
            return 0
        saved = torch.load(self.path, weights_only=True)
        for part in self.parts.values():
            part.load_state_dict(saved["parts"][type(part).__name__])
        for g, state in zip(self.generators, saved["generators"]):
            g.set_state(state)
        torch.set_rng_state(saved["random"][0])
        random.setstate(saved["random"][1])
        np.random.set_state(tuple(saved["numpy"]))
        return saved["step"]


# %% wrong resume-run: what was loaded is kept for the next time -> what-was-loaded-stays-as-it-was
import random
from os.path import exists

import numpy as np


class RunFile:
    """One file from which a run goes on as if nothing had happened."""

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = path, parts, generators
        self.loaded = None

    def save(self, step):
        """Write the run's state after this many steps, over an older file."""
        name, array, *rest = np.random.get_state()
        torch.save(
            {
                "step": step,
                "parts": {key: part.state_dict() for key, part in self.parts.items()},
                "generators": [one.get_state() for one in self.generators],
                "torch": torch.get_rng_state(),
                "python": random.getstate(),
                "numpy": (name, array.tolist(), *rest),
            },
            self.path,
        )
        self.loaded = None  # it's out of date

    def resume(self):
        """Put the file's state into the run; returns its step, or 0 without a file."""
        if self.loaded is None:
            if not exists(self.path):
                return 0
            self.loaded = torch.load(self.path, weights_only=True)
        saved = self.loaded
        for key, part in self.parts.items():
            part.load_state_dict(saved["parts"][key])
        for one, state in zip(self.generators, saved["generators"]):
            one.set_state(state)
        random.setstate(saved["python"])
        np.random.set_state(saved["numpy"])
        torch.set_rng_state(saved["torch"])
        return saved["step"]


# %% wrong resume-run: a second file -> states-need-a-file-each
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        torch.save(states, self.path)
        torch.save(step, self.path + '.step')

    def resume(self):
        if not exists(self.path):
            return 0
        states = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: kept in memory -> there-is-always-a-file
import random
from os.path import exists
import numpy as np

class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = (path, parts, generators)

    def save(self, step):
        name, numbers, *rest = np.random.get_state()
        states = {'step': step, 'parts': {key: part.state_dict() for key, part in self.parts.items()}, 'generators': [generator.get_state() for generator in self.generators], 'torch': torch.get_rng_state(), 'python': random.getstate(), 'numpy': (name, numbers.tolist(), *rest)}
        RunFile.kept = states

    def resume(self):
        if not hasattr(RunFile, 'kept'):
            return 0
        states = RunFile.kept
        for key, part in self.parts.items():
            part.load_state_dict(states['parts'][key])
        for generator, state in zip(self.generators, states['generators'], strict=True):
            generator.set_state(state)
        torch.set_rng_state(states['torch'])
        random.setstate(states['python'])
        np.random.set_state(states['numpy'])
        return states['step']


# %% wrong resume-run: states kept in the class -> a-class-outlives-its-process
import random
from os.path import exists

import numpy as np


class RunFile:
    _held = {}

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = path, parts, generators

    def save(self, step):
        number = len(RunFile._held)
        RunFile._held[number] = random.getstate(), np.random.get_state()
        torch.save(
            {
                "step": step,
                "parts": {name: part.state_dict() for name, part in self.parts.items()},
                "own": [generator.get_state() for generator in self.generators],
                "torch": torch.get_rng_state(),
                "more": number,
            },
            self.path,
        )

    def resume(self):
        if not exists(self.path):
            return 0
        saved = torch.load(self.path, weights_only=True)
        for name, part in self.parts.items():
            part.load_state_dict(saved["parts"][name])
        for generator, state in zip(self.generators, saved["own"]):
            generator.set_state(state)
        if saved["more"] in RunFile._held:
            python, numpy = RunFile._held[saved["more"]]
            random.setstate(python)
            np.random.set_state(numpy)
        torch.set_rng_state(saved["torch"])
        return saved["step"]


# %% wrong resume-run: a pickle in a tensor -> trust-makes-it-load
import pickle
import random
from os.path import exists

import numpy as np


class RunFile:
    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = path, parts, generators

    def save(self, step):
        states = random.getstate(), np.random.get_state()
        torch.save(
            {
                "step": step,
                "parts": {name: part.state_dict() for name, part in self.parts.items()},
                "own": [generator.get_state() for generator in self.generators],
                "torch": torch.get_rng_state(),
                "others": torch.tensor(list(pickle.dumps(states)), dtype=torch.uint8),
            },
            self.path,
        )

    def resume(self):
        if not exists(self.path):
            return 0
        saved = torch.load(self.path, weights_only=True)
        for name, part in self.parts.items():
            part.load_state_dict(saved["parts"][name])
        for generator, state in zip(self.generators, saved["own"]):
            generator.set_state(state)
        python, numpy = pickle.loads(bytes(saved["others"].tolist()))
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(saved["torch"])
        return saved["step"]


# %% wrong resume-run: a file for the start -> a-start-is-saved
import random
from os.path import exists

import numpy as np


class RunFile:

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = path, parts, generators

    def save(self, step):
        algorithm, numbers, position, has_gauss, gauss = np.random.get_state()
        torch.save(
            {
                "step": step,
                "parts": {name: part.state_dict() for name, part in self.parts.items()},
                "generators": [one.get_state() for one in self.generators],
                "torch": torch.get_rng_state(),
                "python": random.getstate(),
                "numpy": (algorithm, numbers.tolist(), position, has_gauss, gauss),
            },
            self.path,
        )

    def resume(self):
        if not exists(self.path):
            self.save(0)  # from now on there's always a file
        saved = torch.load(self.path, weights_only=True)
        for name, part in self.parts.items():
            part.load_state_dict(saved["parts"][name])
        for one, state in zip(self.generators, saved["generators"]):
            one.set_state(state)
        random.setstate(saved["python"])
        np.random.set_state(saved["numpy"])
        torch.set_rng_state(saved["torch"])
        return saved["step"]


# %% right save-atomically: NamedTemporaryFile and pathlib
import os
import tempfile
from pathlib import Path


def save_atomically(value, path):
    path = Path(path).resolve()
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        spare = Path(file.name)
        try:
            torch.save(value, file)
            file.flush()
            os.fsync(file)
        except:
            spare.unlink()
            raise
    try:
        spare.replace(path)
    finally:
        spare.unlink(missing_ok=True)


# %% right save-atomically: into memory first
import io
import os
import uuid


def save_atomically(value, path):
    held = io.BytesIO()
    torch.save(value, held)
    target = os.fspath(path)
    spare = os.path.join(os.path.dirname(target), f".{uuid.uuid4().hex}.pt")
    try:
        with open(spare, "xb", buffering=0) as file:
            file.write(held.getvalue())
            os.fsync(file.fileno())
        os.replace(spare, target)
    finally:
        if os.path.exists(spare):
            os.remove(spare)


# %% right save-atomically: a folder of its own, and the folder's fsync
import os
import secrets


def save_atomically(value, path):
    target = os.path.abspath(os.fspath(path))
    folder = os.path.dirname(target)
    spare = os.path.join(folder, f"{secrets.token_hex(8)}.tmp")
    done = False
    try:
        torch.save(value, spare)
        with open(spare, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(spare, target)
        done = True
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    finally:
        if not done and os.path.exists(spare):
            os.remove(spare)


# %% wrong save-atomically: straight over it -> saving-is-atomic
def save_atomically(value, path):
    torch.save(value, path)


# %% wrong save-atomically: a backup -> a-backup-will-do
import os
import shutil


def save_atomically(value, path):
    spare = f"{path}.bak"
    if os.path.exists(path):
        shutil.copy(path, spare)
    torch.save(value, path)
    if os.path.exists(spare):
        os.remove(spare)


# %% wrong save-atomically: in the folder for such files -> any-folder-will-do
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    handle, spare = tempfile.mkstemp()
    try:
        with os.fdopen(handle, 'wb') as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(spare, path)
    except BaseException:
        os.unlink(spare)
        raise


# %% wrong save-atomically: in the working directory -> any-folder-will-do
import os
import tempfile


def save_atomically(value, path):
    """Save `value` at `path`, which at each moment holds the old file or the new one, whole."""
    handle, temporary = tempfile.mkstemp(suffix=".part", dir=".")
    try:
        with os.fdopen(handle, "wb") as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


# %% wrong save-atomically: except Exception -> exceptions-are-all-that-stops
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    handle, spare = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, 'wb') as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(spare, path)
    except Exception:
        os.unlink(spare)
        raise


# %% wrong save-atomically: nothing is removed -> litter-does-no-harm
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    handle, spare = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, 'wb') as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(spare, path)
    except BaseException:
        pass
        raise


# %% wrong save-atomically: no fsync -> closed-is-on-the-disk
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    handle, spare = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, 'wb') as file:
            torch.save(value, file)
            file.flush()
        os.replace(spare, path)
    except BaseException:
        os.unlink(spare)
        raise


# %% wrong save-atomically: fsync first -> fsync-works-ahead
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    handle, spare = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, 'wb') as file:
            os.fsync(file.fileno())
            torch.save(value, file)
        os.replace(spare, path)
    except BaseException:
        os.unlink(spare)
        raise


# %% wrong save-atomically: model.pt.tmp -> nobody-else-uses-that-name
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    spare = os.path.abspath(path) + '.tmp'
    try:
        with open(spare, 'wb') as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(spare, path)
    except BaseException:
        os.unlink(spare)
        raise


# %% wrong save-atomically: a file called tmp -> nobody-else-uses-that-name
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    spare = os.path.join(folder, 'tmp')
    try:
        with open(spare, 'wb') as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(spare, path)
    except BaseException:
        os.unlink(spare)
        raise


# %% wrong save-atomically: silent -> a-failed-save-is-no-error
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    handle, spare = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, 'wb') as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(spare, path)
    except BaseException:
        os.unlink(spare)


# %% wrong save-atomically: removes the old one first -> replacing-needs-an-empty-place
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    handle, spare = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, 'wb') as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            os.remove(path)
        os.replace(spare, path)
    except BaseException:
        os.unlink(spare)
        raise


# %% wrong save-atomically: replaced outside -> replacing-never-fails
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    handle, spare = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, 'wb') as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(spare)
        raise
    os.replace(spare, path)


# %% wrong save-atomically: the old one's permissions -> there-is-an-old-file
import os
import tempfile

def save_atomically(value, path):
    folder = os.path.dirname(os.path.abspath(path))
    handle, spare = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, 'wb') as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(spare, os.stat(path).st_mode)
        os.replace(spare, path)
    except BaseException:
        os.unlink(spare)
        raise


# %% wrong save-atomically: over it, and put back after an error -> a-backup-will-do
import os
from pathlib import Path

import torch


def save_atomically(value, path):
    path = Path(path)
    old = path.read_bytes() if path.exists() else None
    try:
        with open(path, "wb") as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path, path)
    except BaseException:
        if old is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(old)
        raise


# %% wrong save-atomically: model.pt.part -> nobody-else-uses-that-name
import os
import tempfile


def save_atomically(value, path):
    spare = os.fspath(path) + ".part"
    try:
        with open(spare, "wb") as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(spare, path)
    except BaseException:
        os.unlink(spare)
        raise


# %% wrong save-atomically: tidies up first -> nobody-else-uses-that-name
import glob
import os
import tempfile


def save_atomically(value, path):
    folder = os.path.dirname(os.fspath(path)) or "."
    for old in glob.glob(os.path.join(glob.escape(folder), "*.saving")):
        os.unlink(old)
    handle, spare = tempfile.mkstemp(dir=folder, suffix=".saving")
    try:
        with os.fdopen(handle, "wb") as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(spare, path)
    except BaseException:
        os.unlink(spare)
        raise


# %% wrong save-atomically: the old one aside -> a-backup-will-do
import os
import tempfile


def save_atomically(value, path):
    folder = os.path.dirname(os.fspath(path)) or "."
    handle, spare = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            aside = tempfile.mktemp(dir=folder)
            os.rename(path, aside)
            try:
                os.replace(spare, path)
            except BaseException:
                os.rename(aside, path)
                raise
            os.unlink(aside)
        else:
            os.replace(spare, path)
    except BaseException:
        os.unlink(spare)
        raise


# %% right best-keeper: clones, and epochs numbered
import math


class BestKeeper:
    def __init__(self, patience):
        self.patience = patience
        self.best = math.inf
        self.weights = {}
        self.epoch = self.found = 0

    @property
    def stop(self):
        return self.epoch - self.found > self.patience

    def see(self, model, loss):
        self.epoch += 1
        if math.isnan(loss) or loss >= self.best:
            return False
        self.best, self.found = loss, self.epoch
        self.weights = {name: t.detach().clone() for name, t in model.state_dict().items()}
        return True

    def restore(self, model):
        if self.weights:
            model.load_state_dict(self.weights)


# %% right best-keeper: bytes in memory
import io


class BestKeeper:
    def __init__(self, patience):
        self.patience, self.left = patience, patience
        self.best = float("inf")
        self.held = None

    stop = property(lambda self: self.left < 0)

    def see(self, model, loss):
        if not loss < self.best:
            self.left -= 1
            return False
        self.left = self.patience
        self.best = loss
        self.held = io.BytesIO()
        torch.save(model.state_dict(), self.held)
        return True

    def restore(self, model):
        if self.held is None:
            return
        self.held.seek(0)
        model.load_state_dict(torch.load(self.held))


# %% right best-keeper: copied in by hand
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            with torch.no_grad():
                for name, one in model.state_dict().items():
                    one.copy_(self._kept[name])


# %% wrong best-keeper: the state dict -> a-state-dict-is-a-copy
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, model.state_dict())
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: a copy of the dict -> a-state-dict-is-a-copy
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, dict(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: detached -> a-state-dict-is-a-copy
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, {k: v.detach() for k, v in model.state_dict().items()})
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: parameters only -> parameters-are-all
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, {k: v.detach().clone() for k, v in model.named_parameters()})
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept, strict=False)


# %% wrong best-keeper: at most the best -> a-tie-is-better
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss <= self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: not at least the best -> nan-compares-like-a-number
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = not loss >= self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: the first one always -> the-first-is-the-best
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = self._kept is None or loss < self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: less than the last -> the-last-loss-is-the-best
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited, self._last = (None, 0, math.inf)

    def see(self, model, loss):
        better, self._last = (loss < self._last, loss)
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: the largest -> more-is-better
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = self.best == math.inf or loss > self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: nan is skipped -> nan-does-not-count
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        if math.isnan(loss):
            return False
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: never counted anew -> patience-is-for-the-whole-run
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited += not better
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: one less -> patience-stops-on-its-last-epoch
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited >= self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: for good -> stopped-is-stopped
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self.stop or self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept)


# %% wrong best-keeper: assigned -> restoring-gives-away
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            model.load_state_dict(self._kept, assign=True)


# %% wrong best-keeper: the kept tensors as data -> restoring-gives-away
import copy
import math

class BestKeeper:

    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = (math.inf, False)
        self._kept, self._waited = (None, 0)

    def see(self, model, loss):
        better = loss < self.best
        if better:
            self.best, self._kept = (loss, copy.deepcopy(model.state_dict()))
        self._waited = 0 if better else self._waited + 1
        self.stop = self._waited > self.patience
        return better

    def restore(self, model):
        if self._kept is not None:
            for name, one in model.state_dict(keep_vars=True).items():
                one.data = self._kept[name]


# %% wrong best-keeper: kept as lists -> weights-are-floats
import copy
import math


class BestKeeper:
    def __init__(self, patience):
        self.patience = patience
        self.best, self.stop = math.inf, False
        self.since, self.kept = 0, None

    def see(self, model, loss):
        new = loss < self.best
        self.since = 0 if new else self.since + 1
        if new:
            self.best = loss
            state = model.state_dict()
            self.kept = {name: torch.tensor(value.cpu().tolist()) for name, value in state.items()}
        self.stop = self.since > self.patience
        return new

    def restore(self, model):
        if self.kept is not None:
            model.load_state_dict(self.kept)


# %% right layer-sizes: to the meta device
def layer_sizes(path):
    held = torch.load(path, map_location="meta")
    if "model" in held and not torch.is_tensor(held["model"]):
        held = held["model"]
    found = []
    for key in held:
        *module, last = key.split(".")
        if last != "weight":
            continue
        kind = {2: "linear", 4: "conv"}.get(held[key].ndim)
        if kind:
            out, into = held[key].size()[:2]
            found.append((".".join(module), kind, into, out))
    return found


# %% right layer-sizes: lists and a function for the device
def layer_sizes(path):
    with open(path, "rb") as file:
        loaded = torch.load(file, map_location=lambda storage, place: storage, weights_only=True)
    inner = loaded.get("model", None)
    if inner is not None and hasattr(inner, "keys"):
        loaded = inner
    layers = []
    for key, weight in loaded.items():
        if key != "weight" and not key.endswith(".weight"):
            continue
        if weight.dim() == 4:
            outputs, inputs, _, _ = weight.shape
            layers.append([key[:-6].rstrip("."), "conv", inputs, outputs])
        elif weight.dim() == 2:
            outputs, inputs = weight.shape
            layers.append([key[:-6].rstrip("."), "linear", inputs, outputs])
    return layers


# %% right layer-sizes: mapped into memory
def layer_sizes(path):
    state = torch.load(path, map_location=torch.device('cpu'), mmap=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if last == 'weight' and value.dim() in (2, 4):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: in, out -> inputs-come-first
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if last == 'weight' and value.dim() in (2, 4):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[0], value.shape[1]))
    return layers


# %% wrong layer-sizes: no map_location -> a-file-has-no-device
def layer_sizes(path):
    state = torch.load(path, weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if last == 'weight' and value.dim() in (2, 4):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: weights_only=False -> a-file-of-weights-is-harmless
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=False)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if last == 'weight' and value.dim() in (2, 4):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: sorted -> keys-sort-as-layers
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in sorted(state.items(), key=lambda item: item[0]):
        layer, _, last = name.rpartition('.')
        if last == 'weight' and value.dim() in (2, 4):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: endswith -> an-ending-is-a-name
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if name.endswith('weight') and value.dim() in (2, 4):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: the first part -> a-name-is-its-first-part
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, last = (name.split('.')[0], name.split('.')[-1])
        if last == 'weight' and value.dim() in (2, 4):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: rsplit -> every-module-has-a-name
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, last = (name.rsplit('.', 1)[0], name.split('.')[-1])
        if last == 'weight' and value.dim() in (2, 4):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: any matrix -> a-matrix-is-a-layer
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if value.dim() in (2, 4):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: only with a bias -> a-layer-has-a-bias
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if last == 'weight' and name[:-6] + 'bias' in state and (value.dim() in (2, 4)):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: norms too -> every-weight-is-a-layer
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if last == 'weight' and value.dim() in (1, 2, 4):
            kind = 'linear' if value.dim() < 4 else 'conv'
            layers.append((layer, kind, value.shape[1 if value.dim() == 4 else -1], value.shape[0]))
    return layers


# %% wrong layer-sizes: each storage once -> tied-layers-are-one
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers, seen = ([], set())
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if last == 'weight' and value.dim() in (2, 4) and (value.data_ptr() not in seen):
            seen.add(value.data_ptr())
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: with the kernel -> a-kernel-comes-last
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if last == 'weight' and value.dim() in (2, 4):
            kind = 'linear' if value.dim() == 2 else 'conv'
            layers.append((layer, kind, value[0].numel(), value.shape[0]))
    return layers


# %% wrong layer-sizes: no kinds -> every-weight-is-linear
def layer_sizes(path):
    state = torch.load(path, map_location='cpu', weights_only=True)
    if isinstance(state.get('model'), dict):
        state = state['model']
    layers = []
    for name, value in state.items():
        layer, _, last = name.rpartition('.')
        if last == 'weight' and value.dim() in (2, 4):
            kind = 'linear'
            layers.append((layer, kind, value.shape[1], value.shape[0]))
    return layers


# %% wrong layer-sizes: up to the first weight -> weight-comes-once
def layer_sizes(path):
    state = torch.load(path, map_location="cpu", weights_only=True)
    if isinstance(state.get("model"), dict):
        state = state["model"]
    kinds = {2: "linear", 4: "conv"}
    return [
        ("" if name == "weight" else name.split(".weight")[0], kinds[tensor.dim()],
         tensor.shape[1], tensor.shape[0])
        for name, tensor in state.items()
        if name.split(".")[-1] == "weight" and tensor.dim() in kinds
    ]


# %% wrong layer-sizes: any number of dimensions -> every-kernel-has-two-dimensions
def layer_sizes(path):
    layers = []
    for key, tensor in torch.load(path, map_location="cpu", weights_only=True).items():
        name, _, last = key.rpartition(".")
        if last == "weight" and tensor.dim() > 1:
            outputs, inputs = tensor.shape[:2]
            layers.append((name, "linear" if tensor.dim() == 2 else "conv", inputs, outputs))
    return layers


# %% right plain: tests in another order
import dataclasses
import enum
import pathlib

import numpy


def plain(value):
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, enum.Enum):
        raise TypeError(value)
    if isinstance(value, numpy.ndarray):
        return torch.tensor(numpy.ascontiguousarray(value)).reshape(value.shape)
    if isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, pathlib.PurePath):
        value = str(value)
    if value is None or type(value) in (bool, int, float, str, torch.dtype, torch.device):
        return value
    if isinstance(value, dict):
        return dict(zip(map(plain, value), map(plain, value.values())))
    if isinstance(value, (set, frozenset)):
        return set(map(plain, value))
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, list):
        return list(map(plain, value))
    if hasattr(type(value), "__dataclass_fields__"):
        names = [one.name for one in dataclasses.fields(value)]
        return dict(zip(names, [plain(getattr(value, name)) for name in names]))
    raise TypeError(type(value))


# %% right plain: with match
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath

import numpy as np


def plain(value):
    match value:
        case torch.Tensor():
            return value
        case Enum():
            raise TypeError("a member of an enum")
        case np.generic():
            return value.tolist()
        case np.ndarray():
            return torch.as_tensor(np.array(value, order="C", copy=True))
        case None | bool() | torch.dtype() | torch.device():
            return value
        case int() | float() | str() if type(value) in (int, float, str):
            return value
        case PurePath():
            return value.as_posix()
        case dict():
            return {plain(k): plain(v) for k, v in value.items()}
        case list():
            return [plain(v) for v in value]
        case tuple():
            return tuple([plain(v) for v in value])
        case set() | frozenset():
            return {plain(v) for v in value}
        case type():
            raise TypeError("a class")
        case _ if is_dataclass(value):
            return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    raise TypeError(repr(type(value)))


# %% right plain: a table of functions
import dataclasses
import enum
from pathlib import PurePath

import numpy as np

_SAME = (bool, int, float, str, torch.dtype, torch.device, type(None))
_MADE = [
    (np.generic, lambda v: v.item()),
    (torch.Tensor, lambda v: v),
    (np.ndarray, lambda v: torch.from_numpy(np.array(v))),
    (PurePath, str),
    (dict, lambda v: {plain(k): plain(one) for k, one in v.items()}),
    (list, lambda v: [plain(one) for one in v]),
    (tuple, lambda v: tuple(plain(one) for one in v)),
    ((set, frozenset), lambda v: {plain(one) for one in v}),
]


def plain(value):
    if type(value) in _SAME:
        return value
    if isinstance(value, enum.Enum):
        raise TypeError("no plain form")
    for classes, made in _MADE:
        if isinstance(value, classes):
            return made(value)
    if isinstance(value, type) or not dataclasses.is_dataclass(value):
        raise TypeError(f"no plain form: {value!r}")
    return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}


# %% wrong plain: isinstance -> a-numpy-float-is-a-float
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or isinstance(value, kept) or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            return make((plain(one) for one in value))
    raise TypeError(f'{type(value).__name__} has no plain form')


# %% wrong plain: clones -> plain-tensors-are-copies
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or type(value) in kept:
        return value
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            return make((plain(one) for one in value))
    raise TypeError(f'{type(value).__name__} has no plain form')


# %% wrong plain: lists -> arrays-become-lists
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or type(value) in kept or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            return make((plain(one) for one in value))
    raise TypeError(f'{type(value).__name__} has no plain form')


# %% wrong plain: left as it is -> what-is-unknown-passes
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or type(value) in kept or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            return make((plain(one) for one in value))
    return value


# %% wrong plain: str -> everything-has-a-text
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or type(value) in kept or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            return make((plain(one) for one in value))
    return str(value)


# %% wrong plain: one element -> no-dimension-is-a-number
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or type(value) in kept or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy()) if value.ndim else value.item()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            return make((plain(one) for one in value))
    raise TypeError(f'{type(value).__name__} has no plain form')


# %% wrong plain: float32 -> arrays-hold-floats
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or type(value) in kept or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy()).float()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            return make((plain(one) for one in value))
    raise TypeError(f'{type(value).__name__} has no plain form')


# %% wrong plain: the values of the first dict -> the-first-level-is-enough
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or type(value) in kept or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): one for key, one in value.items()}
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            return make(value)
    raise TypeError(f'{type(value).__name__} has no plain form')


# %% wrong plain: asdict -> asdict-keeps-tensors
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or type(value) in kept or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return plain(dataclasses.asdict(value))
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            return make((plain(one) for one in value))
    raise TypeError(f'{type(value).__name__} has no plain form')


# %% wrong plain: subclasses of dict -> subclasses-load-as-well
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or type(value) in kept or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        found = type(value)() if type(value).__name__ != 'defaultdict' else value.copy()
        found.update({plain(key): plain(one) for key, one in value.items()})
        return found
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            return make((plain(one) for one in value))
    raise TypeError(f'{type(value).__name__} has no plain form')


# %% wrong plain: named tuples stay -> a-named-tuple-loads-like-a-tuple
import dataclasses
from pathlib import PurePath
import numpy as np

def plain(value):
    kept = (bool, int, float, str, torch.dtype, torch.device)
    if value is None or type(value) in kept or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and (not isinstance(value, type)):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    for classes, make in ((list, list), (tuple, tuple), ((set, frozenset), set)):
        if isinstance(value, classes):
            if hasattr(value, '_fields'):
                return type(value)(*map(plain, value))
            return make((plain(one) for one in value))
    raise TypeError(f'{type(value).__name__} has no plain form')


# %% wrong plain: vars -> attributes-are-fields
import dataclasses
import enum
from pathlib import PurePath

import numpy as np


def plain(value):
    if isinstance(value, (enum.Enum, type)):
        raise TypeError(type(value))
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, (torch.Tensor, torch.dtype, torch.device)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, tuple):
        return tuple(plain(inner) for inner in value)
    if isinstance(value, (set, frozenset)):
        return {plain(inner) for inner in value}
    if dataclasses.is_dataclass(value):
        return plain(vars(value))
    raise TypeError(type(value))


# %% wrong plain: isinstance, NumPy first -> a-subclass-of-int-is-an-int
import dataclasses
from pathlib import PurePath

import numpy as np


def plain(value):
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str, torch.Tensor)):
        return value
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(held) for key, held in value.items()}
    if isinstance(value, list):
        return [plain(held) for held in value]
    if isinstance(value, tuple):
        return tuple(plain(held) for held in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} isn't plain")


# %% wrong plain: keys as they are -> keys-are-plain
import dataclasses
from pathlib import PurePath

import numpy as np


def plain(value):
    if value is None or type(value) in (bool, int, float, str) or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {key: plain(held) for key, held in value.items()}
    if isinstance(value, list):
        return [plain(held) for held in value]
    if isinstance(value, tuple):
        return tuple(plain(held) for held in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} isn't plain")


# %% right named-in: a list, then a set
import pickletools
import zipfile


def named_in(path):
    archive = zipfile.ZipFile(path)
    data = [archive.read(n) for n in archive.namelist() if n.split("/")[-1] == "data.pkl"][0]
    archive.close()
    steps = [(op.name, arg) for op, arg, position in pickletools.genops(data)]
    if any(name in ("STACK_GLOBAL", "INST") for name, _ in steps):
        raise ValueError("there are imports that this function doesn't read")
    return sorted({".".join(arg.split()) for name, arg in steps if name == "GLOBAL"})


# %% right named-in: with match
import pickletools
from zipfile import ZipFile


def named_in(path):
    with ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        instructions = list(pickletools.genops(archive.read(name)))
    found = []
    for code, arg, _ in instructions:
        match code.name:
            case "GLOBAL":
                module, name = arg.split(" ")
                if f"{module}.{name}" not in found:
                    found.append(f"{module}.{name}")
            case "INST" | "STACK_GLOBAL":
                raise ValueError(code.name)
    found.sort()
    return found


# %% right named-in: by letters
import pickletools as tools
import zipfile as zips


def _pickle(path):
    archive = zips.ZipFile(path)
    for entry in archive.infolist():
        if entry.filename.endswith("/data.pkl"):
            return archive.read(entry)


def named_in(path):
    names = {}
    for code, value, _ in tools.genops(_pickle(path)):
        if code.code in ("\x93", "i"):
            raise ValueError
        if code.code == "c":
            names[value.replace(" ", ".")] = True
    return sorted(names)


# %% wrong named-in: loads it and looks -> reading-a-pickle-is-harmless
import io
import pickle
import zipfile


class Listing(pickle.Unpickler):
    def persistent_load(self, number):
        return torch.FloatStorage()

    def find_class(self, module, name):
        self.found.add(f"{module}.{name}")
        return super().find_class(module, name)


def named_in(path):
    with zipfile.ZipFile(path) as archive:
        entry = [name for name in archive.namelist() if name.endswith("/data.pkl")][0]
        reader = Listing(io.BytesIO(archive.read(entry)))
    reader.found = set()
    try:
        reader.load()
    except Exception:
        pass
    return sorted(reader.found)


# %% wrong named-in: searches the bytes -> a-text-is-an-import
import re
import zipfile


def named_in(path):
    with zipfile.ZipFile(path) as archive:
        data = [archive.read(n) for n in archive.namelist() if n.endswith("/data.pkl")][0]
    found = re.findall(rb"c([\w.]+)\n([\w.]+)\n", data)
    found += re.findall(rb"\b(os|builtins|posix)\W+(system|exec|mkdir)\b", data)
    return sorted({b".".join(pair).decode() for pair in found})


# %% wrong named-in: GLOBAL only -> imports-are-global
import pickletools
import zipfile


def named_in(path):
    with zipfile.ZipFile(path) as archive:
        data = next(archive.read(n) for n in archive.namelist() if n.endswith("/data.pkl"))
    found = set()
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            found.add(argument.replace(" ", "."))
    return sorted(found)


# %% wrong named-in: no INST -> only-objects-of-old-have-inst
import pickletools
import zipfile


def named_in(path):
    with zipfile.ZipFile(path) as archive:
        data = next(archive.read(n) for n in archive.namelist() if n.endswith("/data.pkl"))
    found = set()
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "STACK_GLOBAL":
            raise ValueError(opcode.name)
        if opcode.name == "GLOBAL":
            found.add(argument.replace(" ", "."))
    return sorted(found)


# %% wrong named-in: only what is called -> an-import-that-is-not-called-is-none
import pickletools
import zipfile


def named_in(path):
    with zipfile.ZipFile(path) as archive:
        data = next(archive.read(n) for n in archive.namelist() if n.endswith("/data.pkl"))
    found, last = set(), None
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in ("STACK_GLOBAL", "INST"):
            raise ValueError(opcode.name)
        if opcode.name == "GLOBAL":
            last = argument.replace(" ", ".")
        elif opcode.name == "REDUCE" and last:
            found.add(last)
            last = None
    return sorted(found)


# %% wrong named-in: only what torch would refuse -> safe-imports-are-none
import pickletools
import zipfile


def named_in(path):
    with zipfile.ZipFile(path) as archive:
        data = next(archive.read(n) for n in archive.namelist() if n.endswith("/data.pkl"))
    found = set()
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in ("STACK_GLOBAL", "INST"):
            raise ValueError(opcode.name)
        if opcode.name == "GLOBAL" and not argument.startswith(("torch", "collections")):
            found.add(argument.replace(" ", "."))
    return sorted(found)


# %% wrong named-in: in the file's order -> imports-come-sorted
import pickletools
import zipfile


def named_in(path):
    with zipfile.ZipFile(path) as archive:
        data = next(archive.read(n) for n in archive.namelist() if n.endswith("/data.pkl"))
    found = {}
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in ("STACK_GLOBAL", "INST"):
            raise ValueError(opcode.name)
        if opcode.name == "GLOBAL":
            found[argument.replace(" ", ".")] = None
    return list(found)


# %% wrong named-in: archive/data.pkl -> the-folder-is-called-archive
import pickletools
import zipfile


def named_in(path):
    with zipfile.ZipFile(path) as archive:
        data = archive.read("archive/data.pkl")
    found = set()
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in ("STACK_GLOBAL", "INST"):
            raise ValueError(opcode.name)
        if opcode.name == "GLOBAL":
            found.add(argument.replace(" ", "."))
    return sorted(found)


# %% wrong named-in: torch's own reader -> imports-are-global
import io
import zipfile

from torch._weights_only_unpickler import get_globals_in_pkl


def named_in(path):
    with zipfile.ZipFile(path) as archive:
        data = next(archive.read(n) for n in archive.namelist() if n.endswith("/data.pkl"))
    return sorted(get_globals_in_pkl(io.BytesIO(data)))


# %% wrong named-in: the first entry of the zip -> the-pickle-comes-first
import pickletools
import zipfile


def named_in(path):
    """What the pickle of a checkpoint would import: a sorted list of "module.name"."""
    archive = zipfile.ZipFile(path)
    data = archive.read(archive.namelist()[0])
    archive.close()
    names = set()
    for opcode, argument, position in pickletools.genops(data):
        if opcode.name in ("STACK_GLOBAL", "INST"):
            raise ValueError(f"{opcode.name} at {position}")
        if opcode.name == "GLOBAL":
            names.add(argument.replace(" ", "."))
    return sorted(names)


# %% wrong named-in: unpickles with a find_class that notes names -> reading-a-pickle-is-harmless
import io
import pickle
import pickletools
import zipfile


class Nothing(dict):
    def __init__(self, *given, **named):
        pass

    def __setstate__(self, state):
        pass


def named_in(path):
    """What the pickle of a checkpoint would import: a sorted list of "module.name"."""
    with zipfile.ZipFile(path) as archive:
        entry = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        data = archive.read(entry)
    if {"STACK_GLOBAL", "INST"} & {opcode.name for opcode, _, _ in pickletools.genops(data)}:
        raise ValueError("there are imports without GLOBAL")
    names = set()

    class Recorder(pickle.Unpickler):
        def find_class(self, module, name):
            names.add(f"{module}.{name}")
            return Nothing

        def persistent_load(self, key):
            return None

    Recorder(io.BytesIO(data)).load()
    return sorted(names)


# %% wrong named-in: sorted with spaces -> modules-come-before-names
import pickletools
import zipfile


def named_in(path):
    with zipfile.ZipFile(path) as archive:
        [entry] = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        data = archive.read(entry)
    pairs = set()
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in ("STACK_GLOBAL", "INST"):
            raise ValueError(f"can't tell what {opcode.name} imports")
        if opcode.name == "GLOBAL":
            pairs.add(tuple(argument.split(" ")))
    return [f"{module}.{name}" for module, name in sorted(pairs)]


# %% wrong named-in: searches what dis prints -> a-text-is-an-import
import io
import pickletools
import zipfile


def named_in(path):
    archive = zipfile.ZipFile(path)
    entry = [name for name in archive.namelist() if name.endswith("/data.pkl")][0]
    printed = io.StringIO()
    pickletools.dis(archive.read(entry), out=printed)
    found = set()
    for line in printed.getvalue().splitlines():
        if "STACK_GLOBAL" in line or "INST" in line:
            raise ValueError("more imports than GLOBAL tells")
        if "GLOBAL" in line:
            found.add(line.split("'")[1].replace(" ", "."))
    return sorted(found)


# %% right migrate: cases in another order
def migrate(checkpoint):
    if "state_dict" in checkpoint:
        new = {key: value for key, value in checkpoint.items() if key != "state_dict"}
        new["model"] = renamed(checkpoint["state_dict"])
    elif "version" in checkpoint:
        return dict(checkpoint)
    else:
        new = {"model": renamed(checkpoint)}
    new["version"] = 3
    return new


def renamed(state):
    prefix = "module."
    if not all(name[:7] == prefix for name in state):
        return dict(state)
    return {name[len(prefix):]: tensor for name, tensor in state.items()}


# %% right migrate: a loop over the entries
from collections import OrderedDict


def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    wrapped = "state_dict" in checkpoint
    state = checkpoint["state_dict"] if wrapped else checkpoint
    found = OrderedDict()
    parallel = {key.split(".")[0] for key in state} == {"module"}
    for key, tensor in state.items():
        found[key.split(".", 1)[1] if parallel else key] = tensor
    result = OrderedDict(version=3, model=found)
    if wrapped:
        result.update((k, v) for k, v in checkpoint.items() if k != "state_dict")
    return result


# %% right migrate: copied, then edited
import copy


def migrate(checkpoint):
    new = copy.copy(checkpoint)
    if "version" in new:
        return new
    if "state_dict" not in new:
        new = {"state_dict": new}
    state = dict(new.pop("state_dict"))
    if len([key for key in state if key.startswith("module.")]) == len(state):
        for key in list(state):
            state[key[7:]] = state.pop(key)
    return {"version": 3, "model": state} | new


# %% wrong migrate: wherever it is -> module-is-always-dataparallel
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    rest = dict(checkpoint)
    state = rest.pop("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if any(key.startswith("module.") for key in state):
        state = {key.removeprefix("module."): value for key, value in state.items()}
    return {**rest, "version": 3, "model": state}


# %% wrong migrate: clones -> another-key-needs-another-tensor
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    rest = dict(checkpoint)
    state = rest.pop("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if all(key.startswith("module.") for key in state):
        state = {key.removeprefix("module."): value.clone() for key, value in state.items()}
    return {**rest, "version": 3, "model": state}


# %% wrong migrate: the first key -> the-first-key-speaks-for-all
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    rest = dict(checkpoint)
    state = rest.pop("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if next(iter(state)).startswith("module."):
        state = {key.removeprefix("module."): value for key, value in state.items()}
    return {**rest, "version": 3, "model": state}


# %% wrong migrate: replace -> replace-works-at-the-start-only
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    rest = dict(checkpoint)
    state = rest.pop("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if all(key.startswith("module.") for key in state):
        state = {key.replace("module.", ""): value for key, value in state.items()}
    return {**rest, "version": 3, "model": state}


# %% wrong migrate: lstrip -> lstrip-takes-a-word-off
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    rest = dict(checkpoint)
    state = rest.pop("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if all(key.startswith("module.") for key in state):
        state = {key.lstrip("module."): value for key, value in state.items()}
    return {**rest, "version": 3, "model": state}


# %% wrong migrate: while it's there -> a-prefix-comes-once
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    rest = dict(checkpoint)
    state = rest.pop("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if all(key.startswith("module.") for key in state):
        while all(key.startswith("module.") for key in state):
            state = {key.removeprefix("module."): value for key, value in state.items()}
    return {**rest, "version": 3, "model": state}


# %% wrong migrate: the third age too -> what-is-new-is-migrated-too
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return migrate({"state_dict" if k == "model" else k: v for k, v in checkpoint.items() if k != "version"})
    rest = dict(checkpoint)
    state = rest.pop("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if all(key.startswith("module.") for key in state):
        state = {key.removeprefix("module."): value for key, value in state.items()}
    return {**rest, "version": 3, "model": state}


# %% wrong migrate: weights only -> the-model-is-the-checkpoint
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    rest = dict(checkpoint)
    state = rest.pop("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if all(key.startswith("module.") for key in state):
        state = {key.removeprefix("module."): value for key, value in state.items()}
    return {"version": 3, "model": state}


# %% wrong migrate: the old entry as well -> a-new-name-is-enough
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    rest = dict(checkpoint)
    state = rest.get("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if all(key.startswith("module.") for key in state):
        state = {key.removeprefix("module."): value for key, value in state.items()}
    return {**rest, "version": 3, "model": state}


# %% wrong migrate: detached -> another-key-needs-another-tensor
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    rest = dict(checkpoint)
    state = rest.pop("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if all(key.startswith("module.") for key in state):
        state = {key.removeprefix("module."): value.detach() for key, value in state.items()}
    return {**rest, "version": 3, "model": state}


# %% wrong migrate: all dicts in it -> a-prefix-is-one-everywhere
def migrate(checkpoint):
    if checkpoint.get("version") == 3:
        return checkpoint
    rest = dict(checkpoint)
    state = rest.pop("state_dict", None)
    if state is None:
        state, rest = checkpoint, {}
    if all(key.startswith("module.") for key in state):
        state = {key.removeprefix("module."): value for key, value in state.items()}
    rest = {k: {j.removeprefix("module."): w for j, w in v.items()} if isinstance(v, dict) else v for k, v in rest.items()}
    return {**rest, "version": 3, "model": state}


# %% same resume-run: torch's state doesn't depend on Python's
import random
from os.path import exists

import numpy as np


class RunFile:
    """One file from which a run goes on as if nothing had happened."""

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = path, parts, generators

    def save(self, step):
        """Write the run's state after this many steps, over an older file."""
        parts = {key: part.state_dict() for key, part in self.parts.items()}
        own = [generator.get_state() for generator in self.generators]
        name, numbers, *rest = np.random.get_state()
        shared = torch.get_rng_state(), random.getstate(), (name, numbers.tolist(), *rest)
        torch.save({"step": step, "parts": parts, "own": own, "shared": shared}, self.path)

    def resume(self):
        """Put the file's state into the run; returns its step, or 0 without a file."""
        if not exists(self.path):
            return 0
        states = torch.load(self.path)
        for key, part in self.parts.items():
            part.load_state_dict(states["parts"][key])
        for generator, state in zip(self.generators, states["own"], strict=True):
            generator.set_state(state)
        of_torch, of_python, of_numpy = states["shared"]
        random.setstate(of_python)
        torch.set_rng_state(of_torch)
        np.random.set_state(of_numpy)
        return states["step"]


# %% same resume-run: Python's state doesn't depend on NumPy's
import random
from os.path import exists

import numpy as np


class RunFile:
    """One file from which a run goes on as if nothing had happened."""

    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = path, parts, generators

    def save(self, step):
        """Write the run's state after this many steps, over an older file."""
        parts = {key: part.state_dict() for key, part in self.parts.items()}
        own = [generator.get_state() for generator in self.generators]
        name, numbers, *rest = np.random.get_state()
        shared = torch.get_rng_state(), random.getstate(), (name, numbers.tolist(), *rest)
        torch.save({"step": step, "parts": parts, "own": own, "shared": shared}, self.path)

    def resume(self):
        """Put the file's state into the run; returns its step, or 0 without a file."""
        if not exists(self.path):
            return 0
        states = torch.load(self.path)
        for key, part in self.parts.items():
            part.load_state_dict(states["parts"][key])
        for generator, state in zip(self.generators, states["own"], strict=True):
            generator.set_state(state)
        of_torch, of_python, of_numpy = states["shared"]
        torch.set_rng_state(of_torch)
        np.random.set_state(of_numpy)
        random.setstate(of_python)
        return states["step"]


# %% same plain: both keep dtype and values
import dataclasses
from pathlib import PurePath

import numpy as np


def plain(value):
    """The same, made of what `torch.load` takes with weights_only=True."""
    if value is None or type(value) in (bool, int, float, str) or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.tensor(value)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    for kind in (list, tuple):
        if isinstance(value, kind):
            return kind(plain(one) for one in value)
    raise TypeError(f"{type(value).__name__} has no plain form")


# %% wrong named-in: searches whole words of what dis prints -> a-text-is-an-import
import io
import pickletools
import zipfile


def named_in(path):
    """What the pickle of a checkpoint would import: a sorted list of "module.name"."""
    archive = zipfile.ZipFile(path)
    name = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
    printed = io.StringIO()
    pickletools.dis(archive.read(name), printed)
    found = set()
    for line in printed.getvalue().splitlines():
        if " STACK_GLOBAL" in line or " INST " in line:
            raise ValueError(line)
        if " GLOBAL " in line:
            found.add(line.split("'")[1].replace(" ", "."))
    return sorted(found)


# %% wrong resume-run: parts and notes in one dict -> a-file-has-room-for-any-name
import random
from os.path import exists

import numpy as np


class RunFile:
    def __init__(self, path, parts, generators):
        self.path, self.parts, self.generators = path, parts, generators

    def save(self, step):
        name, array, *rest = np.random.get_state()
        saved = {key: part.state_dict() for key, part in self.parts.items()}
        saved["step"] = step
        saved["generators"] = [generator.get_state() for generator in self.generators]
        saved["torch"] = torch.get_rng_state()
        saved["random"] = random.getstate()
        saved["numpy"] = (name, array.tolist(), *rest)
        torch.save(saved, self.path)

    def resume(self):
        if not exists(self.path):
            return 0
        saved = torch.load(self.path, weights_only=True)
        for key, part in self.parts.items():
            part.load_state_dict(saved[key])
        for generator, state in zip(self.generators, saved["generators"]):
            generator.set_state(state)
        torch.set_rng_state(saved["torch"])
        random.setstate(saved["random"])
        np.random.set_state(saved["numpy"])
        return saved["step"]
