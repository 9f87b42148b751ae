"""The process manager behind `manage.py up`: children that start in order, come back, and end together."""
