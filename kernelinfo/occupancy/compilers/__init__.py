"""What compilers and runtimes say of occupancy, and why the hardware does not always do so."""
