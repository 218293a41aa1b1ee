"""Rules about where a unit fires: how they are written, what they match, and the simplest one that fits a unit."""
