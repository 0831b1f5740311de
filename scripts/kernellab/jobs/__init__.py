"""Jobs: several boots for one answer."""
