# %% right standardise: parameters first, and a result in steps
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(mean.shape, dtype=mean.dtype))
        self.bias = nn.Parameter(torch.zeros(mean.shape, dtype=mean.dtype))
        self.register_buffer("mean", mean.clone().detach())
        self.register_buffer("std", std.clone().detach())

    def forward(self, x):
        z = (x - self.mean) / self.std
        return z * self.weight + self.bias


# %% right standardise: nn.Buffer, and addcmul
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = nn.Buffer(mean.detach().clone())
        self.std = nn.Buffer(std.detach().clone())
        self.weight = nn.Parameter(torch.ones_like(mean.detach()))
        self.bias = nn.Parameter(torch.zeros_like(mean.detach()))

    def forward(self, x):
        return torch.addcmul(self.bias, (x - self.mean).div(self.std), self.weight)


# %% right standardise: torch.tensor of the values
class Standardise(nn.Module):
    def __init__(self, mean, std):
        nn.Module.__init__(self)
        for name, given in (("mean", mean), ("std", std)):
            self.register_buffer(name, given.detach().clone(memory_format=torch.contiguous_format))
        self.register_parameter("weight", nn.Parameter(self.mean.new_ones(self.mean.shape)))
        self.register_parameter("bias", nn.Parameter(self.mean.new_zeros(self.mean.shape)))

    def forward(self, x):
        centred = x - self.mean
        return self.weight * (centred / self.std) + self.bias


# %% wrong standardise: four parameters -> a-parameter-is-the-way-to-save
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.weight = nn.Parameter(torch.ones_like(mean.detach()))
        self.bias = nn.Parameter(torch.zeros_like(mean.detach()))
        self.mean = nn.Parameter(mean.detach().clone())
        self.std = nn.Parameter(std.detach().clone())

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% wrong standardise: four parameters, two frozen -> a-parameter-is-the-way-to-save
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.weight = nn.Parameter(torch.ones_like(mean.detach()))
        self.bias = nn.Parameter(torch.zeros_like(mean.detach()))
        self.mean = nn.Parameter(mean.detach().clone(), requires_grad=False)
        self.std = nn.Parameter(std.detach().clone(), requires_grad=False)

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% wrong standardise: mean and std as plain attributes -> an-attribute-is-a-buffer
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean, self.std = mean.detach().clone(), std.detach().clone()
        self.weight = nn.Parameter(torch.ones_like(self.mean))
        self.bias = nn.Parameter(torch.zeros_like(self.mean))

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% wrong standardise: weight and bias are tensors that require grad -> a-tensor-that-requires-grad-is-a-parameter
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("std", std.detach().clone())
        self.weight = torch.ones_like(self.mean, requires_grad=True)
        self.bias = torch.zeros_like(self.mean, requires_grad=True)

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% wrong standardise: bias before weight -> order-is-the-alphabet
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("std", std.detach().clone())
        self.bias = nn.Parameter(torch.zeros_like(self.mean))
        self.weight = nn.Parameter(torch.ones_like(self.mean))

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% wrong standardise: buffers that are not saved -> buffers-need-not-be-saved
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach().clone(), persistent=False)
        self.register_buffer("std", std.detach().clone(), persistent=False)
        self.weight = nn.Parameter(torch.ones_like(self.mean))
        self.bias = nn.Parameter(torch.zeros_like(self.mean))

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% wrong standardise: buffers share the caller's memory -> a-buffer-is-a-copy
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach())
        self.register_buffer("std", std.detach())
        self.weight = nn.Parameter(torch.ones_like(self.mean))
        self.bias = nn.Parameter(torch.zeros_like(self.mean))

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% wrong standardise: slope and offset computed once -> a-constant-is-computed-once
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("std", std.detach().clone())
        self.weight = nn.Parameter(torch.ones_like(self.mean))
        self.bias = nn.Parameter(torch.zeros_like(self.mean))
        self.kept = (self.mean.clone(), self.std.clone())

    def forward(self, x):
        mean, std = self.kept
        return (x - mean) / std * self.weight + self.bias


# %% wrong standardise: float32 weights -> parameters-are-float32
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("std", std.detach().clone())
        self.weight = nn.Parameter(torch.ones(len(mean)))
        self.bias = nn.Parameter(torch.zeros(len(mean)))

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% wrong standardise: a result without a graph -> the-graph-ends-at-a-layer
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("std", std.detach().clone())
        self.weight = nn.Parameter(torch.ones_like(self.mean))
        self.bias = nn.Parameter(torch.zeros_like(self.mean))

    @torch.no_grad()
    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% right mlp: zip, and one extend a pair
def mlp(sizes, activation="relu"):
    kinds = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}
    if activation not in kinds:
        raise KeyError(activation)
    layers = [nn.Linear(sizes[0], sizes[1])]
    for a, b in zip(sizes[1:], sizes[2:]):
        layers.extend((kinds[activation](), nn.Linear(a, b)))
    return nn.Sequential(*layers)


# %% right mlp: append to a Sequential
def mlp(sizes, activation="relu"):
    make = dict(relu=nn.ReLU, tanh=nn.Tanh, gelu=nn.GELU)[activation]
    net = nn.Sequential()
    for number in range(len(sizes) - 1):
        if number > 0:
            net.append(make())
        net.append(nn.Linear(in_features=sizes[number], out_features=sizes[number + 1]))
    return net


# %% right mlp: a ModuleDict to choose from, and copies of what it holds
def mlp(sizes, activation="relu"):
    import copy

    ways = nn.ModuleDict({"relu": nn.ReLU(), "tanh": nn.Tanh(), "gelu": nn.GELU()})
    chosen = ways[activation]
    parts = [[nn.Linear(a, b), copy.deepcopy(chosen)] for a, b in pairwise(sizes)]
    return nn.Sequential(*sum(parts, []))[:-1]


# %% wrong mlp: an activation at the end -> the-end-is-bent-too
def mlp(sizes, activation="relu"):
    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    return nn.Sequential(*[part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), bend())])


# %% wrong mlp: no activations -> depth-needs-no-bend
def mlp(sizes, activation="relu"):
    {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    return nn.Sequential(*[nn.Linear(a, b) for a, b in pairwise(sizes)])


# %% wrong mlp: one activation, before the last layer -> one-bend-is-enough
def mlp(sizes, activation="relu"):
    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    layers = [nn.Linear(a, b) for a, b in pairwise(sizes)]
    return nn.Sequential(*layers[:-1], bend(), layers[-1])


# %% wrong mlp: blocks of two -> blocks-are-members
def mlp(sizes, activation="relu"):
    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    blocks = [nn.Sequential(nn.Linear(a, b), bend()) for a, b in pairwise(sizes)]
    blocks[-1] = nn.Sequential(blocks[-1][0])
    return nn.Sequential(*blocks)


# %% wrong mlp: a ModuleList -> a-list-of-layers-is-a-network
def mlp(sizes, activation="relu"):
    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), bend())]
    net = nn.ModuleList(layers[:-1])
    net.forward = lambda x: nn.Sequential(*layers[:-1])(x)
    return net


