"""The page: facts and history as text within a budget, without a model."""
