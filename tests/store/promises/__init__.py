"""What the port promises of a store, table by table; `conformance` joins the parts."""
