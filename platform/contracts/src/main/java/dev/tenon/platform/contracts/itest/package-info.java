/// Runs the published contracts against the bundles of this machine.
package dev.tenon.platform.contracts.itest;
