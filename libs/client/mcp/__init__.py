"""The tools through which agents work, as an MCP server: over stdio and in the gateway."""
