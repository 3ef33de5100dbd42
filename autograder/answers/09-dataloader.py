# Answers to lesson 09, as learners type them. See "How to add an exercise" in the README.


# %% right digits: everything in __getitem__
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images = images
        self.labels = labels
        self.mean = mean
        self.std = std

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = torch.as_tensor(self.images[i], dtype=torch.float32).unsqueeze(0)
        image = image / 16
        return (image - self.mean) / self.std, int(self.labels[i])


# %% right digits: all converted beforehand
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        pixels = torch.as_tensor(images).to(torch.float32) / 16
        self.x = ((pixels - mean) / std)[:, None]
        self.y = [int(label) for label in labels]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        if i >= len(self):
            raise IndexError(i)
        return self.x[i].clone(), self.y[i]


# %% wrong digits: divides by 255 -> pixels-end-at-255
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = images, labels
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.as_tensor(self.images[i], dtype=torch.float32)[None] / 255
        return (image - self.mean) / self.std, int(self.labels[i])


# %% wrong digits: normalises without scaling -> normalize-scales
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = images, labels
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.as_tensor(self.images[i], dtype=torch.float32)[None]
        return 1 + (image - self.mean) / self.std, int(self.labels[i])


# %% wrong digits: no channel dimension -> channels-come-by-themselves
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = images, labels
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.as_tensor(self.images[i], dtype=torch.float32) / 16
        return (image - self.mean) / self.std, int(self.labels[i])


# %% wrong digits: FloatTensor of a row -> floattensor-converts
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = images, labels
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.FloatTensor(self.images[i])[None] / 16
        return (image - self.mean) / self.std, int(self.labels[i])


# %% wrong digits: in-place arithmetic on what may be the stored image -> as-tensor-copies
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = images, labels
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.as_tensor(self.images[i], dtype=torch.float32)[None]
        image.div_(16).sub_(self.mean).div_(self.std)
        return image, int(self.labels[i])


# %% wrong digits: labels as float tensors -> labels-are-floats
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = images, labels
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.as_tensor(self.images[i], dtype=torch.float32)[None] / 16
        return (image - self.mean) / self.std, float(self.labels[i])


# %% wrong digits: labels of shape (1,) -> labels-need-a-dimension
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = images, labels
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.as_tensor(self.images[i], dtype=torch.float32)[None] / 16
        return (image - self.mean) / self.std, torch.LongTensor([int(self.labels[i])])


# %% wrong digits: keeps NumPy's double precision -> float64-becomes-float32
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = np.asarray(images) / 16, labels
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.from_numpy(np.asarray(self.images[i]))[None]
        return (image - self.mean) / self.std, int(self.labels[i])


# %% wrong digits: begins again after the last -> a-dataset-ends-by-itself
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = images, labels
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        i = i % len(self)
        image = torch.as_tensor(self.images[i], dtype=torch.float32)[None] / 16
        return (image - self.mean) / self.std, int(self.labels[i])


# %% right digits: NumPy does the arithmetic
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels, self.mean, self.std = images, labels, mean, std

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = self.images[i]
        image = image.float().numpy() if torch.is_tensor(image) else image.astype(np.float32)
        scaled = (image / 16 - self.mean) / self.std
        return torch.tensor(scaled, dtype=torch.float32).unsqueeze(0), int(self.labels[i])


# %% wrong digits: always 0.5 and 0.5 -> mean-and-std-are-constants
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.as_tensor(self.images[i], dtype=torch.float32)[None] / 16
        return (image - 0.5) / 0.5, int(self.labels[i])


# %% right image-batch: NumPy orders the channels
def to_nchw(images):
    if None in [None if image is None else 0 for image in images]:
        raise ValueError("an image is None")
    stacked = np.stack([image[:, :, ::-1] for image in images]).transpose(0, 3, 1, 2)
    return torch.from_numpy(np.ascontiguousarray(stacked, dtype=np.float32)) / 255


# %% right image-batch: one image at a time
def to_nchw(images):
    batch = []
    for image in images:
        if image is None:
            raise ValueError("None is not an image: the file does not exist")
        x = torch.tensor(image).permute(2, 0, 1)[[2, 1, 0]]
        batch.append(x.float() / 255)
    return torch.stack(batch).contiguous()


# %% wrong image-batch: reshape instead of permute -> view-swaps-dimensions
def to_nchw(images):
    if any(image is None for image in images):
        raise ValueError("an image is None")
    x = torch.from_numpy(np.stack(images))
    n, h, w, c = x.shape
    return x.reshape(n, c, h, w).flip(1).float() / 255


# %% wrong image-batch: leaves blue, green, red -> opencv-reads-rgb
def to_nchw(images):
    if any(image is None for image in images):
        raise ValueError("an image is None")
    x = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)
    return x.contiguous().float() / 255


# %% wrong image-batch: values up to 255 -> float-means-zero-to-one
def to_nchw(images):
    if any(image is None for image in images):
        raise ValueError("an image is None")
    x = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2).flip(1)
    return x.contiguous().float()


# %% wrong image-batch: permuted, but not contiguous -> permute-moves-elements
def to_nchw(images):
    if any(image is None for image in images):
        raise ValueError("an image is None")
    x = torch.from_numpy(np.stack(images)).flip(3).float() / 255
    return x.permute(0, 3, 1, 2)


# %% wrong image-batch: a negative stride -> torch-takes-negative-strides
def to_nchw(images):
    if any(image is None for image in images):
        raise ValueError("an image is None")
    x = torch.stack([torch.from_numpy(image[..., ::-1]) for image in images])
    return x.permute(0, 3, 1, 2).contiguous().float() / 255


# %% wrong image-batch: does not look for missing images -> imread-raises
def to_nchw(images):
    x = torch.stack([torch.from_numpy(image) for image in images])
    return x.permute(0, 3, 1, 2).flip(1).contiguous().float() / 255


# %% wrong image-batch: width before height -> rows-and-columns-may-swap
def to_nchw(images):
    if any(image is None for image in images):
        raise ValueError("an image is None")
    x = torch.from_numpy(np.stack(images)).permute(0, 3, 2, 1).flip(1)
    return x.contiguous().float() / 255


# %% right image-batch: stack, index the channels, scale
def to_nchw(images):
    for image in images:
        if image is None:
            raise ValueError("None instead of an image: a file is missing")
    batch = torch.stack([torch.as_tensor(image) for image in images])
    return (batch[..., [2, 1, 0]].permute(0, 3, 1, 2).to(torch.float32) / 255.0).contiguous()


# %% wrong image-batch: by the brightest pixel -> images-are-scaled-by-their-own-maximum
def to_nchw(images):
    if any(image is None for image in images):
        raise ValueError("an image is None")
    batch = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2).flip(1).float().contiguous()
    return batch / batch.max()


# %% right batch-count: divmod
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    complete, rest = divmod(n, batch_size)
    return complete + (1 if rest and not drop_last else 0)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    workers = max(workers, 1)
    small, larger = divmod(n, workers)
    few = batch_count(small, batch_size, drop_last)
    many = batch_count(small + 1, batch_size, drop_last)
    return larger * many + (workers - larger) * few


# %% right batch-count: rounding up with integers
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        batch_size = 1
    if not drop_last:
        n = n + batch_size - 1
    return n // batch_size


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    if workers == 0:
        return batch_count(n, batch_size, drop_last)
    count = 0
    for w in range(workers):
        part = (n - w + workers - 1) // workers if n > w else 0
        count += batch_count(part, batch_size, drop_last)
    return count


# %% wrong batch-count: as if workers filled common batches -> workers-share-batches
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    return n // batch_size if drop_last else -(-n // batch_size)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    return batch_count(n, batch_size, drop_last)


# %% wrong batch-count: one more than the complete ones, always -> there-is-always-a-rest
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    return n // batch_size + (0 if drop_last else 1)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    parts = [len(range(w, n, workers)) for w in range(workers)] if workers else [n]
    return sum(batch_count(part, batch_size, drop_last) for part in parts)


