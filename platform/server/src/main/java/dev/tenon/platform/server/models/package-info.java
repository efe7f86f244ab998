/// Which models there are, and which of them are loaded.
@Version("0.9.0")
@Export
package dev.tenon.platform.server.models;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
