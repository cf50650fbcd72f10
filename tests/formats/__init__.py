# SPDX-License-Identifier: GPL-3.0-or-later
"""The formats once more, written from their descriptions alone and knowing nothing of the program.

NAME.py       reads, writes and invents files of the format NAME
try_NAME.py   what its texts must say, and what a file must hold after an edit of them
values.py     single precision, nearest numbers
texts.py      the texts of animfs, read and written in any dialect
program.py    the commands of animfs
"""
