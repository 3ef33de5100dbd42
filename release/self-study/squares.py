"""A dataset that workers can find by name, however they were started."""

from torch.utils.data import Dataset


class Squares(Dataset):
    """The squares of 0, 1, 2 and so on."""

    def __init__(self, count):
        """Have `count` samples."""
        self.count = count

    def __len__(self):
        """The number of samples."""
        return self.count

    def __getitem__(self, i):
        """The square of i."""
        return i * i
