package dev.tenon.platform.bundles.manager;

import org.osgi.framework.Bundle;

/// One bundle of a change: the one that was asked for, or one that uses it and is installed again.
///
/// @param jar what comes
/// @param location where it is installed
/// @param old what goes, or null
record Part(BundleJar jar, String location, Bundle old) {}
