/// The `itest` command: runs the published contracts on the machine and the bundles at hand.
package dev.tenon.itest.command;
