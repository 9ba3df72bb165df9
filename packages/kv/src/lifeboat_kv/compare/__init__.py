"""All methods on one pair from one pass, scored side by side: what the default is chosen by."""
