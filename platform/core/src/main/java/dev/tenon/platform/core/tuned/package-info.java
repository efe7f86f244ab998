/// Settings that `tenon tune` found for a model on a device: how they are kept, and when they hold.
@Version("1.0.0")
@Export
package dev.tenon.platform.core.tuned;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
