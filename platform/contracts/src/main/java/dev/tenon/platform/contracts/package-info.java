/// The commands for those who write bundles: `itest` runs the published contracts on the machine and the
/// bundles at hand, `compare` finds the op in which two backends or two versions of a bundle part.
package dev.tenon.platform.contracts;
