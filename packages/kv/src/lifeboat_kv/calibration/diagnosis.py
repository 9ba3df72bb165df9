"""What a cosine says below the gate: the thresholds, as they travel in the manifest."""

from __future__ import annotations

# Compared with the mean of the K and the V cosine. Under the first the map is wrong and a refit may help;
# above the second the target is sensitive and it will not; between them neither is said.
DIAGNOSIS_THRESHOLDS = {"map_wrong_below": 0.85, "sensitive_above": 0.95}
