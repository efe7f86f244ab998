/// The truth that numbers are compared with: every op of the api evaluated in float64, plainly.
///
/// [Reference] runs whole graphs. The evaluations stand beside their formulas: [RowOps] has the ops that work on
/// one row, [AttentionOp] and [PoolOp] those that see several, [ExpertOps] those of mixtures of experts.
@Version("1.0.0")
@Export
package dev.tenon.itest.testkit.reference;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
