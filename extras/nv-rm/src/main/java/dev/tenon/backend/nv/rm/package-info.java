/// An experiment: a Hopper GPU through NVIDIA's kernel driver for desktops and servers, the resource
/// manager and UVM. Nothing here is for other bundles.
package dev.tenon.backend.nv.rm;