# %% wrong mlp: one activation object in all places -> times-makes-copies
def mlp(sizes, activation="relu"):
    bend = {"relu": nn.ReLU(), "tanh": nn.Tanh(), "gelu": nn.GELU()}[activation]
    layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), bend)]
    return nn.Sequential(*layers[:-1])


# %% wrong mlp: layers of equal sizes are one -> times-makes-copies
def mlp(sizes, activation="relu"):
    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    made = {}
    layers = []
    for a, b in pairwise(sizes):
        if (a, b) not in made:
            made[a, b] = nn.Linear(a, b)
        layers += [made[a, b], bend()]
    return nn.Sequential(*layers[:-1])


# %% wrong mlp: layers are remembered from call to call -> calls-share-layers
MADE_LAYERS = {}


def mlp(sizes, activation="relu"):
    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    if tuple(sizes) not in MADE_LAYERS:
        MADE_LAYERS[tuple(sizes)] = [nn.Linear(a, b) for a, b in pairwise(sizes)]
    layers = [part for one in MADE_LAYERS[tuple(sizes)] for part in (one, bend())]
    return nn.Sequential(*layers[:-1])


# %% wrong mlp: always ReLU -> the-name-is-a-detail
def mlp(sizes, activation="relu"):
    {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


# %% wrong mlp: adds a list to the sizes -> sizes-are-a-list
def mlp(sizes, activation="relu"):
    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    layers = []
    for a, b in pairwise([] + sizes):
        layers += [nn.Linear(a, b), bend()]
    return nn.Sequential(*layers[:-1])


# %% wrong mlp: without bias -> layers-have-no-bias
def mlp(sizes, activation="relu"):
    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    layers = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b, bias=False), bend()]
    return nn.Sequential(*layers[:-1])


# %% wrong mlp: exactly three sizes or four -> depth-is-fixed
def mlp(sizes, activation="relu"):
    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    layers = []
    for a, b in [*pairwise(sizes)][:3]:
        layers += [nn.Linear(a, b), bend()]
    return nn.Sequential(*layers[:-1])


# %% right classifier: a loop, and a count of the pixels
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        blocks, high, wide = [], *size
        for out in channels:
            blocks.append(
                nn.Sequential(
                    nn.Conv2d(in_channels, out, kernel_size=3, padding=1),
                    nn.BatchNorm2d(out),
                    nn.ReLU(),
                    nn.MaxPool2d(2),
                )
            )
            in_channels, high, wide = out, high // 2, wide // 2
        self.encoder = nn.Sequential(*blocks)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(in_channels * high * wide, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% right classifier: a helper, and shifts
def pooled_block(a, b, **options):
    return nn.Sequential(
        nn.Conv2d(a, b, 3, **options), nn.BatchNorm2d(b), nn.ReLU(inplace=True), nn.MaxPool2d(2, 2)
    )


class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        self.encoder = nn.Sequential()
        for a, b in zip([in_channels, *channels], channels):
            self.encoder.append(pooled_block(a, b, padding=1))
        n = len(channels)
        pixels = (size[0] >> n) * (size[1] >> n)
        layers = [nn.Flatten(), nn.Linear(channels[-1] * pixels, hidden), nn.ReLU()]
        self.head = nn.Sequential(*layers, nn.Linear(hidden, classes))

    def forward(self, x):
        x = self.encoder(x)
        return self.head(x)


# %% right classifier: the width is asked of the encoder, on the meta device
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels] + list(channels)
        self.encoder = nn.Sequential(*map(self.block, widths, widths[1:]))
        with torch.device("meta"), torch.no_grad():
            shadow = nn.Sequential(*map(self.block, widths, widths[1:])).eval()
            features = shadow(torch.empty(1, in_channels, *size)).numel()
        self.head = nn.Sequential(
            nn.Flatten(), nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, classes)
        )

    @staticmethod
    def block(a, b):
        return nn.Sequential(
            nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: the head takes channels only -> only-channels-reach-the-head
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1], hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: the last layer is made and not called -> made-is-used
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head[:3](self.encoder(x))


# %% wrong classifier: squares the height -> pictures-are-square
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * height, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: squares the width -> pictures-are-square
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * width * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: always a quarter -> two-blocks-are-all
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 4 for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: the first two blocks only -> two-blocks-are-all
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in [*pairwise(widths)][:2]
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: pools round up -> pooling-rounds-up
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1),
                    nn.BatchNorm2d(b),
                    nn.ReLU(),
                    nn.MaxPool2d(2, ceil_mode=True),
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (-(-side // 2 ** len(channels)) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: counts in floats -> pooling-leaves-even-sizes
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side / 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(round(channels[-1] * height * width), hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: ReLU before the norm -> order-in-a-block-is-free
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.BatchNorm2d(b), nn.MaxPool2d(2)
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: a softmax at the end -> scores-need-a-softmax
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x)).softmax(1)


# %% wrong classifier: no bias in the convolutions -> layers-have-no-bias
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1, bias=False),
                    nn.BatchNorm2d(b),
                    nn.ReLU(),
                    nn.MaxPool2d(2),
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: the lesson's block inside a block -> a-block-in-a-block-is-flat
def conv_and_norm(a, b, *args, **kwargs):
    return nn.Sequential(nn.Conv2d(a, b, *args, **kwargs), nn.BatchNorm2d(b), nn.ReLU())


class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        blocks = [
            nn.Sequential(conv_and_norm(a, b, 3, padding=1), nn.MaxPool2d(2))
            for a, b in pairwise([in_channels, *channels])
        ]
        self.encoder = nn.Sequential(*blocks)
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% right classifier: the lesson's block, unpacked
def conv_and_norm(a, b, *args, **kwargs):
    return nn.Sequential(nn.Conv2d(a, b, *args, **kwargs), nn.BatchNorm2d(b), nn.ReLU())


