"""The services on Kubernetes: a kustomize base, components and overlays, and their checks."""
