"""Pure statistics of a blind rating study: tables in, frozen dataclasses out. Import the file you need."""
