"""The museum of bugs: mistakes that job queues make, planted here one at a time, and the tests that notice.

`python -m museum` copies the working tree, shows that the named tests pass there, and then plants each exhibit and
shows that they no longer do. It is made of

exhibits   one file for each bug: its story, the text that it changes, the tests that must catch it
exhibit    reads them, plants them in a copy and takes them out again
trial      runs an exhibit's tests in a copy, in a process of their own
witness    inside that process: which test ended how, and why
judge      pure: what the witness saw in, caught or not out
page       the table of what was caught, and docs/museum.md
"""
