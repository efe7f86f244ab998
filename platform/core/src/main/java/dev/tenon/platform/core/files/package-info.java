/// Writing of files, for whatever does.
@Version("1.0.0")
@Export
package dev.tenon.platform.core.files;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
