"""The site: `python -m sitegen` stages the pages, has Zensical build them, and checks what was built.

Pages of docs/ are taken as they are; the quick start comes from the README, and the references of commands and Python
names from their docstrings, so that there is no second text to keep up to date.
"""
