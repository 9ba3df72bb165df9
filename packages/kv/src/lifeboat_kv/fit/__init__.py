"""From second moments to a mapper: layers, heads, lambda, exact head."""
