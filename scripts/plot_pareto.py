#!/usr/bin/python3
"""Draws the Pareto set of every scenario of a result, objectives against each other: plot_pareto.py RESULT [-o] FILE"""
import sys

from report import picture_front, pictures
from report.result import Result

paths = [argument for argument in sys.argv[1:] if argument != "-o"]
if len(paths) != 2:
    sys.exit(__doc__)
result = Result(paths[0])
pictures.save(picture_front.all_scenarios(result, lambda scenario: pictures.Chosen(result, scenario, None, None)), paths[1])
