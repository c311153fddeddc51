"""Arguments and results to JSON and back. Promises that what is accepted round-trips, and that what is
refused is refused before anything is written, by an error that names the parameter and the path."""