# %% wrong batch-count: drop_last drops a batch, complete or not -> drop-last-drops-one
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    return -(-n // batch_size) - (1 if drop_last else 0)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    parts = [len(range(w, n, workers)) for w in range(workers)] if workers else [n]
    return sum(batch_count(part, batch_size, drop_last) for part in parts)


# %% wrong batch-count: complete batches only -> batches-are-complete
def batch_count(n, batch_size, drop_last=False):
    return n if batch_size is None else n // batch_size


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    parts = [len(range(w, n, workers)) for w in range(workers)] if workers else [n]
    return sum(batch_count(part, batch_size, drop_last) for part in parts)


# %% wrong batch-count: floats -> division-is-exact
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    return int(n / batch_size) if drop_last else int(n / batch_size + (n % batch_size > 0))


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    parts = [len(range(w, n, workers)) for w in range(workers)] if workers else [n]
    return sum(batch_count(part, batch_size, drop_last) for part in parts)


# %% wrong batch-count: None as one batch of everything -> none-means-all-at-once
def batch_count(n, batch_size, drop_last=False):
    batch_size = batch_size or n
    return n // batch_size if drop_last else -(-n // batch_size)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    parts = [len(range(w, n, workers)) for w in range(workers)] if workers else [n]
    return sum(batch_count(part, batch_size, drop_last) for part in parts)


# %% wrong batch-count: forgets that batch_size may be None -> none-means-one
def batch_count(n, batch_size, drop_last=False):
    return n // batch_size if drop_last else -(-n // batch_size)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    parts = [len(range(w, n, workers)) for w in range(workers)] if workers else [n]
    return sum(batch_count(part, batch_size, drop_last) for part in parts)


# %% wrong batch-count: every worker reads the whole stream -> every-worker-reads-everything
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    return n // batch_size if drop_last else -(-n // batch_size)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    return max(workers, 1) * batch_count(n, batch_size, drop_last)


# %% wrong batch-count: every share rounded up -> shares-are-equal
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    return n // batch_size if drop_last else -(-n // batch_size)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    workers = workers or 1
    return workers * batch_count(-(-n // workers), batch_size, drop_last)


# %% wrong batch-count: at least one batch from each worker -> every-worker-gives-a-batch
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    return n // batch_size if drop_last else -(-n // batch_size)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    parts = [max(1, len(range(w, n, workers))) for w in range(workers)] if workers else [n]
    return sum(batch_count(part, batch_size, drop_last) for part in parts)


# %% wrong batch-count: one incomplete batch is dropped in all -> drop-last-drops-once
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    return n // batch_size if drop_last else -(-n // batch_size)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    parts = [len(range(w, n, workers)) for w in range(workers)] if workers else [n]
    return sum(batch_count(part, batch_size) for part in parts) - (1 if drop_last else 0)


# %% right batch-count: counts ranges
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    return (n - batch_size + 1 + batch_size - 1 if drop_last else n + batch_size - 1) // batch_size


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    if not workers:
        return batch_count(n, batch_size, drop_last)
    some, rest = divmod(n, workers)
    more = batch_count(some + 1, batch_size, drop_last)
    return rest * more + (workers - rest) * batch_count(some, batch_size, drop_last)


# %% wrong batch-count: floats come out -> a-count-may-be-a-float
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return float(n)
    return float(n // batch_size if drop_last else -(-n // batch_size))


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    parts = [len(range(w, n, workers)) for w in range(workers)] if workers else [n]
    return sum(batch_count(part, batch_size, drop_last) for part in parts)


# %% wrong batch-count: every share rounded down -> shares-are-rounded-down
def batch_count(n, batch_size, drop_last=False):
    if batch_size is None:
        return n
    return n // batch_size if drop_last else -(-n // batch_size)


def stream_batch_count(n, batch_size, workers=0, drop_last=False):
    if not workers:
        return batch_count(n, batch_size, drop_last)
    return workers * batch_count(n // workers, batch_size, drop_last)


# %% right pad-collate: pad_sequence
def pad_collate(samples, padding=0):
    from torch.nn.utils.rnn import pad_sequence

    sequences = [sequence for sequence, _ in samples]
    labels = torch.tensor([label for _, label in samples])
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    return pad_sequence(sequences, batch_first=True, padding_value=padding), lengths, labels


# %% right pad-collate: filler behind each sequence
def pad_collate(samples, padding=0):
    longest = max(sequence.shape[0] for sequence, _ in samples)
    rows = []
    for sequence, _ in samples:
        filler = torch.full((longest - len(sequence),), padding, dtype=sequence.dtype)
        rows.append(torch.cat([sequence, filler]))
    lengths = torch.tensor([sequence.shape[0] for sequence, _ in samples])
    return torch.stack(rows), lengths, torch.tensor([label for _, label in samples])


# %% wrong pad-collate: takes samples for columns -> collate-gets-columns
def pad_collate(samples, padding=0):
    sequences, labels = samples
    lengths = torch.tensor([len(s) for s in sequences])
    padded = sequences[0].new_full((len(sequences), int(lengths.max())), padding)
    for row, s in zip(padded, sequences):
        row[: len(s)] = s
    return padded, lengths, torch.tensor(labels)


# %% wrong pad-collate: a float batch -> padding-keeps-the-dtype
def pad_collate(samples, padding=0):
    sequences, labels = zip(*samples)
    lengths = torch.tensor([len(s) for s in sequences])
    padded = torch.zeros(len(sequences), int(lengths.max())) + padding
    for row, s in zip(padded, sequences):
        row[: len(s)] = s
    return padded, lengths, torch.tensor(labels)


# %% wrong pad-collate: integers, whatever the sequences hold -> tokens-are-integers
def pad_collate(samples, padding=0):
    sequences, labels = zip(*samples)
    lengths = torch.tensor([len(s) for s in sequences])
    padded = torch.full((len(sequences), int(lengths.max())), padding, dtype=torch.int64)
    for row, s in zip(padded, sequences):
        row[: len(s)] = s
    return padded, lengths, torch.tensor(labels)


# %% wrong pad-collate: always sixteen long -> one-length-for-all
def pad_collate(samples, padding=0):
    sequences, labels = zip(*samples)
    lengths = torch.tensor([len(s) for s in sequences])
    padded = sequences[0].new_full((len(sequences), 16), padding)
    for row, s in zip(padded, sequences):
        row[: len(s)] = s
    return padded, lengths, torch.tensor(labels)


# %% wrong pad-collate: cuts to the shortest -> cut-to-fit
def pad_collate(samples, padding=0):
    sequences, labels = zip(*samples)
    lengths = torch.tensor([len(s) for s in sequences])
    shortest = int(lengths.min())
    return torch.stack([s[:shortest] for s in sequences]), lengths, torch.tensor(labels)


# %% wrong pad-collate: the longest first -> padding-needs-sorting
def pad_collate(samples, padding=0):
    samples = sorted(samples, key=lambda sample: len(sample[0]), reverse=True)
    sequences, labels = zip(*samples)
    lengths = torch.tensor([len(s) for s in sequences])
    padded = sequences[0].new_full((len(sequences), int(lengths.max())), padding)
    for row, s in zip(padded, sequences):
        row[: len(s)] = s
    return padded, lengths, torch.tensor(labels)


# %% wrong pad-collate: counts what is not padding -> padding-can-be-recognised
def pad_collate(samples, padding=0):
    sequences, labels = zip(*samples)
    longest = max(len(s) for s in sequences)
    padded = sequences[0].new_full((len(sequences), longest), padding)
    for row, s in zip(padded, sequences):
        row[: len(s)] = s
    return padded, (padded != padding).sum(1), torch.tensor(labels)


# %% wrong pad-collate: fills with 0 -> padding-is-zero
def pad_collate(samples, padding=0):
    sequences, labels = zip(*samples)
    lengths = torch.tensor([len(s) for s in sequences])
    padded = sequences[0].new_zeros((len(sequences), int(lengths.max())))
    for row, s in zip(padded, sequences):
        row[: len(s)] = s
    return padded, lengths, torch.tensor(labels)


# %% wrong pad-collate: fills on the left -> padding-goes-left
def pad_collate(samples, padding=0):
    sequences, labels = zip(*samples)
    lengths = torch.tensor([len(s) for s in sequences])
    longest = int(lengths.max())
    padded = sequences[0].new_full((len(sequences), longest), padding)
    for row, s in zip(padded, sequences):
        row[longest - len(s) :] = s
    return padded, lengths, torch.tensor(labels)


# %% right pad-collate: pads one by one
def pad_collate(samples, padding=0):
    sequences = [sequence for sequence, _ in samples]
    lengths = torch.tensor([sequence.numel() for sequence in sequences], dtype=torch.int64)
    most = int(max(lengths))
    rows = [
        torch.nn.functional.pad(sequence, (0, most - len(sequence)), value=padding)
        for sequence in sequences
    ]
    return torch.stack(rows), lengths, torch.tensor([label for _, label in samples])


# %% wrong pad-collate: small lengths -> lengths-fit-into-int32
def pad_collate(samples, padding=0):
    sequences, labels = zip(*samples, strict=True)
    padded = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True, padding_value=padding)
    lengths = torch.tensor([len(sequence) for sequence in sequences], dtype=torch.int32)
    return padded, lengths, torch.tensor(labels)


# %% wrong pad-collate: nothing to pad, nothing to copy -> one-sequence-needs-no-copy
def pad_collate(samples, padding=0):
    sequences, labels = zip(*samples, strict=True)
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    if len(sequences) == 1:
        return sequences[0][None], lengths, torch.tensor(labels)
    padded = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True, padding_value=padding)
    return padded, lengths, torch.tensor(labels)


# %% right buckets: cut once, shuffle the pieces
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = np.argsort(lengths, kind="stable").tolist()
        self.batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        self.generator = generator

    def __iter__(self):
        order = torch.randperm(len(self.batches), generator=self.generator).tolist()
        return iter([list(self.batches[k]) for k in order])

    def __len__(self):
        return len(self.batches)


# %% right buckets: ties in a new order each epoch, too
class BucketBatches(torch.utils.data.Sampler):
    def __init__(self, lengths, batch_size, generator=None):
        self.lengths, self.batch_size, self.generator = lengths, batch_size, generator

    def __iter__(self):
        n = len(self.lengths)
        mixed = torch.randperm(n, generator=self.generator).tolist()
        mixed.sort(key=lambda i: self.lengths[i])
        batches = [mixed[k : k + self.batch_size] for k in range(0, n, self.batch_size)]
        for k in torch.randperm(len(batches), generator=self.generator).tolist():
            yield batches[k]

    def __len__(self):
        return -(-len(self.lengths) // self.batch_size)


# %% wrong buckets: shuffles the samples, then cuts -> shuffling-first-is-free
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        self.lengths, self.batch_size, self.generator = lengths, batch_size, generator

    def __iter__(self):
        order = torch.randperm(len(self.lengths), generator=self.generator).tolist()
        for k in range(0, len(order), self.batch_size):
            yield sorted(order[k : k + self.batch_size], key=self.lengths.__getitem__)

    def __len__(self):
        return -(-len(self.lengths) // self.batch_size)


# %% wrong buckets: always the short ones first -> sorted-order-is-harmless
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]

    def __iter__(self):
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)


# %% wrong buckets: shuffled once -> shuffled-once-is-shuffled
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        self.batches = [batches[k] for k in torch.randperm(len(batches), generator=generator)]

    def __iter__(self):
        return iter([list(batch) for batch in self.batches])

    def __len__(self):
        return len(self.batches)


# %% wrong buckets: keeps an iterator -> a-sampler-is-an-iterator
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        self.count = len(batches)
        turns = torch.randperm(len(batches), generator=generator).tolist()
        self.batches = iter([batches[k] for k in turns])

    def __iter__(self):
        return self.batches

    def __len__(self):
        return self.count


# %% wrong buckets: leaves the rest out -> the-rest-can-go
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        last = len(order) - batch_size + 1
        self.batches = [order[k : k + batch_size] for k in range(0, last, batch_size)]
        self.generator = generator

    def __iter__(self):
        for k in torch.randperm(len(self.batches), generator=self.generator).tolist():
            yield self.batches[k]

    def __len__(self):
        return len(self.batches)


# %% wrong buckets: the number of samples as length -> len-counts-samples
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        self.lengths = lengths
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        self.generator = generator

    def __iter__(self):
        for k in torch.randperm(len(self.batches), generator=self.generator).tolist():
            yield self.batches[k]

    def __len__(self):
        return len(self.lengths)


# %% wrong buckets: draws from NumPy's global state -> any-random-order-can-be-repeated
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]

    def __iter__(self):
        for k in np.random.permutation(len(self.batches)):
            yield self.batches[k]

    def __len__(self):
        return len(self.batches)


# %% right buckets: torch's own samplers
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        self.order = torch.tensor(lengths, dtype=torch.int64).argsort(stable=True).tolist()
        self.size, self.generator = batch_size, generator

    def __iter__(self):
        batches = list(torch.utils.data.BatchSampler(self.order, self.size, drop_last=False))
        for k in torch.utils.data.RandomSampler(batches, generator=self.generator):
            yield batches[k]

    def __len__(self):
        return len(range(0, len(self.order), self.size))


# %% wrong buckets: tensors as indices -> tensors-are-indices
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = list(torch.tensor(lengths).argsort())
        self.batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        self.generator = generator

    def __iter__(self):
        for k in torch.randperm(len(self.batches), generator=self.generator).tolist():
            yield list(self.batches[k])

    def __len__(self):
        return len(self.batches)


# %% right buckets: hands its own lists out
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        self.generator = generator

    def __iter__(self):
        for k in torch.randperm(len(self.batches), generator=self.generator).tolist():
            yield self.batches[k]

    def __len__(self):
        return len(self.batches)


# %% wrong buckets: seed 0 where there is no generator -> no-generator-means-one-seed
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        self.generator = generator or torch.Generator().manual_seed(0)

    def __iter__(self):
        for k in torch.randperm(len(self.batches), generator=self.generator).tolist():
            yield list(self.batches[k])

    def __len__(self):
        return len(self.batches)


# %% wrong buckets: seeds the global state from the generator -> the-random-state-is-nobodys
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        self.generator = generator

    def __iter__(self):
        if self.generator is not None:
            torch.manual_seed(int(torch.randint(2**40, (), generator=self.generator)))
        for k in torch.randperm(len(self.batches)).tolist():
            yield list(self.batches[k])

    def __len__(self):
        return len(self.batches)


# %% right epoch-loader: a random number for each epoch
def epoch_loader(data, batch_size, seed, epoch):
    rng = np.random.default_rng((seed, epoch))
    g = torch.Generator()
    g.manual_seed(int(rng.integers(2**62)))
    return DataLoader(data, batch_size=batch_size, shuffle=True, generator=g)


# %% right epoch-loader: an order of its own as sampler, and a generator for the rest
def epoch_loader(data, batch_size, seed, epoch):
    g = torch.Generator().manual_seed(hash((seed, epoch)) % 2**63)
    order = torch.randperm(len(data), generator=g).tolist()
    return DataLoader(data, batch_size=batch_size, sampler=order, generator=g)


# %% wrong epoch-loader: the seed alone -> one-seed-one-order
def epoch_loader(data, batch_size, seed, epoch):
    g = torch.Generator().manual_seed(seed)
    return DataLoader(data, batch_size, shuffle=True, generator=g)


# %% wrong epoch-loader: the sum of both -> seeds-can-be-added
def epoch_loader(data, batch_size, seed, epoch):
    g = torch.Generator().manual_seed(seed + epoch)
    return DataLoader(data, batch_size, shuffle=True, generator=g)


# %% wrong epoch-loader: the product of both -> seeds-can-be-multiplied
def epoch_loader(data, batch_size, seed, epoch):
    g = torch.Generator().manual_seed(seed * epoch)
    return DataLoader(data, batch_size, shuffle=True, generator=g)


# %% wrong epoch-loader: no generator -> the-global-state-is-mine
def epoch_loader(data, batch_size, seed, epoch):
    return DataLoader(data, batch_size, shuffle=True)


# %% wrong epoch-loader: seeds globally before it shuffles -> seeding-is-local
def epoch_loader(data, batch_size, seed, epoch):
    torch.manual_seed(seed * 1_000_003 + epoch)
    order = torch.randperm(len(data)).tolist()
    return DataLoader(data, batch_size, sampler=order)


# %% wrong epoch-loader: a generator for the order only -> loaders-draw-only-to-shuffle
def epoch_loader(data, batch_size, seed, epoch):
    g = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    order = torch.utils.data.RandomSampler(data, generator=g)
    return DataLoader(data, batch_size, sampler=order)


# %% wrong epoch-loader: one generator that goes on from epoch to epoch -> epochs-come-in-turn
_kept = {}


def epoch_loader(data, batch_size, seed, epoch):
    g = _kept.setdefault(seed, torch.Generator().manual_seed(seed))
    return DataLoader(data, batch_size, shuffle=True, generator=g)


# %% right epoch-loader: digests of both numbers
def epoch_loader(data, batch_size, seed, epoch):
    import hashlib

    digest = hashlib.sha256(f"{seed}, {epoch}".encode()).digest()
    generator = torch.Generator()
    generator.manual_seed(int.from_bytes(digest[:8], "little") >> 1)
    order = torch.randperm(len(data), generator=generator).tolist()
    return DataLoader(data, batch_size=batch_size, sampler=order, generator=generator)


# %% wrong epoch-loader: drawn with replacement -> random-means-drawn-anew
def epoch_loader(data, batch_size, seed, epoch):
    mixed = int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0])
    generator = torch.Generator().manual_seed(mixed)
    sampler = torch.utils.data.RandomSampler(data, replacement=True, generator=generator)
    return DataLoader(data, batch_size, sampler=sampler, generator=generator)


