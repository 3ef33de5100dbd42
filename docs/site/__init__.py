"""The site: lessons with their outputs, the atlas of claims, pages for teachers, the reference.

`make site` runs `python -m docs.site`, which measures, writes pages into a working folder and has
Sphinx turn them into HTML. No step asks for a network, and no page loads anything from another
address.
"""
