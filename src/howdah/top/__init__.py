"""The live view in the terminal. It promises that looking never hurts the queue: one reader, a time limit on every
statement, and rests that grow with what a look costs. It holds no SQL and no rule of the queue: what it shows and
orders is `admin`'s."""
