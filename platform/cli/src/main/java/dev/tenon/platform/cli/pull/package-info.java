/// The commands that download, list, name and delete models, and the folder that they keep them in.
@Version("0.9.0")
@Export
package dev.tenon.platform.cli.pull;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
