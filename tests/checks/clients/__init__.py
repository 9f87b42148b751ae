"""Client libraries in environments of their own."""