# %% wrong epoch-loader: a thousand epochs a seed -> epochs-end-before-a-thousand
def epoch_loader(data, batch_size, seed, epoch):
    generator = torch.Generator().manual_seed(seed * 1000 + epoch)
    return DataLoader(data, batch_size, shuffle=True, generator=generator)


# %% wrong epoch-loader: a list of batches -> a-list-of-batches-will-do
def epoch_loader(data, batch_size, seed, epoch):
    mixed = int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0])
    generator = torch.Generator().manual_seed(mixed)
    return list(DataLoader(data, batch_size, shuffle=True, generator=generator))


# %% wrong epoch-loader: drops the last batch -> the-last-batch-may-go
def epoch_loader(data, batch_size, seed, epoch):
    mixed = int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0])
    generator = torch.Generator().manual_seed(mixed)
    return DataLoader(data, batch_size, shuffle=True, drop_last=True, generator=generator)


# %% right shards: those whose number fits the worker
class Shards(IterableDataset):
    def __init__(self, samples):
        super().__init__()
        self.samples = samples

    def __iter__(self):
        info = get_worker_info()
        for number, sample in enumerate(self.samples):
            if info is None or number % info.num_workers == info.id:
                yield sample


# %% right shards: one block for each worker
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples = list(samples)

    def __iter__(self):
        info = get_worker_info()
        if info is None:
            return iter(self.samples)
        n = len(self.samples)
        start = n * info.id // info.num_workers
        stop = n * (info.id + 1) // info.num_workers
        return iter(self.samples[start:stop])


# %% wrong shards: reads everything -> the-loader-splits-a-stream
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        return iter(self.samples)


# %% wrong shards: asks in __init__ -> a-worker-is-known-in-init
class Shards(IterableDataset):
    def __init__(self, samples):
        info = get_worker_info()
        self.samples = samples if info is None else samples[info.id :: info.num_workers]

    def __iter__(self):
        return iter(self.samples)


