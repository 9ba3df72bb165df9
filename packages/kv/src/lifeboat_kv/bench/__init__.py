"""Speed and memory of the inner kernels on this machine: `npm run bench:kv`. Random numbers, no models."""
