"""A plugin of pytest that puts gainful's provider in the place of those of ir_measures that it can stand for."""

import ir_measures

from gainful.compat.ir_measures import GainfulProvider, provider, register

register(first=True)
ir_measures.pytrec_eval = ir_measures.judged = provider
ir_measures.providers.PytrecEvalProvider = ir_measures.providers.JudgedProvider = GainfulProvider
