"""The flagship: an order workflow that ships order lines from CSV files. It uses nothing that a user could not use."""
