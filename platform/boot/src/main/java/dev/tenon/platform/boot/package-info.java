/// The services through which the launcher, which is not a bundle, and bundles communicate.
///
/// The framework exports this package from the launcher's class path, as it does with SLF4J's. Its version stands
/// in the root `pom.xml`.
@Version("${boot.version}")
@Export
package dev.tenon.platform.boot;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
