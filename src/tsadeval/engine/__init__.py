"""Engine: cells of work, their computation in chunks, parallel and supervised, and the durable store of their rows."""
