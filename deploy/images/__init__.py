"""Container images: a Dockerfile, what goes into each role's image, and how they are built."""
