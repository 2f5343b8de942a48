"""The command ``evidencebench``: `main`, the frame, and files of verbs.

Exit codes: 0 done; 1 failed, with one line on stderr that says what to do; 2 wrong usage; 3 a cap was reached; 130
interrupted by Ctrl-C. With ``--json`` a verb prints exactly one JSON document on stdout; progress is on stderr.
"""

from evidencebench_core.cli.entry import main
