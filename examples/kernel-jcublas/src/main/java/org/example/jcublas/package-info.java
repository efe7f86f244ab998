/// Products of F16 weights by cuBLAS.
package org.example.jcublas;
