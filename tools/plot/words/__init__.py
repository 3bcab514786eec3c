"""Words for quantities and configurations. Knows nobody, and not what draws."""
