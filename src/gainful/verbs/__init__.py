"""What people do with judgments and runs: score them, compare them, explain a score."""
