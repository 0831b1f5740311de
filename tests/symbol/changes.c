/* A small kernel for tests/unit/analyze_changes_test.c. -D chooses a variant, named after its difference from the others. */
#define noinline __attribute__((noinline))
#define used     __attribute__((used))

struct item {
	long first;
#ifdef LARGER
	long added;
#endif
	long count, limit;
};

#ifdef SHIFTED
int before[1000] = { 1 };
#endif
int table[8] = { 1, 2, 3 };
#ifdef VALUE
int counter = 5;
const int *pointer = &table[2];
#else
int counter;
const int *pointer = &table[0];
#endif
const int *same = &table[1];
const char *last;

#ifdef COSMETIC
#define helper renamed_helper
/*
 *
 *
 */
#endif

extern void log_line(int line);
noinline used void log_line(int line)
{
	counter += line;
}

#ifdef ADDED
noinline used int added(int a)
{
	return a * table[a & 7] + counter;
}
#endif

static noinline int helper(int a)
{
	last = "text";
	return table[a & 7] + a * 5;
}

static noinline int adjust(struct item *i, int by)
{
	if (i->count > i->limit)
		return helper(by);
	i->count += by;
	return by;
}

#ifdef OUT_OF_LINE
static noinline int square(int a)
#else
static inline __attribute__((always_inline)) int square(int a)
#endif
{
	return a * a + table[a & 7];
}

noinline int choose(int a, struct item *i)
{
#ifdef INVERTED
	if (!(a & 4))
#else
	if (a & 4)
#endif
		return adjust(i, a);
	return helper(a) - 1;
}

noinline int constant(int a)
{
#ifdef CONSTANT
	return a ^ 78;
#else
	return a ^ 77;
#endif
}

noinline int loop(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
#ifdef CONDITION
		if (table[i & 7] == counter)
			continue;
#endif
		sum += helper(i);
	}
	return sum;
}

noinline int order(int a, int b)
{
#ifdef SWAPPED
	return b - a;
#else
	return a - b;
#endif
}

noinline int user(int a)
{
	log_line(__LINE__);
	return square(a);
}

void _start(void)
{
	static struct item i;

	choose(1, &i);
	constant(2);
	loop(3);
	order(1, 2);
	user(4);
}
