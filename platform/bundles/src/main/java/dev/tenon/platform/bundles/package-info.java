/// Bundles that come and go: the hot folder, the manager that replaces a bundle under load, the control
/// channel of a running platform, and the command `bundles`.
package dev.tenon.platform.bundles;
