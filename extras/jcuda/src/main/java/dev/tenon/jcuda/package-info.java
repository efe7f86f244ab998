/// JCuda for the NVIDIA backends: a binding of the CUDA driver, and a compiler of PTX. The bundle also carries JCuda's
/// classes and exports them, so that other bundles can use its libraries with the backend's memory.
package dev.tenon.jcuda;
