"""Functions over texts: language, terms, numbers, quoting and redaction. Pure."""
