"""One calibration from its opening to the written mapper."""
