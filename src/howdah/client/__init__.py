"""What application code says: enqueue, look up, wait, cancel, retry; blocking and async from one implementation."""
