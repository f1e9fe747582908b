"""Language models behind one hardened client; all of them optional."""
