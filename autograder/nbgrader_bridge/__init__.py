"""The one place that imports nbgrader: everything else asks it in the words of this package.

    database_address.py   which database holds the grades; imports nothing heavy
    gradebook.py          the gradebook read and written, a submission a transaction
    gradebook_entry.py    what it says of one submission, compared with the journal's record
    gradebook_errors.py   what went wrong with it, and what to do
    gradebook_copy.py     taken out as a file, and put back
    penalties.py          the course's plugin for late penalties
    registration.py       a lesson's cells entered, as `nbgrader generate_assignment` would
    generation.py         nbgrader's own steps over a source: automatic tests, the class edition
    known_sources.py      an assignment of which only the gradebook has the source
    cells.py              nbgrader's rules for one cell and for a time
    stock.py              `nbgrader autograde` on a course directory of its own
    exchange.py           what `nbgrader release_feedback` wants beside a page
    table_version.py      a second less whenever nbgrader makes tables
    release_steps.py      what nbgrader_config.py names for release: here nbgrader calls us,
    feedback_steps.py     and for nbgrader's own pages,
    inert_html.py         on which nothing acts that a learner wrote
    rendering.py          texts as HTML, rendered in a process of their own (rendering_process.py)
    tame_html.py          HTML without what acts, made there

It takes a second to import nbgrader, so whoever need not wait imports these modules where they are
used.  Outside of it only formgrader.py imports nbgrader, as a part of its server.
"""
