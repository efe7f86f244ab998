/// The engine's settings, and what backends and kernel providers declare as theirs.
package dev.tenon.platform.core.settings;
