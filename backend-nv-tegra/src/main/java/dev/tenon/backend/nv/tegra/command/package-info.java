/// What a GPU of NVIDIA is told: methods, command words, launch descriptors, and where its addresses lie.
@Version("0.1.0")
@Export
package dev.tenon.backend.nv.tegra.command;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
