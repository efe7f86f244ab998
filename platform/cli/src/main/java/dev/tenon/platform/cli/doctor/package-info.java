/// `doctor` and `devices`: what this machine, this JVM and the backends offer; `explain`: what an error means.
package dev.tenon.platform.cli.doctor;
