"""The parts of the page Wording."""
