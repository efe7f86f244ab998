/// Commands (picocli), each a service, so that a bundle can add one.
@Version("1.8.0")
@Export
package dev.tenon.platform.cli;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
