"""A table of records as a v2 component; see `components.table.table`."""

from components.table.table import Cell, Chip, Column, Interval, Row, TableEvent, table, table_data

__all__ = ["Cell", "Chip", "Column", "Interval", "Row", "TableEvent", "table", "table_data"]
