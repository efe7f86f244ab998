/// Answers rows with the front door, `dev.tenon`, in the JVMs of executors.
package dev.tenon.spark.engine;
