/// Commands for owners of a Jetson Orin, and for looking at what an emulated one is told.
package dev.tenon.itest.nv.tegra;
