# Answers to the final project, as learners type them. See "How to add an exercise" in the README.

# %% right noisy-batch: index_select
def batch_of(images, labels, index, noise):
    return torch.index_select(images, 0, index).add(noise), labels.index_select(0, index)


# %% right noisy-batch: row by row, out of place
def batch_of(images, labels, index, noise):
    x, y = torch.empty_like(noise), labels.new_empty(len(index))
    for place, i in enumerate(index.tolist()):
        x[place] = images[i] + noise[place]
        y[place] = labels[i]
    return x, y


# %% right noisy-batch: in place, into the copy that indexing made
def batch_of(images, labels, index, noise):
    rows = images[index]
    rows += noise
    return rows, labels[index]


# %% right noisy-batch: lists, and a way out where there are no rows
def batch_of(images, labels, index, noise):
    rows = [images[i].clone().add_(noise[place]) for place, i in enumerate(index.tolist())]
    x = torch.stack(rows) if rows else images[:0].clone()
    return x, labels[index]


# %% wrong noisy-batch: as found -> a-row-is-a-copy
def batch_of(images, labels, index, noise):
    rows = []
    for place, i in enumerate(index.tolist()):
        row = images[i]
        row += noise[place]
        rows.append(row)
    return torch.stack(rows), labels[index]


# %% wrong noisy-batch: mended, but only where there's a row -> there-is-always-a-row
def batch_of(images, labels, index, noise):
    rows = [images[i] + noise[place] for place, i in enumerate(index.tolist())]
    return torch.stack(rows), labels[index]


# %% wrong noisy-batch: one copy of all images, written to row by row -> one-copy-serves-all
def batch_of(images, labels, index, noise):
    images = images.clone()
    for place, i in enumerate(index.tolist()):
        images[i] += noise[place]
    return images[index], labels[index]


# %% wrong noisy-batch: added, and taken away again -> a-row-is-a-copy
def batch_of(images, labels, index, noise):
    rows = []
    for place, i in enumerate(index.tolist()):
        images[i] += noise[place]
        rows.append(images[i].clone())
        images[i] -= noise[place]
    x = torch.stack(rows) if rows else images[:0].clone()
    return x, labels[index]


# %% wrong noisy-batch: through data, where no version counts -> a-row-is-a-copy
def batch_of(images, labels, index, noise):
    rows = images.data
    for place, i in enumerate(index.tolist()):
        rows[i] += noise[place]
    return images[index], labels[index]


# %% wrong noisy-batch: without the noise -> noise-is-the-fault
def batch_of(images, labels, index, noise):
    return images[index], labels[index]


# %% wrong noisy-batch: into the noise -> the-noise-is-mine
def batch_of(images, labels, index, noise):
    return noise.add_(images[index]), labels[index]


# %% wrong noisy-batch: the noise of the row's number -> noise-goes-by-row-number
def batch_of(images, labels, index, noise):
    return images[index] + noise[index % max(len(noise), 1)], labels[index]


# %% wrong noisy-batch: the first noise for all -> one-noise-serves-all
def batch_of(images, labels, index, noise):
    return images[index] + noise[:1], labels[index]


# %% wrong noisy-batch: the first labels -> labels-are-in-order
def batch_of(images, labels, index, noise):
    return images[index] + noise, labels[: len(index)].clone()


# %% wrong noisy-batch: a slice where the rows follow each other -> labels-are-in-order
def batch_of(images, labels, index, noise):
    first, n = (int(index[0]), len(index)) if len(index) else (0, 0)
    if index.tolist() == list(range(first, first + n)):
        return images[first : first + n] + noise, labels[first : first + n]
    return images[index] + noise, labels[index]


# %% wrong noisy-batch: in float32 -> a-batch-is-float32
def batch_of(images, labels, index, noise):
    return images[index].float() + noise.float(), labels[index]

# %% right weighted-loss: cross_entropy's own weight
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits, labels, weight=weights)


# %% right weighted-loss: both as columns
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none").unsqueeze(1)
    by_row = weights[labels].unsqueeze(1)
    return (losses * by_row).mean() / by_row.mean()


# %% right weighted-loss: log-probabilities and a dot product
def loss_of(logits, labels, weights):
    picked = logits.log_softmax(1)[torch.arange(len(labels)), labels]
    share = weights[labels] / weights[labels].sum()
    return -(share @ picked)


# %% right weighted-loss: the column squeezed
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    by_row = weights[labels.view(-1, 1)].squeeze(1)
    return (losses * by_row).mean() / by_row.mean()


# %% wrong weighted-loss: as found -> a-weight-in-the-formula-weighs
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    by_row = weights[labels.view(-1, 1)]
    return (losses * by_row).mean() / by_row.mean()


# %% wrong weighted-loss: without weights -> a-weight-in-the-formula-weighs
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits, labels)


