"""Measurements as ratios, each against something simpler in the same interleaved run."""