class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        blocks = [
            nn.Sequential(*conv_and_norm(a, b, 3, padding=1), nn.MaxPool2d(2))
            for a, b in pairwise([in_channels, *channels])
        ]
        self.encoder = nn.Sequential(*blocks)
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: no norm -> blocks-need-no-norm
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: blocks in a plain list -> a-list-of-layers-is-a-network
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        widths = [in_channels, *channels]
        self.blocks = list(
            [
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(nn.Sequential(*self.blocks)(x))


# %% wrong classifier: one block is refused -> one-block-is-special
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        if len(channels) == 1:
            raise ValueError("at least two blocks")
        widths = [in_channels, *channels]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in pairwise(widths)
            ]
        )
        height, width = (side // 2 ** len(channels) for side in size)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(channels[-1] * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong classifier: another eps -> settings-are-a-matter-of-taste
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1),
                    nn.BatchNorm2d(b, eps=1e-3),
                    nn.ReLU(),
                    nn.MaxPool2d(2),
                )
                for a, b in pairwise([in_channels, *channels])
            ]
        )
        features = channels[-1]
        for side in size:
            features *= side // 2 ** len(channels)
        self.head = nn.Sequential(
            nn.Flatten(), nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, classes)
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% right classifier: a dry run in eval mode, and train again
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
                for a, b in pairwise([in_channels, *channels])
            ]
        )
        with torch.no_grad():
            features = self.eval().encoder(torch.zeros(1, in_channels, *size)).numel()
        self.train()
        self.head = nn.Sequential(
            nn.Flatten(), nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, classes)
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% right idle: deepcopy and backward
def idle(model, x):
    import copy

    twin = copy.deepcopy(model)
    twin.zero_grad(set_to_none=True)
    with torch.enable_grad():
        out = twin(x.detach())
        if out.requires_grad:
            out.sum().backward()
    return [n for n, p in twin.named_parameters() if p.requires_grad and p.grad is None]


# %% right idle: set_grad_enabled, one list
def idle(model, x):
    pairs = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    if not pairs:
        return []
    with torch.set_grad_enabled(True):
        total = model(x).mean()
        if not total.requires_grad:
            return [n for n, _ in pairs]
        grads = torch.autograd.grad(total, [p for _, p in pairs], allow_unused=True)
    return [pairs[i][0] for i in range(len(pairs)) if grads[i] is None]


# %% right idle: gradients put aside and back
def idle(model, x):
    kept = [(p, p.grad) for p in [*model.parameters(), x] if p.is_leaf]
    for p, _ in kept:
        p.grad = None
    try:
        with torch.enable_grad():
            out = model(x)
            if out.requires_grad:
                out.sum().backward()
        return [n for n, p in model.named_parameters() if p.requires_grad and p.grad is None]
    finally:
        for p, grad in kept:
            p.grad = grad


# %% right idle: a walk through the graph
def idle(model, x):
    with torch.enable_grad():
        total = model(x).sum()
    waiting, met, used = [total.grad_fn], set(), set()
    while waiting:
        node = waiting.pop()
        if node is None or node in met:
            continue
        met.add(node)
        if hasattr(node, "variable"):
            used.add(node.variable)
        waiting += [one for one, _ in node.next_functions]
    return [n for n, p in model.named_parameters() if p.requires_grad and p not in used]


# %% wrong idle: zeros count as none -> zeros-are-no-gradient-here
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not asked or not out.requires_grad:
            return list(asked)
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    return [name for name, one in zip(asked, found, strict=True) if one is None or not one.any()]


# %% wrong idle: whatever has no grad yet -> everything-made-is-idle
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    return [name for name, one in asked.items() if one.grad is None]


# %% wrong idle: weights alone -> weights-stand-for-layers
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not asked or not out.requires_grad:
            return list(asked)
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    return [
        name
        for name, one in zip(asked, found, strict=True)
        if one is None and name.endswith(("weight", "scale"))
    ]


# %% wrong idle: parameters of layers alone -> modules-hold-all-parameters
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not asked or not out.requires_grad:
            return list(asked)
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    return [name for name, one in zip(asked, found, strict=True) if one is None and "." in name]


# %% wrong idle: runs the model twice -> a-run-costs-nothing
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    model(x)
    with torch.enable_grad():
        out = model(x)
        if not asked or not out.requires_grad:
            return list(asked)
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    return [name for name, one in zip(asked, found, strict=True) if one is None]


# %% wrong idle: backward -> a-look-may-write-gradients
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not asked or not out.requires_grad:
            return list(asked)
        out.sum().backward()
        found = [one.grad for one in asked.values()]
    return [name for name, one in zip(asked, found, strict=True) if one is None]


# %% wrong idle: backward, and all gradients cleared -> a-look-may-write-gradients
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not asked or not out.requires_grad:
            return list(asked)
        model.zero_grad()
        out.sum().backward()
        found = [one.grad for one in asked.values()]
        model.zero_grad()
    return [name for name, one in zip(asked, found, strict=True) if one is None]


# %% wrong idle: an empty list is handed to autograd -> every-model-has-parameters
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not torch.is_grad_enabled():
            return list(asked)
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    return [name for name, one in zip(asked, found, strict=True) if one is None]


# %% wrong idle: a result without a graph raises -> every-result-has-a-graph
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not asked:
            return list(asked)
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    return [name for name, one in zip(asked, found, strict=True) if one is None]


# %% wrong idle: a result without a graph has no idle parameters -> every-result-has-a-graph
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not asked or not out.requires_grad:
            return []
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    return [name for name, one in zip(asked, found, strict=True) if one is None]


# %% wrong idle: frozen ones are listed -> frozen-is-idle
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not asked or not out.requires_grad:
            return list(asked)
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    used = {name for name, one in zip(asked, found, strict=True) if one is not None}
    return [name for name, _ in model.named_parameters() if name not in used]


# %% wrong idle: in eval -> a-look-needs-eval
def idle(model, x):
    model.eval()
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not asked or not out.requires_grad:
            return list(asked)
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    return [name for name, one in zip(asked, found, strict=True) if one is None]


# %% wrong idle: in train -> a-look-needs-train
def idle(model, x):
    model.train()
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    with torch.enable_grad():
        out = model(x)
        if not asked or not out.requires_grad:
            return list(asked)
        found = torch.autograd.grad(out.sum(), list(asked.values()), allow_unused=True)
    return [name for name, one in zip(asked, found, strict=True) if one is None]


# %% wrong idle: layers that are called count as used -> called-is-used
def idle(model, x):
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    ran = set()
    hooks = [
        m.register_forward_hook(lambda m, i, o: ran.update(m.parameters(recurse=False)))
        for m in model.modules()
    ]
    with torch.enable_grad():
        out = model(x)
    for hook in hooks:
        hook.remove()
    return [name for name, one in asked.items() if one not in ran]


# %% right initialise: by hand, under no_grad
@torch.no_grad()
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            bound = (6 / module.weight[0].numel()) ** 0.5
            module.weight.uniform_(-bound, bound, generator=generator)
            if module.bias is not None:
                module.bias.zero_()
        if isinstance(module, (nn.BatchNorm2d, nn.LayerNorm)):
            for name, parameter in module.named_parameters(recurse=False):
                parameter.fill_(float(name == "weight"))


