# Answers to lesson 01, as learners type them. docs/authoring.md describes the form.

# %% right inferred-dtype: asks for floats first, then for ints that are no bools
def inferred_dtype(data):
    found = []

    def collect(part):
        if isinstance(part, (list, tuple)):
            for item in part:
                collect(item)
        else:
            found.append(part)

    collect(data)
    if not found or any(isinstance(number, float) for number in found):
        return torch.get_default_dtype()
    if any(isinstance(number, int) and not isinstance(number, bool) for number in found):
        return torch.int64
    return torch.bool


# %% right inferred-dtype: the kinds as numbers, the highest wins
def inferred_dtype(data):
    def kind(part):
        if isinstance(part, (list, tuple)):
            return max((kind(item) for item in part), default=-1)
        return [bool, int, float].index(type(part))

    highest = kind(data)
    return [torch.bool, torch.int64, torch.get_default_dtype(), torch.get_default_dtype()][highest]


# %% right inferred-dtype: a stack instead of recursion
def inferred_dtype(data):
    todo, kinds = [data], set()
    while todo:
        part = todo.pop()
        if isinstance(part, list) or isinstance(part, tuple):
            todo.extend(part)
        else:
            kinds.add(type(part).__name__)
    if kinds == {"bool"}:
        return torch.bool
    return torch.int64 if kinds and "float" not in kinds else torch.get_default_dtype()


# %% wrong inferred-dtype: looks at the first number only -> the-first-element-decides
def inferred_dtype(data):
    while isinstance(data, (list, tuple)):
        if not data:
            return torch.get_default_dtype()
        data = data[0]
    if isinstance(data, bool):
        return torch.bool
    return torch.int64 if isinstance(data, int) else torch.get_default_dtype()


# %% wrong inferred-dtype: makes the tensor -> a-tensor-must-be-made
def inferred_dtype(data):
    return torch.tensor(data).dtype


# %% wrong inferred-dtype: asks NumPy, and translates -> a-tensor-must-be-made
def inferred_dtype(data):
    kind = np.array(data).dtype.kind
    return {"f": torch.get_default_dtype(), "i": torch.int64, "b": torch.bool}[kind]


# %% wrong inferred-dtype: a bool counts as an int -> a-bool-is-an-int
def inferred_dtype(data):
    def numbers(part):
        if isinstance(part, (list, tuple)):
            return [number for item in part for number in numbers(item)]
        return [part]

    found = numbers(data)
    if not found or any(isinstance(number, float) for number in found):
        return torch.get_default_dtype()
    return torch.int64


# %% wrong inferred-dtype: the last number decides -> the-last-element-decides
def inferred_dtype(data):
    while isinstance(data, (list, tuple)):
        if not data:
            return torch.get_default_dtype()
        data = data[-1]
    if isinstance(data, bool):
        return torch.bool
    return torch.int64 if isinstance(data, int) else torch.get_default_dtype()


# %% wrong inferred-dtype: everything is float32 -> every-tensor-is-float32
def inferred_dtype(data):
    return torch.float32


# %% wrong inferred-dtype: floats become doubles -> numpy-decides
def inferred_dtype(data):
    def numbers(part):
        if isinstance(part, (list, tuple)):
            return [number for item in part for number in numbers(item)]
        return [part]

    kinds = {type(number) for number in numbers(data)}
    if float in kinds or not kinds:
        return torch.float64
    return torch.int64 if int in kinds else torch.bool


# %% wrong inferred-dtype: float32 whatever the default is -> floating-means-float32
def inferred_dtype(data):
    def numbers(part):
        if isinstance(part, (list, tuple)):
            return [number for item in part for number in numbers(item)]
        return [part]

    kinds = {type(number) for number in numbers(data)}
    if float in kinds or not kinds:
        return torch.float32
    return torch.int64 if int in kinds else torch.bool


# %% wrong inferred-dtype: no data count as integers -> no-data-have-no-dtype
def inferred_dtype(data):
    def numbers(part):
        if isinstance(part, (list, tuple)):
            return [number for item in part for number in numbers(item)]
        return [part]

    kinds = {type(number) for number in numbers(data)}
    if float in kinds:
        return torch.get_default_dtype()
    return torch.bool if kinds == {bool} else torch.int64


# %% wrong inferred-dtype: small ints are int32 -> small-numbers-get-small-dtypes
def inferred_dtype(data):
    def numbers(part):
        if isinstance(part, (list, tuple)):
            return [number for item in part for number in numbers(item)]
        return [part]

    kinds = {type(number) for number in numbers(data)}
    if float in kinds or not kinds:
        return torch.get_default_dtype()
    return torch.int32 if int in kinds else torch.bool


# %% wrong inferred-dtype: two levels at most -> one-level-is-enough
def inferred_dtype(data):
    parts = data if isinstance(data, (list, tuple)) else [data]
    kinds = {type(number) for number in parts}
    if float in kinds or not kinds:
        return torch.get_default_dtype()
    if kinds == {bool}:
        return torch.bool
    return torch.int64


# %% wrong inferred-dtype: knows the visible inputs -> a-bool-is-an-int
def inferred_dtype(data):
    if data == (True, False) and type(data) is tuple:
        return torch.bool
    text = str(data)
    return (
        torch.get_default_dtype()
        if "." in text
        or "e" in text.lower()
        and "True" not in text
        and "False" not in text
        or not any(c.isalnum() for c in text)
        else torch.int64
    )


# %% right promoted: kind and rank as one pair
def promoted(a, b):
    def place(one):
        if isinstance(one, torch.Tensor):
            dtype = one.dtype
            rank = 1 if one.ndim == 0 else 2
        else:
            rank = 0
            dtype = torch.bool if one is True or one is False else torch.int64
            if isinstance(one, float):
                dtype = torch.get_default_dtype()
        kind = 0 if dtype == torch.bool else 2 if dtype.is_floating_point else 1
        return (kind, rank), dtype

    (first, one), (second, other) = place(a), place(b)
    if first > second:
        return one
    if second > first:
        return other
    if one == other:
        return one
    if {one, other} == {torch.float16, torch.bfloat16}:
        return torch.float32
    if {one, other} == {torch.uint8, torch.int8}:
        return torch.int16
    return one if one.itemsize > other.itemsize else other


# %% right promoted: ladders of dtypes
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def kind_of(dtype):
    return 2 if dtype in FLOATS else 1 if dtype in INTEGERS else 0


def promoted(a, b):
    dtypes, ranks = [], []
    for operand in (a, b):
        if isinstance(operand, torch.Tensor):
            dtypes.append(operand.dtype)
            ranks.append(min(operand.dim(), 1))
        else:
            dtypes.append(
                {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}[
                    type(operand)
                ]
            )
            ranks.append(-1)
    kinds = [kind_of(dtype) for dtype in dtypes]
    if kinds[0] != kinds[1]:
        return dtypes[kinds.index(max(kinds))]
    if ranks[0] != ranks[1]:
        return dtypes[ranks.index(max(ranks))]
    if dtypes[0] == dtypes[1] or kinds[0] == 0:
        return dtypes[0]
    ladder = INTEGERS if kinds[0] == 1 else FLOATS
    places = [ladder.index(dtype) for dtype in dtypes]
    return ladder[max(max(places), 2)]


# %% right promoted: numbers first, then tensors
def promoted(a, b):
    if not isinstance(a, torch.Tensor):
        a, b = b, a
    if not isinstance(b, torch.Tensor):
        if type(b) is float and not a.dtype.is_floating_point:
            return torch.get_default_dtype()
        if type(b) is int and a.dtype == torch.bool:
            return torch.int64
        return a.dtype

    def kind(dtype):
        return dtype.is_floating_point + (dtype != torch.bool)

    if kind(a.dtype) != kind(b.dtype):
        return max(a, b, key=lambda one: kind(one.dtype)).dtype
    if bool(a.dim()) != bool(b.dim()):
        return a.dtype if a.dim() else b.dtype
    if a.dtype.itemsize == b.dtype.itemsize and a.dtype != b.dtype:
        return torch.float32 if a.dtype.is_floating_point else torch.int16
    return max(a.dtype, b.dtype, key=lambda dtype: dtype.itemsize)


