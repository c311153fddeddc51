"""What jobs carry, sealed with AES-256-GCM before it reaches the database, and opened after it has left it.

This room promises that a sealed value opens only with its key, in the row and column that it was sealed for, and
unchanged. It never reads a database, and never writes down or prints a key.
"""
