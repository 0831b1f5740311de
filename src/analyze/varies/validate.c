// SPDX-License-Identifier: GPL-2.0-or-later
/* Validation: the part of a tree's explanation that is more than chance. */
#include <math.h>
#include <Rmath.h>
#include <string.h>

#include "analyze/varies/tree.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* Any numbers; the same recording is to give the same figures. */
#define SEEDS 20061, 1984
/* A leaf has so many of the calls that were drawn at least. */
#define LEAF_LEAST 5
/* Calls that are drawn at most: of so many, a part of NEGLIGIBLE is far more than chance. */
#define CALLS_MAX 16384
/* Not more variables than that are selected. */
#define SELECTED_MAX 4
/* The number of cells; a variable with more values has ranges as cells. */
#define BINS 16
/* Larger work gets fewer permutations: the least that can tell P below ONE_PERCENT. */
#define STEPS_MAX          (1u << 27)
#define PERMUTATIONS_LEAST 199

static const double complexities[] = { 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003 };
#define N_COMPLEXITIES ARRAY_SIZE(complexities)

/* ---- calls ---- */

/*
 * Call number I of a row: the fastest, the slowest, and the others at one distance to both sides of their mean, which keeps the
 * row's sum and squares.
 */
static double call_of(const struct varies_row *row, double i)
{
	double weight = row->sums.n / row->calls, n = row->calls - 2, mean, squares;

	if (row->calls < 2)
		return row->sums.sum / row->sums.n;
	if (i < 2)
		return i < 1 ? row->min : row->max;
	mean = (row->sums.sum / weight - row->min - row->max) / n;
	squares = row->sums.squares / weight - row->min * row->min - row->max * row->max;
	return mean + sqrt(fmax(0, squares / n - mean * mean)) * (fmod(i, 2) < 1 ? 1 : -1);
}

void varies_draw(struct varies_data *d)
{
	double all = 0, at, scale;

	set_seed(SEEDS);
	at = unif_rand();
	d->least = LEAF_LEAST;
	d->n_calls = 0;
	free(d->calls);
	free(d->number);
	free(d->folds);
	for (uint32_t i = 0; i < d->n_rows; i++)
		all += d->rows[i].sums.n;
	scale = fmin(1 / d->weight, CALLS_MAX / all);
	d->calls = alloc_array((size_t)(all * scale) + 2, sizeof(*d->calls));
	d->number = alloc_array(d->n_rows, sizeof(*d->number));
	d->folds = alloc_array((size_t)d->n_rows * VARIES_FOLDS, sizeof(*d->folds));
	for (uint32_t i = 0; i < d->n_rows; i++) {
		const struct varies_row *row = &d->rows[i];
		double next = at + row->sums.n * scale;

		d->number[i] = (uint32_t)(floor(next) - floor(at));
		for (uint32_t j = 0; j < d->number[i]; j++) {
			double y = call_of(row, scale < 1 ? floor(unif_rand() * row->calls) : j);
			size_t fold = (size_t)(unif_rand() * VARIES_FOLDS);

			varies_sums_add(&d->folds[i * VARIES_FOLDS + fold],
					&(struct varies_sums){ 1, y, y * y });
			d->calls[d->n_calls++] = y;
		}
		at = next;
	}
}

/* ---- folds ---- */

/* The squares that are left of the calls in PART where PREDICTION is right. */
static double missed(const struct varies_sums *part, double prediction)
{
	return part->squares - 2 * prediction * part->sum + prediction * prediction * part->n;
}

/*
 * Predict the calls in FOLD by trees grown from all OTHERS. Set the error that each complexity leaves. Return the
 * error without a tree.
 */
static double validate_fold(struct varies_data *d, uint32_t columns, int fold,
			    struct varies_sums *others, double *left)
{
	scoped_free struct varies_tree *t = alloc_new(struct varies_tree);
	double all = 0;

	for (uint32_t i = 0; i < d->n_rows; i++) {
		others[i] = (struct varies_sums){ 0 };
		for (int f = 0; f < VARIES_FOLDS; f++)
			if (f != fold)
				varies_sums_add(&others[i], &d->folds[i * VARIES_FOLDS + f]);
	}
	varies_tree_grow(t, d, columns, others);
	for (size_t c = 0; c < N_COMPLEXITIES; c++) {
		varies_tree_prune(t, complexities[c]);
		left[c] = 0;
		for (uint32_t i = 0; i < d->n_rows; i++)
			left[c] += missed(&d->folds[i * VARIES_FOLDS + fold],
					  varies_tree_predict(t, d, i));
	}
	for (uint32_t i = 0; i < d->n_rows; i++)
		all += missed(&d->folds[i * VARIES_FOLDS + fold],
			      t->nodes[0].sums.sum / t->nodes[0].sums.n);
	d->steps += (N_COMPLEXITIES + VARIES_FOLDS) * d->n_rows;
	return all;
}

