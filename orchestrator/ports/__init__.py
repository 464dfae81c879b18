"""What the engine needs of the outside, as small Protocols. Law: a port names no adapter and imports only the core."""
