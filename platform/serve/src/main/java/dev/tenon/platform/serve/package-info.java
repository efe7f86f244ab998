/// The command `serve` and its settings.
package dev.tenon.platform.serve;
