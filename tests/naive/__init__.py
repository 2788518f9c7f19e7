"""The definitions, slow and obvious. They are the specification; the package is tested against them."""
