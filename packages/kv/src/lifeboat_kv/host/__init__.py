"""This machine: its accelerators, memory, disk and arithmetic."""
