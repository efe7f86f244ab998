/// NVIDIA's kernel driver for desktops and servers: the resource manager and UVM.
package dev.tenon.backend.nv.tegra.rm;
