"""Probes of how modules are built, wired and searched.

What the probes of `wiring` take stands here, where there is room for it.

Args of `idle_found`:
    idle: Called with `(model, x)`; returns names.
    kind: What is odd about the model; of "modes", one layer is in the other mode than the model.
    x: The input; whether it requires grad is kept.
    training: The model's mode.
    graded: Whether every second parameter has a gradient of ones from before.

Args of `traced`:
    make: Called with the model; returns a context manager with `outputs`.
    kind: The model: "plain", "in place", "views", "again", "a layer", "float64", "called by you"
        (the first layer is called, not the model), or a key of `_FAILURES`, which a layer raises.
    x: The input.
    runs: How often the model is called within the block.

Args of `class_loaded`:
    load: Called with `(path, name)`; returns a class.
    files: Pairs of a path below a new folder and a text; None in place of a text writes nothing.
    asked: Pairs of a number and a name: which file, which class.
    as_text: Whether the path comes as text instead of a Path.

Args of `untied`:
    untie: Called with the model; returns names.
    kind: Where parameters are shared, such as "three places" or "not tied".
    graded: Whether parameters that require grad have a gradient of ones from before.
"""
