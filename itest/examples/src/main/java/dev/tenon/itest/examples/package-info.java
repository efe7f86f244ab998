/// A command that lets a test talk to a running platform.
package dev.tenon.itest.examples;
