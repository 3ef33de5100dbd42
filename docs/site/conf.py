"""Sphinx's configuration. `python -m docs.site` starts Sphinx, and adds the paths of the build."""

import importlib

from docs.site.settings import address
from docs.site.sphinx_extension import API

project = "PyTorch, measured"
author = copyright = "The PyTorch, measured authors"
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docs.site.sphinx_extension",
]

# Notebooks come with their outputs; see docs/site/lessons/execute.py.
nb_execution_mode = "off"
# What myst-nb loads for live widgets comes from other addresses. Ours are shown as figures.
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_merge_streams = True
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 4
myst_heading_slug_func = "autograder.lessons.cells.anchor"
smartquotes = False  # quotation marks in code and in claims stay as they were typed
default_role = "code"  # docstrings write `names` as Markdown does
toc_object_entries_show_parents = "hide"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False

# Names are loaded when first asked for, and autodoc only sees those that are there.
for module in API:
    package = importlib.import_module(module)
    for name in getattr(package, "__all__", ()):
        getattr(package, name)

html_theme = "furo"
html_title = project
html_baseurl = address()
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = True
html_domain_indices = False
html_theme_options = {
    "top_of_page_buttons": [],
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7ab8ff", "color-brand-content": "#7ab8ff"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
