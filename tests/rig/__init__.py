"""What tests run on: real servers, a real pooler, real processes, and waiting on events."""
