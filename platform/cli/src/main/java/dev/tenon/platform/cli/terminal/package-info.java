/// Standard streams and what is shown on a terminal: colours, bars, errors in one line.
package dev.tenon.platform.cli.terminal;
