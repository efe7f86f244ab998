/// Settings that a bundle declares, so that the platform can list, check and hand them over without
/// knowing them.
@Version("1.1.0")
@Export
@NullMarked
package dev.tenon.api.config;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
