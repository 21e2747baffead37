this is no HCL {{{
