# Rscript tests/unit/analyze_varies_test.R: print the straight line that analyze_varies_test.c expects.
options(digits = 15)
x <- -20:19
fit <- lm(1000 + 7 * x + x^2 %% 11 ~ x)
cat(format(c(coef(fit), confint(fit)["x", ], summary(fit)$r.squared), digits = 13), "\n")
