// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/debuginfo/variables.h"

#include <dwarf.h>
#include <string.h>

#include "base/alloc.h"

#define MAX_DEPTH  64 /* maximum nesting of blocks, of types, and of members */
#define MAX_PIECES 4 /* maximum number of places that DWARF gives for a variable at one address */

/* Set *OUT to DIE's type, without typedefs and qualifiers. */
static bool type_of(const Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Die at = *die;
	Dwarf_Attribute attr;

	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		if (!dwarf_formref_die(dwarf_attr_integrate(&at, DW_AT_type, &attr), out))
			return false;
		switch (dwarf_tag(out)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			at = *out;
			break;
		default:
			return true;
		}
	}
	return false;
}

/* Return whether OPS, a variable's location, is PLACE. Set *ABOVE to the value in PLACE minus the value of the variable. */
static bool is_at(const Dwarf_Op *ops, size_t n, const struct kernel_variable_place *place,
		  int64_t *above)
{
	uint64_t reg;

	*above = 0;
	if (place->is_on_stack)
		return n == 1 && ops[0].atom == DW_OP_fbreg &&
		       (int64_t)ops[0].number == place->from_frame_base;
	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return ops[0].atom - DW_OP_reg0 == place->reg;
	if (n != 2 || ops[1].atom != DW_OP_stack_value || ops[0].atom < DW_OP_breg0 ||
	    ops[0].atom > DW_OP_breg31)
		return false;
	reg = ops[0].atom - DW_OP_breg0;
	*above = -(int64_t)ops[0].number;
	return reg == place->reg;
}

static bool has_code(Dwarf_Die *die, Dwarf_Addr pc)
{
	return dwarf_haspc(die, pc) == 1;
}

/* If the variable DIE is in PLACE at PC, set *OUT to the variable and return true, else return false. */
static bool variable_is_at(Dwarf_Die *die, Dwarf_Addr pc, const struct kernel_variable_place *place,
			   struct kernel_variable *out)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops[MAX_PIECES];
	size_t lens[MAX_PIECES];
	int n;

	if (!dwarf_attr(die, DW_AT_location, &attr))
		return false;
	n = dwarf_getlocation_addr(&attr, pc, ops, lens, MAX_PIECES);
	for (int i = 0; i < n; i++) {
		if (!is_at(ops[i], lens[i], place, &out->above))
			continue;
		out->name = dwarf_diename(die);
		if (!type_of(die, &out->type))
			out->type = (Dwarf_Die){};
		return out->name != NULL;
	}
	return false;
}

/*
 * Find the variable that is kept in PLACE at PC, in DIE and in blocks of DIE that contain PC. Search inner blocks first. Prefer a
 * variable whose value is that in PLACE, without an added constant.
 */
static bool find_in(Dwarf_Die *die, Dwarf_Addr pc, const struct kernel_variable_place *place,
		    int depth, struct kernel_variable *out)
{
	struct kernel_variable variable;
	bool found = false;
	Dwarf_Die child;

	if (depth >= MAX_DEPTH || dwarf_child(die, &child))
		return false;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
			if (has_code(&child, pc) && find_in(&child, pc, place, depth + 1, out))
				return true;
			break;
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			if (found && !out->above)
				break;
			if (variable_is_at(&child, pc, place, &variable)) {
				*out = variable;
				found = true;
			}
			break;
		}
	} while (!dwarf_siblingof(&child, &child));
	return found;
}

/* Find the unit that contains PC. If there is no table of units by address, as in modules, search all units. */
static bool unit_of(Dwarf *dw, Dwarf_Addr pc, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;

	if (!dw)
		return false;
	if (dwarf_addrdie(dw, pc, unit))
		return true;
	while (!dwarf_get_units(dw, cu, &cu, NULL, NULL, unit, NULL))
		if (has_code(unit, pc))
			return true;
	return false;
}

