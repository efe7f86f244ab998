/// What commands write results with: JSON, sizes, and where a class comes from.
@Version("1.0.0")
@Export
package dev.tenon.platform.cli.text;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
