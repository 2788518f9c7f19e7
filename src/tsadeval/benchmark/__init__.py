"""RankEval, the benchmark of metrics: how well does a metric order models whose true order is known?

The public door is `tsadeval.rankeval`. The rooms behind it: `labels` and `generators` make the series, `tasks` say
which models are ranked and in which order they belong, `suites` put these together, `plan` lists the work,
`quality` and `tables` turn its values into rankings. (The package is not called rankeval because that is the
name of the function.)
"""
