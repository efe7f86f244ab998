/// Models of a hub: their names, their downloads, and the folder that keeps them.
@Version("0.1.0")
@Export
package dev.tenon.platform.hub;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
