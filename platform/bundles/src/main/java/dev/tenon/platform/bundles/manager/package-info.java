/// Checks, installs, replaces and removes bundles while the platform runs.
package dev.tenon.platform.bundles.manager;
