"""Faults in what ideas and lessons tell in words and single numbers."""

from tests.sabotage.fault import Fault

TOLD_OF_LESSONS: list[Fault] = []
