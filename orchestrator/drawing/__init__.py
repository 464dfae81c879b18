"""Pictures of workflow graphs, as Mermaid text and as SVG. Pure: text out of values, the same for the same values.

The law of this package: any graph draws, also one that admission refuses, and what users wrote is always escaped.
"""
