"""Headlight in a notebook, and the command `headlight`."""

from headlight import where

where.enter()
