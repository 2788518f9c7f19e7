"""Evaluation of one scoring (`single`), of many series (`many`) and of streams; what a value is worth (`baseline`)."""
