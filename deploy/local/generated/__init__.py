"""Files that are written from code, one module a kind. Each has `render() -> {path: text}`."""
