/// Logging to standard error.
package dev.tenon.platform.launcher.log;