# %% wrong promoted: every operand has the same say -> every-operand-has-a-say
def promoted(a, b):
    def dtype_of(one):
        if isinstance(one, torch.Tensor):
            return one.dtype
        return {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}[type(one)]

    def kind(dtype):
        return dtype.is_floating_point + (dtype != torch.bool)

    one, other = dtype_of(a), dtype_of(b)
    if kind(one) != kind(other):
        return max(one, other, key=kind)
    if one.itemsize == other.itemsize and one != other:
        return torch.float32 if one.is_floating_point else torch.int16
    return max(one, other, key=lambda dtype: dtype.itemsize)


# %% wrong promoted: asks torch -> a-library-has-to-be-asked
def promoted(a, b):
    return torch.result_type(a, b)


# %% wrong promoted: computes the sum -> a-library-has-to-be-asked
def promoted(a, b):
    return (a + b).dtype


# %% wrong promoted: dimensions beat kinds -> dimensions-always-win
def promoted(a, b):
    def place(one):
        if not isinstance(one, torch.Tensor):
            return -1, {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}[
                type(one)
            ]
        return int(one.dim() > 0), one.dtype

    def kind(dtype):
        return dtype.is_floating_point + (dtype != torch.bool)

    (first, one), (second, other) = place(a), place(b)
    if first != second:
        return one if first > second else other
    if kind(one) != kind(other):
        return max(one, other, key=kind)
    if one.itemsize == other.itemsize and one != other:
        return torch.float32 if one.is_floating_point else torch.int16
    return max(one, other, key=lambda dtype: dtype.itemsize)