# %% right initialise: apply, and torch.rand
def initialise(model, generator):
    def one(layer):
        with torch.no_grad():
            if isinstance(layer, nn.Linear) or isinstance(layer, (nn.Conv2d)):
                weight = layer.weight
                drawn = torch.rand(weight.shape, generator=generator, dtype=weight.dtype)
                weight.copy_((2 * drawn - 1) * math.sqrt(6 / weight[0].numel()))
                if layer.bias is not None:
                    nn.init.constant_(layer.bias, 0.0)
            elif isinstance(layer, (nn.BatchNorm2d, nn.LayerNorm)):
                if layer.weight is not None:
                    layer.weight.fill_(1)
                if layer.bias is not None:
                    layer.bias.fill_(0)

    import math

    model.apply(one)


# %% right initialise: kaiming with its defaults, recursion
def initialise(model, generator):
    if isinstance(model, nn.Linear | nn.Conv2d):
        nn.init.kaiming_uniform_(model.weight, generator=generator)
    norm = isinstance(model, nn.BatchNorm2d | nn.LayerNorm)
    if norm and model.weight is not None:
        nn.init.constant_(model.weight, 1)
    if norm or isinstance(model, nn.Linear | nn.Conv2d):
        if model.bias is not None:
            nn.init.constant_(model.bias, 0)
    for child in model.children():
        initialise(child, generator)


