"""From texts to second moments: forward passes, row weights, passes planned by memory."""
