"""Tests of the translators of the lesson on recurrence."""
