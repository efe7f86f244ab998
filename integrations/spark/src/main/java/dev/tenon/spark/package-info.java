/// Models over the rows of Apache Spark: [dev.tenon.spark.TenonTransform] for datasets,
/// [dev.tenon.spark.TenonCatalog] for SQL.
///
/// This package is compiled for Java 17, so that a driver of that version can submit jobs. Only
/// tasks touch the engine, through [dev.tenon.spark.RowEngine], which is found as a service.
package dev.tenon.spark;
