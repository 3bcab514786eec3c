"""What every answer must hold to. An invariant is a function of (desk, content, draw) that raises Broken."""
