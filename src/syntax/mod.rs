//! HCL native syntax: a scanner that finds and checks the structure, and the values of small expressions.
