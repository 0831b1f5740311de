# Rscript tests/statistics/degrees.R [COMPARISONS] [ROWS]: compare rules for the degrees of freedom of Welch's t if the sides
# have different numbers of boots. Print how often 95 % intervals contain the true difference, and how many comparisons of two
# equal means have a false alarm in one of their rows, after Benjamini's and Hochberg's adjustment. docs/internals/statistics.md
# quotes the output.
args <- as.integer(commandArgs(TRUE))
n <- if (length(args) > 0) args[1] else 6000
rows <- if (length(args) > 1) args[2] else 20
set.seed(1)

rules <- list(
  satterthwaite = function(va, vb, na, nb) (va + vb)^2 / (va^2 / (na - 1) + vb^2 / (nb - 1)),
  ours = function(va, vb, na, nb)
    (min(na, nb) - 1) * pmin((va + vb)^2 / (va^2 + vb^2), (na + nb)^2 / (na^2 + nb^2)),
  least = function(va, vb, na, nb) min(na, nb) - 1)

# Return whether any of these p values is significant after adjustment.
alarm <- function(p) any(sort(p) <= 0.05 * seq_along(p) / length(p))

compare <- function(na, nb, spread) {
  va <- spread^2 * rchisq(n * rows, na - 1) / (na - 1) / na
  vb <- rchisq(n * rows, nb - 1) / (nb - 1) / nb
  t <- rnorm(n * rows) * sqrt(spread^2 / na + 1 / nb) / sqrt(va + vb)
  sapply(rules, function(rule) {
    p <- matrix(2 * pt(-abs(t), rule(va, vb, na, nb)), rows)
    maybe <- which(colSums(p <= 0.05) > 0)
    sprintf("%.1f/%.1f", 100 * mean(p > 0.05), 100 * sum(apply(p[, maybe, drop = FALSE], 2, alarm)) / n)
  })
}

cat(n, "comparisons of", rows, "rows: % of intervals that cover / % of comparisons with a false alarm\n")
for (boots in list(c(3, 3), c(5, 5), c(10, 10), c(20, 20), c(3, 4), c(3, 6), c(3, 12), c(3, 20), c(4, 12), c(5, 10),
                   c(5, 20), c(10, 20)))
  for (spread in c(1, 2, 5, 10, 0.5)) {
    got <- compare(boots[1], boots[2], spread)
    cat(sprintf("%2d against %2d, %4.1f times the spread: %s\n", boots[1], boots[2], spread,
                paste(names(got), got, collapse = "  ")))
  }
