"""What is asked of scores and judgments: reliability, stability, sensitivity, robustness and their kin."""
