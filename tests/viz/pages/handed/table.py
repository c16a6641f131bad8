"""The tables of all rooms as one."""

from tests.viz.pages.handed import Table, ideas, lessons, pages

TABLE: Table = {**lessons.TABLE, **ideas.TABLE, **pages.TABLE}
