/// EX5, a made-up weight format, and its kernel.
package org.example.ex5;
