"""The only room that knows psycopg: statements from .sql files, connections, migrations, error translation."""
