/// The entry point: finds the commands, runs the one that is called, and is its console.
package dev.tenon.platform.cli.main;
