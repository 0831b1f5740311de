# Rscript tests/unit/analyze_statistics_test.R: print the figures that analyze_statistics_test.c expects. They come from R's own
# functions, or if R has none, from the definition, with R's integrals and root finder.
options(digits = 15, warn = 2)

say <- function(name, ...) cat(sprintf("%-24s %s\n", name, paste(format(c(...), digits = 12), collapse = "  ")))

# Measured values: unprobed ms of big-fork on two lab kernels, with the random generator seeded and unseeded.
seeded_a <- c(11.809, 11.812, 11.803)
seeded_b <- c(11.878, 11.879, 11.880)
unseeded_a <- c(11.787, 11.793, 11.789)
unseeded_b <- c(14.137, 14.027, 14.118)
# Different numbers of values, and different spreads.
uneven_a <- c(100.2, 99.1, 101.7, 98.4, 100.9, 99.6, 100.3)
uneven_b <- c(107.0, 95.5, 103.1, 99.9, 112.4)
# Three values agree by chance: R's degrees of freedom are twice those of kprotperf.
agreeing_a <- c(100.3, 101.4, 99.7)
agreeing_b <- c(101.2, 98.4, 103.1, 100.7, 102.9, 99.5, 101.8, 100.9)
pairs <- list(seeded = list(seeded_a, seeded_b), unseeded = list(unseeded_a, unseeded_b),
              uneven = list(uneven_a, uneven_b), two = list(c(10, 11), c(12, 12.5)),
              agreeing = list(agreeing_a, agreeing_b),
              huge = list(1e15 + c(0, 64, 128, 256), 1e15 + c(512, 640, 1024, 832)))

se <- function(x) sqrt(var(x) / length(x))

# Return Satterthwaite's degrees of freedom with two changes: both sides get the degrees of the smaller side, and the result is
# at most that of equal spreads. ua and ub are additional variances with 4 degrees each (GUM, G.2b). For equal numbers of values
# the result is the same as R's.
degrees <- function(va, vb, na, nb, ua = 0, ub = 0) {
  satterthwaite <- va^2 + vb^2
  alike <- ((va + vb) / (na + nb))^2 * (na^2 + nb^2)
  (va + vb + ua + ub)^2 / (pmax(satterthwaite, alike) / (min(na, nb) - 1) + (ua^2 + ub^2) / 4)
}

# Return Welch's t and related figures, with an additional component of the variance on each side: ua^2 and ub^2.
systematic <- function(a, b, ua, ub, confidence) {
  v <- se(a)^2 + se(b)^2 + ua^2 + ub^2
  df <- degrees(se(a)^2, se(b)^2, length(a), length(b), ua^2, ub^2)
  d <- mean(b) - mean(a)
  c(d, sqrt(v), df, 2 * pt(-abs(d) / sqrt(v), df), d + c(-1, 1) * qt(0.5 + confidence / 2, df) * sqrt(v))
}

# Return r - 1 for the two ratios r at which b - r * a is just significant.
ratio <- function(a, b, confidence) {
  r <- mean(b) / mean(a)
  df <- degrees(r^2 * se(a)^2, se(b)^2, length(a), length(b))
  off <- function(x) abs(mean(b) - x * mean(a)) / sqrt(se(b)^2 + x^2 * se(a)^2) - qt(0.5 + confidence / 2, df)
  far <- 50 * (se(a) + se(b)) / mean(a)
  c(uniroot(off, c(r - far, r), tol = 1e-13)$root, uniroot(off, c(r, r + far), tol = 1e-13)$root) - 1
}

for (name in names(pairs)) {
  a <- pairs[[name]][[1]]
  b <- pairs[[name]][[2]]
  t <- t.test(b, a)
  ours <- systematic(a, b, 0, 0, 0.95)
  say(paste(name, "R's"), mean(b) - mean(a), t$stderr, t$parameter, t$p.value, t$conf.int)
  say(paste(name, "welch"), ours)
  stopifnot(length(a) != length(b) || all.equal(ours[3:4], c(t$parameter, t$p.value), check.attributes = FALSE))
  if (name != "huge") {
    say(paste(name, "ratio 95 %"), ratio(a, b, 0.95))
    say(paste(name, "ratio 90 %"), ratio(a, b, 0.90))
  }
}
say("seeded systematic", systematic(seeded_a, seeded_b, 0.003, 0.004, 0.95))
say("agreeing systematic", systematic(agreeing_a, agreeing_b, 0.3, 0.4, 0.95))

say("BH", p.adjust(c(0.01, 0.04, 0.03, NA, 0.005, 0.55, 0.04), "BH"))
say("BH equal", p.adjust(c(0.5, 0.5, 0.5), "BH"))

# Return the power of Welch's test by its definition: integrate over both chi-squareds, given which the difference is normal.
welch_power <- function(na, nb, sa, sb, delta, level) {
  given <- function(ca, cb) {
    va <- sa^2 * ca / (na - 1) / na
    vb <- sb^2 * cb / (nb - 1) / nb
    df <- degrees(va, vb, na, nb)
    reach <- qt(1 - level / 2, df) * sqrt(va + vb)
    s <- sqrt(sa^2 / na + sb^2 / nb)
    pnorm((delta - reach) / s) + pnorm((-delta - reach) / s)
  }
  inner <- function(ca) sapply(ca, function(x)
    integrate(function(cb) given(x, cb) * dchisq(cb, nb - 1), 0, Inf, rel.tol = 1e-7, subdivisions = 1000)$value)
  integrate(function(ca) inner(ca) * dchisq(ca, na - 1), 0, Inf, rel.tol = 1e-6, subdivisions = 1000)$value
}

needed <- function(sa, sb, delta, level) {
  n <- 3
  while (welch_power(n, n, sa, sb, delta, level) < 0.8) n <- n + 1
  n
}
say("needed, to differ", needed(1, 1, 1.5, 0.05), needed(1, 2, 2.5, 0.01))
# Return the power of the test for equivalence within -+limit, averaged over the chi-squareds.
tost_power <- function(n, s, delta, limit) {
  given <- function(ca, cb) {
    va <- s^2 * ca / (n - 1) / n
    vb <- s^2 * cb / (n - 1) / n
    reach <- qt(0.95, (va + vb)^2 * (n - 1) / (va^2 + vb^2)) * sqrt(va + vb)
    e <- s * sqrt(2 / n)
    pmax(0, pnorm((limit - reach - delta) / e) - pnorm((reach - limit - delta) / e))
  }
  inner <- function(ca) sapply(ca, function(x)
    integrate(function(cb) given(x, cb) * dchisq(cb, n - 1), 0, Inf, rel.tol = 1e-7, subdivisions = 2000)$value)
  integrate(function(ca) inner(ca) * dchisq(ca, n - 1), 0, Inf, rel.tol = 1e-6, subdivisions = 2000)$value
}
n <- 3
while (tost_power(n, 1, 0.1, 1) < 0.8) n <- n + 1
say("needed, to be same", n, tost_power(n - 1, 1, 0.1, 1), tost_power(n, 1, 0.1, 1))
