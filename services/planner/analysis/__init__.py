"""What a query asks for, read from its words: pure, by rules, in Korean and English."""
