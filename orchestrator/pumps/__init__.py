"""What beat does, one pump a thing. Law: a pump does one batch, is told `now`, and answers how many rows it handled."""
