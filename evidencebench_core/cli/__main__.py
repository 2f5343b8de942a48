"""``python -m evidencebench_core.cli``: the command where its script is not on the path."""

import sys

from evidencebench_core.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
