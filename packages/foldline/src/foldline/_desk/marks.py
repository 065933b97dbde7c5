"""Fills of a window at which a face tells its user something."""

SUGGEST_AT = 0.80
"""The fill from which a fold by hand, at a moment of the user's choosing, is suggested."""

ALARM_AT = 0.95
"""The fill from which a bar is drawn as an alarm; from `SUGGEST_AT` on it warns."""
