"""Tests of the memory part of the console."""
