"""The engine: a plan of work as plain data (`cell`), its parallel run (`run`) and its durable results (`store`)."""
