"""Why a head looks where it looks: one score as the exact sum of what query and key hold."""