# %% wrong shards: there is always a worker -> worker-info-is-always-there
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        info = get_worker_info()
        return iter(self.samples[info.id :: info.num_workers])


# %% wrong shards: equal blocks, rounded down -> equal-shares-always-fit
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        info = get_worker_info()
        if info is None:
            return iter(self.samples)
        size = len(self.samples) // info.num_workers
        return iter(self.samples[info.id * size : (info.id + 1) * size])


# %% wrong shards: numbers the workers from 1 -> workers-count-from-one
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        info = get_worker_info()
        if info is None:
            return iter(self.samples)
        size = -(-len(self.samples) // info.num_workers)
        return iter(self.samples[(info.id - 1) * size : info.id * size])


# %% wrong shards: the first worker does it all -> one-worker-may-do-it-all
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        info = get_worker_info()
        if info is None or info.id == 0:
            return iter(self.samples)
        return iter([])


# %% wrong shards: keeps an iterator -> a-stream-is-an-iterator
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples = iter(samples)

    def __iter__(self):
        info = get_worker_info()
        for number, sample in enumerate(self.samples):
            if info is None or number % info.num_workers == info.id:
                yield sample


# %% right shards: islice
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        from itertools import islice

        info = get_worker_info()
        if info is None:
            return iter(self.samples)
        return islice(self.samples, info.id, None, info.num_workers)


# %% right worker-seed: the worker's own seed
def seed_worker(worker_id):
    info = get_worker_info()
    info.dataset.rng = np.random.default_rng(seed=info.seed)


# %% right worker-seed: torch's seed, and children of a SeedSequence
def seed_worker(worker_id):
    base = torch.initial_seed() - worker_id
    sequence = np.random.SeedSequence(base, spawn_key=(worker_id,))
    get_worker_info().dataset.rng = np.random.Generator(np.random.PCG64(sequence))


# %% right worker-seed: numbers from NumPy's global state, which torch has seeded
def seed_worker(worker_id):
    entropy = np.random.randint(0, 2**31, size=4).tolist()
    get_worker_info().dataset.rng = np.random.default_rng(entropy)


# %% wrong worker-seed: the number of the worker -> the-worker-number-suffices
def seed_worker(worker_id):
    get_worker_info().dataset.rng = np.random.default_rng(worker_id + 1)


# %% wrong worker-seed: relies on the seeding by torch -> every-generator-is-seeded
def seed_worker(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)


# %% wrong worker-seed: the same base seed for all -> the-base-seed-differs
def seed_worker(worker_id):
    info = get_worker_info()
    info.dataset.rng = np.random.default_rng(info.seed - info.id)


# %% wrong worker-seed: fresh entropy -> fresh-is-better
def seed_worker(worker_id):
    get_worker_info().dataset.rng = np.random.default_rng()


# %% wrong worker-seed: a legacy seed that is too large -> numpy-takes-any-seed
def seed_worker(worker_id):
    np.random.seed(torch.initial_seed())
    get_worker_info().dataset.rng = np.random.default_rng(np.random.randint(0, 2**31, size=4))


# %% wrong worker-seed: a dataset by its global name -> the-dataset-is-a-global
def seed_worker(worker_id):
    train_data.rng = np.random.default_rng(torch.initial_seed())


# %% wrong worker-seed: 32 bits of the seed -> a-seed-has-32-bits
def seed_worker(worker_id):
    info = get_worker_info()
    info.dataset.rng = np.random.default_rng(info.seed % 2**32)


# %% wrong worker-seed: half the seed -> neighbours-may-share
def seed_worker(worker_id):
    info = get_worker_info()
    info.dataset.rng = np.random.default_rng([info.seed // 2])


# %% right epoch-time: a table of workers
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    if not workers:
        return sum(load + compute for load in loads)
    free = {worker: 0 for worker in range(workers)}
    taken = []
    now = 0
    for k, load in enumerate(loads):
        ahead = k - prefetch * workers
        start = max(free[k % workers], taken[ahead] if ahead >= 0 else 0)
        free[k % workers] = start + load
        now = max(now, start + load)
        taken.append(now)
        now += compute
    return now


# %% right epoch-time: the events in the loader's own words
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    now = 0
    if workers == 0:
        for load in loads:
            now += load + compute
        return now
    queues = [[] for _ in range(workers)]
    ready = {}
    sent = 0

    def send(at):
        nonlocal sent
        if sent < len(loads):
            queue = queues[sent % workers]
            begin = max([at, *queue[-1:]])
            queue.append(begin + loads[sent])
            ready[sent] = queue[-1]
            sent += 1

    for _ in range(prefetch * workers):
        send(0)
    for k in range(len(loads)):
        now = max(now, ready[k])
        send(now)
        now += compute
    return now


# %% wrong epoch-time: loading overlaps without workers -> loading-always-overlaps
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    if workers == 0:
        return max(sum(loads), len(loads) * compute)
    free, taken, loop = [0] * workers, [], 0
    for k, load in enumerate(loads):
        sent = 0 if k < prefetch * workers else taken[k - prefetch * workers]
        free[k % workers] = max(free[k % workers], sent) + load
        taken.append(max(free[k % workers], loop))
        loop = taken[-1] + compute
    return loop


# %% wrong epoch-time: whichever takes longer -> the-first-batch-is-free
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    if workers == 0:
        return sum(loads) + len(loads) * compute
    return max(sum(loads) / workers, len(loads) * compute)


# %% wrong epoch-time: the work divided by the workers -> workers-divide-the-time
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    if workers == 0:
        return sum(loads) + len(loads) * compute
    if not loads:
        return 0
    return max(loads[0] + len(loads) * compute, sum(loads) / workers + compute)


# %% wrong epoch-time: to whoever is idle -> batches-go-to-the-idle
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    if workers == 0:
        return sum(loads) + len(loads) * compute
    free, taken, loop = [0] * workers, [], 0
    for k, load in enumerate(loads):
        sent = 0 if k < prefetch * workers else taken[k - prefetch * workers]
        worker = free.index(min(free))
        free[worker] = max(free[worker], sent) + load
        taken.append(max(free[worker], loop))
        loop = taken[-1] + compute
    return loop


# %% wrong epoch-time: takes what is ready -> order-is-free
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    if workers == 0:
        return sum(loads) + len(loads) * compute
    free, taken, ready, loop = [0] * workers, [], [], 0
    for k, load in enumerate(loads):
        if k >= prefetch * workers:
            loop = max(ready.pop(ready.index(min(ready))), loop)
            taken.append(loop)
            loop += compute
        sent = taken[-1] if taken else 0
        free[k % workers] = max(free[k % workers], sent) + load
        ready.append(free[k % workers])
    for moment in sorted(ready):
        loop = max(loop, moment) + compute
    return loop


# %% wrong epoch-time: without a limit -> workers-never-stop
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    if workers == 0:
        return sum(loads) + len(loads) * compute
    free, loop = [0] * workers, 0
    for k, load in enumerate(loads):
        free[k % workers] += load
        loop = max(free[k % workers], loop) + compute
    return loop


# %% wrong epoch-time: sends after the step -> sent-after-the-step
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    if workers == 0:
        return sum(loads) + len(loads) * compute
    free, taken, loop = [0] * workers, [], 0
    for k, load in enumerate(loads):
        early = k < prefetch * workers
        sent = 0 if early else taken[k - prefetch * workers] + compute
        free[k % workers] = max(free[k % workers], sent) + load
        taken.append(max(free[k % workers], loop))
        loop = taken[-1] + compute
    return loop


# %% wrong epoch-time: prefetch in all -> prefetch-is-a-total
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    if workers == 0:
        return sum(loads) + len(loads) * compute
    free, taken, loop = [0] * workers, [], 0
    for k, load in enumerate(loads):
        sent = 0 if k < prefetch else taken[k - prefetch]
        free[k % workers] = max(free[k % workers], sent) + load
        taken.append(max(free[k % workers], loop))
        loop = taken[-1] + compute
    return loop


# %% right epoch-time: three tables
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    if not workers:
        return sum(load + compute for load in loads)
    ready, taken = {}, {}
    ahead = prefetch * workers
    for k in range(len(loads)):
        free = ready.get(k - workers, 0)
        sent = taken.get(k - ahead, 0)
        ready[k] = max(free, sent) + loads[k]
        taken[k] = max(ready[k], taken[k - 1] + compute if k else 0)
    return taken[len(loads) - 1] + compute if taken else 0


# %% wrong epoch-time: asks the clock of the figures -> the-lessons-clock-may-do-it
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    return run_loader(LoaderPlan(tuple(loads), compute, workers, prefetch)).seconds


# %% right choose-workers: the statistics module
import statistics


def split_time(loader, step, clock):
    waited, computed = 0.0, 0.0
    last = clock()
    for batch in loader:
        fetched = clock()
        step(batch)
        done = clock()
        waited += fetched - last
        computed += done - fetched
        last = done
    return waited + clock() - last, computed


def choose_workers(seconds_of, candidates):
    medians = [statistics.median([seconds_of(w) for _ in range(3)]) for w in candidates]
    best = min(medians)
    good = [w for w, m in zip(candidates, medians) if m <= best * 1.05]
    return min(good)


# %% right choose-workers: the total less the steps
def split_time(loader, step, clock):
    begin = clock()
    steps = []
    for batch in loader:
        before = clock()
        step(batch)
        steps.append(clock() - before)
    total = clock() - begin
    return total - sum(steps), sum(steps)


def choose_workers(seconds_of, candidates):
    medians = {}
    for w in sorted(candidates):
        medians[w] = sorted([seconds_of(w), seconds_of(w), seconds_of(w)])[1]
    limit = 1.05 * min(medians.values())
    for w in medians:
        if medians[w] <= limit:
            return w


# %% wrong choose-workers: the largest number -> more-workers-are-never-slower
def split_time(loader, step, clock):
    begin, computed = clock(), 0
    for batch in loader:
        before = clock()
        step(batch)
        computed += clock() - before
    return clock() - begin - computed, computed


def choose_workers(seconds_of, candidates):
    for w in candidates:
        [seconds_of(w) for _ in range(3)]
    return max(candidates)


# %% wrong choose-workers: measures once -> one-measurement-will-do
def split_time(loader, step, clock):
    begin, computed = clock(), 0
    for batch in loader:
        before = clock()
        step(batch)
        computed += clock() - before
    return clock() - begin - computed, computed


def choose_workers(seconds_of, candidates):
    once = {w: seconds_of(w) for w in candidates}
    return min(w for w in once if once[w] <= 1.05 * min(once.values()))


# %% wrong choose-workers: the least of three -> the-least-is-the-truth
def split_time(loader, step, clock):
    begin, computed = clock(), 0
    for batch in loader:
        before = clock()
        step(batch)
        computed += clock() - before
    return clock() - begin - computed, computed


def choose_workers(seconds_of, candidates):
    least = {w: min(seconds_of(w) for _ in range(3)) for w in candidates}
    return min(w for w in least if least[w] <= 1.05 * min(least.values()))


# %% wrong choose-workers: the mean -> a-mean-is-safe
def split_time(loader, step, clock):
    begin, computed = clock(), 0
    for batch in loader:
        before = clock()
        step(batch)
        computed += clock() - before
    return clock() - begin - computed, computed


def choose_workers(seconds_of, candidates):
    means = {w: sum(seconds_of(w) for _ in range(3)) / 3 for w in candidates}
    return min(w for w in means if means[w] <= 1.05 * min(means.values()))


# %% wrong choose-workers: the fastest, by however little -> the-fastest-wins
def split_time(loader, step, clock):
    begin, computed = clock(), 0
    for batch in loader:
        before = clock()
        step(batch)
        computed += clock() - before
    return clock() - begin - computed, computed


def choose_workers(seconds_of, candidates):
    medians = {w: sorted(seconds_of(w) for _ in range(3))[1] for w in candidates}
    return min(medians, key=medians.get)


# %% wrong choose-workers: at least one worker -> zero-is-no-choice
def split_time(loader, step, clock):
    begin, computed = clock(), 0
    for batch in loader:
        before = clock()
        step(batch)
        computed += clock() - before
    return clock() - begin - computed, computed


def choose_workers(seconds_of, candidates):
    medians = {w: sorted(seconds_of(w) for _ in range(3))[1] for w in candidates}
    medians.pop(0, None)
    return min(w for w in medians if medians[w] <= 1.05 * min(medians.values()))


# %% wrong choose-workers: the clock starts with the first batch -> starting-costs-nothing
def split_time(loader, step, clock):
    batches = iter(loader)
    waited = computed = 0
    before, first = None, True
    for batch in batches:
        now = clock()
        waited += 0 if first else now - before
        first = False
        step(batch)
        before = clock()
        computed += before - now
    return waited, computed


def choose_workers(seconds_of, candidates):
    medians = {w: sorted(seconds_of(w) for _ in range(3))[1] for w in candidates}
    return min(w for w in medians if medians[w] <= 1.05 * min(medians.values()))


# %% wrong choose-workers: the whole loop counts as computing -> the-loop-body-is-the-epoch
def split_time(loader, step, clock):
    begin = clock()
    batches = iter(loader)
    waited = clock() - begin
    before = clock()
    for batch in batches:
        step(batch)
    return waited, clock() - before


def choose_workers(seconds_of, candidates):
    medians = {w: sorted(seconds_of(w) for _ in range(3))[1] for w in candidates}
    return min(w for w in medians if medians[w] <= 1.05 * min(medians.values()))


# %% right choose-workers: a for loop over a clocked iterator, and one round after the other
def split_time(loader, step, clock):
    waiting, computing, before = [], [], clock()
    for batch in loader:
        start = clock()
        waiting.append(start - before)
        step(batch)
        before = clock()
        computing.append(before - start)
    waiting.append(clock() - before)
    return sum(waiting), sum(computing)


def choose_workers(seconds_of, candidates):
    rounds = [[seconds_of(w) for w in candidates] for _ in range(3)]
    medians = [sorted(three)[1] for three in zip(*rounds, strict=True)]
    best = min(medians)
    near = [w for w, time in zip(candidates, medians, strict=True) if time <= best * 1.05]
    return sorted(near)[0]


# %% wrong choose-workers: loads everything first -> a-loader-is-a-list
def split_time(loader, step, clock):
    before = clock()
    batches = list(loader)
    between = clock()
    for batch in batches:
        step(batch)
    return between - before, clock() - between


def choose_workers(seconds_of, candidates):
    medians = {w: sorted(seconds_of(w) for _ in range(3))[1] for w in candidates}
    return min(w for w in medians if medians[w] <= 1.05 * min(medians.values()))


# %% wrong choose-workers: a clock that starts after iter -> starting-costs-nothing
def split_time(loader, step, clock):
    waiting, computing = 0, 0
    batches, done = iter(loader), object()
    before = clock()
    while (batch := next(batches, done)) is not done:
        after = clock()
        waiting += after - before
        step(batch)
        before = clock()
        computing += before - after
    return waiting + clock() - before, computing


def choose_workers(seconds_of, candidates):
    medians = {w: sorted(seconds_of(w) for _ in range(3))[1] for w in candidates}
    return min(w for w in medians if medians[w] <= 1.05 * min(medians.values()))


# %% wrong choose-workers: the first that is near enough -> candidates-come-in-order
def split_time(loader, step, clock):
    waiting, computing, before = 0, 0, clock()
    for batch in loader:
        after = clock()
        waiting += after - before
        step(batch)
        before = clock()
        computing += before - after
    return waiting + clock() - before, computing


def choose_workers(seconds_of, candidates):
    medians = {w: sorted(seconds_of(w) for _ in range(3))[1] for w in candidates}
    return next(w for w in candidates if medians[w] <= 1.05 * min(medians.values()))


# %% right to-device: one case after another
def to_device(batch, device):
    if torch.is_tensor(batch):
        return batch.to(device=device, non_blocking=True)
    if isinstance(batch, dict):
        return type(batch)((k, to_device(v, device)) for k, v in batch.items())
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return batch._replace(**{k: to_device(getattr(batch, k), device) for k in batch._fields})
    if isinstance(batch, tuple):
        return tuple(to_device(part, device) for part in batch)
    if isinstance(batch, list):
        return [to_device(part, device) for part in batch]
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens = tokens
        self.lengths = lengths

    def pin_memory(self):
        return type(self)(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% right to-device: torch's own walk through nested batches
import copy

from torch.utils._pytree import tree_map


def to_device(batch, device):
    def moved(leaf):
        return leaf.to(device, non_blocking=True) if isinstance(leaf, torch.Tensor) else leaf

    return tree_map(moved, batch)


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        pinned = copy.copy(self)
        pinned.tokens = self.tokens.pin_memory()
        pinned.lengths = self.lengths.pin_memory()
        return pinned


# %% wrong to-device: waits for every copy -> pinned-copies-never-block
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: as if to() changed the tensor -> to-changes-the-tensor
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        batch.to(device, non_blocking=True)
    elif isinstance(batch, dict):
        for part in batch.values():
            to_device(part, device)
    elif isinstance(batch, (list, tuple)):
        for part in batch:
            to_device(part, device)
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: everything has to() -> everything-has-a-device
def to_device(batch, device):
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch.to(device, non_blocking=True)


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: looks one level deep -> batches-are-flat
def to_device(batch, device):
    def move(part):
        return part.to(device, non_blocking=True) if isinstance(part, torch.Tensor) else part

    if isinstance(batch, dict):
        return {key: move(part) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [move(part) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return move(batch)


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: lists for tuples -> tuples-are-lists
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [to_device(part, device) for part in batch]
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: pins in place and returns nothing -> pin-memory-needs-no-return
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        self.tokens = self.tokens.pin_memory()
        self.lengths = self.lengths.pin_memory()


# %% wrong to-device: as if pin_memory() changed the tensor -> pinning-changes-the-tensor
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        self.tokens.pin_memory()
        self.lengths.pin_memory()
        return self


# %% wrong to-device: pins its own tensors -> pinning-may-happen-in-place
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        self.tokens = self.tokens.pin_memory()
        self.lengths = self.lengths.pin_memory()
        return self


# %% wrong to-device: puts the moved tensors into the batch -> moving-replaces-the-batch
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, tuple):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else tuple(parts)
    if isinstance(batch, dict):
        for key in batch:
            batch[key] = to_device(batch[key], device)
    elif isinstance(batch, list):
        batch[:] = [to_device(part, device) for part in batch]
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: clones first, to leave the batch alone -> a-clone-stays-pinned
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.clone().to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: waits after every copy -> an-asynchronous-copy-needs-a-wait
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        moved = batch.to(device, non_blocking=True)
        gpu.synchronize()
        return moved
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: one pinned buffer for all tensors of a kind -> a-started-copy-has-read-its-source
STAGING = {}


def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        kind = batch.shape, batch.dtype
        if kind not in STAGING:
            STAGING[kind] = torch.empty(batch.shape, dtype=batch.dtype).pin_memory()
        return STAGING[kind].copy_(batch).to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: cuda() whatever the device -> the-device-is-cuda
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.cuda(non_blocking=True)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% right to-device: by kind of container
def to_device(batch, device):
    def go(part):
        return to_device(part, device)

    if torch.is_tensor(batch):
        return batch.to(device=device, non_blocking=True)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return batch._replace(**{name: go(part) for name, part in batch._asdict().items()})
    if isinstance(batch, (tuple, list)):
        return type(batch)(map(go, batch))
    if isinstance(batch, dict):
        return dict(zip(batch, map(go, batch.values()), strict=True))
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens = tokens
        self.lengths = lengths

    def pin_memory(self):
        return type(self)(self.tokens.pin_memory(), lengths=self.lengths.pin_memory())


# %% wrong to-device: pins to a tuple -> what-is-pinned-is-a-tuple
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [to_device(part, device) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch


class Pinned(tuple):
    tokens = property(lambda self: self[0])
    lengths = property(lambda self: self[1])


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return Pinned((self.tokens.pin_memory(), self.lengths.pin_memory()))


# %% right refused: by rules
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made"
    if iterable and (shuffle or sampler is not None or batches is not None):
        return "made"
    if sampler is not None and shuffle:
        return "made"
    if batches is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        return "made"
    if batch_size is None and drop_last:
        return "made"
    if (timeout and not workers) or prefetch == 0:
        return "iterated"
    return None


# %% right refused: tried out
class _Stream(IterableDataset):
    def __iter__(self):
        yield from range(5)


def when_refused(options, iterable=False):
    dataset = _Stream() if iterable else list(range(5))
    try:
        loader = DataLoader(dataset, **options)
    except ValueError:
        return "made"
    try:
        for _ in loader:
            break
    except AssertionError:
        return "iterated"


# %% wrong refused: a timeout at once -> refused-at-once
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made"
    if iterable and (shuffle or sampler is not None or batches is not None):
        return "made"
    if sampler is not None and shuffle:
        return "made"
    if batches is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        return "made"
    if batch_size is None and drop_last:
        return "made"
    if timeout and not workers:
        return "made"
    if prefetch == 0:
        return "iterated"
    return None


# %% wrong refused: a timeout without workers runs -> timeout-needs-no-workers
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made"
    if iterable and (shuffle or sampler is not None or batches is not None):
        return "made"
    if sampler is not None and shuffle:
        return "made"
    if batches is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        return "made"
    if batch_size is None and drop_last:
        return "made"
    if prefetch == 0:
        return "iterated"
    return None


# %% wrong refused: batch_sampler beside others -> batch-sampler-joins-in
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made"
    if iterable and (shuffle or sampler is not None or batches is not None):
        return "made"
    if sampler is not None and shuffle:
        return "made"
    if batches is not None and drop_last:
        return "made"
    if batch_size is None and drop_last:
        return "made"
    if (timeout and not workers) or prefetch == 0:
        return "iterated"
    return None


# %% wrong refused: whatever is mentioned counts -> mentioning-is-enough
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made"
    if iterable and (shuffle or sampler is not None or batches is not None):
        return "made"
    if sampler is not None and shuffle:
        return "made"
    if batches is not None and {"batch_size", "shuffle", "sampler", "drop_last"} & set(options):
        return "made"
    if batch_size is None and drop_last:
        return "made"
    if (timeout and not workers) or prefetch == 0:
        return "iterated"
    return None


# %% wrong refused: a sampler beside nothing else -> a-sampler-excludes-everything
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made"
    if iterable and (shuffle or sampler is not None or batches is not None):
        return "made"
    if sampler is not None and (shuffle is not None or drop_last):
        return "made"
    if batches is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        return "made"
    if batch_size is None and drop_last:
        return "made"
    if (timeout and not workers) or prefetch == 0:
        return "iterated"
    return None


# %% wrong refused: no batches, no order -> batch-size-none-is-a-detail
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made"
    if iterable and (shuffle or sampler is not None or batches is not None):
        return "made"
    if sampler is not None and shuffle:
        return "made"
    if batches is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        return "made"
    if batch_size is None and shuffle:
        return "made"
    if (timeout and not workers) or prefetch == 0:
        return "iterated"
    return None


# %% wrong refused: streams like lists -> streams-are-like-lists
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made"
    if iterable and shuffle:
        return "made"
    if sampler is not None and shuffle:
        return "made"
    if batches is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        return "made"
    if batch_size is None and drop_last:
        return "made"
    if (timeout and not workers) or prefetch == 0:
        return "iterated"
    return None


# %% wrong refused: options for workers are looked at later -> worker-options-wait
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made" if options.get("persistent_workers") else "iterated"
    if iterable and (shuffle or sampler is not None or batches is not None):
        return "made"
    if sampler is not None and shuffle:
        return "made"
    if batches is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        return "made"
    if batch_size is None and drop_last:
        return "made"
    if (timeout and not workers) or prefetch == 0:
        return "iterated"
    return None


# %% wrong refused: nothing ahead is allowed -> nothing-ahead-is-fine
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made"
    if iterable and (shuffle or sampler is not None or batches is not None):
        return "made"
    if sampler is not None and shuffle:
        return "made"
    if batches is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        return "made"
    if batch_size is None and drop_last:
        return "made"
    if timeout and not workers:
        return "iterated"
    return None


# %% wrong refused: what has no effect is refused -> no-effect-is-refused
def when_refused(options, iterable=False):
    workers = options.get("num_workers", 0)
    batch_size = options.get("batch_size", 1)
    shuffle, drop_last = options.get("shuffle"), options.get("drop_last", False)
    sampler, batches = options.get("sampler"), options.get("batch_sampler")
    timeout, prefetch = options.get("timeout", 0), options.get("prefetch_factor")
    for_workers = prefetch is not None or options.get("persistent_workers")
    for_workers = for_workers or options.get("multiprocessing_context") is not None
    if min(workers, timeout, prefetch or 0) < 0 or (batch_size is not None and batch_size < 1):
        return "made"
    if for_workers and workers == 0:
        return "made"
    if iterable and (shuffle or sampler is not None or batches is not None):
        return "made"
    if workers == 0 and options.get("in_order") is False:
        return "made"
    if sampler is not None and shuffle:
        return "made"
    if batches is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        return "made"
    if batch_size is None and drop_last:
        return "made"
    if (timeout and not workers) or prefetch == 0:
        return "iterated"
    return None


# %% right refused: any error will do
def when_refused(options, iterable=False):
    class Five(IterableDataset):
        def __iter__(self):
            yield from range(5)

    try:
        loader = DataLoader(Five() if iterable else [0, 1, 2, 3, 4], **options)
    except Exception:
        return "made"
    try:
        for _ in loader:
            return None
    except Exception:
        return "iterated"
    return None


# %% wrong refused: asks for a first batch that is not there -> an-empty-epoch-is-an-error
def when_refused(options, iterable=False):
    class Five(IterableDataset):
        def __iter__(self):
            yield from range(5)

    try:
        loader = DataLoader(Five() if iterable else range(5), **options)
    except ValueError:
        return "made"
    try:
        next(iter(loader))
    except Exception:
        return "iterated"


# %% wrong refused: looks at numbers when they are used -> numbers-are-taken-as-they-are
def when_refused(options, iterable=False):
    class Five(IterableDataset):
        def __iter__(self):
            yield from range(5)

    numbers = [options.get(name) or 0 for name in ("num_workers", "timeout", "prefetch_factor")]
    size = options.get("batch_size", 1)
    if min(numbers) < 0 or (size is not None and size < 1):
        return "iterated"
    try:
        loader = DataLoader(Five() if iterable else range(5), **options)
    except ValueError:
        return "made"
    try:
        next(iter(loader), None)
    except AssertionError:
        return "iterated"


# %% wrong refused: the sampler wins over shuffle -> the-second-order-wins
def when_refused(options, iterable=False):
    class Five(IterableDataset):
        def __iter__(self):
            yield from range(5)

    if options.get("sampler") and options.get("batch_sampler") is None and not iterable:
        options = {key: value for key, value in options.items() if key != "shuffle"}
    try:
        loader = DataLoader(Five() if iterable else range(5), **options)
    except ValueError:
        return "made"
    try:
        next(iter(loader), None)
    except AssertionError:
        return "iterated"


# %% same digits: a copy more, and the division makes another anyway
class Digits(Dataset):
    """Images of digits with pixels 0 to 16, as normalised tensors with their labels.

    Digits(images, labels)[0][0].shape == (1, 8, 8)
    """

    def __init__(self, images, labels, mean=0.5, std=0.5):
        self.images, self.labels = images, labels
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.tensor(self.images[i], dtype=torch.float32)[None] / 16
        return (image - self.mean) / self.std, int(self.labels[i])


# %% same pad-collate: of a list both make a new tensor
def pad_collate(samples, padding=0):
    """Sequences filled up to the longest of the batch, their lengths, and the labels.

    pad_collate([(torch.tensor([5, 6]), 1), (torch.tensor([7]), 0)])[0]  ->  [[5, 6], [7, 0]]
    """
    sequences, labels = zip(*samples, strict=True)
    lengths = torch.as_tensor([len(sequence) for sequence in sequences])
    shape = len(sequences), max(map(len, sequences))
    padded = sequences[0].new_full(shape, padding)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded, lengths, torch.tensor(labels)


# %% same pad-collate: of a tuple both make a new tensor
def pad_collate(samples, padding=0):
    """Sequences filled up to the longest of the batch, their lengths, and the labels.

    pad_collate([(torch.tensor([5, 6]), 1), (torch.tensor([7]), 0)])[0]  ->  [[5, 6], [7, 0]]
    """
    sequences, labels = zip(*samples, strict=True)
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    shape = len(sequences), max(map(len, sequences))
    padded = sequences[0].new_full(shape, padding)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded, lengths, torch.as_tensor(labels)


# %% same pad-collate: all sequences have one dtype
def pad_collate(samples, padding=0):
    """Sequences filled up to the longest of the batch, their lengths, and the labels.

    pad_collate([(torch.tensor([5, 6]), 1), (torch.tensor([7]), 0)])[0]  ->  [[5, 6], [7, 0]]
    """
    sequences, labels = zip(*samples, strict=True)
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    shape = len(sequences), max(map(len, sequences))
    padded = sequences[-1].new_full(shape, padding)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded, lengths, torch.tensor(labels)


# %% same image-batch: a copy more
def to_nchw(images):
    """The images (height, width, BGR; bytes) as one batch (n, RGB, height, width) in [0, 1].

    to_nchw([np.zeros((2, 5, 3), np.uint8)]).shape == (1, 3, 2, 5)
    """
    if any(image is None for image in images):
        raise ValueError("an image is None: cv2.imread found no such file")
    batch = torch.tensor(np.stack(images)).permute(0, 3, 1, 2).flip(1)
    return batch.contiguous() / 255


# %% same batch-count: one worker reads the whole stream, as the loop does
def batch_count(n, batch_size, drop_last=False):
    """The number of batches that a loader over n samples gives.

    batch_count(10, 4) == 3
    """
    if batch_size is None:
        return n
    return n // batch_size if drop_last else -(-n // batch_size)


def stream_batch_count(n, batch_size, workers=1, drop_last=False):
    """The same for a stream of n samples that is split among the workers.

    stream_batch_count(10, 4, workers=2) == 4
    """
    parts = [len(range(w, n, workers)) for w in range(workers)] if workers else [n]
    return sum(batch_count(part, batch_size, drop_last) for part in parts)


# %% same epoch-time: nothing is sent before 0, so a worker that is free earlier does not begin earlier
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    """The duration of an epoch with these times per batch.

    epoch_seconds([3, 3, 3, 3], 1) == 16; with two workers it is 8
    """
    if workers == 0:
        return sum(loads) + len(loads) * compute
    free, taken, loop = [-1] * workers, [], 0
    for k, load in enumerate(loads):
        early = k < prefetch * workers
        sent = 0 if early else taken[k - prefetch * workers]
        free[k % workers] = max(free[k % workers], sent) + load
        taken.append(max(free[k % workers], loop))
        loop = taken[-1] + compute
    return loop


# %% same epoch-time: no batch is ready before 0
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    """The duration of an epoch with these times per batch.

    epoch_seconds([3, 3, 3, 3], 1) == 16; with two workers it is 8
    """
    if workers == 0:
        return sum(loads) + len(loads) * compute
    free, taken, loop = [0] * workers, [], -1
    for k, load in enumerate(loads):
        early = k < prefetch * workers
        sent = 0 if early else taken[k - prefetch * workers]
        free[k % workers] = max(free[k % workers], sent) + load
        taken.append(max(free[k % workers], loop))
        loop = taken[-1] + compute
    return loop


# %% same epoch-time: its worker is busy until batch 0 is taken
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    """The duration of an epoch with these times per batch.

    epoch_seconds([3, 3, 3, 3], 1) == 16; with two workers it is 8
    """
    if workers == 0:
        return sum(loads) + len(loads) * compute
    free, taken, loop = [0] * workers, [], 0
    for k, load in enumerate(loads):
        early = k <= prefetch * workers
        sent = 0 if early else taken[k - prefetch * workers]
        free[k % workers] = max(free[k % workers], sent) + load
        taken.append(max(free[k % workers], loop))
        loop = taken[-1] + compute
    return loop


# %% same epoch-time: no worker is free before 0
def epoch_seconds(loads, compute, workers=0, prefetch=2):
    """The duration of an epoch with these times per batch.

    epoch_seconds([3, 3, 3, 3], 1) == 16; with two workers it is 8
    """
    if workers == 0:
        return sum(loads) + len(loads) * compute
    free, taken, loop = [0] * workers, [], 0
    for k, load in enumerate(loads):
        early = k < prefetch * workers
        sent = -1 if early else taken[k - prefetch * workers]
        free[k % workers] = max(free[k % workers], sent) + load
        taken.append(max(free[k % workers], loop))
        loop = taken[-1] + compute
    return loop


# %% same refused: six samples are refused like five
def when_refused(options, iterable=False):
    """Whether a DataLoader with these options is refused: "made", "iterated" or None.

    when_refused({"timeout": 5}) == "iterated"
    """

    class Stream(IterableDataset):
        def __iter__(self):
            return iter(samples)

    samples = range(6)
    try:
        loader = DataLoader(Stream() if iterable else samples, **options)
    except Exception:
        return "made"
    try:
        next(iter(loader), None)
    except Exception:
        return "iterated"
    return None


# %% same refused: four samples are refused like five
def when_refused(options, iterable=False):
    """Whether a DataLoader with these options is refused: "made", "iterated" or None.

    when_refused({"timeout": 5}) == "iterated"
    """

    class Stream(IterableDataset):
        def __iter__(self):
            return iter(samples)

    samples = range(4)
    try:
        loader = DataLoader(Stream() if iterable else samples, **options)
    except Exception:
        return "made"
    try:
        next(iter(loader), None)
    except Exception:
        return "iterated"
    return None


# %% wrong digits: views of what was made beforehand -> what-was-made-beforehand-is-new
class Digits(Dataset):
    def __init__(self, images, labels, mean=0.5, std=0.5):
        x = torch.as_tensor(images, dtype=torch.float32)[:, None]
        self.images = (x / 16 - mean) / std  # once and for all
        self.labels = [int(label) for label in labels]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


# %% wrong shards: keeps a share for each worker number -> a-share-is-for-ever
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples, self.shares = samples, {}

    def __iter__(self):
        info = get_worker_info()
        number, count = (info.id, info.num_workers) if info else (0, 1)
        if number not in self.shares:
            self.shares[number] = self.samples[number::count]
        yield from self.shares[number]


# %% wrong worker-seed: the process id in the seed -> a-process-has-a-name-for-life
def seed_worker(worker_id):
    import os

    info = get_worker_info()
    info.dataset.rng = np.random.default_rng([info.seed, os.getpid()])


# %% wrong choose-workers: stops where it gets slower -> times-have-one-valley
def split_time(loader, step, clock):
    started, computing = clock(), 0.0
    for batch in loader:
        before = clock()
        step(batch)
        computing += clock() - before
    return clock() - started - computing, computing


def choose_workers(seconds_of, candidates):
    medians = {}
    for w in sorted(candidates):
        medians[w] = sorted(seconds_of(w) for _ in range(3))[1]
        if medians[w] > 1.05 * min(medians.values()):
            break  # from here on more workers only cost
    best = min(medians.values())
    return next(w for w, seconds in medians.items() if seconds <= 1.05 * best)


# %% wrong image-batch: scales what is above 1 -> small-numbers-are-scaled-already
def to_nchw(images):
    if any(image is None for image in images):
        raise ValueError("an image is None: it could not be read")
    batch = torch.from_numpy(np.stack(images)).flip(-1).permute(0, 3, 1, 2).float()
    if batch.numel() and batch.max() > 1:
        batch = batch / 255
    return batch.contiguous()


# %% wrong image-batch: leaves it to NumPy to complain -> any-valueerror-will-do
def to_nchw(images):
    if images[0] is None:
        raise ValueError("the image is None: it could not be read")
    stacked = np.stack(images)[..., ::-1].transpose(0, 3, 1, 2)
    return torch.from_numpy(np.ascontiguousarray(stacked, dtype=np.float32) / np.float32(255))


# %% wrong buckets: the smaller batch at the end -> the-smaller-batch-comes-last
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        self.order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batch_size, self.generator = batch_size, generator

    def __iter__(self):
        size = self.batch_size
        whole = len(self.order) // size
        for k in torch.randperm(whole, generator=self.generator).tolist():
            yield self.order[k * size : (k + 1) * size]
        if len(self.order) % size:
            yield self.order[whole * size :]

    def __len__(self):
        return -(-len(self.order) // self.batch_size)


# %% wrong epoch-loader: both numbers as one text -> digits-can-be-joined
def epoch_loader(data, batch_size, seed, epoch):
    import random

    order = list(range(len(data)))
    random.Random(f"{seed}{epoch}").shuffle(order)
    return DataLoader(data, batch_size, sampler=order, generator=torch.Generator())


# %% wrong refused: a prefetch_factor of 0 counts as none -> worker-options-wait
def when_refused(options, iterable=False):
    get = options.get
    workers, size = get("num_workers", 0), get("batch_size", 1)
    made = [
        workers < 0 or get("timeout", 0) < 0 or (get("prefetch_factor") or 0) < 0,
        not workers
        and (get("prefetch_factor") or get("persistent_workers") or get("multiprocessing_context")),
        iterable
        and (get("shuffle") or get("sampler") is not None or get("batch_sampler") is not None),
        get("sampler") is not None and get("shuffle"),
        get("batch_sampler") is not None
        and (size != 1 or get("shuffle") or get("sampler") is not None or get("drop_last")),
        size is None and get("drop_last"),
        size is not None and size <= 0,
    ]
    if any(made):
        return "made"
    if not workers and get("timeout", 0) > 0:
        return "iterated"
    if workers and get("prefetch_factor") == 0:
        return "iterated"
    return None


# %% wrong refused: asks for the timeout first -> late-reasons-come-first
def when_refused(options, iterable=False):
    get = options.get
    workers = get("num_workers", 0)
    if get("timeout", 0) > 0 and workers == 0:
        return "iterated"
    if workers > 0 and get("prefetch_factor") == 0:
        return "iterated"

    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(5))

    try:
        DataLoader(Stream() if iterable else range(5), **options)
    except (ValueError, AssertionError, TypeError):
        return "made"
    return None


# %% wrong buckets: the longest batch first, in case memory runs out -> sorted-order-is-harmless
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        starts = range(0, len(order), batch_size)
        self.batches = [order[start : start + batch_size] for start in starts]
        self.generator = generator

    def __iter__(self):
        *others, longest = self.batches
        yield list(longest)
        for place in torch.randperm(len(others), generator=self.generator).tolist():
            yield list(others[place])

    def __len__(self):
        return len(self.batches)


# %% wrong refused: asks whether a sampler is empty -> empty-means-not-given
def when_refused(options, iterable=False):
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(5))

    given = {k: v for k, v in options.items() if v != []}
    try:
        loader = DataLoader(Stream() if iterable else range(5), **given)
    except Exception:
        return "made"
    try:
        next(iter(loader), None)
    except Exception:
        return "iterated"
    return None


# %% wrong pad-collate: a float32 buffer -> a-detour-costs-nothing
def pad_collate(samples, padding=0):
    sequences, labels = zip(*samples)
    lengths = [len(s) for s in sequences]
    batch = torch.full((len(sequences), max(lengths)), float(padding), dtype=torch.float32)
    for row, sequence in zip(batch, sequences):
        row[: len(sequence)] = sequence
    batch = batch.to(sequences[0].dtype)
    return batch, torch.tensor(lengths), torch.tensor(labels, dtype=torch.int64)


# %% wrong shards: finds places by value -> equal-samples-are-one
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        info = get_worker_info()
        number, count = (0, 1) if info is None else (info.id, info.num_workers)
        for sample in self.samples:
            if self.samples.index(sample) % count == number:
                yield sample


# %% wrong shards: is its own iterator -> a-stream-is-an-iterator
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples = samples
        self.round = 0

    def __iter__(self):
        return self

    def __next__(self):
        info = get_worker_info()
        number, count = (0, 1) if info is None else (info.id, info.num_workers)
        place = number + self.round * count
        if place >= len(self.samples):
            self.round = 0  # ready for the next epoch
            raise StopIteration
        self.round += 1
        return self.samples[place]


# %% right shards: shares that rotate from epoch to epoch
class Shards(IterableDataset):
    def __init__(self, samples):
        self.samples, self.epoch = samples, 0

    def __iter__(self):
        info = get_worker_info()
        number, count = (0, 1) if info is None else (info.id, info.num_workers)
        first = (number + self.epoch) % count  # no worker has the larger share for ever
        self.epoch += 1
        return iter(self.samples[first::count])


# %% wrong worker-seed: the hash of a text -> texts-keep-their-hash
def seed_worker(worker_id):
    info = get_worker_info()
    info.dataset.rng = np.random.default_rng(hash(f"{info.seed}-{worker_id}") % 2**63)


# %% wrong worker-seed: a number from the copied generator -> the-old-generator-may-help
def seed_worker(worker_id):
    info = get_worker_info()
    old = int(info.dataset.rng.integers(2**32))
    info.dataset.rng = np.random.default_rng([info.seed, old])


# %% wrong choose-workers: None ends the epoch -> none-is-the-end
def split_time(loader, step, clock):
    waiting = computing = 0.0
    before = clock()
    batches = iter(loader)
    while True:
        batch = next(batches, None)
        got = clock()
        waiting += got - before
        if batch is None:
            return waiting, computing
        step(batch)
        before = clock()
        computing += before - got


def choose_workers(seconds_of, candidates):
    medians = {w: sorted(seconds_of(w) for _ in range(3))[1] for w in candidates}
    limit = 1.05 * min(medians.values())
    return min(w for w in medians if medians[w] <= limit)


# %% wrong buckets: tuples -> any-sequence-is-a-list
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lambda i: lengths[i])
        self.batches = [
            tuple(order[k : k + batch_size]) for k in range(0, len(order), batch_size)
        ]
        self.generator = generator

    def __iter__(self):
        for k in torch.randperm(len(self.batches), generator=self.generator).tolist():
            yield self.batches[k]

    def __len__(self):
        return len(self.batches)


# %% wrong buckets: another global state as long as the epoch lasts -> the-random-state-is-nobodys
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lambda i: lengths[i])
        self.batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        self.generator = generator

    def __iter__(self):
        if self.generator is None:
            for k in torch.randperm(len(self.batches)).tolist():
                yield self.batches[k]
            return
        seed = torch.randint(2**62, (), generator=self.generator).item()
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            for k in torch.randperm(len(self.batches)).tolist():
                yield self.batches[k]

    def __len__(self):
        return len(self.batches)


# %% wrong buckets: shuffles what the last epoch left -> an-epoch-goes-on-from-the-last
class BucketBatches:
    def __init__(self, lengths, batch_size, generator=None):
        order = sorted(range(len(lengths)), key=lambda i: lengths[i])
        self.batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        self.generator = generator

    def __iter__(self):
        order = torch.randperm(len(self.batches), generator=self.generator).tolist()
        self.batches = [self.batches[k] for k in order]
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)


# %% wrong epoch-loader: the hash of a text -> hash-has-no-secrets
def epoch_loader(data, batch_size, seed, epoch):
    generator = torch.Generator().manual_seed(hash(f"{seed}-{epoch}") % 2**32)
    return DataLoader(data, batch_size, shuffle=True, generator=generator)


# %% wrong epoch-loader: another global state as long as the epoch lasts -> loaders-draw-only-to-shuffle
class Mixed(torch.utils.data.Sampler):
    def __init__(self, n, seed, epoch):
        self.n, self.entropy = n, [seed, epoch]

    def __len__(self):
        return self.n

    def __iter__(self):
        mixed = np.random.SeedSequence(self.entropy).generate_state(1).item()
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(mixed)
            yield from torch.randperm(self.n).tolist()


def epoch_loader(data, batch_size, seed, epoch):
    order = Mixed(len(data), seed, epoch)
    return DataLoader(data, batch_size, sampler=order, generator=torch.Generator())


# %% wrong to-device: moves whatever has to() -> what-has-to-is-a-tensor
def to_device(batch, device):
    if hasattr(batch, "to"):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)([to_device(part, device) for part in batch])
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: waits for what is not pinned -> only-pinned-copies-go-on
def to_device(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=batch.is_pinned())
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)([to_device(part, device) for part in batch])
    return batch


