"""Kernels compiled for other occupancies, launch bounds and scheduling strategies.

IR file -> text -> function attributes edited -> the user's compiler -> assembly -> kernels.
"""
