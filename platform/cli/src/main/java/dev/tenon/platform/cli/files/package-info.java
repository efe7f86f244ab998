/// Writing of files, for every command that does.
@Version("1.0.0")
@Export
package dev.tenon.platform.cli.files;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
