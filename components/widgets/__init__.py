"""What any page may draw."""
