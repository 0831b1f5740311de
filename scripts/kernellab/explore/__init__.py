"""`lab explore`: find system call programs that make a protection dear."""
