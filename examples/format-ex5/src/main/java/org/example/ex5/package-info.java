/// EX5, a made-up weight format.
package org.example.ex5;
