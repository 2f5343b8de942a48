"""A table of records as a v2 component; see `components.widgets.table.table`."""

from components.widgets.table.table import Cell, Chip, Column, Interval, Row, TableEvent, table, table_data

__all__ = ["Cell", "Chip", "Column", "Interval", "Row", "TableEvent", "table", "table_data"]