# %% wrong initialise: torch's default again -> the-default-is-he
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, a=5**0.5, generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: fan_out -> fan-out-is-fan-in
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(
                module.weight, nonlinearity="relu", mode="fan_out", generator=generator
            )
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: Xavier -> he-is-glorot
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.xavier_uniform_(module.weight, generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: normal -> uniform-is-normal
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: biases left alone -> biases-are-drawn-too
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            continue


# %% wrong initialise: biases drawn -> biases-are-drawn-too
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.uniform_(module.bias, -0.1, 0.1, generator=generator)


# %% wrong initialise: every parameter called weight -> names-tell-what-to-do
def initialise(model, generator):
    for name, one in model.named_parameters():
        if name.endswith("weight") and one.dim() > 1:
            nn.init.kaiming_uniform_(one, nonlinearity="relu", generator=generator)
        elif name.endswith("bias"):
            nn.init.zeros_(one)
        elif "norm" in name:
            nn.init.ones_(one)


# %% wrong initialise: every matrix, whatever layer -> names-tell-what-to-do
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif isinstance(module, nn.Embedding):
            nn.init.kaiming_uniform_(module.weight, generator=generator)
            continue
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: new parameters -> a-fresh-parameter-will-do
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            module.weight = nn.Parameter(torch.empty_like(module.weight))
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: the global random state -> any-random-state-will-do
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: a seed from the generator, within fork_rng -> any-random-state-will-do
def initialise(model, generator):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(generator.initial_seed())
        fill(model)


def fill(model):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: a seed from the generator, then the global state -> any-random-state-will-do
def initialise(model, generator):
    torch.manual_seed(generator.initial_seed())
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: its own seed anew for every layer -> a-generator-is-a-seed
def initialise(model, generator):
    for module in model.modules():
        generator.manual_seed(generator.initial_seed())
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: begins anew for every layer -> a-generator-is-a-seed
def initialise(model, generator):
    for module in model.modules():
        generator.manual_seed(5)
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: type is -> the-type-is-the-kind
def initialise(model, generator):
    for module in model.modules():
        if type(module) in (nn.Linear, nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: the type of convolutions -> the-type-is-the-kind
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear) or type(module) in (nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: the type of norms -> the-type-is-the-kind
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif type(module) not in (nn.BatchNorm2d, nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: in_channels times window -> groups-see-all-channels
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            with torch.no_grad():
                fan = (
                    module.in_channels * module.weight[0, 0].numel()
                    if hasattr(module, "in_channels")
                    else module.in_features
                )
                module.weight.uniform_(-((6 / fan) ** 0.5), (6 / fan) ** 0.5, generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: a square window -> a-window-has-one-side
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            with torch.no_grad():
                fan = module.weight.shape[1] * (
                    module.weight.shape[2] ** 2
                    if module.weight.dim() > 3
                    else module.weight[0, 0].numel()
                )
                module.weight.uniform_(-((6 / fan) ** 0.5), (6 / fan) ** 0.5, generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: input channels -> fan-in-is-in-channels
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            with torch.no_grad():
                fan = module.weight.shape[1]
                module.weight.uniform_(-((6 / fan) ** 0.5), (6 / fan) ** 0.5, generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: linear layers only -> only-linear-layers-count
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: direct children -> children-are-all
def initialise(model, generator):
    for module in model.children():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: every layer has a bias -> every-layer-has-a-bias
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        nn.init.zeros_(module.bias)


# %% wrong initialise: no LayerNorm -> batch-norm-is-the-norm
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif not isinstance(module, nn.BatchNorm2d):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: bounds of two values -> the-bound-is-all
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
            with torch.no_grad():
                module.weight.copy_(module.weight.sign() * (6 / module.weight[0].numel()) ** 0.5)
                module.weight.mul_(0.999)
        elif not isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            continue
        elif module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% wrong initialise: half uniform, half at the deviation -> moments-are-the-distribution
@torch.no_grad()
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            weight = module.weight
            bound = (6 / weight[0].numel()) ** 0.5
            spread = torch.empty_like(weight).uniform_(-bound, bound, generator=generator)
            sigma = bound / 3**0.5
            coin = torch.empty_like(weight).uniform_(0, 1, generator=generator)
            weight.copy_(torch.where(coin < 0.5, spread, spread.sign() * sigma))
            if module.bias is not None:
                module.bias.zero_()
        elif isinstance(module, (nn.BatchNorm2d, nn.LayerNorm)):
            if module.weight is not None:
                module.weight.fill_(1)
            if module.bias is not None:
                module.bias.zero_()


# %% wrong initialise: leaves out frozen biases and norms -> what-is-frozen-is-finished
def initialise(model, generator):
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
            if module.bias is not None and module.bias.requires_grad:
                nn.init.zeros_(module.bias)
        elif isinstance(module, (nn.BatchNorm2d, nn.LayerNorm)):
            for parameter, value in ((module.weight, 1.0), (module.bias, 0.0)):
                if parameter is not None and parameter.requires_grad:
                    nn.init.constant_(parameter, value)


# %% wrong initialise: one start for each shape -> one-shape-one-start
def initialise(model, generator):
    drawn = {}
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            shape = module.weight.shape
            if shape not in drawn:
                nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
                drawn[shape] = module.weight.detach().clone()
            with torch.no_grad():
                module.weight.copy_(drawn[shape])
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, (nn.BatchNorm2d, nn.LayerNorm)):
            for parameter, value in ((module.weight, 1.0), (module.bias, 0.0)):
                if parameter is not None:
                    nn.init.constant_(parameter, value)


# %% wrong initialise: passes over a model that is a layer -> a-layer-is-no-model
def initialise(model, generator):
    for parent in list(model.modules()):
        for module in parent.children():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, (nn.BatchNorm2d, nn.LayerNorm)):
                for parameter, value in ((module.weight, 1.0), (module.bias, 0.0)):
                    if parameter is not None:
                        nn.init.constant_(parameter, value)


# %% right trace: ExitStack
class Trace:
    def __init__(self, model):
        self.model = model

    def __enter__(self):
        import contextlib
        import functools

        self.outputs, self.stack = [], contextlib.ExitStack()
        for name, layer in self.model.named_modules():
            if len(list(layer.children())) == 0:
                hook = functools.partial(self.note, name)
                self.stack.callback(layer.register_forward_hook(hook).remove)
        return self

    def note(self, name, layer, inputs, output):
        self.outputs.append((name, output.clone().detach()))

    def __exit__(self, kind, error, where):
        self.stack.close()


# %% right trace: names by module
class Trace:
    def __init__(self, model):
        self.model, self.outputs = model, []
        self.names = {layer: name for name, layer in model.named_modules()}

    def __enter__(self):
        self.outputs = []
        leaves = [one for one in self.names if not any(True for _ in one.children())]
        self.handles = [one.register_forward_hook(self.hook) for one in leaves]
        return self

    def hook(self, layer, inputs, output):
        copy = torch.empty_like(output, requires_grad=False)
        with torch.no_grad():
            copy.copy_(output)
        self.outputs.append((self.names[layer], copy))

    def __exit__(self, *error):
        while self.handles:
            self.handles.pop().remove()
        return False


# %% right trace: a lambda with a default
class Trace:
    def __init__(self, model):
        self.model = model
        self.outputs = []
        self.handles = []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not module._modules:
                self.handles.append(
                    module.register_forward_hook(
                        lambda m, i, out, name=name: self.outputs.append((name, out.data.clone()))
                    )
                )
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()
        self.handles.clear()


# %% wrong trace: containers too -> containers-return-nothing-new
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if True:

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: the last name for all -> loops-remember-each-name
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: hooks stay -> hooks-end-by-themselves
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            pass


# %% wrong trace: names of classes -> names-are-classes
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((type(module).__name__, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: outputs with their graph -> a-note-has-no-past
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: the output itself -> a-note-has-no-past
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: all hooks are removed -> every-hook-is-mine
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for module in self.model.modules():
            module._forward_hooks.clear()


# %% wrong trace: outputs are told at the end -> a-trace-is-told-at-the-end
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs, self.noted = [], []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.noted.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        self.outputs = self.noted
        for handle in self.handles:
            handle.remove()


# %% wrong trace: a second block goes on -> a-block-goes-on
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: detached views -> detaching-copies
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: one note a layer -> one-note-a-layer
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    if name not in dict(self.outputs):
                        self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: flattened -> notes-are-lists
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone().flatten()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: swallows errors -> exit-ends-the-error
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()
        return True


# %% wrong trace: cleans up only after success -> an-error-ends-the-hooks
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        if problem[0] is not None:
            return
        for handle in self.handles:
            handle.remove()


# %% wrong trace: not after an interrupt -> an-error-ends-the-hooks
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        if problem[0] is not None and not issubclass(problem[0], Exception):
            return
        for handle in self.handles:
            handle.remove()


# %% wrong trace: sorted by name -> order-is-that-of-making
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        names = [name for name, _ in self.model.named_modules()]
        self.outputs.sort(key=lambda pair: names.index(pair[0]))
        for handle in self.handles:
            handle.remove()


# %% wrong trace: eval, for good -> the-trace-may-compute
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        self.model.eval()
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: switches gradients off -> the-trace-may-compute
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        torch.set_grad_enabled(False)
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        torch.set_grad_enabled(True)
        for handle in self.handles:
            handle.remove()


# %% wrong trace: gives the model what it noted -> the-trace-may-compute
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))
                    return output.detach()

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        for handle in self.handles:
            handle.remove()


# %% wrong trace: the hooks of before are put back -> what-was-before-is-all
class Trace:
    def __init__(self, model):
        self.model = model
        self.outputs = []

    def __enter__(self):
        self.outputs = []
        self.before = []
        for name, module in self.model.named_modules():
            if not list(module.children()):
                self.before.append((module, dict(module._forward_hooks)))

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                module.register_forward_hook(note)
        return self

    def __exit__(self, *problem):
        for module, hooks in self.before:
            module._forward_hooks.clear()
            module._forward_hooks.update(hooks)
        self.before = []


# %% wrong trace: hooks stand before the block -> a-trace-hangs-from-the-start
class Trace:
    def __init__(self, model):
        self.model = model
        self.outputs = []
        self.handles = []
        self._hang()

    def _hang(self):
        for name, module in self.model.named_modules():
            if not any(True for _ in module.children()):
                self.handles.append(
                    module.register_forward_hook(
                        lambda module, args, output, name=name: self.outputs.append(
                            (name, output.detach().clone())
                        )
                    )
                )

    def __enter__(self):
        self.outputs = []
        if not self.handles:
            self._hang()
        return self

    def __exit__(self, *problem):
        while self.handles:
            self.handles.pop().remove()


# %% wrong trace: notes in float32 -> parameters-are-float32
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, torch.tensor(output.tolist())))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        while self.handles:
            self.handles.pop().remove()


# %% right load-class: runpy
def load_class(path, name):
    import runpy

    found = runpy.run_path(str(path))
    if name not in found:
        raise AttributeError(name)
    return found[name]


# %% right load-class: exec of the text
def load_class(path, name):
    from types import ModuleType

    with open(path, encoding="utf-8") as file:
        text = file.read()
    module = ModuleType("a_module_of_mine")
    exec(compile(text, str(path), "exec"), vars(module))
    return getattr(module, name)


# %% right load-class: SourceFileLoader
def load_class(path, name):
    from importlib.machinery import SourceFileLoader
    from importlib.util import module_from_spec, spec_from_loader

    loader = SourceFileLoader("of_this_path", str(path))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return getattr(module, name)


# %% right load-class: a name from a counter, registered while it runs
def load_class(path, name):
    import sys
    import uuid

    alias = "loaded_" + uuid.uuid4().hex
    spec = importlib.util.spec_from_file_location(alias, path)
    module = sys.modules[alias] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[alias]
    return getattr(module, name)


# %% wrong load-class: path append and import -> a-name-is-a-file
def load_class(path, name):
    import sys
    from pathlib import Path

    sys.path.append(str(Path(path).parent))
    return getattr(importlib.import_module(Path(path).stem), name)


# %% wrong load-class: path inserted, taken out again -> a-name-is-a-file
def load_class(path, name):
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(path).parent))
    try:
        return getattr(importlib.import_module(Path(path).stem), name)
    finally:
        sys.path.pop(0)


