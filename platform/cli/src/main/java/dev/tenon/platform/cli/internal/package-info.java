/// The commands themselves, and what they share. Not exported.
package dev.tenon.platform.cli.internal;
