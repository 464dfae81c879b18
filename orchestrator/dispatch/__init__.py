"""How workers are told of attempts: the adapters of the dispatcher's port. Law: a doorbell carries ids and no data."""
