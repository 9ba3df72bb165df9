"""What a finished mapper is measured by: decoding, drift over turns, cost."""
