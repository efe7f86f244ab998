/// Boots the framework with the bundles of the distribution.
package dev.tenon.platform.launcher;
