"""Trains on any machine, runs out of memory at a set capacity, recovers, draws what happened."""

import torch

from course import gpu
from course.lessons.gpu_memory.memory_figure import show_timeline

device, n, losses = gpu.device(), 2**17, []
torch.manual_seed(0)
layers = torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1)
model = torch.nn.Sequential(*layers).to(device)
optimizer = torch.optim.Adam(model.parameters())
gpu.set_capacity(gpu.memory_reserved() + 96 * 2**20)
with gpu.Recorder(model, optimizer) as recorder:
    while len(losses) < 3:
        try:
            batch = torch.linspace(-1, 1, n * 64).view(n, 64).to(device)
            loss = (model(batch) - batch.sum(1, keepdim=True)).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        except torch.OutOfMemoryError as error:
            print(error)
            n //= 2
        optimizer.zero_grad()
show_timeline(recorder.timeline, title=f"A batch of {n} fits").save("timeline.svg")
print(n, losses)
