"""Who did what and when, across all studies: for administrators who manage."""
