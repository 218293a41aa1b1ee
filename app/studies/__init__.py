"""Studies: what is drawn, how it is sealed, closed and unblinded."""
