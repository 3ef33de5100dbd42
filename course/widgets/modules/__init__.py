"""The explorer of modules: it asks which parameters a step of training will move."""

from course.widgets.modules.explorer import ModuleExplorer, ModulePanel, explore_modules

__all__ = ["ModuleExplorer", "ModulePanel", "explore_modules"]