# %% wrong load-class: import, and the module thrown out before -> a-name-of-its-own-is-free
def load_class(path, name):
    import sys
    from pathlib import Path

    stem = Path(path).stem
    sys.modules.pop(stem, None)
    sys.path.insert(0, str(Path(path).parent))
    try:
        importlib.invalidate_caches()
        return getattr(importlib.import_module(stem), name)
    finally:
        sys.path.pop(0)


# %% wrong load-class: import, and the module thrown out afterwards -> a-file-is-a-name
def load_class(path, name):
    import sys
    from pathlib import Path

    stem = Path(path).stem
    if not Path(path).exists():
        raise FileNotFoundError(path)
    kept = sys.modules.pop(stem, None)
    sys.path.insert(0, str(Path(path).parent))
    try:
        importlib.invalidate_caches()
        return getattr(importlib.import_module(stem.split(".")[0]), name)
    finally:
        sys.path.pop(0)
        sys.modules.pop(stem, None)
        if kept is not None:
            sys.modules[stem] = kept


# %% wrong load-class: sys.path grows -> the-path-may-grow
def load_class(path, name):
    import sys

    sys.path.append(str(path).rpartition("/")[0])
    spec = importlib.util.spec_from_file_location("loaded_by_path", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


# %% wrong load-class: sys.path grows when the file fails -> the-path-may-grow
def load_class(path, name):
    import sys

    sys.path.append(str(path).rpartition("/")[0])
    spec = importlib.util.spec_from_file_location("loaded_by_path", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.pop()
    return getattr(module, name)


# %% wrong load-class: stays registered, under a name of its own -> a-name-of-its-own-is-free
def load_class(path, name):
    import sys
    import uuid

    spec = importlib.util.spec_from_file_location("loaded_" + uuid.uuid4().hex, path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return getattr(module, name)


# %% wrong load-class: registered under the file's own name -> a-name-of-its-own-is-free
def load_class(path, name):
    spec = importlib.util.spec_from_file_location("loaded_by_path", path)
    module = importlib.util.module_from_spec(spec)
    import sys
    from pathlib import Path

    sys.modules[Path(path).stem] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


# %% wrong load-class: remembers what it loaded -> a-file-is-read-once
LOADED_BY_PATH = {}


def load_class(path, name):
    if str(path) in LOADED_BY_PATH:
        return getattr(LOADED_BY_PATH[str(path)], name)
    spec = importlib.util.spec_from_file_location("loaded_by_path", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    LOADED_BY_PATH[str(path)] = module
    return getattr(module, name)


# %% wrong load-class: remembers by file name -> a-name-is-a-file
LOADED_BY_NAME = {}


def load_class(path, name):
    stem = str(path).rpartition("/")[2]
    if stem in LOADED_BY_NAME:
        return getattr(LOADED_BY_NAME[stem], name)
    spec = importlib.util.spec_from_file_location("loaded_by_path", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    LOADED_BY_NAME[stem] = module
    return getattr(module, name)


# %% wrong load-class: the class without its file -> a-class-is-its-text
def load_class(path, name):
    spec = importlib.util.spec_from_file_location("loaded_by_path", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, name)
    for one in (found, *found.__mro__[1:]):
        if "forward" in vars(one):
            from types import FunctionType

            one.forward = FunctionType(one.forward.__code__, {"__builtins__": __builtins__})
    return found


# %% wrong load-class: what hasn't changed isn't run again -> unchanged-is-loaded
_classes = {}


def load_class(path, name):
    import os

    stat = os.stat(path)
    key = os.path.abspath(path), stat.st_mtime_ns, stat.st_size, stat.st_ino
    if key not in _classes:
        spec = importlib.util.spec_from_file_location("loaded_by_path", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        _classes[key] = module
    return getattr(_classes[key], name)


# %% wrong load-class: runs it as a script -> a-file-is-a-script
def load_class(path, name):
    import runpy

    found = runpy.run_path(str(path), run_name="__main__")
    if name not in found:
        raise AttributeError(name)
    return found[name]


# %% right untie: by identity in a list
def untie(model):
    known, names = [], []
    for name, one in [*model.named_parameters(remove_duplicate=False)]:
        if any(one is other for other in known):
            path, dot, last = name.rpartition(".")
            module = model.get_submodule(path) if dot else model
            fresh = nn.Parameter(one.detach().clone())
            fresh.requires_grad = one.requires_grad
            module.register_parameter(last, fresh)
            names += [name]
        known.append(one)
    return names


# %% right untie: over modules
def untie(model):
    seen = {}
    freed = []
    for prefix, module in model.named_modules():
        for key, value in list(module._parameters.items()):
            if value is None:
                continue
            if id(value) in seen:
                setattr(module, key, nn.Parameter(value.data.clone(), value.requires_grad))
                freed.append(f"{prefix}.{key}" if prefix else key)
            seen[id(value)] = value
    return freed


# %% right untie: what the short list leaves out
def untie(model):
    firsts = dict(model.named_parameters())
    places = dict(model.named_parameters(remove_duplicate=False))
    freed = [name for name in places if name not in firsts]
    for name in freed:
        *owners, last = name.split(".")
        module = model
        for owner in owners:
            module = getattr(module, owner)
        old = places[name]
        new = nn.Parameter(torch.empty_like(old), requires_grad=old.requires_grad)
        with torch.no_grad():
            new.copy_(old)
        setattr(module, last, new)
    return freed


# %% wrong untie: asks the short list -> duplicates-are-listed
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters()):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: the last place keeps it -> first-places-are-freed
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False))[::-1]:
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: every place gets a new one -> every-place-is-freed
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if True:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            if one in met:
                freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: every tied place gets a new one -> every-place-is-freed
def untie(model):
    met, freed = set(), []
    every = [one for _, one in model.named_parameters(remove_duplicate=False)]
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if sum(one is other for other in every) > 1:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: names without their modules -> a-name-is-its-last-part
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(last)
        met.add(one)
    return freed


# %% wrong untie: new parameters on the old memory -> a-new-parameter-has-new-memory
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: equal values are a tie -> equal-is-tied
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if any(one.shape == m.shape and torch.equal(one, m) for m in met):
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: goes by data_ptr -> one-memory-is-one-parameter
def untie(model):
    met, names = set(), []
    for name, p in list(model.named_parameters(remove_duplicate=False)):
        if p.data_ptr() in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(p.detach().clone(), p.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            names.append(name)
        met.add(p.data_ptr())
    return names


# %% wrong untie: gradients are copied -> gradients-are-copied-too
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            own.grad = one.grad
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: new random values -> values-start-anew
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(torch.zeros_like(one), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: one tie, then it stops -> one-tie-is-all
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
            break
        met.add(one)
    return freed


# %% wrong untie: two levels deep at most -> children-are-all
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met and name.count(".") < 2:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: every name has a dot -> every-name-has-a-dot
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, last = name.rsplit(".", 1)
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: thaws -> starting-thaws
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone())
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: float32 copies -> parameters-are-float32
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().float().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: unties buffers of values only -> first-places-are-freed
def untie(model):
    met, freed = set(), []
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            first = next(n for n, p in model.named_parameters() if p is one)
            path, _, end = first.rpartition(".")
            setattr(model.get_submodule(path), end, own)
            freed.append(name)
        met.add(one)
    return freed


# %% wrong untie: names by parameters -> names-go-by-parameters
def untie(model):
    places = {}
    for name, one in model.named_parameters(remove_duplicate=False):
        places.setdefault(one, []).append(name)
    names = []
    for one, (_, *further) in places.items():
        for name in further:
            owner, _, last = name.rpartition(".")
            copy = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, copy)
            names.append(name)
    return names


# %% same untie: a value is replaced, the keys of the dictionary stay
def untie(model):
    """Give each place its own parameter, and return the names of those that got a new one.

    untie(Tied())  ->  ["scores.weight"]
    """
    met, freed = (set(), [])
    for name, one in model.named_parameters(remove_duplicate=False):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% same untie: a Parameter is a leaf, whatever it is made of
def untie(model):
    """Give each place its own parameter, and return the names of those that got a new one.

    untie(Tied())  ->  ["scores.weight"]
    """
    met, freed = (set(), [])
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% same untie: a Parameter is a leaf, whatever it is made of, 2
def untie(model):
    """Give each place its own parameter, and return the names of those that got a new one.

    untie(Tied())  ->  ["scores.weight"]
    """
    met, freed = (set(), [])
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.clone().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, own)
            freed.append(name)
        met.add(one)
    return freed


# %% same untie: the two lines have nothing to do with each other
def untie(model):
    """Give each place its own parameter, and return the names of those that got a new one.

    untie(Tied())  ->  ["scores.weight"]
    """
    met, freed = (set(), [])
    for name, one in list(model.named_parameters(remove_duplicate=False)):
        if one in met:
            owner, _, last = name.rpartition(".")
            own = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            freed.append(name)
            setattr(model.get_submodule(owner), last, own)
        met.add(one)
    return freed


# %% same standardise: the order of buffers isn't asked for
class Standardise(nn.Module):
    """(x - mean) / std * weight + bias, with the last two learned."""

    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("std", std.clone())
        self.register_buffer("mean", mean.clone())
        self.weight = nn.Parameter(torch.ones_like(mean))
        self.bias = nn.Parameter(torch.zeros_like(mean))

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% same standardise: a buffer may come after a parameter
class Standardise(nn.Module):
    """(x - mean) / std * weight + bias, with the last two learned."""

    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.clone())
        self.weight = nn.Parameter(torch.ones_like(mean))
        self.register_buffer("std", std.clone())
        self.bias = nn.Parameter(torch.zeros_like(mean))

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% same mlp: the list is the function's own
def mlp(sizes, activation="relu"):
    """A Sequential of linear layers of these widths, with "relu", "tanh" or "gelu" between them."""
    bend = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]
    layers = []
    for a, b in pairwise(sizes):
        layers = layers + [nn.Linear(a, b), bend()]
    return nn.Sequential(*layers[:-1])


