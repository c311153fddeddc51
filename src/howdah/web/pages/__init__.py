"""One page per file: reads what it shows, and hands it to a template."""
