"""Measuring entry search: sets of questions, runs through the services, reports."""