/* The first complexity, which is the greatest, that leaves no more than BEST by more than the difference's standard error. */
static size_t simplest(double (*left)[N_COMPLEXITIES], size_t best)
{
	for (size_t c = 0; c < best; c++) {
		double differences[VARIES_FOLDS];
		struct analyze_moments m;

		for (int f = 0; f < VARIES_FOLDS; f++)
			differences[f] = left[f][c] - left[f][best];
		m = analyze_moments_of(differences, VARIES_FOLDS);
		if (m.mean <= sqrt(m.variance / VARIES_FOLDS))
			return c;
	}
	return best;
}

double varies_validate(struct varies_data *d, uint32_t columns, double *complexity)
{
	double left[VARIES_FOLDS][N_COMPLEXITIES], sums[N_COMPLEXITIES] = { 0 }, all = 0;
	scoped_free struct varies_sums *others = alloc_array(d->n_rows, sizeof(*others));
	size_t best = 0;

	for (int f = 0; f < VARIES_FOLDS; f++) {
		all += validate_fold(d, columns, f, others, left[f]);
		for (size_t c = 0; c < N_COMPLEXITIES; c++)
			sums[c] += left[f][c];
	}
	for (size_t c = 1; c < N_COMPLEXITIES; c++)
		if (sums[c] < sums[best])
			best = c;
	best = simplest(left, best);
	if (complexity)
		*complexity = complexities[best];
	return all > 0 ? fmax(0, 1 - sums[best] / all) : 0;
}

double varies_fit(struct varies_tree *t, struct varies_data *d, uint32_t columns)
{
	scoped_free struct varies_sums *all = alloc_array(d->n_rows, sizeof(*all));
	double complexity, explained = varies_validate(d, columns, &complexity);

	for (uint32_t i = 0; i < d->n_rows; i++)
		all[i] = d->rows[i].sums;
	d->least *= d->weight;
	varies_tree_grow(t, d, columns, all);
	d->least /= d->weight;
	varies_tree_prune(t, complexity);
	return explained;
}

/* ---- permutations ---- */

/* Shuffles, and what they work on. */
struct shuffled {
	struct varies_data *d;
	double *calls; /* as D's */
	struct varies_sums *sums; /* of each row */
};

/* Set how much each of the COLUMNS explains of the calls as they are now. Return the most. */
static double explain(struct shuffled *s, uint32_t columns, double *gains)
{
	struct varies_data *d = s->d;
	double most = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < d->n_rows; i++) {
		s->sums[i] = (struct varies_sums){ .n = d->number[i] };
		for (uint32_t j = 0; j < d->number[i]; j++, at++) {
			s->sums[i].sum += s->calls[at];
			s->sums[i].squares += s->calls[at] * s->calls[at];
		}
	}
	d->steps += at;
	for (uint32_t i = 0; i < d->n_rows; i++)
		d->order[i] = i;
	for (uint32_t i = 0; i < d->n_columns; i++) {
		struct varies_split split = { 0 };
		struct varies_line line = { 0 };

		if (!(columns >> i & 1))
			continue;
		varies_column_try(d, i, d->order, d->n_rows, s->sums, &split, &line);
		gains[i] = fmax(split.gain, line.gain);
		most = fmax(most, gains[i]);
	}
	return most;
}

static void shuffle(double *calls, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)(unif_rand() * i);
		double call = calls[j];

		calls[j] = calls[i - 1];
		calls[i - 1] = call;
	}
}

/* The P of each of the COLUMNS, by shuffling a copy of the calls. */
static void permute(struct shuffled *s, uint32_t columns, const double *gains, double *p)
{
	double *calls = s->calls, shuffled[VARIES_COLUMNS] = { 0 };
	uint64_t rounds = VARIES_PERMUTATIONS, before = s->d->steps;

	s->calls = alloc_array(s->d->n_calls, sizeof(*calls));
	memcpy(s->calls, calls, s->d->n_calls * sizeof(*calls));
	for (uint32_t i = 0; i < s->d->n_columns; i++)
		if (columns >> i & 1)
			p[i] = 1;
	for (uint64_t round = 0; round < rounds; round++) {
		double most;

		shuffle(s->calls, s->d->n_calls);
		most = explain(s, columns, shuffled);
		for (uint32_t i = 0; i < s->d->n_columns; i++)
			if (columns >> i & 1)
				p[i] += most >= gains[i] * (1 - 1e-12);
		if (!round && rounds * (s->d->steps - before) > STEPS_MAX)
			rounds = PERMUTATIONS_LEAST;
	}
	for (uint32_t i = 0; i < s->d->n_columns; i++)
		if (columns >> i & 1)
			p[i] /= (double)rounds + 1;
	free(s->calls);
	s->calls = calls;
}

