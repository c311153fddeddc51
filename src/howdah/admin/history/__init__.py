"""What the workers did over time, read from the rows that they keep (migration 0018). Reads only."""
