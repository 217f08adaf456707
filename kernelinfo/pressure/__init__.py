"""Registers live at each instruction: text -> instructions -> flow -> liveness -> story."""
