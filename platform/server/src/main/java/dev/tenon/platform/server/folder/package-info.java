/// A folder of models: files, and names that were given to them with defaults of their own.
@Version("0.1.0")
@Export
package dev.tenon.platform.server.folder;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
