"""What scripts/report.py and scripts/plot.py share: reading a result, pictures, the page."""
