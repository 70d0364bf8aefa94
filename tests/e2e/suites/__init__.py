"""Suites written by others, run unchanged in a container without and with sockhop.

Sources and packages are fetched at test time (fetch.py). Where a suite can be made to, its servers
are on the other machine (outside.py), so that its connections hop.
"""
