/// `doctor` and `devices`: what this machine, this JVM and the backends offer.
package dev.tenon.platform.cli.doctor;