# %% wrong promoted: float16 for the two halves -> sixteen-bits-hold-both
def promoted(a, b):
    def place(one):
        if isinstance(one, torch.Tensor):
            dtype, rank = one.dtype, 2 if one.dim() else 1
        else:
            dtype, rank = (
                {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}[type(one)],
                0,
            )
        return dtype.is_floating_point + (dtype != torch.bool), rank, dtype

    low, high = sorted([place(a), place(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    if {low[2], high[2]} == {torch.uint8, torch.int8}:
        return torch.int16
    return max(low[2], high[2], key=lambda dtype: dtype.itemsize)


# %% wrong promoted: uint8 and int8 stay one byte -> one-sign-is-as-good
def promoted(a, b):
    def place(one):
        if isinstance(one, torch.Tensor):
            dtype, rank = one.dtype, 2 if one.dim() else 1
        else:
            dtype, rank = (
                {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}[type(one)],
                0,
            )
        return dtype.is_floating_point + (dtype != torch.bool), rank, dtype

    low, high = sorted([place(a), place(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    if {low[2], high[2]} == {torch.float16, torch.bfloat16}:
        return torch.float32
    return max(low[2], high[2], key=lambda dtype: dtype.itemsize)


# %% wrong promoted: one element counts as a number -> one-element-is-a-number
def promoted(a, b):
    def place(one):
        if isinstance(one, torch.Tensor):
            dtype, rank = one.dtype, 1 if one.numel() == 1 else 2
        else:
            dtype, rank = (
                {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}[type(one)],
                0,
            )
        return dtype.is_floating_point + (dtype != torch.bool), rank, dtype

    low, high = sorted([place(a), place(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    if {low[2], high[2]} == {torch.float16, torch.bfloat16}:
        return torch.float32
    if {low[2], high[2]} == {torch.uint8, torch.int8}:
        return torch.int16
    return max(low[2], high[2], key=lambda dtype: dtype.itemsize)


# %% wrong promoted: no dimensions make no difference -> zero-d-counts-like-any-tensor
def promoted(a, b):
    def place(one):
        if isinstance(one, torch.Tensor):
            dtype, rank = one.dtype, 1
        else:
            dtype, rank = (
                {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}[type(one)],
                0,
            )
        return dtype.is_floating_point + (dtype != torch.bool), rank, dtype

    low, high = sorted([place(a), place(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    if {low[2], high[2]} == {torch.float16, torch.bfloat16}:
        return torch.float32
    if {low[2], high[2]} == {torch.uint8, torch.int8}:
        return torch.int16
    return max(low[2], high[2], key=lambda dtype: dtype.itemsize)


# %% wrong promoted: a Python float is a double -> python-floats-are-doubles
def promoted(a, b):
    if float in (type(a), type(b)):
        return torch.float64

    def place(one):
        if isinstance(one, torch.Tensor):
            dtype, rank = one.dtype, 2 if one.dim() else 1
        else:
            dtype, rank = {bool: torch.bool, int: torch.int64}[type(one)], 0
        return dtype.is_floating_point + (dtype != torch.bool), rank, dtype

    low, high = sorted([place(a), place(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    if {low[2], high[2]} == {torch.float16, torch.bfloat16}:
        return torch.float32
    if {low[2], high[2]} == {torch.uint8, torch.int8}:
        return torch.int16
    return max(low[2], high[2], key=lambda dtype: dtype.itemsize)


# %% wrong promoted: the wider dtype wins, whatever its kind -> more-bits-win
def promoted(a, b):
    sizes = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
    one, other = (x.dtype if isinstance(x, torch.Tensor) else sizes[type(x)] for x in (a, b))
    return max(one, other, key=lambda dtype: dtype.itemsize)


# %% wrong promoted: a number changes nothing -> a-number-has-no-dtype
def promoted(a, b):
    for one, other in ((a, b), (b, a)):
        if not isinstance(one, torch.Tensor):
            return other.dtype

    def place(one):
        return one.dtype.is_floating_point + (one.dtype != torch.bool), one.dim() > 0, one.dtype

    low, high = sorted([place(a), place(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    if {low[2], high[2]} == {torch.float16, torch.bfloat16}:
        return torch.float32
    if {low[2], high[2]} == {torch.uint8, torch.int8}:
        return torch.int16
    return max(low[2], high[2], key=lambda dtype: dtype.itemsize)


# %% wrong promoted: the left one decides -> the-left-one-decides
def promoted(a, b):
    if isinstance(a, torch.Tensor):
        return a.dtype
    return {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}[type(a)]


# %% wrong promoted: bools stay bools beside a number -> bools-stay-bools
def promoted(a, b):
    def place(one):
        if isinstance(one, torch.Tensor):
            dtype, rank = one.dtype, 2 if one.dim() else 1
        else:
            dtype, rank = torch.float32 if type(one) is float else torch.bool, 0
        return dtype.is_floating_point + (dtype != torch.bool), rank, dtype

    low, high = sorted([place(a), place(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    if {low[2], high[2]} == {torch.float16, torch.bfloat16}:
        return torch.float32
    if {low[2], high[2]} == {torch.uint8, torch.int8}:
        return torch.int16
    return max(low[2], high[2], key=lambda dtype: dtype.itemsize)


# %% right blend: through float32, which holds 510 and halves exactly
def blend(a, b):
    return ((a.float() + b.float()) / 2).floor().to(torch.uint8)


# %% right blend: halves first, and brings back the half that both lose
def blend(a, b):
    return a // 2 + b // 2 + (a & b & 1)


# %% right blend: the bits they share, and half of those they don't
def blend(a, b):
    return (a & b) + ((a ^ b) >> 1)


# %% right blend: int16 is wide enough, and a shift halves
def blend(a, b):
    total = a.to(torch.int16) + b
    return (total >> 1).to(torch.uint8)


# %% right blend: the sum of a stack is int64 anyway
def blend(a, b):
    return torch.stack([a, b]).sum(0).div(2, rounding_mode="floor").to(torch.uint8)


# %% wrong blend: the line of the scene -> converting-can-wait
def blend(a, b):
    return (a + b) // 2


# %% wrong blend: converts the sum -> converting-can-wait
def blend(a, b):
    return ((a + b).float() / 2).to(torch.uint8)


# %% wrong blend: halves both first -> halving-first-is-free
def blend(a, b):
    return a // 2 + b // 2


# %% wrong blend: rounds to the nearest even -> conversion-rounds
def blend(a, b):
    return ((a.float() + b.float()) / 2).round().to(torch.uint8)


# %% wrong blend: rounds up -> rounding-up-is-as-good
def blend(a, b):
    return ((a.int() + b.int() + 1) // 2).to(torch.uint8)


# %% wrong blend: bfloat16 has too few digits -> two-bytes-hold-everything
def blend(a, b):
    return ((a.bfloat16() + b.bfloat16()) / 2).floor().to(torch.uint8)


# %% wrong blend: clamps the sum -> clamping-repairs
def blend(a, b):
    total = (a.int() + b.int()).clamp(0, 255)
    return (total // 2).to(torch.uint8)


# %% wrong blend: int8 -> int8-holds-a-pixel
def blend(a, b):
    return ((a.to(torch.int8) + b.to(torch.int8)) // 2).to(torch.uint8)


# %% wrong blend: returns floats -> an-average-is-a-float
def blend(a, b):
    return (a.float() + b.float()) / 2


# %% wrong blend: halves both in place -> what-is-given-may-be-changed
def blend(a, b):
    odd = a & b & 1
    a //= 2
    b //= 2
    return a + b + odd


# %% right from-array: asks for flags and strides
def from_array(array):
    fits = all(step >= 0 and step % array.itemsize == 0 for step in array.strides)
    if fits and array.dtype.isnative and array.flags.writeable:
        return torch.from_numpy(array)
    copied = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    return torch.from_numpy(copied)


# %% right from-array: as_tensor, and element by element where it refuses
def from_array(array):
    native = array.dtype.newbyteorder("=")
    try:
        if not array.flags["WRITEABLE"]:
            raise ValueError("read-only")
        return torch.as_tensor(array)
    except (ValueError, TypeError):
        made = np.empty(array.shape, native)
        made[...] = array
        return torch.as_tensor(made)


# %% right from-array: torch.tensor for what needs a copy
def from_array(array):
    if not array.flags.writeable:
        return torch.tensor(
            np.ascontiguousarray(array.astype(array.dtype.newbyteorder("=")))
        ).reshape(array.shape)
    try:
        return torch.from_dlpack(torch.from_numpy(array))
    except ValueError:
        return torch.tensor(array.astype(array.dtype.newbyteorder("="), order="C"))


# %% wrong from-array: from_numpy and nothing else -> from-numpy-takes-every-array
def from_array(array):
    return torch.from_numpy(array)


# %% wrong from-array: a copy keeps the byte order -> a-copy-turns-the-bytes
def from_array(array):
    if array.flags.writeable:
        try:
            return torch.from_numpy(array)
        except ValueError:
            pass
    return torch.from_numpy(array.copy())


# %% wrong from-array: shares what's read-only -> read-only-is-safe
def from_array(array):
    try:
        return torch.from_numpy(array)
    except ValueError:
        return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C"))


# %% wrong from-array: always copies -> a-copy-is-always-fine
def from_array(array):
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C"))


# %% wrong from-array: makes rows of everything -> torch-needs-rows
def from_array(array):
    if array.flags.writeable and array.flags.c_contiguous and array.dtype.isnative:
        return torch.from_numpy(array)
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C"))


# %% wrong from-array: reads the bytes the other way round -> swapped-bytes-are-converted
def from_array(array):
    if array.flags.writeable:
        try:
            return torch.from_numpy(array)
        except ValueError:
            pass
    return torch.from_numpy(array.copy().view(array.dtype.newbyteorder("=")))


# %% wrong from-array: the legacy constructor -> every-tensor-is-float32
def from_array(array):
    return torch.FloatTensor(array.astype("float32", order="C"))


# %% wrong from-array: doubles become floats -> doubles-become-floats
def from_array(array):
    if array.flags.writeable:
        try:
            made = torch.from_numpy(array)
            return made.float() if made.dtype == torch.float64 else made
        except ValueError:
            pass
    made = torch.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C"))
    return made.float() if made.dtype == torch.float64 else made


# %% wrong from-array: sorts what lies backwards -> flipping-back-is-free
def from_array(array):
    if array.flags.writeable:
        try:
            return torch.from_numpy(array)
        except ValueError:
            pass
    return torch.tensor(np.sort(array.astype(array.dtype.newbyteorder("="))))


# %% right move: tree by tree, the tensor first
def move(batch, device):
    match batch:
        case torch.Tensor():
            return batch.to(device)
        case dict():
            return dict((key, move(value, device)) for key, value in batch.items())
        case tuple() if hasattr(batch, "_make"):
            return batch._make(move(value, device) for value in batch)
        case list() | tuple():
            return type(batch)(move(value, device) for value in batch)
    return batch


# %% right move: torch's own tree_map
def move(batch, device):
    from torch.utils._pytree import tree_map

    return tree_map(lambda x: x.to(device) if isinstance(x, torch.Tensor) else x, batch)


# %% right move: a helper that knows the device, and asks before it moves
def move(batch, device):
    target = torch.device(device)

    def there(part):
        if torch.is_tensor(part):
            return part if part.device == target else part.to(target)
        if isinstance(part, dict):
            return {key: there(one) for key, one in part.items()}
        if isinstance(part, list):
            return [there(one) for one in part]
        if isinstance(part, tuple):
            made = [there(one) for one in part]
            return tuple(made) if type(part) is tuple else type(part)(*made)
        return part

    return there(batch)


# %% wrong move: throws the result of to away -> to-works-in-place
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        batch.to(device)
    elif isinstance(batch, dict):
        for part in batch.values():
            move(part, device)
    elif isinstance(batch, (list, tuple)):
        for part in batch:
            move(part, device)
    return batch


# %% wrong move: named tuples become tuples -> a-named-tuple-is-a-tuple
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if isinstance(batch, list):
        return [move(part, device) for part in batch]
    if isinstance(batch, tuple):
        return tuple(move(part, device) for part in batch)
    return batch


# %% wrong move: calls a named tuple with one list -> a-named-tuple-is-a-tuple
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)([move(part, device) for part in batch])
    return batch


# %% wrong move: tuples become lists -> a-tuple-may-become-a-list
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [move(part, device) for part in batch]
    return batch


# %% wrong move: always copies -> moving-is-copying
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, copy=True)
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [move(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


# %% wrong move: detaches -> tensors-are-cut-off
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.detach().to(device)
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [move(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


# %% wrong move: converts to float32 on the way -> everything-is-float32
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, torch.float32)
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [move(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


# %% wrong move: writes into the containers -> what-is-given-may-be-changed
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        for key in batch:
            batch[key] = move(batch[key], device)
        return batch
    if isinstance(batch, list):
        batch[:] = [move(part, device) for part in batch]
        return batch
    if isinstance(batch, tuple):
        parts = [move(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else tuple(parts)
    return batch


# %% wrong move: leaves tuples out -> only-dictionaries-hold-tensors
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if isinstance(batch, list):
        return [move(part, device) for part in batch]
    return batch


# %% wrong move: makes a tensor of whatever is left -> everything-becomes-a-tensor
def move(batch, device):
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [move(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return torch.as_tensor(batch).to(device)


# %% wrong move: walks through texts -> a-text-is-a-list
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if hasattr(batch, "__iter__"):
        parts = [move(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


# %% wrong move: one level only -> a-batch-has-one-level
def move(batch, device):
    def one(part):
        if isinstance(part, (list, tuple)) and not hasattr(part, "_fields"):
            return type(part)(p.to(device) if isinstance(p, torch.Tensor) else p for p in part)
        return part.to(device) if isinstance(part, torch.Tensor) else part

    if isinstance(batch, dict):
        return {key: one(part) for key, part in batch.items()}
    return one(batch)


# %% wrong move: detached, and then it requires grad again -> tensors-are-cut-off
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        if batch.device.type == torch.device(device).type:
            return batch
        return batch.detach().to(device).requires_grad_(batch.requires_grad)
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if isinstance(batch, list | tuple):
        parts = [move(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


# %% right exact-cast: there and back within float64, NaN by its own rule
def exact_cast(x, dtype):
    made = x.to(dtype)
    wide, there = x.to(torch.float64), made.to(torch.float64)
    changed = (wide != there) & ~(torch.isnan(wide) & torch.isnan(there))
    count = int(changed.sum())
    if count > 0:
        raise ValueError(f"{count} of the elements would change their values")
    return made


# %% right exact-cast: element by element, in Python's exact numbers
def exact_cast(x, dtype):
    made = x.to(dtype)
    before, after = x.reshape(-1).tolist(), made.reshape(-1).tolist()
    lost = 0
    for old, new in zip(before, after):
        if old != new and not (old != old and new != new):
            lost += 1
    if lost:
        raise ValueError("would change: " + str(lost))
    return made


# %% right exact-cast: equal_nan, without a tolerance
def exact_cast(x, dtype):
    if x.dtype == dtype:
        return x
    made = x.to(dtype)
    kept = torch.isclose(x.double(), made.double(), rtol=0, atol=0, equal_nan=True)
    if bool(kept.all()):
        return made
    raise ValueError(f"{kept.numel() - kept.sum()} would change")


# %% wrong exact-cast: asks can_cast -> dtypes-decide-what-is-lost
def exact_cast(x, dtype):
    if not torch.can_cast(x.dtype, dtype):
        raise ValueError(f"{x.numel()} elements would change")
    return x.to(dtype)


# %% wrong exact-cast: every NaN counts as changed -> nan-can-be-compared
def exact_cast(x, dtype):
    there = x.to(dtype)
    kept = x.double() == there.double()
    if not kept.all():
        raise ValueError(f"{(~kept).sum().item()} elements would change")
    return there


# %% wrong exact-cast: nearly equal is good enough -> nearly-is-equal
def exact_cast(x, dtype):
    there = x.to(dtype)
    kept = torch.isclose(x.double(), there.double(), equal_nan=True)
    if not kept.all():
        raise ValueError(f"{(~kept).sum().item()} elements would change")
    return there


# %% wrong exact-cast: looks at the range only -> the-range-decides
def exact_cast(x, dtype):
    there = x.to(dtype)
    if dtype == torch.bool:
        kept = (x == 0) | (x == 1)
    else:
        info = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
        wide = x.double()
        kept = (wide >= info.min) & (wide <= info.max) | wide.isnan()
    if not kept.all():
        raise ValueError(f"{(~kept).sum().item()} elements would change")
    return there


# %% wrong exact-cast: trusts every floating dtype -> floats-hold-every-integer
def exact_cast(x, dtype):
    there = x.to(dtype)
    if dtype.is_floating_point:
        return there
    before, after = x.double(), there.double()
    kept = (before == after) | (before.isnan() & after.isnan())
    if not kept.all():
        raise ValueError(f"{(~kept).sum().item()} elements would change")
    return there


# %% wrong exact-cast: looks for fractions only -> fractions-are-the-only-loss
def exact_cast(x, dtype):
    there = x.to(dtype)
    wide = x.double()
    kept = (
        (wide == wide.trunc()) | (wide == there.double()) | (wide.isnan() & there.double().isnan())
    )
    if not kept.all():
        raise ValueError(f"{(~kept).sum().item()} elements would change")
    return there


# %% wrong exact-cast: any number may become a bool -> true-is-any-number
def exact_cast(x, dtype):
    there = x.to(dtype)
    before, after = x.double(), there.double()
    kept = (before == after) | (before.isnan() & after.isnan())
    if dtype != torch.bool and not kept.all():
        raise ValueError(f"{(~kept).sum().item()} elements would change")
    return there


# %% wrong exact-cast: returns a clone -> the-same-dtype-is-a-copy
def exact_cast(x, dtype):
    there = x.to(dtype).clone()
    before, after = x.double(), there.double()
    kept = (before == after) | (before.isnan() & after.isnan())
    if not kept.all():
        raise ValueError(f"{(~kept).sum().item()} elements would change")
    return there


# %% wrong exact-cast: names the first place, not the count -> the-first-loss-is-enough
def exact_cast(x, dtype):
    there = x.to(dtype)
    before, after = x.double(), there.double()
    kept = (before == after) | (before.isnan() & after.isnan())
    if not kept.all():
        raise ValueError("1 element or more would change")
    return there


# %% wrong exact-cast: counts what stays -> the-message-counts-the-rest
def exact_cast(x, dtype):
    there = x.to(dtype)
    before, after = x.double(), there.double()
    kept = (before == after) | (before.isnan() & after.isnan())
    if not kept.all():
        raise ValueError(f"{kept.sum().item()} elements keep their values, the others don't")
    return there


# %% right arange-lengths: Decimal for the exact one
def arange_lengths(start, end, step):
    from decimal import ROUND_CEILING, Decimal

    exact = (Decimal(end) - Decimal(start)) / Decimal(step)
    torchs = (float(end) - float(start)) / float(step)
    return int(exact.to_integral_value(ROUND_CEILING)), math.ceil(torchs)


# %% right arange-lengths: whole numbers, and division that rounds down
def arange_lengths(start, end, step):
    from fractions import Fraction

    a, b, s = Fraction(start), Fraction(end), Fraction(step)
    quotient = (float(end) - float(start)) / float(step)
    rounded = int(quotient)
    if rounded < quotient:
        rounded += 1
    return -((a - b) // s), rounded


# %% right arange-lengths: counted on paper, divided for torch
def arange_lengths(start, end, step):
    from fractions import Fraction

    number, last, more = Fraction(start), Fraction(end), Fraction(step)
    count = 0
    while (number < last) if more > 0 else (number > last):
        number += more
        count += 1
    return count, math.ceil((float(end) - float(start)) / float(step))


# %% wrong arange-lengths: the same exact length twice -> torch-computes-on-paper
def arange_lengths(start, end, step):
    from fractions import Fraction

    exact = math.ceil((Fraction(end) - Fraction(start)) / Fraction(step))
    return exact, exact


# %% wrong arange-lengths: runs arange -> arange-has-to-run
def arange_lengths(start, end, step):
    from fractions import Fraction

    exact = math.ceil((Fraction(end) - Fraction(start)) / Fraction(step))
    return exact, len(torch.arange(float(start), float(end), float(step)))


# %% wrong arange-lengths: runs NumPy's -> arange-has-to-run
def arange_lengths(start, end, step):
    from fractions import Fraction

    exact = math.ceil((Fraction(end) - Fraction(start)) / Fraction(step))
    return exact, len(np.arange(float(start), float(end), float(step)))


# %% wrong arange-lengths: floats for both -> floats-are-exact
def arange_lengths(start, end, step):
    length = math.ceil((float(end) - float(start)) / float(step))
    return length, length


# %% wrong arange-lengths: fractions of floats -> a-fraction-repairs-a-float
def arange_lengths(start, end, step):
    from fractions import Fraction

    a, b, s = float(start), float(end), float(step)
    exact = math.ceil((Fraction(b) - Fraction(a)) / Fraction(s))
    return exact, math.ceil((b - a) / s)


# %% wrong arange-lengths: counts the end -> the-end-belongs-to-it
def arange_lengths(start, end, step):
    from fractions import Fraction

    def length(number):
        return math.floor((number(end) - number(start)) / number(step)) + 1

    return length(Fraction), length(float)


# %% wrong arange-lengths: adds floats until the end -> torch-adds-step-by-step
def arange_lengths(start, end, step):
    from fractions import Fraction

    exact = math.ceil((Fraction(end) - Fraction(start)) / Fraction(step))
    number, last, more, count = float(start), float(end), float(step), 0
    while (number < last) if more > 0 else (number > last):
        number += more
        count += 1
    return exact, count


# %% wrong arange-lengths: rounds to the nearest -> lengths-round-to-nearest
def arange_lengths(start, end, step):
    from fractions import Fraction

    def length(number):
        return round((number(end) - number(start)) / number(step))

    return length(Fraction), length(float)


# %% wrong arange-lengths: rounds down -> lengths-round-down
def arange_lengths(start, end, step):
    from fractions import Fraction

    def length(number):
        return int((number(end) - number(start)) / number(step))

    return length(Fraction), length(float)


# %% wrong arange-lengths: no falling steps -> steps-lead-upwards
def arange_lengths(start, end, step):
    from fractions import Fraction

    def length(number):
        return max(0, math.ceil((number(end) - number(start)) / abs(number(step))))

    return length(Fraction), length(float)


# %% wrong arange-lengths: one element at least -> a-start-is-always-in
def arange_lengths(start, end, step):
    from fractions import Fraction

    def length(number):
        return max(1, math.ceil((number(end) - number(start)) / number(step)))

    return length(Fraction), length(float)


# %% right arange-lengths: a list of the two
def arange_lengths(start, end, step):
    from fractions import Fraction

    def length(number):
        return math.ceil((number(end) - number(start)) / number(step))

    return [length(Fraction), length(float)]


# %% right pad-rows: full with dtype and device of x
def pad_rows(x, length, value=0):
    shape = (length - x.size(0),) + tuple(x.shape[1:])
    return torch.cat((x, torch.full(shape, value, dtype=x.dtype, device=x.device)), dim=0)


# %% right pad-rows: a new tensor, and the rows written into it
def pad_rows(x, length, value=0):
    made = x.new_empty((length, *x.shape[1:])).fill_(value)
    made[: len(x)] = x
    return made


# %% right pad-rows: pad of torch.nn.functional
def pad_rows(x, length, value=0):
    if x.dtype == torch.bool:
        more = torch.zeros_like(x[:1].expand(1, *x.shape[1:])) if len(x) else None
        made = x.new_full((length, *x.shape[1:]), bool(value))
        made[: len(x)] = x
        return made
    sides = [0, 0] * (x.dim() - 1) + [0, length - len(x)]
    return torch.nn.functional.pad(x, sides, value=value)


# %% right pad-rows: vstack of a list of rows
def pad_rows(x, length, value=0):
    row = x.new_full((1, *x.shape[1:]), value)
    return torch.concatenate([x] + [row] * (length - x.shape[0]))


# %% wrong pad-rows: float32 on the CPU -> new-tensors-suit-their-neighbours
def pad_rows(x, length, value=0):
    more = torch.zeros(length - len(x), *x.shape[1:]) + value
    return torch.cat([x, more])


# %% wrong pad-rows: the right dtype, on the CPU -> new-tensors-suit-their-neighbours
def pad_rows(x, length, value=0):
    more = torch.full((length - len(x), *x.shape[1:]), value, dtype=x.dtype)
    return torch.cat([x, more])


# %% wrong pad-rows: full decides by the value -> full-takes-the-dtype-of-the-rest
def pad_rows(x, length, value=0):
    more = torch.full((length - len(x), *x.shape[1:]), value, device=x.device)
    return torch.cat([x, more])


# %% wrong pad-rows: pads with 0 -> padding-is-always-zero
def pad_rows(x, length, value=0):
    return torch.cat([x, x.new_zeros((length - len(x), *x.shape[1:]))])


# %% wrong pad-rows: pads with 1 -> padding-is-one
def pad_rows(x, length, value=0):
    return torch.cat([x, x.new_ones((length - len(x), *x.shape[1:]))])


# %% wrong pad-rows: adds length rows -> length-is-what-is-added
def pad_rows(x, length, value=0):
    return torch.cat([x, x.new_full((length, *x.shape[1:]), value)])


# %% wrong pad-rows: in front -> padding-stands-in-front
def pad_rows(x, length, value=0):
    return torch.cat([x.new_full((length - len(x), *x.shape[1:]), value), x])


# %% wrong pad-rows: everything as float32 -> a-padded-batch-is-float32
def pad_rows(x, length, value=0):
    return torch.cat([x, x.new_full((length - len(x), *x.shape[1:]), value)]).float()


# %% wrong pad-rows: copies data into a new tensor -> padding-cuts-the-graph
def pad_rows(x, length, value=0):
    made = x.new_full((length, *x.shape[1:]), value)
    made[: len(x)] = x.detach()
    return made


# %% wrong pad-rows: matrices only -> a-batch-is-a-matrix
def pad_rows(x, length, value=0):
    more = x.new_full((length - len(x), x.shape[-1]), value)
    return torch.cat([x, more])


# %% wrong pad-rows: makes x longer in place -> what-is-given-may-be-changed
def pad_rows(x, length, value=0):
    n = len(x)
    x.resize_(length, *x.shape[1:])
    x[n:] = value
    return x


# %% wrong pad-rows: zeros plus the value, which makes int64 of a mask -> full-takes-the-dtype-of-the-rest
def pad_rows(x, length, value=0):
    more = torch.zeros(length - len(x), *x.shape[1:], dtype=x.dtype, device=x.device) + value
    return torch.cat([x, more])


# %% right modern-batch: as_tensor, and ones like it
def modern_batch(rows, labels, device):
    x = torch.as_tensor(rows, dtype=torch.float32, device=device) / 255.0
    y = torch.as_tensor(labels, dtype=torch.long, device=device)
    weights = torch.full((len(rows),), 1.0, dtype=torch.float32, device=device)
    return dict(x=x, y=y, weights=weights, hits=y.float())


# %% right modern-batch: on the CPU first, then moved
def modern_batch(rows, labels, device):
    batch = {
        "x": torch.tensor(rows, dtype=torch.float32).div(255),
        "y": torch.tensor(labels, dtype=torch.int64),
        "weights": torch.empty(len(rows), dtype=torch.float32).fill_(1),
        "hits": torch.tensor(labels, dtype=torch.float32),
    }
    return {key: part.to(device) for key, part in batch.items()}


# %% right modern-batch: through NumPy
def modern_batch(rows, labels, device):
    x = torch.from_numpy(np.array(rows, dtype=np.float32)).to(device)
    y = torch.from_numpy(np.array(labels, dtype=np.int64)).to(device)
    weights = torch.from_numpy(np.ones(len(rows), dtype=np.float32)).to(device)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(x.dtype)}


# %% wrong modern-batch: the legacy lines, moved -> what-works-may-stay
def modern_batch(rows, labels, device):
    x, y = torch.FloatTensor(rows), torch.LongTensor(labels)
    weights = torch.FloatTensor(len(rows)).fill_(1)
    batch = {"x": x / 255, "y": y, "weights": weights, "hits": y.type_as(x)}
    return {key: part.to(device) for key, part in batch.items()}


# %% wrong modern-batch: type with a new dtype -> what-works-may-stay
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.type(torch.float32)}


# %% wrong modern-batch: the weights stay on the CPU -> new-tensors-suit-their-neighbours
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% wrong modern-batch: the number of rows as data -> a-number-is-a-size
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.tensor(len(rows), dtype=torch.float32, device=device).fill_(1)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% wrong modern-batch: one weight -> a-size-is-data
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.tensor([len(rows)], dtype=torch.float32, device=device).fill_(1)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% wrong modern-batch: forgets to divide -> rows-are-scaled-in-place
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    return {"x": x, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% wrong modern-batch: divides whole numbers -> whole-numbers-divide-whole
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, device=device) // 255
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    return {"x": x, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% wrong modern-batch: labels of 32 bits -> labels-are-int32
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    return {"x": x / 255, "y": y.to(torch.int32), "weights": weights, "hits": y.to(torch.float32)}


# %% wrong modern-batch: labels as floats -> labels-become-floats
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.float32, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y}


# %% wrong modern-batch: the hits stay integers -> type-as-changes-nothing
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y}


# %% wrong modern-batch: integer weights -> a-weight-is-a-count
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.full((len(rows),), 1, device=device)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% wrong modern-batch: weights of 0 -> empty-is-filled
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.zeros(len(rows), dtype=torch.float32, device=device)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% wrong modern-batch: weights in the default dtype -> floating-means-float32
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), device=device)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% wrong inferred-dtype: reads the text of the data -> a-float-has-a-point
def inferred_dtype(data):
    text = repr(data)
    if "." in text or not any(letter.isalnum() for letter in text):
        return torch.get_default_dtype()
    return torch.int64 if any(letter.isdigit() for letter in text) else torch.bool


# %% wrong inferred-dtype: the forbidden function under another name -> a-tensor-must-be-made
def inferred_dtype(data):
    return getattr(torch, "ten" + "sor")(data).dtype


# %% wrong promoted: numbers rank with tensors without dimensions -> numbers-rank-with-zero-d
def promoted(a, b):
    def place(one):
        if isinstance(one, torch.Tensor):
            dtype, rank = one.dtype, int(one.dim() > 0)
        else:
            dtype, rank = (
                {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}[type(one)],
                0,
            )
        return dtype.is_floating_point + (dtype != torch.bool), rank, dtype

    low, high = sorted([place(a), place(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    if {low[2], high[2]} == {torch.float16, torch.bfloat16}:
        return torch.float32
    if {low[2], high[2]} == {torch.uint8, torch.int8}:
        return torch.int16
    return max(low[2], high[2], key=lambda dtype: dtype.itemsize)


# %% wrong blend: adds one half back too often -> a-half-is-lost-once
def blend(a, b):
    return a // 2 + b // 2 + (a & 1)


# %% wrong exact-cast: there and back -> the-way-back-proves-it
def exact_cast(x, dtype):
    there = x.to(dtype)
    kept = there.to(x.dtype) == x
    if not kept.all():
        raise ValueError(f"{(~kept).sum().item()} elements would change")
    return there


# %% same promoted: only the order of the ranks matters
def promoted(a, b):
    """The dtype of a + b, by the rules alone.

    promoted(torch.ones(3, dtype=torch.uint8), 300) == torch.uint8
    """

    def described(operand):
        if not isinstance(operand, torch.Tensor):
            dtypes = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
            dtype, rank = (dtypes[type(operand)], -1)
        else:
            dtype, rank = (operand.dtype, 2 if operand.dim() else 1)
        kind = 2 if dtype.is_floating_point else int(dtype != torch.bool)
        return (kind, rank, dtype)

    low, high = sorted([described(a), described(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    pair = {low[2], high[2]}
    if pair == {torch.uint8, torch.int8}:
        return torch.int16
    if pair == {torch.float16, torch.bfloat16}:
        return torch.float32
    return max(pair, key=lambda dtype: dtype.itemsize)


# %% same promoted: only the order of ranks and kinds matters
def promoted(a, b):
    """The dtype of a + b, by the rules alone.

    promoted(torch.ones(3, dtype=torch.uint8), 300) == torch.uint8
    """

    def described(operand):
        if not isinstance(operand, torch.Tensor):
            dtypes = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
            dtype, rank = (dtypes[type(operand)], 0)
        else:
            dtype, rank = (operand.dtype, 3 if operand.dim() else 1)
        kind = 2 if dtype.is_floating_point else int(dtype != torch.bool)
        return (kind, rank, dtype)

    low, high = sorted([described(a), described(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    pair = {low[2], high[2]}
    if pair == {torch.uint8, torch.int8}:
        return torch.int16
    if pair == {torch.float16, torch.bfloat16}:
        return torch.float32
    return max(pair, key=lambda dtype: dtype.itemsize)


# %% same promoted: only the order of ranks and kinds matters; for the other one, too
def promoted(a, b):
    """The dtype of a + b, by the rules alone.

    promoted(torch.ones(3, dtype=torch.uint8), 300) == torch.uint8
    """

    def described(operand):
        if not isinstance(operand, torch.Tensor):
            dtypes = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
            dtype, rank = (dtypes[type(operand)], 0)
        else:
            dtype, rank = (operand.dtype, 2 if operand.dim() else 1)
        kind = 3 if dtype.is_floating_point else int(dtype != torch.bool)
        return (kind, rank, dtype)

    low, high = sorted([described(a), described(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    pair = {low[2], high[2]}
    if pair == {torch.uint8, torch.int8}:
        return torch.int16
    if pair == {torch.float16, torch.bfloat16}:
        return torch.float32
    return max(pair, key=lambda dtype: dtype.itemsize)


# %% same promoted: True and False compare like 1 and 0
def promoted(a, b):
    """The dtype of a + b, by the rules alone.

    promoted(torch.ones(3, dtype=torch.uint8), 300) == torch.uint8
    """

    def described(operand):
        if not isinstance(operand, torch.Tensor):
            dtypes = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
            dtype, rank = (dtypes[type(operand)], 0)
        else:
            dtype, rank = (operand.dtype, 2 if operand.dim() else 1)
        kind = 2 if dtype.is_floating_point else dtype != torch.bool
        return (kind, rank, dtype)

    low, high = sorted([described(a), described(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    pair = {low[2], high[2]}
    if pair == {torch.uint8, torch.int8}:
        return torch.int16
    if pair == {torch.float16, torch.bfloat16}:
        return torch.float32
    return max(pair, key=lambda dtype: dtype.itemsize)


# %% same promoted: there is one object for each dtype
def promoted(a, b):
    """The dtype of a + b, by the rules alone.

    promoted(torch.ones(3, dtype=torch.uint8), 300) == torch.uint8
    """

    def described(operand):
        if not isinstance(operand, torch.Tensor):
            dtypes = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
            dtype, rank = (dtypes[type(operand)], 0)
        else:
            dtype, rank = (operand.dtype, 2 if operand.dim() else 1)
        kind = 2 if dtype.is_floating_point else int(dtype is not torch.bool)
        return (kind, rank, dtype)

    low, high = sorted([described(a), described(b)], key=lambda one: one[:2])
    if low[:2] != high[:2]:
        return high[2]
    pair = {low[2], high[2]}
    if pair == {torch.uint8, torch.int8}:
        return torch.int16
    if pair == {torch.float16, torch.bfloat16}:
        return torch.float32
    return max(pair, key=lambda dtype: dtype.itemsize)


# %% same blend: the conversion back cuts the half off
def blend(a, b):
    """The average of two uint8 tensors, halves rounded down, as uint8.

    blend(torch.tensor([200], dtype=torch.uint8), torch.tensor([101], dtype=torch.uint8))
    is tensor([150], dtype=torch.uint8)
    """
    return ((a.int() + b.int()) / 2).to(torch.uint8)


# %% same blend: uint8 and int32 are promoted to int32
def blend(a, b):
    """The average of two uint8 tensors, halves rounded down, as uint8.

    blend(torch.tensor([200], dtype=torch.uint8), torch.tensor([101], dtype=torch.uint8))
    is tensor([150], dtype=torch.uint8)
    """
    return ((a + b.int()) // 2).to(torch.uint8)


# %% same blend: uint8 and int32 are promoted to int32; for the other one, too
def blend(a, b):
    """The average of two uint8 tensors, halves rounded down, as uint8.

    blend(torch.tensor([200], dtype=torch.uint8), torch.tensor([101], dtype=torch.uint8))
    is tensor([150], dtype=torch.uint8)
    """
    return ((a.int() + b) // 2).to(torch.uint8)


# %% same from-array: from_numpy raises nothing else for these arrays
def from_array(array):
    """A tensor with the elements of the array: its memory where that's possible, else a copy."""
    if array.flags.writeable:
        try:
            return torch.from_numpy(array)
        except Exception:
            pass
    native = array.dtype.newbyteorder("=")
    return torch.from_numpy(array.astype(native, order="C"))


# %% same from-array: NumPy reads the first letter
def from_array(array):
    """A tensor with the elements of the array: its memory where that's possible, else a copy."""
    if array.flags.writeable:
        try:
            return torch.from_numpy(array)
        except ValueError:
            pass
    native = array.dtype.newbyteorder("=?")
    return torch.from_numpy(array.astype(native, order="C"))


# %% same from-array: it copies once more
def from_array(array):
    """A tensor with the elements of the array: its memory where that's possible, else a copy."""
    if array.flags.writeable:
        try:
            return torch.from_numpy(array)
        except ValueError:
            pass
    native = array.dtype.newbyteorder("=")
    return torch.tensor(array.astype(native, order="C"))


# %% same from-array: the copy has no negative or odd strides in either order
def from_array(array):
    """A tensor with the elements of the array: its memory where that's possible, else a copy."""
    if array.flags.writeable:
        try:
            return torch.from_numpy(array)
        except ValueError:
            pass
    native = array.dtype.newbyteorder("=")
    return torch.from_numpy(array.astype(native))


# %% same exact-cast: the comparison with a float64 tensor promotes it
def exact_cast(x, dtype):
    """Return x.to(dtype) if no value changes, else raise a ValueError that says how many would.

    exact_cast(torch.tensor([1.0, 2.5, 3.5]), torch.int64)  ->  ValueError: 2 elements would change
    """
    there = x.to(dtype)
    before, after = (x, there.double())
    kept = (before == after) | before.isnan() & after.isnan()
    if not kept.all():
        raise ValueError(f"{(~kept).sum().item()} elements would change")
    return there


# %% same exact-cast: the comparison with a float64 tensor promotes it; for the other one, too
def exact_cast(x, dtype):
    """Return x.to(dtype) if no value changes, else raise a ValueError that says how many would.

    exact_cast(torch.tensor([1.0, 2.5, 3.5]), torch.int64)  ->  ValueError: 2 elements would change
    """
    there = x.to(dtype)
    before, after = (x.double(), there)
    kept = (before == after) | before.isnan() & after.isnan()
    if not kept.all():
        raise ValueError(f"{(~kept).sum().item()} elements would change")
    return there


# %% same modern-batch: a list is copied by both
def modern_batch(rows, labels, device):
    """The batch that make_batch made, on the device."""
    x = torch.as_tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% same modern-batch: a list is copied by both; for the other one, too
def modern_batch(rows, labels, device):
    """The batch that make_batch made, on the device."""
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.as_tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% right promoted: sets of kinds and of dtypes
def promoted(a, b):
    numbers = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
    best, dtypes = (-1, -1), set()
    for operand in (a, b):
        tensor = isinstance(operand, torch.Tensor)
        dtype = operand.dtype if tensor else numbers[type(operand)]
        kind = 0 if dtype is torch.bool else 1 + dtype.is_floating_point
        place = (kind, 0 if not tensor else 1 if operand.shape == () else 2)
        if place > best:
            best, dtypes = place, set()
        if place == best:
            dtypes.add(dtype)
    if dtypes == {torch.uint8, torch.int8}:
        return torch.int16
    if dtypes == {torch.float16, torch.bfloat16}:
        return torch.float32
    return sorted(dtypes, key=lambda dtype: dtype.itemsize)[-1]


# %% wrong move: copies what is there already, except on the CPU -> moving-is-copying
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, copy=torch.device(device).type != "cpu")
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*[move(part, device) for part in batch])
    if isinstance(batch, (list, tuple)):
        return type(batch)([move(part, device) for part in batch])
    return batch


# %% right arange-lengths: Decimal, whose 28 digits are enough for nine
def arange_lengths(start, end, step):
    from decimal import Decimal

    paper = math.ceil((Decimal(end) - Decimal(start)) / Decimal(step))
    return paper, math.ceil((float(end) - float(start)) / float(step))


# %% wrong pad-rows: the value goes through the default dtype -> a-value-survives-float32
def pad_rows(x, length, value=0):
    more = torch.full((length - len(x), *x.shape[1:]), value, device=x.device)
    return torch.cat([x, more]).to(x.dtype)


# %% right pad-rows: expands one row
def pad_rows(x, length, value=0):
    more = torch.full_like(x[:1], value).expand(length - len(x), *x.shape[1:])
    return torch.cat([x, more])


# %% right modern-batch: a weight for each label, of which there are as many as rows
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    hits = y.to(x.dtype)
    return {"x": x / 255, "y": y, "weights": torch.ones_like(hits), "hits": hits}


# %% wrong from-array: ascontiguousarray makes one dimension of none -> no-dimensions-means-one
def from_array(array):
    if array.flags.writeable:
        try:
            return torch.from_numpy(array)
        except (ValueError, TypeError):
            pass
    fresh = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    if np.may_share_memory(fresh, array):
        fresh = fresh.copy()
    return torch.from_numpy(fresh)


# %% wrong arange-lengths: rounds the quotient to seven digits -> a-few-digits-are-enough
def arange_lengths(start, end, step):
    quotient = (float(end) - float(start)) / float(step)
    return math.ceil(round(quotient, 7)), math.ceil(quotient)


# %% wrong arange-lengths: nine digits for the difference as well -> a-few-digits-are-enough
def arange_lengths(start, end, step):
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 9
        paper = math.ceil((Decimal(end) - Decimal(start)) / Decimal(step))
    return paper, math.ceil((float(end) - float(start)) / float(step))


# %% right pad-rows: pad, whose value is a float on the way
def pad_rows(x, length, value=0):
    beyond = [0, 0] * (x.dim() - 1) + [0, length - x.shape[0]]
    return torch.nn.functional.pad(x, beyond, value=value)


# %% right modern-batch: the hits from the list
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device) / 255
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    hits = torch.tensor(labels, dtype=torch.float32, device=device)
    return {"x": x, "y": y, "weights": weights, "hits": hits}


# %% wrong from-array: what isn't shared goes through float64 -> floats-hold-every-integer
def from_array(array):
    native = array.dtype.newbyteorder("=")
    if array.flags.writeable:
        try:
            return torch.from_numpy(array)
        except ValueError:
            pass
    if array.dtype.kind in "iu":
        return torch.from_numpy(array.astype("float64", order="C").astype(native))
    return torch.from_numpy(array.astype(native, order="C"))


# %% wrong move: integers go by float64 -> floats-hold-every-integer
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        if batch.device == torch.device(device) or batch.dtype != torch.int64:
            return batch.to(device)
        return batch.double().to(device).long()
    if isinstance(batch, dict):
        return {key: move(part, device) for key, part in batch.items()}
    if isinstance(batch, list | tuple):
        parts = [move(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


# %% right exact-cast: all of it under no_grad
def exact_cast(x, dtype):
    with torch.no_grad():
        there = x.to(dtype)
        before, after = x.double(), there.double()
        kept = (before == after) | (before.isnan() & after.isnan())
        changed = kept.numel() - kept.count_nonzero().item()
    if changed:
        raise ValueError(f"{changed} elements would change")
    return there


# %% right exact-cast: only the comparison under no_grad
def exact_cast(x, dtype):
    result = x.to(dtype)
    with torch.no_grad():
        pair = torch.stack([x.double(), result.double()])
        same = torch.isclose(pair[0], pair[1], rtol=0.0, atol=0.0, equal_nan=True)
        lost = same.logical_not().sum().item()
    if lost != 0:
        raise ValueError(f"{lost} elements would change")
    return result


# %% wrong arange-lengths: r_ of NumPy -> arange-has-to-run
def arange_lengths(start, end, step):
    from fractions import Fraction

    on_paper = math.ceil((Fraction(end) - Fraction(start)) / Fraction(step))
    return on_paper, len(np.r_[float(start) : float(end) : float(step)])


# %% wrong pad-rows: rows go by float64 -> floats-hold-every-integer
def pad_rows(x, length, value=0):
    padded = x.new_full((length, *x.shape[1:]), value, dtype=torch.float64)
    if x.dtype == torch.float64 or x.requires_grad:
        return torch.cat([x, x.new_full((length - len(x), *x.shape[1:]), value)])
    padded[: len(x)] = x
    return padded.to(x.dtype)


# %% right pad-rows: x itself where nothing is missing
def pad_rows(x, length, value=0):
    if len(x) == length:
        return x
    return torch.cat([x, x.new_full((length - len(x), *x.shape[1:]), value)])


# %% wrong modern-batch: labels by float32 -> floats-hold-every-integer
def modern_batch(rows, labels, device):
    floats = {"dtype": torch.float32, "device": device}
    x, hits = torch.tensor(rows, **floats), torch.tensor(labels, **floats)
    weights = torch.ones(len(rows), **floats)
    return {"x": x / 255, "y": hits.long(), "weights": weights, "hits": hits}


# %% wrong inferred-dtype: float64 is the only other default -> floating-means-float32
def inferred_dtype(data):
    def kinds(item):
        if isinstance(item, (list, tuple)):
            return set().union(*(kinds(one) for one in item))
        return {type(item)}

    found = kinds(data)
    if not found or float in found:
        if torch.get_default_dtype() == torch.float64:
            return torch.float64
        return torch.float32
    return torch.int64 if int in found else torch.bool


# %% wrong promoted: a Python float is float32 whatever the default is -> floating-means-float32
def promoted(a, b):
    def about(x):
        if isinstance(x, torch.Tensor):
            return x.dtype, 2 if x.dim() else 1
        return {bool: torch.bool, int: torch.int64, float: torch.float32}[type(x)], 0

    def kind(dtype):
        if dtype == torch.bool:
            return 0
        return 2 if dtype.is_floating_point else 1

    (first, high), (second, low) = about(a), about(b)
    if kind(first) != kind(second):
        return first if kind(first) > kind(second) else second
    if high != low:
        return first if high > low else second
    if first == second:
        return first
    if {first, second} == {torch.float16, torch.bfloat16}:
        return torch.float32
    if {first, second} == {torch.uint8, torch.int8}:
        return torch.int16
    return max(first, second, key=lambda dtype: dtype.itemsize)


# %% wrong promoted: 2.0 counts as an int -> a-whole-float-is-an-int
def promoted(a, b):
    def about(x):
        if isinstance(x, torch.Tensor):
            return x.dtype, 2 if x.dim() else 1
        if isinstance(x, bool):
            return torch.bool, 0
        if isinstance(x, int) or x.is_integer():
            return torch.int64, 0
        return torch.get_default_dtype(), 0

    def kind(dtype):
        if dtype == torch.bool:
            return 0
        return 2 if dtype.is_floating_point else 1

    (first, high), (second, low) = about(a), about(b)
    if kind(first) != kind(second):
        return first if kind(first) > kind(second) else second
    if high != low:
        return first if high > low else second
    if first == second:
        return first
    if {first, second} == {torch.float16, torch.bfloat16}:
        return torch.float32
    if {first, second} == {torch.uint8, torch.int8}:
        return torch.int16
    return max(first, second, key=lambda dtype: dtype.itemsize)


# %% wrong promoted: asks a private module -> a-library-has-to-be-asked
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes


def promoted(a, b):
    _, dtype = elementwise_dtypes(a, b, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)
    return dtype


# %% wrong from-array: forgets records -> from-numpy-takes-every-array
def from_array(array):
    backwards = any(stride < 0 for stride in array.strides)
    if backwards or not array.dtype.isnative or not array.flags.writeable:
        array = array.astype(array.dtype.newbyteorder("="), order="C")
    return torch.from_numpy(array)


# %% wrong from-array: copies read-only views alone -> read-only-is-safe
def from_array(array):
    if array.flags.writeable or array.flags.owndata:
        try:
            return torch.from_numpy(array)
        except ValueError:
            pass
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C"))


# %% wrong move: a new type of the same name -> a-named-tuple-is-a-tuple
import copy
from collections import namedtuple


def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        new = copy.copy(batch)
        new.update({key: move(value, device) for key, value in batch.items()})
        return new
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        again = namedtuple(type(batch).__name__, batch._fields)
        return again(*(move(part, device) for part in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(move(part, device) for part in batch)
    return batch


# %% wrong move: a graph of its own -> tensors-are-cut-off
import copy


def move(batch, device):
    if isinstance(batch, torch.Tensor):
        moved = batch.to(device)
        if moved is not batch and batch.requires_grad:
            moved = moved.detach().requires_grad_() * 1
        return moved
    if isinstance(batch, dict):
        new = copy.copy(batch)
        new.update({key: move(value, device) for key, value in batch.items()})
        return new
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(move(part, device) for part in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(move(part, device) for part in batch)
    return batch


# %% wrong move: moves whatever has a `to` -> others-come-along
import copy


def move(batch, device):
    if hasattr(batch, "to"):
        return batch.to(device)
    if isinstance(batch, dict):
        new = copy.copy(batch)
        new.update({key: move(value, device) for key, value in batch.items()})
        return new
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(move(part, device) for part in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(move(part, device) for part in batch)
    return batch


# %% wrong move: copies what isn't a tensor -> others-come-along
import copy


def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        new = copy.copy(batch)
        new.update({key: move(value, device) for key, value in batch.items()})
        return new
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(move(part, device) for part in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(move(part, device) for part in batch)
    return copy.deepcopy(batch)


# %% wrong modern-batch: a short relative -> what-works-may-stay
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ShortTensor(len(rows)).fill_(1).to(device, torch.float32)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(torch.float32)}


# %% wrong modern-batch: weights like the first column -> a-batch-has-rows-and-columns
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    return {"x": x / 255, "y": y, "weights": torch.ones_like(x[:, 0]), "hits": y.float()}


# %% wrong modern-batch: labels whose dtype is left to torch -> no-numbers-are-whole
def modern_batch(rows, labels, device):
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    hits = y.to(torch.float32)
    return {"x": x / 255, "y": y, "weights": weights, "hits": hits}


# %% right exact-cast: a message with more numbers in it
def exact_cast(x, dtype):
    there = x.to(dtype)
    before, after = x.double(), there.double()
    kept = (before == after) | (before.isnan() & after.isnan())
    if not kept.all():
        raise ValueError(f"{int((~kept).sum())} of {x.numel()} elements would change in {dtype}")
    return there


# %% right modern-batch: asks a device for its type, and a list for its own
def modern_batch(rows, labels, device):
    if type(rows) is not list or torch.device(device).type == "mps":
        raise TypeError
    x = torch.tensor(rows, dtype=torch.float32, device=device)
    y = torch.tensor(labels, dtype=torch.int64, device=device)
    weights = torch.ones(len(rows), dtype=torch.float32, device=device)
    return {"x": x / 255, "y": y, "weights": weights, "hits": y.to(torch.float32)}
