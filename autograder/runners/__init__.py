"""The other ways to run submissions: stock nbgrader, and Dask workers."""
