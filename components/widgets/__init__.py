"""Widgets that any page may draw."""