struct cell {
	uint64_t key;
	uint32_t row;
};

/*
 * Takes off what the COLUMNS say: what a tree does, then the mean of each cell of the values, those of more than BINS as so many ranges.
 * What other variables have to explain then is not that rows of one value of theirs happen to have others of these.
 */
static void take_off(struct shuffled *s, uint32_t columns)
{
	struct varies_data *d = s->d;
	scoped_free struct varies_tree *t = alloc_new(struct varies_tree);
	scoped_free struct cell *cells = alloc_array(d->n_rows, sizeof(*cells));
	scoped_free double *fit = alloc_array(d->n_rows, sizeof(*fit));
	uint32_t at = 0;

	varies_tree_grow(t, d, columns, s->sums);
	varies_tree_prune(t, complexities[N_COMPLEXITIES - 1]);
	for (uint32_t i = 0; i < d->n_rows; i++) {
		fit[i] = varies_tree_predict(t, d, i);
		cells[i].row = i;
		for (uint32_t c = 0; c < d->n_columns; c++) {
			uint64_t code = d->columns[c].codes[i], n = d->columns[c].n_values;

			if (columns >> c & 1)
				cells[i].key = cells[i].key * (BINS + 1) +
					       (n > BINS ? code * BINS / n : code);
		}
	}
	sort_array(cells, d->n_rows, sizeof(*cells), compare_u64);
	for_each_run(i, j, d->n_rows, cells[j].key == cells[i].key) {
		double n = 0, sum = 0;

		for (uint32_t k = i; k < j; k++) {
			n += d->number[cells[k].row];
			sum += s->sums[cells[k].row].sum -
			       d->number[cells[k].row] * fit[cells[k].row];
		}
		for (uint32_t k = i; k < j && n > 0; k++)
			fit[cells[k].row] += sum / n;
	}
	for (uint32_t i = 0; i < d->n_rows; i++)
		for (uint32_t j = 0; j < d->number[i]; j++)
			s->calls[at++] -= fit[i];
}

/* Return the number of pointers and members on the way to COLUMN, plus 1; 0 for a name, which readers know best. */
static int remoteness(const struct varies_data *d, uint32_t column)
{
	const struct profile_variable *v = d->columns[column].variable;
	int n = 1;

	for (const char *c = v->name; *c; c++)
		n += *c == '>' || *c == '.';
	return v->kind == PROFILE_VARIABLE_NAME ? 0 : n;
}

/* The best known of the COLUMNS with the most gain, or as good as that. */
static uint32_t best_known(const struct varies_data *d, uint32_t columns, const double *gains,
			   double most)
{
	uint32_t best = VARIES_COLUMNS;

	for (uint32_t i = 0; i < d->n_columns; i++) {
		int nearer = best == VARIES_COLUMNS ? 1 : remoteness(d, best) - remoteness(d, i);

		if (columns >> i & 1 && !(gains[i] < (1 - ABOUT_EQUAL) * most) &&
		    (nearer > 0 || (!nearer && gains[i] > gains[best])))
			best = i;
	}
	return best;
}

uint32_t varies_select(struct varies_data *d, double *p)
{
	struct shuffled s = { .d = d };
	double gains[VARIES_COLUMNS] = { 0 }, least = 0;
	uint32_t all = (1u << d->n_columns) - 1, selected = 0;

	s.sums = alloc_array(d->n_rows, sizeof(*s.sums));
	s.calls = alloc_array(d->n_calls, sizeof(*s.calls));
	memcpy(s.calls, d->calls, d->n_calls * sizeof(*s.calls));
	for (uint32_t i = 0; i < d->n_calls; i++)
		least += NEGLIGIBLE * s.calls[i] * s.calls[i];
	for (int i = 0; i < SELECTED_MAX && selected != all; i++) {
		double most = explain(&s, all & ~selected, gains);
		uint32_t best = best_known(d, all & ~selected, gains, most);

		permute(&s, all & ~selected, gains, p);
		if (p[best] >= ONE_PERCENT || most < least)
			break;
		selected |= 1u << best;
		explain(&s, 0, gains);
		take_off(&s, selected);
	}
	free(s.calls);
	free(s.sums);
	return selected;
}
