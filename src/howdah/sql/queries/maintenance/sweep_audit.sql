-- Purpose: remove what is past its retention from the audit and the operations, a bounded number at a time.
-- Locks: the rows. Index: audit_pkey, operations_pkey. Called by: maintenance/store.py
SELECT howdah.sweep_audit()
