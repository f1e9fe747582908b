"""What a question means in its conversation: resolved, or declared unclear, never guessed."""
