"""A fitted mapper: its form, how it is applied, and the file that holds it."""