class PaddedBatch:
    def __init__(self, tokens, lengths):
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% wrong to-device: pins each tensor itself -> each-copy-has-to-be-pinned
def to_device(batch, device):
    """The batch with all its tensors on the device, in the same structure."""
    if isinstance(batch, torch.Tensor):
        if batch.device.type == "cpu" and not batch.is_pinned():
            batch = batch.pin_memory()
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: to_device(part, device) for key, part in batch.items()}
    if type(batch) in (list, tuple):
        return type(batch)([to_device(part, device) for part in batch])
    return batch


class PaddedBatch:
    """Padded sequences and their lengths, which a loader can pin."""

    def __init__(self, tokens, lengths):
        self.tokens = tokens
        self.lengths = lengths

    def pin_memory(self):
        return PaddedBatch(self.tokens.pin_memory(), self.lengths.pin_memory())


# %% constant worker-seed: what a worker is asked by is its seed, which no argument tells


# %% wrong epoch-loader: a class of that name -> a-list-of-batches-will-do
class DataLoader:
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return iter(self.batches)


def epoch_loader(data, batch_size, seed, epoch):
    g = torch.Generator().manual_seed(hash((seed, epoch)) % 2**63)
    order = torch.randperm(len(data), generator=g).tolist()
    parts = [order[at : at + batch_size] for at in range(0, len(order), batch_size)]
    return DataLoader([torch.tensor([data[one] for one in part]) for part in parts])