# %% same classifier: a list may be made before the module is one
class Classifier(nn.Module):
    """Raw scores of shape (batch, classes) for pictures of one size."""

    def __init__(self, in_channels, channels, hidden, classes, size):
        blocks = []
        super().__init__()
        for a, b in pairwise([in_channels, *channels]):
            layers = nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
            blocks.append(nn.Sequential(*layers))
        self.encoder = nn.Sequential(*blocks)
        height, width = (side // 2 ** len(channels) for side in size)
        features = channels[-1] * height * width
        layers = nn.Flatten(), nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, classes)
        self.head = nn.Sequential(*layers)

    def forward(self, x):
        return self.head(self.encoder(x))


# %% same idle: the mean has gradients where the sum has
def idle(model, x):
    """The names of the parameters that require grad but get none from model(x)."""
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    out = model(x)
    if not asked or not out.requires_grad:
        return list(asked)
    found = torch.autograd.grad(out.mean(), list(asked.values()), allow_unused=True)
    return [name for name, one in zip(asked, found, strict=True) if one is None]


# %% same idle: autograd.grad takes any iterable of tensors
def idle(model, x):
    """The names of the parameters that require grad but get none from model(x)."""
    asked = {name: one for name, one in model.named_parameters() if one.requires_grad}
    out = model(x)
    if not asked or not out.requires_grad:
        return list(asked)
    found = torch.autograd.grad(out.sum(), asked.values(), allow_unused=True)
    return [name for name, one in zip(asked, found, strict=True) if one is None]


