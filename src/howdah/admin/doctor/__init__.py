"""The doctor: looks at a database and at the fleet, says what is wrong and what to do next. It changes nothing, each of
its checks is cheap and has a time limit, and none keeps another from running."""
