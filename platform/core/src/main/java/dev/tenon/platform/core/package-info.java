/// The way into the platform for programs that embed it without a framework.
@Version("2.0.0")
@Export
package dev.tenon.platform.core;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
