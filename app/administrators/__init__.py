"""Administrators: who they are, and how they sign in."""