static bool function_of(struct kernel_image *img, uint64_t addr, Dwarf_Die *die)
{
	Dwarf_Addr pc = addr + kernel_image_base(img);
	Dwarf_Die unit;

	if (!unit_of(kernel_image_dwarf(img), pc, &unit) || dwarf_child(&unit, die))
		return false;
	do {
		if (dwarf_tag(die) == DW_TAG_subprogram && has_code(die, pc))
			return true;
	} while (!dwarf_siblingof(die, die));
	return false;
}

bool kernel_variable_in(struct kernel_image *img, uint64_t addr,
			const struct kernel_variable_place *place, struct kernel_variable *out)
{
	Dwarf_Die die;

	return function_of(img, addr, &die) &&
	       find_in(&die, addr + kernel_image_base(img), place, 0, out);
}

bool kernel_type_pointed_to(const Dwarf_Die *type, Dwarf_Die *out)
{
	return type->addr && dwarf_tag((Dwarf_Die *)type) == DW_TAG_pointer_type &&
	       type_of(type, out);
}

static bool is_composite(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_structure_type || dwarf_tag(type) == DW_TAG_union_type;
}

static bool number_of(Dwarf_Die *die, unsigned int name, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	if (dwarf_formudata(dwarf_attr(die, name, &attr), &word))
		return false;
	*out = word;
	return true;
}

/* Get MEMBER's type, and the position and size of MEMBER in its struct, in bits. */
static bool member_place(Dwarf_Die *member, Dwarf_Die *type, uint64_t *from, uint64_t *bits)
{
	uint64_t bytes;

	if (!type_of(member, type))
		return false;
	if (!number_of(member, DW_AT_data_bit_offset, from)) {
		*from = number_of(member, DW_AT_data_member_location, &bytes) ? 8 * bytes : 0;
		if (dwarf_hasattr(member, DW_AT_bit_size))
			return false; /* DW_AT_bit_offset (before DWARF 4) is not supported */
	}
	if (!number_of(member, DW_AT_bit_size, bits)) {
		Dwarf_Word size;

		*bits = dwarf_aggregate_size(type, &size) ? 0 : 8 * size;
	}
	return true;
}

struct wanted {
	uint64_t bits;
	bool exactly;
	char **path;
	struct kernel_member *out;
};

/* Find the member of TYPE that has W->bits bits from bit FROM on. PATH is the expression that leads to TYPE. */
static bool find_member(Dwarf_Die *type, uint64_t from, const char *path, const struct wanted *w,
			int depth)
{
	Dwarf_Die member, of;
	bool found = false;

	if (depth >= MAX_DEPTH || !is_composite(type) || dwarf_child(type, &member))
		return false;
	do {
		uint64_t start, len, bits_before;
		const char *name;
		scoped_free char *inner = NULL;

		if (dwarf_tag(&member) != DW_TAG_member ||
		    !member_place(&member, &of, &start, &len) || start > from ||
		    start + len < from + w->bits || start + len == from)
			continue;
		bits_before = from - start;
		name = dwarf_diename(&member);
		inner = alloc_printf("%s%s%s", path, *path && name ? "." : "", name ?: "");
		if (!is_composite(&of) || (!w->bits && !bits_before && name)) {
			found = !w->exactly || (!bits_before && (len == w->bits || !w->bits));
			if (found) {
				*w->path = alloc_strdup(inner);
				*w->out = (struct kernel_member){ of, bits_before };
			}
		} else {
			found = find_member(&of, bits_before, inner, w, depth + 1);
		}
	} while (!found && !dwarf_siblingof(&member, &member));
	return found;
}

char *kernel_type_member(const Dwarf_Die *type, uint64_t from, uint64_t bits, bool exactly,
			 struct kernel_member *out)
{
	Dwarf_Die in = *type;
	char *path = NULL;
	struct wanted w = { bits, true, &path, out };

	if (!find_member(&in, from, "", &w, 0) && !exactly) {
		w.exactly = false;
		find_member(&in, from, "", &w, 0);
	}
	return path;
}
