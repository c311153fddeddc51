"""What things are: pure values and rules. No I/O, no third-party import, nothing that waits."""
