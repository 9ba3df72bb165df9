"""The score: does the target, on top of a transferred cache, still say what it would have said?"""
