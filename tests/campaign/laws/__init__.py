"""What every answer must hold to. A law is a function of (desk, content, draw) that raises Broken."""
