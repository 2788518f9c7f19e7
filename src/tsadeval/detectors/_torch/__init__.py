"""The training loop that all networks share, and the networks. Everything here imports torch."""
