"""Task evaluation with lm-evaluation-harness: the transferred cache as a model beside pilot and target."""
