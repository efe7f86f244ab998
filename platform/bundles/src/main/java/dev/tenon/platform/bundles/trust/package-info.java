/// The list of trusted jars, and the settings of trust.
package dev.tenon.platform.bundles.trust;