# %% wrong weighted-loss: sums instead of means, and still a table -> a-table-sums-like-a-row
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    by_row = weights[labels.view(-1, 1)]
    return (losses * by_row).sum() / by_row.sum()


# %% wrong weighted-loss: mended, divided by the rows -> the-rows-share-the-weight
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    return (losses * weights[labels]).mean()


# %% wrong weighted-loss: a sum -> a-sum-is-as-good
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits, labels, weight=weights, reduction="sum")


# %% wrong weighted-loss: divided by the weights of all classes -> all-classes-share-the-weight
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    return (losses * weights[labels]).sum() / weights.sum()


# %% wrong weighted-loss: the guess's weight -> the-guess-has-the-weight
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, reduction="none")
    by_row = weights[logits.argmax(1)]
    return (losses * by_row).sum() / by_row.sum()


# %% wrong weighted-loss: softmax first -> softmax-before-cross-entropy
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits.softmax(1), labels, weight=weights)


# %% wrong weighted-loss: detached -> a-loss-is-only-looked-at
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits.detach(), labels, weight=weights)


# %% wrong weighted-loss: a Python float -> a-loss-is-only-looked-at
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits, labels, weight=weights).item()


# %% wrong weighted-loss: weighs the logits -> logits-carry-the-weight
def loss_of(logits, labels, weights):
    return F.cross_entropy(logits * weights, labels)


# %% wrong weighted-loss: weighted twice -> weights-are-squared-away
def loss_of(logits, labels, weights):
    losses = F.cross_entropy(logits, labels, weight=weights, reduction="none")
    by_row = weights[labels]
    return (losses * by_row).sum() / by_row.sum()

# %% right keep-best: a deep copy of the state dict
def keep_best(best, model, score):
    import copy

    if best is None or score > best["score"]:
        return {"score": score, "weights": copy.deepcopy(model.state_dict())}
    return best


# %% right keep-best: tensors made anew
def keep_best(best, model, score):
    if best is None or best["score"] < score:
        weights = {}
        for name, one in model.state_dict().items():
            weights[name] = torch.empty_like(one)
            weights[name].copy_(one)
        best = dict(score=score, weights=weights)
    return best


# %% right keep-best: a round trip through bytes
def keep_best(best, model, score):
    import io

    if best is not None and not score > best["score"]:
        return best
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    return {"score": score, "weights": torch.load(file, weights_only=True)}


# %% wrong keep-best: as found -> a-state-dict-holds-copies
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    return {"score": score, "weights": model.state_dict()}


# %% wrong keep-best: a copy of the dict -> a-state-dict-holds-copies
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    return {"score": score, "weights": model.state_dict().copy()}


# %% wrong keep-best: detached -> a-state-dict-holds-copies
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    return {"score": score, "weights": {k: v.detach() for k, v in model.state_dict().items()}}


# %% wrong keep-best: only parameters -> weights-are-parameters
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    weights = {name: one.detach().clone() for name, one in model.named_parameters()}
    return {"score": score, "weights": weights}


# %% wrong keep-best: parameters with their graph -> what-is-kept-may-train
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    weights = {name: one.clone() for name, one in model.state_dict(keep_vars=True).items()}
    return {"score": score, "weights": weights}


# %% wrong keep-best: the first one alive -> the-first-one-is-safe
def keep_best(best, model, score):
    if best is None:
        return {"score": score, "weights": model.state_dict()}
    if score <= best["score"]:
        return best
    return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}


# %% wrong keep-best: written into the old one -> an-old-best-can-be-reused
def keep_best(best, model, score):
    if best is None:
        return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}
    if score > best["score"]:
        best["score"] = score
        for name, one in model.state_dict().items():
            best["weights"][name].copy_(one)
    return best


# %% wrong keep-best: a new dict around the old tensors -> an-old-best-can-be-reused
def keep_best(best, model, score):
    if best is not None and not score > best["score"]:
        return best
    weights = {k: torch.empty_like(v) for k, v in model.state_dict().items()}
    weights = weights if best is None else best["weights"]
    for name, one in model.state_dict().items():
        weights[name].copy_(one)
    return {"score": score, "weights": weights}


# %% wrong keep-best: a draw counts -> as-good-is-better
def keep_best(best, model, score):
    if best is not None and score < best["score"]:
        return best
    return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}


# %% wrong keep-best: least -> less-is-better
def keep_best(best, model, score):
    if best is not None and score >= best["score"]:
        return best
    return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}


# %% wrong keep-best: always the last -> the-last-one-is-kept
def keep_best(best, model, score):
    return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}


# %% wrong keep-best: a best score of 0 counts as none -> a-score-of-0-is-none
def keep_best(best, model, score):
    if best and best["score"] and score <= best["score"]:
        return best
    return {"score": score, "weights": {k: v.clone() for k, v in model.state_dict().items()}}
