"""Arguments and results as plain JSON, and back to the types that the handler declares.

This room promises that what it lets in comes out again as it went in, or is refused before it is stored,
with the path to the value at fault. It never reads a database, a clock or a file.
"""
