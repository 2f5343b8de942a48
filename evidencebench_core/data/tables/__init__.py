"""The tables of the store, as the statements of the migrations that made them; `data.schema` has their order.

A migration that has been released is never changed: a table gains a column by another one.
"""
