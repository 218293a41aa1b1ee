"""The whole study on one machine: `python -m demo`. Not part of the installed package."""
