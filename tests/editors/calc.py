#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""calc.py PIPE VIEW STEP...: opens VIEW in the LibreOffice that listens on PIPE, and edits it there.

A STEP is ROW,COLUMN=VALUE (from 0; a number is one), insert=ROW, store, wait, or print=FILE, which
makes a PDF of it, with the names of rows and columns. Ends with 1 and what LibreOffice
says when it cannot store, and with 0 when all is done.
"""
import os
import sys
import time
import traceback

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException
from com.sun.star.io import IOException

# Comma, double quote, UTF-8, from the first line, no column formats.
CSV = "44,34,76,1,,0,false,true,false"


def desktop(pipe):
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext(
        "com.sun.star.bridge.UnoUrlResolver", local
    )
    for _ in range(6000):  # against hanging: a first start takes long on a busy machine
        try:
            remote = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
            return remote.ServiceManager.createInstanceWithContext(
                "com.sun.star.frame.Desktop", remote
            )
        except NoConnectException:
            time.sleep(0.1)
    sys.exit("LibreOffice does not listen")


def properties(**values):
    return tuple(PropertyValue(Name=name, Value=value) for name, value in values.items())


def print_table(document, sheet, path):
    page = document.StyleFamilies.getByName("PageStyles").getByName(sheet.PageStyle)
    page.PrintHeaders = page.PrintGrid = True
    page.HeaderIsOn = page.FooterIsOn = False
    page.IsLandscape, page.Width, page.Height = True, 25000, 10500  # hundredths of a millimetre
    page.LeftMargin = page.RightMargin = page.TopMargin = page.BottomMargin = 300
    document.storeToURL(
        "file://" + os.path.realpath(path), properties(FilterName="calc_pdf_Export")
    )


def step(document, sheet, what):
    name, _, value = what.partition("=")
    if name == "store":
        document.store()
    elif name == "print":
        print_table(document, sheet, value)
    elif name == "insert":
        sheet.Rows.insertByIndex(int(value), 1)
    else:
        row, column = map(int, name.split(","))
        cell = sheet.getCellByPosition(column, row)
        try:
            cell.Value = float(value)
        except ValueError:
            cell.String = value


def main(pipe, view, *steps):
    document = desktop(pipe).loadComponentFromURL(
        "file://" + os.path.realpath(view),
        "_blank",
        0,
        properties(Hidden=True, FilterName="Text - txt - csv (StarCalc)", FilterOptions=CSV),
    )
    if document is None:
        sys.exit("LibreOffice does not open it")
    try:
        for what in steps:
            step(document, document.Sheets.getByIndex(0), what)
    except IOException as error:
        sys.exit(f"LibreOffice: {error.Message}")
    finally:
        document.close(True)


status = 1
try:
    main(*sys.argv[1:])
    status = 0
except SystemExit as end:
    print(end, file=sys.stderr)
except Exception:
    traceback.print_exc()
# PyUNO sometimes crashes while Python ends, when all is done and said: ends without that.
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)
