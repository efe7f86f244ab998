/// `pull`, `list`, `rm`, `cp`: models from a hub, and how they are found again by name.
package dev.tenon.platform.cli.pull;
