"""What operators ask and order: listings, pause and resume, the doctor. Never on the hot path."""