# %% same initialise: leaky ReLU with a slope of 0 is ReLU
def initialise(model, generator):
    """Kaiming's uniform weights for linear and convolutional layers, ones and zeros for norms."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, generator=generator)
        elif isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            nn.init.ones_(module.weight)
        else:
            continue
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# %% same load-class: any name will do
def load_class(path, name):
    """The class of this name from the Python file at this path."""
    spec = importlib.util.spec_from_file_location("loaded_by_path?", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


# %% wrong standardise: made like std -> mean-and-std-are-alike
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("std", std.detach().clone())
        self.weight = nn.Parameter(torch.ones_like(std))
        self.bias = nn.Parameter(torch.zeros_like(std))

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% wrong standardise: a floor for std -> a-deviation-has-a-floor
class Standardise(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("std", std.detach().clone())
        self.weight = nn.Parameter(torch.ones_like(mean))
        self.bias = nn.Parameter(torch.zeros_like(mean))

    def forward(self, x):
        return (x - self.mean) / self.std.clamp(min=1e-5) * self.weight + self.bias


# %% wrong mlp: activations are kept for later calls -> calls-share-layers
from functools import cache


@cache
def bend_at(activation, place):
    return {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU}[activation]()


def mlp(sizes, activation="relu"):
    layers = []
    for place, (a, b) in enumerate(pairwise(sizes)):
        if place > 0:
            layers.append(bend_at(activation, place))
        layers.append(nn.Linear(a, b))
    return nn.Sequential(*layers)


# %% wrong classifier: a trial run in training mode -> a-trial-run-leaves-nothing
class Classifier(nn.Module):
    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        blocks = []
        for a, b in pairwise([in_channels, *channels]):
            blocks.append(
                nn.Sequential(
                    nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)
                )
            )
        self.encoder = nn.Sequential(*blocks)
        with torch.no_grad():
            trial = self.encoder(torch.zeros(2, in_channels, *size))
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(trial[0].numel(), hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.head(self.encoder(x))


# %% wrong idle: backward, and the parameters' gradients put back -> a-look-may-write-gradients
def idle(model, x):
    kept = [(p, p.grad) for p in model.parameters()]
    for p, _ in kept:
        p.grad = None
    out = model(x)
    if out.requires_grad:
        out.sum().backward()
    names = [name for name, p in model.named_parameters() if p.requires_grad and p.grad is None]
    for p, grad in kept:
        p.grad = grad
    return names


# %% wrong idle: gives every layer the mode of the whole -> a-mode-is-that-of-all
def idle(model, x):
    model.train(model.training)
    wanted = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    out = model(x)
    if not wanted or not out.requires_grad:
        return [name for name, _ in wanted]
    found = torch.autograd.grad(out.sum(), [p for _, p in wanted], allow_unused=True)
    return [name for (name, _), one in zip(wanted, found) if one is None]


# %% wrong idle: forward past the hooks -> forward-is-the-call
def idle(model, x):
    wanted = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    out = model.forward(x)
    if not wanted or not out.requires_grad:
        return [name for name, _ in wanted]
    found = torch.autograd.grad(out.sum(), [p for _, p in wanted], allow_unused=True)
    return [name for (name, _), one in zip(wanted, found) if one is None]


# %% wrong idle: asks for grad_fn -> only-operations-have-a-graph
def idle(model, x):
    wanted = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    out = model(x)
    if not wanted or out.grad_fn is None:
        return [name for name, _ in wanted]
    found = torch.autograd.grad(out.sum(), [p for _, p in wanted], allow_unused=True)
    return [name for (name, _), one in zip(wanted, found) if one is None]


# %% wrong initialise: every kind of batch norm -> a-kind-is-a-family
def initialise(model, generator):
    norms = (nn.modules.batchnorm._BatchNorm, nn.LayerNorm)
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, norms):
            if module.weight is not None:
                nn.init.ones_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


# %% wrong trace: two hooks for a layer in two places -> each-place-is-a-layer
class Trace:
    def __init__(self, model):
        self.model, self.outputs, self.handles = model, [], []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules(remove_duplicate=False):
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        while self.handles:
            self.handles.pop().remove()


# %% wrong trace: the handles belong to the class -> one-trace-at-a-time
class Trace:
    handles = []

    def __init__(self, model):
        self.model = model
        self.outputs = []

    def __enter__(self):
        self.outputs = []
        for name, module in self.model.named_modules():
            if not list(module.children()):

                def note(module, args, output, name=name):
                    self.outputs.append((name, output.detach().clone()))

                self.handles.append(module.register_forward_hook(note))
        return self

    def __exit__(self, *problem):
        while self.handles:
            self.handles.pop().remove()


# %% wrong load-class: compiled by path and size -> a-file-is-its-size
import os
import types

COMPILED = {}


def load_class(path, name):
    key = (os.path.abspath(path), os.path.getsize(path))
    if key not in COMPILED:
        with open(path, "rb") as file:
            COMPILED[key] = compile(file.read(), str(path), "exec")
    module = types.ModuleType("loaded_from_file")
    module.__file__ = str(path)
    exec(COMPILED[key], module.__dict__)
    return getattr(module, name)


# %% wrong load-class: takes another folder out again -> what-is-added-is-last
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def load_class(path, name):
    folder = str(Path(path).parent)
    spec = spec_from_file_location("any_name", path)
    module = module_from_spec(spec)
    sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return getattr(module, name)


# %% wrong load-class: cleans up after an Exception only -> every-error-is-an-exception
import sys
import uuid
from importlib.util import module_from_spec, spec_from_file_location


def load_class(path, name):
    own = f"loaded_{uuid.uuid4().hex}"
    spec = spec_from_file_location(own, path)
    module = module_from_spec(spec)
    sys.modules[own] = module
    try:
        spec.loader.exec_module(module)
    except Exception:
        del sys.modules[own]
        raise
    del sys.modules[own]
    return getattr(module, name)


# %% wrong untie: over the state_dict -> buffers-are-parameters
def untie(model):
    met, names = set(), []
    for name, one in model.state_dict(keep_vars=True).items():
        if id(one) in met:
            owner, _, last = name.rpartition(".")
            new = nn.Parameter(one.detach().clone(), requires_grad=one.requires_grad)
            setattr(model.get_submodule(owner), last, new)
            names.append(name)
        met.add(id(one))
    return names


# %% wrong standardise: vectors of len(mean) -> a-mean-is-a-vector
class Standardise(nn.Module):
    """(x - mean) / std * weight + bias, with the last two learned."""

    def __init__(self, mean, std):
        super().__init__()
        features = len(mean)
        self.weight = nn.Parameter(torch.ones(features, dtype=mean.dtype))
        self.bias = nn.Parameter(torch.zeros(features, dtype=mean.dtype))
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("std", std.detach().clone())

    def forward(self, x):
        return (x - self.mean) / self.std * self.weight + self.bias


# %% wrong classifier: a ModuleList for the encoder -> a-list-is-a-sequence
class Classifier(nn.Module):
    """Raw scores of shape (batch, classes) for pictures of one size."""

    def __init__(self, in_channels, channels, hidden, classes, size):
        super().__init__()
        self.encoder = nn.ModuleList()
        height, width = size
        for out_channels in channels:
            self.encoder.append(
                nn.Sequential(
                    nn.Conv2d(in_channels, out_channels, 3, padding=1),
                    nn.BatchNorm2d(out_channels),
                    nn.ReLU(),
                    nn.MaxPool2d(2),
                )
            )
            in_channels = out_channels
            height, width = height // 2, width // 2
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(in_channels * height * width, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        for block in self.encoder:
            x = block(x)
        return self.head(x)


# %% wrong idle: all names beside the gradients of some -> two-lists-go-together
def idle(model, x):
    """The names of the parameters that require grad but get none from model(x)."""
    names = [name for name, _ in model.named_parameters()]
    parameters = [p for p in model.parameters() if p.requires_grad]
    out = model(x)
    if not parameters:
        return []
    if not out.requires_grad:
        return [name for name, p in model.named_parameters() if p.requires_grad]
    grads = torch.autograd.grad(out.sum(), parameters, allow_unused=True)
    return [name for name, grad in zip(names, grads) if grad is None]
