/// Options that several commands share, and the texts that they read.
package dev.tenon.platform.cli.options;
