"""The frame that pages are built on: page, context line, filters, rank table, ask dialog, desk, upload."""
