"""Training as parts: what is learnt, by which steps, and who watches.

A recipe (recipe.py) names an entry of each table: an objective, an optimizer, a schedule. A trainer
(trainer.py) takes the steps and tells observers (observers.py) of them; a run (run.py) puts the
parts together in one folder.
"""
