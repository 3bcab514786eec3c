"""Words for quantities and configurations. Depends on no other module."""
