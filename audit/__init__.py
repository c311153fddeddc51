"""`make audit`: whether a known vulnerability stands in a version that constraints.txt pins."""
