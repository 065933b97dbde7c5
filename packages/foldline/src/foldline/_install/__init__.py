"""What is put into other agents so that foldline folds there by itself, and what takes it back."""
