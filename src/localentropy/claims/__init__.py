"""The papers' claims as functions of the experiments' tables: `claims.<paper>.<module>.<function>`."""
