"""Labelled answers for fitting a judge: what the pilot says, how sure it is, and what the target says."""
