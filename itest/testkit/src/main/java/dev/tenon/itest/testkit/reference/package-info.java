/// The truth that numbers are compared with: every op of the api evaluated in float64, plainly.
///
/// [Reference] runs whole graphs by [ReferenceOps], the table of ops: an [OpReference] says what a class of ops
/// computes, and how far other computations of it may be off.
@Version("1.1.0")
@Export
package dev.tenon.itest.testkit.reference;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
