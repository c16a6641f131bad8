"""Tests of the pages for one architecture, and of the diagram."""
