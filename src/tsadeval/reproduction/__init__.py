"""The paper beside ours: its printed numbers, and what gives ours."""
