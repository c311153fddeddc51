"""Every byte of SQL, in .sql files: migrations and queries. No Python beside this line."""
